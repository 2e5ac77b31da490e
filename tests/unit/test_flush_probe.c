/* SPDX-License-Identifier: PostgreSQL */
/* The measurement over a system whose counters and clock are scripted. */
#include "fake_os.h"
#include "harness.h"
#include "tree.h"

#include "walprobe/flush_probe.h"
#include "walprobe/mem.h"
#include "walprobe/stop.h"

/* a device that counts what the calls below cause */
struct script {
	struct fake_os fake;
	struct wp_os_ops ops;
	struct tree tree;
	struct wp_stack stack;
	char *dir;
	int64_t flushes;
	int64_t flushes_per_sync;
	int64_t flushes_per_dsync_write;
	int64_t others_per_s; /* flushes of others, whenever time passes */
	int64_t others_per_pause;
	int64_t write_cost_ns;
	bool is_direct_refused;
	bool is_dsync; /* of the descriptor opened last */
};

static struct script *script_of(void *ctx)
{
	return (struct script *)((char *)ctx - offsetof(struct script, fake));
}

static void publish(struct script *script)
{
	int64_t elapsed = atomic_load(&script->fake.now_ns);
	int64_t others = script->others_per_s * elapsed / WP_NS_PER_S;
	char *text = wp_xasprintf(
		"0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 %" PRId64 " 0\n", script->flushes + others);

	tree_write(&script->tree, "sys/class/block/sda/stat", text);
	free(text);
}

static int scripted_open(void *ctx, const char *path, int flags, unsigned mode)
{
	struct script *script = script_of(ctx);

	if (script->is_direct_refused && (flags & O_DIRECT))
		return -EINVAL;
	if (strstr(path, "/stat"))
		publish(script);
	else
		script->is_dsync = (flags & O_DSYNC) != 0;
	return wp_os_open(&script->fake.os, path, flags, mode);
}

static int64_t scripted_pwrite(void *ctx, int fd, const void *buffer, size_t length, int64_t offset)
{
	struct script *script = script_of(ctx);

	(void)atomic_fetch_add(&script->fake.now_ns, script->write_cost_ns);
	if (script->is_dsync)
		script->flushes += script->flushes_per_dsync_write;
	return wp_os_pwrite(&script->fake.os, fd, buffer, length, offset);
}

static int scripted_fdatasync(void *ctx, int fd)
{
	struct script *script = script_of(ctx);

	script->flushes += script->flushes_per_sync;
	return wp_os_fdatasync(&script->fake.os, fd);
}

static int scripted_fsync(void *ctx, int fd)
{
	struct script *script = script_of(ctx);

	script->flushes += script->flushes_per_sync;
	return wp_os_fsync(&script->fake.os, fd);
}

static int scripted_sleep_ns(void *ctx, int64_t duration_ns)
{
	struct script *script = script_of(ctx);

	script->flushes += script->others_per_pause;
	return wp_os_sleep_ns(&script->fake.os, duration_ns);
}

static const struct wp_os *script_start(struct script *script, struct wp_os *os)
{
	memset(script, 0, sizeof(*script));
	fake_os_init(&script->fake);
	script->ops = *script->fake.os.ops;
	script->ops.open = scripted_open;
	script->ops.pwrite = scripted_pwrite;
	script->ops.fdatasync = scripted_fdatasync;
	script->ops.fsync = scripted_fsync;
	script->ops.sleep_ns = scripted_sleep_ns;
	atomic_store(&script->fake.now_ns, 1);
	script->flushes_per_sync = 1;
	script->flushes_per_dsync_write = 1;
	script->write_cost_ns = 10 * WP_NS_PER_MS;
	tree_unpack(&script->tree, "partition");
	tree_find(&script->tree, "/", &script->stack);
	script->dir = wp_xasprintf("%s/work", script->tree.base);
	assert_int_equal(wp_os_mkdir(wp_os_linux(), script->dir, 0700), 0);
	*os = (struct wp_os){ .ops = &script->ops, .ctx = &script->fake };
	return os;
}

static void script_end(struct script *script)
{
	assert_int_equal(scratch_dir_count(script->dir), 0);
	assert_int_equal(atomic_load(&script->fake.open_count), 0);
	wp_stack_release(&script->stack);
	tree_remove(&script->tree);
	free(script->dir);
}

static const struct wp_flush_options options = {
	.control_ns = WP_NS_PER_S,
	.operations = 20,
	.limit_ns = 100 * WP_NS_PER_S,
};

static const struct wp_flush_sample *sample_of(const struct wp_flush_report *report,
	enum wp_flush_workload workload, enum wp_method method)
{
	const struct wp_flush_sample *sample = wp_flush_report_find(report, workload, method);

	assert_non_null(sample);
	return sample;
}

static void each_sync_is_charged_with_its_flushes(void **state)
{
	struct script script;
	struct wp_os scripted;
	const struct wp_os *os = script_start(&script, &scripted);
	struct wp_flush_report report = { 0 };
	const struct wp_flush_sample *sample;

	(void)state;
	script.flushes_per_sync = 2;
	script.flushes_per_dsync_write = 0;
	assert_int_equal(wp_flush_probe(os, &script.tree.roots, &script.stack, script.dir, &options,
				 &report, NULL),
		0);
	assert_true(report.has_counters);
	assert_int_equal(report.sample_count, 7);
	sample = sample_of(&report, WP_FLUSH_OVERWRITE, WP_METHOD_FDATASYNC);
	assert_int_equal(sample->operations, 20);
	assert_int_equal(sample->counts.flushes, 40);
	assert_int_equal(sample->device_flushes[0], 40);
	assert_true(sample->flushes_per_op > 1.99 && sample->flushes_per_op < 2.01);
	assert_true(sample->is_conclusive);
	assert_true(sample->p50_ns >= 10 * WP_NS_PER_MS && sample->p50_ns < 11 * WP_NS_PER_MS);
	sample = sample_of(&report, WP_FLUSH_APPEND, WP_METHOD_OPEN_DATASYNC);
	assert_int_equal(sample->counts.flushes, 0);
	assert_true(sample->is_conclusive);
	wp_flush_report_release(&report);
	script_end(&script);
}

static void flushes_of_others_are_taken_off_while_they_are_few(void **state)
{
	struct script script;
	struct wp_os scripted;
	const struct wp_os *os = script_start(&script, &scripted);
	struct wp_flush_report report = { 0 };
	const struct wp_flush_sample *sample;

	(void)state;
	/* 0.2 s for one series of 20: 2 of theirs beside 20 of ours. */
	script.others_per_s = 10;
	assert_int_equal(wp_flush_probe(os, &script.tree.roots, &script.stack, script.dir, &options,
				 &report, NULL),
		0);
	sample = sample_of(&report, WP_FLUSH_OVERWRITE, WP_METHOD_FDATASYNC);
	assert_true(sample->counts.flushes >= 21);
	assert_true(sample->flushes_per_op > 0.94 && sample->flushes_per_op < 1.06);
	assert_true(sample->is_conclusive);
	wp_flush_report_release(&report);
	script_end(&script);
}

static void many_flushes_of_others_leave_only_the_zero_conclusive(void **state)
{
	struct script script;
	struct wp_os scripted;
	const struct wp_os *os = script_start(&script, &scripted);
	struct wp_flush_report report = { 0 };

	(void)state;
	script.others_per_s = 100;
	assert_int_equal(wp_flush_probe(os, &script.tree.roots, &script.stack, script.dir, &options,
				 &report, NULL),
		0);
	assert_false(sample_of(&report, WP_FLUSH_OVERWRITE, WP_METHOD_FDATASYNC)->is_conclusive);
	assert_true(report.background_flushes_per_s > 99);
	wp_flush_report_release(&report);
	script_end(&script);

	os = script_start(&script, &scripted);
	script.flushes_per_sync = 0;
	script.others_per_pause = 1000;
	assert_int_equal(wp_flush_probe(os, &script.tree.roots, &script.stack, script.dir, &options,
				 &report, NULL),
		0);
	assert_true(report.background_flushes_per_s > 99);
	assert_true(sample_of(&report, WP_FLUSH_OVERWRITE, WP_METHOD_FDATASYNC)->is_conclusive);
	wp_flush_report_release(&report);
	script_end(&script);
}

static void a_refused_o_direct_is_an_absent_series(void **state)
{
	struct script script;
	struct wp_os scripted;
	const struct wp_os *os = script_start(&script, &scripted);
	struct wp_flush_report report = { 0 };

	(void)state;
	script.is_direct_refused = true;
	assert_int_equal(wp_flush_probe(os, &script.tree.roots, &script.stack, script.dir, &options,
				 &report, NULL),
		0);
	assert_null(
		wp_flush_report_find(&report, WP_FLUSH_OVERWRITE_DIRECT, WP_METHOD_OPEN_DATASYNC));
	assert_string_equal(report.samples[6].absent, "O_DIRECT refused: EINVAL");
	wp_flush_report_release(&report);
	script_end(&script);
}

static void a_slow_place_ends_a_series_early(void **state)
{
	const struct wp_flush_options slow = {
		.control_ns = WP_NS_PER_S, .operations = 100, .limit_ns = WP_NS_PER_S / 10
	};
	struct script script;
	struct wp_os scripted;
	const struct wp_os *os = script_start(&script, &scripted);
	struct wp_flush_report report = { 0 };

	(void)state;
	script.write_cost_ns = 50 * WP_NS_PER_MS;
	assert_int_equal(wp_flush_probe(os, &script.tree.roots, &script.stack, script.dir, &slow,
				 &report, NULL),
		0);
	assert_int_equal(sample_of(&report, WP_FLUSH_OVERWRITE, WP_METHOD_FSYNC)->operations, 10);
	wp_flush_report_release(&report);
	script_end(&script);
}

static void a_signal_ends_the_measurement(void **state)
{
	struct script script;
	struct wp_os scripted;
	const struct wp_os *os = script_start(&script, &scripted);
	struct wp_flush_report report = { 0 };
	struct wp_err err = { 0 };

	(void)state;
	wp_stop_raise(2);
	assert_int_equal(wp_flush_probe(os, &script.tree.roots, &script.stack, script.dir, &options,
				 &report, &err),
		-WP_E_STOPPED);
	wp_stop_reset();
	script_end(&script);
}

/* Operations whose failure must end the measurement; that of counters only leaves them unknown. */
static void every_failing_call_names_the_file_and_leaves_nothing(void **state)
{
	static const char *const names[] = { "pwrite", "fsync", "fdatasync" };
	const struct wp_flush_options few = { .control_ns = 1, .operations = 2, .limit_ns = 1 };

	(void)state;
	for (size_t i = 0; i < WP_COUNT(names); i++)
		for (int64_t n = 1;; n++) {
			struct script script;
			struct wp_os scripted;
			const struct wp_os *os = script_start(&script, &scripted);
			struct wp_flush_report report = { 0 };
			struct wp_err err = { 0 };
			int failures;
			int rc;

			fake_os_arm(&script.fake, names[i], n, n % 2 ? EIO : ENOSPC);
			rc = wp_flush_probe(os, &script.tree.roots, &script.stack, script.dir, &few,
				&report, &err);
			failures = atomic_load(&script.fake.failures);
			assert_int_equal(rc, !failures ? 0 : n % 2 ? -WP_E_SYS : -WP_E_NOSPACE);
			assert_true(!failures || strstr(err.message, script.dir));
			wp_flush_report_release(&report);
			script_end(&script);
			if (!failures) {
				assert_true(n > 3);
				break;
			}
		}
}

static void a_file_that_cannot_be_made_is_named(void **state)
{
	struct script script;
	struct wp_os scripted;
	const struct wp_os *os = script_start(&script, &scripted);
	struct wp_flush_report report = { 0 };
	struct wp_err err = { 0 };

	(void)state;
	assert_int_equal(wp_flush_probe(os, &script.tree.roots, &script.stack, "/nonexistent/dir",
				 &options, &report, &err),
		-WP_E_SYS);
	assert_non_null(strstr(err.message, "/nonexistent/dir"));
	script_end(&script);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_sync_is_charged_with_its_flushes),
		cmocka_unit_test(flushes_of_others_are_taken_off_while_they_are_few),
		cmocka_unit_test(many_flushes_of_others_leave_only_the_zero_conclusive),
		cmocka_unit_test(a_refused_o_direct_is_an_absent_series),
		cmocka_unit_test(a_slow_place_ends_a_series_early),
		cmocka_unit_test(a_signal_ends_the_measurement),
		cmocka_unit_test(every_failing_call_names_the_file_and_leaves_nothing),
		cmocka_unit_test(a_file_that_cannot_be_made_is_named),
	};

	return cmocka_run_group_tests_name("flush_probe", tests, NULL, NULL);
}
