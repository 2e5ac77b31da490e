/* SPDX-License-Identifier: PostgreSQL */
/* Judgements as a table: what is known, the status, words that must be in it. */
#include "fake_os.h"
#include "harness.h"
#include "tree.h"

#include "walprobe/judge.h"
#include "walprobe/mem.h"

/* what a measurement gave: flushes per operation in the order of the series */
struct measured {
	double overwrite[3]; /* fdatasync, fsync, open_datasync */
	double append[3];
	double direct; /* below 0: O_DIRECT was refused */
	double background_share;
	bool has_counters;
};

static const struct measured honest = { { 1.00, 1.9, 1.00 }, { 2, 2, 2 }, 1.0, 0, true };
static const struct measured nothing = { { 0, 0, 0 }, { 0, 0, 0 }, 0, 0, true };
static const struct measured overlay_volatile = { { 0, 0, 2 }, { 0, 0, 2 }, 2, 0, true };
static const struct measured fua_writes = { { 1, 1.5, 1 }, { 1, 1, 1 }, 0, 0, true };
static const struct measured half = { { 0.5, 1, 1 }, { 1, 1, 1 }, 1, 0, true };
static const struct measured noisy = { { 1.4, 2, 1.3 }, { 2, 2, 2 }, 1, 0.5, true };
static const struct measured noisy_nothing = { { 0, 0, 0 }, { 0, 0, 0 }, 0, 0.5, true };
static const struct measured no_counters = { { 0, 0, 0 }, { 0, 0, 0 }, 0, 0, false };

static void fill_sample(struct wp_flush_sample *sample, enum wp_flush_workload workload,
	enum wp_method method, double per_op, const struct measured *from)
{
	sample->workload = workload;
	sample->method = method;
	sample->operations = 100;
	sample->elapsed_ns = 100 * WP_NS_PER_MS;
	sample->p50_ns = WP_NS_PER_MS;
	sample->flushes_per_op = per_op;
	sample->counts.is_known = from->has_counters;
	sample->counts.flushes = (int64_t)(per_op * 100 + 0.5);
	sample->is_conclusive = from->background_share < 0.2 || per_op < 0.1;
	if (per_op < 0)
		sample->absent = wp_xstrdup("O_DIRECT refused: EINVAL");
}

static void fill_report(
	struct wp_flush_report *report, const struct wp_stack *stack, const struct measured *from)
{
	static const enum wp_method methods[] = { WP_METHOD_FDATASYNC, WP_METHOD_FSYNC,
		WP_METHOD_OPEN_DATASYNC };
	const char *reason;

	memset(report, 0, sizeof(*report));
	for (int i = 0; i < 3; i++) {
		fill_sample(&report->samples[i], WP_FLUSH_OVERWRITE, methods[i], from->overwrite[i],
			from);
		fill_sample(&report->samples[3 + i], WP_FLUSH_APPEND, methods[i], from->append[i],
			from);
	}
	fill_sample(&report->samples[6], WP_FLUSH_OVERWRITE_DIRECT, WP_METHOD_OPEN_DATASYNC,
		from->direct, from);
	report->sample_count = 7;
	report->has_counters = from->has_counters;
	report->unknown_reason =
		from->has_counters ? NULL : "a kernel before 5.5 has no flush counters";
	report->background_flushes_per_s = from->background_share * 1000;
	report->devices = wp_xcalloc(stack->layer_count + 1, sizeof(int));
	report->device_count = wp_stack_counted(stack, report->devices, &reason);
	for (size_t i = 0; i < report->sample_count; i++) {
		report->samples[i].device_flushes =
			wp_xcalloc(report->device_count + 1, sizeof(int64_t));
		for (size_t j = 0; j < report->device_count; j++)
			report->samples[i].device_flushes[j] = report->samples[i].counts.flushes;
	}
}

static void expect(wp_judge_fn *judge, const struct wp_facts *facts, enum wp_check_status status,
	const char *words, const char *where)
{
	struct wp_judgement out = { 0 };

	judge(facts, &out);
	if (out.status != status || (words && !strstr(out.text, words)))
		fail_msg("%s: %s (%s), expected %s with \"%s\"", where,
			wp_check_status_name(out.status), out.text, wp_check_status_name(status),
			words ? words : "");
	assert_true(out.expected[0] && out.observed[0] && out.text[0]);
	assert_true(out.text[strlen(out.text) - 1] != '.');
}

struct flush_case {
	const char *tree;
	const char *path;
	const struct measured *measured;
	const char *layer; /* whose files are replaced first; NULL: none */
	const char *attribute;
	const char *value;
	enum wp_check_status status;
	const char *words;
};

static void check_flush_case(const struct flush_case *row)
{
	struct tree tree;
	struct wp_stack stack = { 0 };
	struct wp_flush_report report;
	struct wp_facts facts = { .stack = &stack };
	char *where = wp_xasprintf("%s %s", row->tree, row->path);

	tree_unpack(&tree, row->tree);
	if (row->layer) {
		char *path = wp_xasprintf("sys/class/block/%s/%s", row->layer, row->attribute);

		tree_write(&tree, path, row->value);
		free(path);
	}
	tree_find(&tree, row->path, &stack);
	if (row->measured) {
		fill_report(&report, &stack, row->measured);
		facts.flush = &report;
	} else {
		facts.untried = "it is mounted read-only";
	}
	expect(wp_judge_flush_sent, &facts, row->status, row->words, where);
	if (row->measured)
		wp_flush_report_release(&report);
	wp_stack_release(&stack);
	free(where);
	tree_remove(&tree);
}

static void a_missing_flush_is_proof_only_where_one_is_needed(void **state)
{
	static const struct flush_case rows[] = {
		{ "lvm-on-md", "/tmp/new", &honest, NULL, NULL, NULL, WP_CHECK_PASS, "flush" },
		{ "lvm-on-md", "/tmp/new", &nothing, NULL, NULL, NULL, WP_CHECK_FAIL,
			"can be lost at a power failure" },
		{ "luks-on-lvm", "/var/lib/postgresql", &honest, NULL, NULL, NULL, WP_CHECK_PASS,
			"only a power cut can show" },
		/* O_DIRECT with O_DSYNC on a device that takes FUA writes needs no flush ... */
		{ "luks-on-lvm", "/var/lib/postgresql", &fua_writes, NULL, NULL, NULL,
			WP_CHECK_PASS, "flush" },
		/* ... where it does not take them, it does; and fdatasync always does. */
		{ "luks-on-lvm", "/var/lib/postgresql", &fua_writes, "nvme0n1", "queue/fua", "0",
			WP_CHECK_FAIL, "open_datasync" },
		{ "luks-on-lvm", "/var/lib/postgresql", &nothing, NULL, NULL, NULL, WP_CHECK_FAIL,
			"fdatasync returns without" },
		{ "luks-on-lvm", "/var/lib/postgresql", &half, NULL, NULL, NULL, WP_CHECK_UNKNOWN,
			"neither none nor one" },
		{ "luks-on-lvm", "/var/lib/postgresql", &noisy, NULL, NULL, NULL, WP_CHECK_UNKNOWN,
			"other programs" },
		/* With other load the zero is still conclusive. */
		{ "luks-on-lvm", "/var/lib/postgresql", &noisy_nothing, NULL, NULL, NULL,
			WP_CHECK_FAIL, "can be lost" },
		{ "luks-on-lvm", "/var/lib/postgresql", NULL, NULL, NULL, NULL, WP_CHECK_UNKNOWN,
			"mounted read-only" },
		/* Write through: nothing to flush, unless somebody set it so. */
		{ "luks-on-lvm", "/var/lib/postgresql", &nothing, "nvme0n1", "queue/write_cache",
			"write through", WP_CHECK_PASS, "if the device tells the truth" },
		{ "partition", "/", &nothing, NULL, NULL, NULL, WP_CHECK_FAIL,
			"sda: the device reports \"write back\"" },
		{ "luks-on-lvm", "/var/lib/postgresql", &nothing, "dm-0", "queue/write_cache",
			"write through", WP_CHECK_FAIL, "dm-0 says \"write through\" above" },
		{ "loop-on-ext4", "/mnt/a", &honest, NULL, NULL, NULL, WP_CHECK_PASS,
			"hypervisor" },
		{ "loop-on-ext4", "/mnt/d", &nothing, NULL, NULL, NULL, WP_CHECK_FAIL,
			"loop3 is a loop device" },
		{ "loop-on-ext4", "/mnt/a", &nothing, NULL, NULL, NULL, WP_CHECK_FAIL,
			"nobarrier on /" },
		{ "overlay-on-host", "/fast", &overlay_volatile, NULL, NULL, NULL, WP_CHECK_FAIL,
			"volatile on /fast" },
		{ "overlay-on-host", "/merged", &honest, NULL, NULL, NULL, WP_CHECK_PASS, "flush" },
		{ "container", "/var/lib/postgresql", &nothing, NULL, NULL, NULL, WP_CHECK_UNKNOWN,
			"container" },
		{ "shadowed", "/nfs", &nothing, NULL, NULL, NULL, WP_CHECK_UNKNOWN, "network" },
		{ "old-kernel", "/", &no_counters, NULL, NULL, NULL, WP_CHECK_UNKNOWN, "5.5" },
		/* One leg of the mirror has its cache off: flushes to the other are enough. */
		{ "md-raid1", "/", &honest, NULL, NULL, NULL, WP_CHECK_PASS, "flush" },
		{ "md-raid1", "/", &nothing, NULL, NULL, NULL, WP_CHECK_FAIL, "can be lost" },
		{ "nvme-multipath", "/", &honest, NULL, NULL, NULL, WP_CHECK_PASS, "flush" },
	};

	(void)state;
	for (size_t i = 0; i < WP_COUNT(rows); i++)
		check_flush_case(&rows[i]);
}

static void a_disk_of_an_array_that_took_no_flush_is_named(void **state)
{
	struct tree tree;
	struct wp_stack stack = { 0 };
	struct wp_flush_report report;
	struct wp_facts facts = { .stack = &stack, .flush = &report };

	(void)state;
	tree_unpack(&tree, "lvm-on-md");
	tree_find(&tree, "/tmp/new", &stack);
	fill_report(&report, &stack, &honest);
	report.samples[0].device_flushes[1] = 0;
	expect(wp_judge_flush_sent, &facts, WP_CHECK_UNKNOWN, "sdc took no flush", "stripe");
	wp_flush_report_release(&report);
	wp_stack_release(&stack);
	tree_remove(&tree);
	/* The other path of a multipath disk may well stay idle. */
	tree_unpack(&tree, "nvme-multipath");
	tree_find(&tree, "/", &stack);
	fill_report(&report, &stack, &honest);
	report.samples[0].device_flushes[1] = 0;
	expect(wp_judge_flush_sent, &facts, WP_CHECK_PASS, "flush", "multipath");
	wp_flush_report_release(&report);
	wp_stack_release(&stack);
	tree_remove(&tree);
	/* So may the disk of an external log, when only data is overwritten. */
	tree_unpack(&tree, "shadowed");
	tree_find(&tree, "/twice", &stack);
	fill_report(&report, &stack, &honest);
	report.samples[0].device_flushes[1] = 0;
	expect(wp_judge_flush_sent, &facts, WP_CHECK_PASS, "flush", "external log");
	wp_flush_report_release(&report);
	wp_stack_release(&stack);
	tree_remove(&tree);
}

static void a_preloaded_library_is_named_as_a_cause(void **state)
{
	struct tree tree;
	struct wp_stack stack = { 0 };
	struct wp_flush_report report;
	struct wp_facts facts = { .stack = &stack, .flush = &report, .preload = "libeatmydata.so" };

	(void)state;
	tree_unpack(&tree, "lvm-on-md");
	tree_find(&tree, "/", &stack);
	fill_report(&report, &stack, &nothing);
	expect(wp_judge_flush_sent, &facts, WP_CHECK_FAIL, "libeatmydata.so", "preload");
	wp_flush_report_release(&report);
	wp_stack_release(&stack);
	tree_remove(&tree);
}

struct plain_case {
	wp_judge_fn *judge;
	const char *tree;
	const char *path;
	enum wp_check_status status;
	const char *words;
};

static void mounts_and_layers_are_judged_as_they_stand(void **state)
{
	static const struct plain_case rows[] = {
		{ wp_judge_barriers, "options", "/data/adr", WP_CHECK_FAIL,
			"nobarrier on /data/adr" },
		{ wp_judge_barriers, "options", "/data", WP_CHECK_FAIL, "nobarrier" },
		{ wp_judge_barriers, "options", "/data/mysql", WP_CHECK_FAIL, "nobarrier" },
		{ wp_judge_barriers, "options", "/srv data", WP_CHECK_FAIL,
			"nobarrier on /srv data" },
		{ wp_judge_barriers, "options", "/zero", WP_CHECK_FAIL, "barrier=0" },
		{ wp_judge_barriers, "partition", "/", WP_CHECK_PASS, NULL },
		{ wp_judge_barriers, "loop-on-ext4", "/mnt/a", WP_CHECK_FAIL, "nobarrier on /" },
		{ wp_judge_barriers, "loop-on-ext4", "/mnt/c", WP_CHECK_UNKNOWN, "memory" },
		{ wp_judge_barriers, "overlay-on-host", "/fast", WP_CHECK_FAIL, "volatile" },
		{ wp_judge_barriers, "overlay-on-host", "/merged", WP_CHECK_PASS, NULL },
		{ wp_judge_barriers, "container", "/etc", WP_CHECK_UNKNOWN, "container" },
		{ wp_judge_barriers, "shadowed", "/nfs", WP_CHECK_UNKNOWN, "network" },
		{ wp_judge_write_cache, "partition", "/", WP_CHECK_FAIL, "/sys/block/sda/queue" },
		{ wp_judge_write_cache, "lvm-on-md", "/tmp/new", WP_CHECK_PASS, NULL },
		{ wp_judge_write_cache, "md-raid1", "/", WP_CHECK_PASS, NULL },
		{ wp_judge_write_cache, "loop-on-ext4", "/mnt/a", WP_CHECK_PASS, NULL },
		{ wp_judge_write_cache, "loop-on-ext4", "/mnt/d", WP_CHECK_FAIL, "loop3" },
		{ wp_judge_write_cache, "shadowed", "/nfs", WP_CHECK_UNKNOWN, "network" },
		{ wp_judge_volatile, "loop-on-ext4", "/dev/shm", WP_CHECK_INFO, "never" },
		{ wp_judge_volatile, "loop-on-ext4", "/mnt/c", WP_CHECK_INFO, "tmpfs" },
		{ wp_judge_volatile, "partition", "/", WP_CHECK_PASS, NULL },
		{ wp_judge_recycle_cow, "btrfs-two-devices", "/", WP_CHECK_INFO,
			"wal_recycle = off and wal_init_zero = off" },
		{ wp_judge_recycle_cow, "partition", "/", WP_CHECK_PASS, NULL },
		{ wp_judge_recycle_cow, "loop-on-ext4", "/dev/shm", WP_CHECK_PASS, NULL },
		{ wp_judge_recycle_cow, "shadowed", "/nfs", WP_CHECK_UNKNOWN, "network" },
		{ wp_judge_links, "partition", "/", WP_CHECK_UNKNOWN, "not tried" },
		{ wp_judge_direct_io, "partition", "/", WP_CHECK_UNKNOWN, "not tried" },
		{ wp_judge_rate_plausible, "partition", "/", WP_CHECK_UNKNOWN, "measured" },
	};

	(void)state;
	for (size_t i = 0; i < WP_COUNT(rows); i++) {
		struct tree tree;
		struct wp_stack stack = { 0 };
		struct wp_facts facts = {
			.stack = &stack,
			.link_result = WP_NOT_TRIED,
			.direct_open_result = WP_NOT_TRIED,
			.is_no_cow = -1,
		};

		tree_unpack(&tree, rows[i].tree);
		tree_find(&tree, rows[i].path, &stack);
		expect(rows[i].judge, &facts, rows[i].status, rows[i].words, rows[i].path);
		wp_stack_release(&stack);
		tree_remove(&tree);
	}
}

static void write_through_that_nothing_confirms_is_told(void **state)
{
	struct tree tree;
	struct wp_stack stack = { 0 };
	struct wp_facts facts = { .stack = &stack };

	(void)state;
	tree_unpack(&tree, "luks-on-lvm");
	tree_write(&tree, "sys/class/block/nvme0n1/queue/write_cache", "write through\n");
	tree_write(&tree, "sys/class/block/dm-0/queue/write_cache", "write through\n");
	tree_write(&tree, "sys/class/block/dm-1/queue/write_cache", "write through\n");
	tree_find(&tree, "/var/lib/postgresql", &stack);
	expect(wp_judge_write_cache, &facts, WP_CHECK_INFO, "nvme0n1 claims", "nvme");
	wp_stack_release(&stack);
	tree_remove(&tree);
}

static void what_a_file_system_lacks_is_told_and_never_failed(void **state)
{
	struct tree tree;
	struct wp_stack stack = { 0 };
	struct wp_facts facts = { .stack = &stack, .direct_alignment_bytes = 4096 };

	(void)state;
	tree_unpack(&tree, "btrfs-two-devices");
	tree_find(&tree, "/", &stack);
	facts.link_result = 0;
	expect(wp_judge_links, &facts, WP_CHECK_PASS, NULL, "links");
	facts.link_result = -EPERM;
	expect(wp_judge_links, &facts, WP_CHECK_INFO, "EPERM", "links");
	expect(wp_judge_direct_io, &facts, WP_CHECK_PASS, "not durable", "direct");
	facts.direct_write_result = -EINVAL;
	expect(wp_judge_direct_io, &facts, WP_CHECK_INFO, "alignment", "direct");
	facts.direct_open_result = -EINVAL;
	expect(wp_judge_direct_io, &facts, WP_CHECK_INFO, "refuses", "direct");
	facts.is_no_cow = 1;
	expect(wp_judge_recycle_cow, &facts, WP_CHECK_PASS, "nodatacow", "cow");
	wp_stack_release(&stack);
	tree_remove(&tree);
}

static void rates_are_compared_with_what_turns(void **state)
{
	static const struct {
		const char *tree;
		const char *path;
		double per_s;
		int64_t writers;
		int64_t p50_ns;
		bool is_flush_counted;
		enum wp_check_status status;
		const char *words;
	} rows[] = {
		/* 7200 rpm: 120 turns a second. */
		{ "partition", "/", 119, 1, 8300000, true, WP_CHECK_PASS, NULL },
		{ "partition", "/", 172, 1, 6000000, true, WP_CHECK_PASS, NULL },
		{ "partition", "/", 1292.258304, 4, 3000000, true, WP_CHECK_INFO, "323/s" },
		/* Four may share a flush. */
		{ "partition", "/", 400, 4, 10000000, true, WP_CHECK_PASS, NULL },
		/* Rotating, speed unknown: 15000 rpm at best. */
		{ "md-raid1", "/", 300, 1, 3000000, true, WP_CHECK_PASS, NULL },
		{ "md-raid1", "/", 9000, 1, 100000, true, WP_CHECK_INFO, "non-volatile cache" },
		/* The rotational flags of virtual and loop devices say nothing. */
		{ "loop-on-ext4", "/", 5000, 1, 200000, true, WP_CHECK_UNKNOWN, "virtual" },
		{ "loop-on-ext4", "/mnt/a", 5000, 1, 200000, true, WP_CHECK_UNKNOWN, "virtual" },
		{ "loop-on-ext4", "/mnt/a", 300000, 1, 3300, false, WP_CHECK_INFO,
			"no device was reached" },
		{ "luks-on-lvm", "/var/lib/postgresql", 609, 1, 1600000, true, WP_CHECK_PASS,
			NULL },
		{ "luks-on-lvm", "/var/lib/postgresql", 30000, 1, 30000, true, WP_CHECK_INFO,
			"only a power cut can tell" },
		{ "shadowed", "/nfs", 500, 1, 2000000, false, WP_CHECK_UNKNOWN, "network" },
	};

	(void)state;
	for (size_t i = 0; i < WP_COUNT(rows); i++) {
		struct tree tree;
		struct wp_stack stack = { 0 };
		struct wp_judgement out = { 0 };

		tree_unpack(&tree, rows[i].tree);
		tree_find(&tree, rows[i].path, &stack);
		wp_judge_rate(&stack, rows[i].per_s, rows[i].writers, rows[i].p50_ns,
			rows[i].is_flush_counted, &out);
		if (out.status != rows[i].status ||
			(rows[i].words && !strstr(out.text, rows[i].words)))
			fail_msg("%s %.0f/s: %s (%s)", rows[i].tree, rows[i].per_s,
				wp_check_status_name(out.status), out.text);
		wp_stack_release(&stack);
		tree_remove(&tree);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_missing_flush_is_proof_only_where_one_is_needed),
		cmocka_unit_test(a_disk_of_an_array_that_took_no_flush_is_named),
		cmocka_unit_test(a_preloaded_library_is_named_as_a_cause),
		cmocka_unit_test(mounts_and_layers_are_judged_as_they_stand),
		cmocka_unit_test(write_through_that_nothing_confirms_is_told),
		cmocka_unit_test(what_a_file_system_lacks_is_told_and_never_failed),
		cmocka_unit_test(rates_are_compared_with_what_turns),
	};

	return cmocka_run_group_tests_name("judge", tests, NULL, NULL);
}
