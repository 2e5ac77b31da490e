/* SPDX-License-Identifier: PostgreSQL */
/*
 * A disk in memory that keeps what two writers were told it keeps, or does not, in every way that
 * is known. Writer 0 recycles, writer 1 appends; each has two segments, all slots are written, and
 * the last record of each is in flight.
 */
#include "harness.h"
#include "walprobe/classify.h"
#include "walprobe/mem.h"

#include <math.h>

#define PAGE_BYTES 1024
#define SLOTS 8
#define SEGMENTS 5 /* the cold area, then two of each writer */
#define COLD 0
#define ACKED 15 /* of 16 */

struct file {
	bool is_there;
	uint32_t slots; /* up to its end */
	uint8_t pages[SLOTS][PAGE_BYTES];
	bool unreadable[SLOTS][2];
};

struct disk {
	struct wp_ledger ledger;
	struct wp_ledger_run *run;
	struct wp_payload *payload;
	struct file files[SEGMENTS];
	struct wp_cut_facts facts;
	struct wp_judgement found;
};

static const uint8_t id[WP_RUN_ID_BYTES] = { 1, 2, 3, 4, 5, 6, 7, 8 };
static const uint8_t seed[WP_SEED_BYTES] = { 42 };

static struct wp_put fresh(uint8_t *bytes)
{
	return (struct wp_put){ .bytes = bytes, .size = WP_ENTRY_MAXIMUM };
}

static void apply(struct disk *disk, const struct wp_put *put)
{
	const char *problem = NULL;

	if (!wp_ledger_apply(&disk->ledger, put->bytes, put->used, &disk->run, &problem))
		fail_msg("refused: %s", problem);
}

static void add_segment(struct disk *disk, uint16_t writer, uint32_t segno)
{
	const struct wp_ledger_segment segment = { .writer = writer,
		.segno = segno,
		.physical = segno,
		.generation = 2,
		.first_seq = (segno - 1) * SLOTS + 1,
		.slots = SLOTS,
		.cycle = 1 };
	uint8_t bytes[WP_ENTRY_MAXIMUM];
	struct wp_put put = fresh(bytes);

	wp_entry_segment(&put, id, &segment);
	apply(disk, &put);
}

static void say_acked(struct disk *disk, uint64_t seq, int64_t last_second)
{
	const uint64_t acked[] = { seq, seq };
	const int64_t exposures[] = { 5, 10, last_second };
	uint8_t bytes[WP_ENTRY_MAXIMUM];
	struct wp_put put = fresh(bytes);

	wp_entry_acked(&put, id, acked, 2, exposures, 1);
	apply(disk, &put);
	put = fresh(bytes);
	wp_entry_cut(&put, id, exposures, false);
	apply(disk, &put);
}

static void begin_run(struct disk *disk)
{
	struct wp_manifest manifest = { .page_bytes = PAGE_BYTES,
		.slots = SLOTS,
		.batch = 1,
		.writers = 2,
		.workloads = { WP_WORKLOAD_RECYCLE, WP_WORKLOAD_APPEND },
		.cold_slots = SLOTS };
	const struct wp_cycle_start start = {
		.cycle = 1, .boot_id = "before", .power_cycles = 7, .unsafe_shutdowns = -1
	};
	uint8_t bytes[WP_ENTRY_MAXIMUM];
	struct wp_put put = fresh(bytes);

	memcpy(manifest.run, id, sizeof(id));
	wp_entry_run(&put, &manifest);
	apply(disk, &put);
	put = fresh(bytes);
	wp_entry_begin(&put, WP_ENTRY_MARKER, id);
	apply(disk, &put);
	put = fresh(bytes);
	wp_entry_cycle(&put, id, &start, 2);
	apply(disk, &put);
	add_segment(disk, WP_WRITER_COLD, 1);
	for (uint16_t writer = 0; writer < 2; writer++)
		for (uint32_t segno = 1; segno <= 2; segno++)
			add_segment(disk, writer, segno);
	say_acked(disk, ACKED, 100);
}

static void build(struct disk *disk, size_t segment, uint32_t slot, uint8_t *page)
{
	struct wp_stamp stamp;

	wp_classify_expected(&disk->run->manifest, &disk->run->segments[segment], slot, &stamp);
	/* The other writer is one record behind. */
	stamp.horizon = wp_horizon((uint16_t)(1 - stamp.writer), stamp.seq - 1);
	if (segment == COLD)
		stamp.horizon = 0;
	wp_record_build(disk->payload, &stamp, PAGE_BYTES / WP_SECTOR_BYTES, page);
}

/* What stood there before this segment was recycled. */
static void build_old(struct disk *disk, size_t segment, uint32_t slot, uint8_t *page)
{
	struct wp_stamp stamp;

	wp_classify_expected(&disk->run->manifest, &disk->run->segments[segment], slot, &stamp);
	stamp.generation--;
	stamp.segno += 100;
	stamp.seq += 5000;
	wp_record_build(disk->payload, &stamp, PAGE_BYTES / WP_SECTOR_BYTES, page);
}

static void open_disk(struct disk *disk)
{
	memset(disk, 0, sizeof(*disk));
	disk->payload = wp_payload_new(seed);
	begin_run(disk);
	for (size_t i = 0; i < SEGMENTS; i++) {
		disk->files[i].is_there = true;
		disk->files[i].slots = SLOTS;
		for (uint32_t slot = 0; slot < SLOTS; slot++)
			build(disk, i, slot, disk->files[i].pages[slot]);
	}
	disk->facts = (struct wp_cut_facts){ .rule = WP_CUT_BOOT,
		.boot_id = "after",
		.power_cycles = 8,
		.unsafe_shutdowns = -1,
		.has_directory = true,
		.is_mounted = true,
		.has_marker = true };
}

static void judge(struct disk *disk)
{
	struct wp_classifier *c = wp_classify_new(disk->run, disk->payload);

	for (size_t i = 0; i < SEGMENTS; i++) {
		if (!disk->files[i].is_there)
			continue;
		wp_classify_found(c, i, 0);
		for (uint32_t slot = 0; slot < disk->files[i].slots; slot++)
			wp_classify_page(c, i, slot, disk->files[i].pages[slot],
				disk->files[i].unreadable[slot]);
	}
	wp_classify_judge(c, &disk->facts, &disk->found);
	wp_classify_free(c);
}

static void close_disk(struct disk *disk)
{
	wp_payload_free(disk->payload);
	wp_ledger_release(&disk->ledger);
}

/* ---- faults: segments 1, 2 are writer 0's (recycled), 3, 4 writer 1's (appended) ---- */

static void nothing(struct disk *disk)
{
	(void)disk;
}

static void in_flight_gone(struct disk *disk)
{
	/* Sequence 16 of writer 0 is half there, that of writer 1 not at all. */
	memset(disk->files[2].pages[7] + WP_SECTOR_BYTES, 0, WP_SECTOR_BYTES);
	disk->files[4].slots = 7;
}

static void drop_tail(struct disk *disk)
{
	memset(disk->files[4].pages[4], 0, PAGE_BYTES * 4); /* 13 to 16 of writer 1 */
	memset(disk->files[2].pages[5], 0, PAGE_BYTES * 3); /* 14 to 16 of writer 0 */
}

static void make_hole(struct disk *disk)
{
	memset(disk->files[3].pages[2], 0, PAGE_BYTES);
}

static void cited_by_other(struct disk *disk)
{
	/* All from 10 on is gone of writer 1, which writer 0's survivors cite up to 15. */
	memset(disk->files[4].pages[1], 0, PAGE_BYTES * 7);
	say_acked(disk, ACKED, 100);
	disk->run->acked[1] = 9; /* the witness heard less */
}

static void tear(struct disk *disk)
{
	uint8_t old[PAGE_BYTES];

	build_old(disk, 1, 3, old);
	memcpy(disk->files[1].pages[3] + WP_SECTOR_BYTES, old + WP_SECTOR_BYTES, WP_SECTOR_BYTES);
}

static void flip_payload(struct disk *disk)
{
	disk->files[1].pages[0][100] ^= 4;
	disk->files[3].pages[1][700] ^= 0x81;
}

static void flip_header(struct disk *disk)
{
	disk->files[1].pages[0][20] ^= 1;
}

static void garbage(struct disk *disk)
{
	memset(disk->files[1].pages[0], 0xa5, WP_SECTOR_BYTES);
}

static void misdirect(struct disk *disk)
{
	uint8_t old[PAGE_BYTES];

	/* Record 3 of writer 0 went over record 6 of writer 1. */
	memcpy(disk->files[3].pages[5], disk->files[1].pages[2], PAGE_BYTES);
	build_old(disk, 1, 2, old);
	memcpy(disk->files[1].pages[2], old, PAGE_BYTES);
}

static void misdirect_into_cold(struct disk *disk)
{
	memcpy(disk->files[COLD].pages[5], disk->files[1].pages[2], PAGE_BYTES);
	memset(disk->files[1].pages[2], 0, PAGE_BYTES);
}

static void lose_name(struct disk *disk)
{
	disk->files[3].is_there = false;
}

static void shorten(struct disk *disk)
{
	disk->files[4].slots = 2; /* 11 to 15 of writer 1 are acknowledged */
}

static void stale_after_recycle(struct disk *disk)
{
	build_old(disk, 2, 6, disk->files[2].pages[6]); /* 15 of writer 0 */
	memset(disk->files[2].pages[7], 0, PAGE_BYTES);
	for (size_t i = 6; i < SLOTS; i++) /* nothing else may have seen it */
		memset(disk->files[4].pages[i], 0, PAGE_BYTES);
	disk->run->acked[1] = 14;
}

static void roll_back(struct disk *disk)
{
	for (size_t i = 1; i < SEGMENTS; i++)
		for (uint32_t slot = i % 2 ? 4 : 0; slot < SLOTS; slot++)
			memset(disk->files[i].pages[slot], 0, PAGE_BYTES);
}

static void cannot_mount(struct disk *disk)
{
	for (size_t i = 0; i < SEGMENTS; i++)
		disk->files[i].is_there = false;
	disk->facts.has_directory = disk->facts.has_marker = disk->facts.is_mounted = false;
	disk->facts.rule = WP_CUT_ASSERTED;
}

static void lose_directory(struct disk *disk)
{
	cannot_mount(disk);
	disk->facts.is_mounted = true;
	disk->facts.rule = WP_CUT_BOOT;
}

static void lose_marker(struct disk *disk)
{
	disk->facts.has_marker = false;
}

static void damage_cold(struct disk *disk)
{
	memset(disk->files[COLD].pages[1], 0, PAGE_BYTES);
	disk->files[COLD].pages[2][200] ^= 1;
}

static void unreadable(struct disk *disk)
{
	disk->files[1].unreadable[4][1] = true;
}

struct fault {
	const char *name;
	void (*make)(struct disk *disk);
	enum wp_survival verdict;
	const char *kinds;
	struct wp_fault_counts counts; /* acknowledged and in_flight are not looked at */
};

static const struct fault faults[] = {
	{ "honest", nothing, WP_SURVIVAL_NO_LOSS, "", { .judged = 30 } },
	{ "in flight", in_flight_gone, WP_SURVIVAL_NO_LOSS, "", { .judged = 30 } },
	{ "F1", drop_tail, WP_SURVIVAL_LIES, "lost, whole rollback", { .judged = 30, .lost = 5 } },
	{ "F2", make_hole, WP_SURVIVAL_LIES, "reordered",
		{ .judged = 30, .lost = 1, .reordered = 1 } },
	/* Six that the witness had not heard of are proved by what survived of the other writer. */
	{ "F2 by horizon", cited_by_other, WP_SURVIVAL_LIES, "reordered",
		{ .judged = 30, .lost = 6, .reordered = 6 } },
	{ "F3", tear, WP_SURVIVAL_LIES, "torn", { .judged = 30, .torn = 1 } },
	{ "F4 payload", flip_payload, WP_SURVIVAL_LIES, "flipped bits",
		{ .judged = 30, .flipped = 2 } },
	{ "F4 header", flip_header, WP_SURVIVAL_LIES, "flipped bits",
		{ .judged = 30, .flipped = 1 } },
	{ "F4 garbage", garbage, WP_SURVIVAL_LIES, "flipped bits", { .judged = 30, .flipped = 1 } },
	{ "F5", misdirect, WP_SURVIVAL_LIES, "misdirected", { .judged = 30, .misdirected = 2 } },
	{ "F5 into cold", misdirect_into_cold, WP_SURVIVAL_LIES, "misdirected, damage to cold data",
		{ .judged = 30, .misdirected = 1, .cold = 1 } },
	{ "F6", lose_name, WP_SURVIVAL_LIES, "missing names, reordered",
		{ .judged = 30, .lost = 8, .reordered = 8, .missing_names = 1 } },
	{ "F7", shorten, WP_SURVIVAL_LIES, "reordered, shortened files",
		{ .judged = 30, .lost = 5, .reordered = 5, .shortened = 5 } },
	{ "F8", stale_after_recycle, WP_SURVIVAL_LIES, "lost, stale content",
		{ .judged = 29, .lost = 1, .stale = 1 } },
	{ "F9", roll_back, WP_SURVIVAL_LIES, "lost, whole rollback", { .judged = 30, .lost = 22 } },
	{ "F10", cannot_mount, WP_SURVIVAL_LIES,
		"file system cannot be mounted, missing names, lost",
		{ .judged = 30, .lost = 30, .missing_names = 5, .cold = 8 } },
	{ "F6 directory", lose_directory, WP_SURVIVAL_LIES,
		"directory missing, missing names, lost",
		{ .judged = 30, .lost = 30, .missing_names = 5, .cold = 8 } },
	{ "F6 marker", lose_marker, WP_SURVIVAL_LIES, "marker file missing", { .judged = 30 } },
	{ "F11", damage_cold, WP_SURVIVAL_LIES, "damage to cold data",
		{ .judged = 30, .cold = 2 } },
	{ "F12", unreadable, WP_SURVIVAL_LIES, "unreadable", { .judged = 30, .unreadable = 1 } },
};

static void check_numbers(
	const char *name, struct wp_fault_counts found, const struct wp_fault_counts *expected)
{
	int64_t got[WP_FAULT_COUNTS];
	int64_t wanted[WP_FAULT_COUNTS];

	found.acknowledged = 0;
	found.in_flight = 0;
	memcpy(got, &found, sizeof(got));
	memcpy(wanted, expected, sizeof(wanted));
	for (size_t i = 0; i < WP_FAULT_COUNTS; i++)
		if (got[i] != wanted[i])
			fail_msg("%s: number %zu is %" PRId64 " instead of %" PRId64, name, i,
				got[i], wanted[i]);
}

static void every_kind_of_fault_is_named_and_counted(void **state)
{
	(void)state;
	for (size_t i = 0; i < WP_COUNT(faults); i++) {
		struct disk *disk = wp_xcalloc(1, sizeof(*disk));

		open_disk(disk);
		faults[i].make(disk);
		judge(disk);
		if (disk->found.verdict != faults[i].verdict)
			fail_msg("%s: %s (%s)", faults[i].name,
				wp_survival_name(disk->found.verdict), disk->found.reason);
		if (strncmp(disk->found.kinds, faults[i].kinds, strlen(faults[i].kinds)) != 0 ||
			(!faults[i].kinds[0] && disk->found.kinds[0]))
			fail_msg("%s: kinds are \"%s\"", faults[i].name, disk->found.kinds);
		check_numbers(faults[i].name, disk->found.counts, &faults[i].counts);
		close_disk(disk);
		free(disk);
	}
}

static void what_is_in_flight_is_counted_apart(void **state)
{
	struct disk *disk = wp_xcalloc(1, sizeof(*disk));

	(void)state;
	open_disk(disk);
	judge(disk);
	assert_int_equal(disk->found.counts.acknowledged, 30);
	assert_int_equal(disk->found.counts.in_flight, 2);
	close_disk(disk);
	free(disk);
}

/* Record 16 of writer 0 survived and 15 did not: with one sync for both that is allowed. */
static void what_one_sync_covers_may_survive_in_any_part(void **state)
{
	(void)state;
	for (uint16_t batch = 1; batch <= 2; batch++) {
		struct disk *disk = wp_xcalloc(1, sizeof(*disk));

		open_disk(disk);
		disk->run->manifest.batch = batch;
		disk->run->acked[0] = disk->run->acked[1] = 14;
		memset(disk->files[2].pages[6], 0, PAGE_BYTES);
		disk->files[4].slots = 7;
		judge(disk);
		assert_int_equal(
			disk->found.verdict, batch == 1 ? WP_SURVIVAL_LIES : WP_SURVIVAL_NO_LOSS);
		close_disk(disk);
		free(disk);
	}
}

/* ---- no verdict without a reason ---- */

static void same_boot(struct disk *disk)
{
	memcpy(disk->facts.boot_id, "before", sizeof("before"));
}

static void power_kept(struct disk *disk)
{
	disk->facts.rule = WP_CUT_DEVICE;
	disk->facts.power_cycles = 7;
}

static void power_unknown(struct disk *disk)
{
	disk->facts.rule = WP_CUT_DEVICE;
	disk->facts.power_cycles = -1;
}

static void stopped(struct disk *disk)
{
	disk->run->is_stopped = true;
	drop_tail(disk);
}

static void ended_full(struct disk *disk)
{
	disk->run->failed_errno = ENOSPC;
}

static void still_live(struct disk *disk)
{
	disk->facts.is_live = true;
}

static void not_mounted(struct disk *disk)
{
	cannot_mount(disk);
	disk->facts.rule = WP_CUT_BOOT;
}

static void blind_marker(struct disk *disk)
{
	disk->facts.was_blind = true;
}

static void hung(struct disk *disk)
{
	disk->facts.is_hung = true;
	disk->files[COLD].unreadable[1][1] = true;
	disk->files[1].unreadable[2][0] = true;
}

static void idle(struct disk *disk)
{
	disk->run->exposures[2] = WP_EFFECTIVE_RECORDS - 1;
}

static void exposure_unknown(struct disk *disk)
{
	disk->run->exposures[2] = -1;
}

static void none_judged(struct disk *disk)
{
	disk->run->acked[0] = disk->run->acked[1] = 0;
	for (size_t i = 1; i < SEGMENTS; i++)
		memset(disk->files[i].pages, 0, sizeof(disk->files[i].pages));
}

static void all_in_flight(struct disk *disk)
{
	disk->run->acked[0] = disk->run->acked[1] = 0;
}

static void journal_damaged(struct disk *disk)
{
	disk->run->is_damaged = true;
	drop_tail(disk);
}

static void no_silence(struct disk *disk)
{
	disk->facts.rule = WP_CUT_ASSERTED;
	disk->run->is_cut = false;
}

static void no_verdict_where_nothing_was_shown(void **state)
{
	static const struct {
		void (*make)(struct disk *disk);
		const char *reason;
	} cases[] = {
		{ same_boot, "not restarted" },
		{ power_kept, "did not move" },
		{ power_unknown, "cannot be read" },
		{ stopped, "stopped in good order" },
		{ ended_full, "ended by themselves" },
		{ still_live, "still at work" },
		{ not_mounted, "not mounted" },
		{ blind_marker, "blind" },
		{ hung, "does not answer" },
		{ idle, "too few records" },
		{ exposure_unknown, "not known how much" },
		{ none_judged, "no acknowledged record" },
		{ all_in_flight, "no acknowledged record" },
		{ journal_damaged, "journal" },
		{ no_silence, "fall silent" },
	};

	(void)state;
	for (size_t i = 0; i < WP_COUNT(cases); i++) {
		struct disk *disk = wp_xcalloc(1, sizeof(*disk));

		open_disk(disk);
		cases[i].make(disk);
		judge(disk);
		if (disk->found.verdict != WP_SURVIVAL_CANNOT_TELL ||
			!strstr(disk->found.reason, cases[i].reason))
			fail_msg("\"%s\": %s, %s", cases[i].reason,
				wp_survival_name(disk->found.verdict), disk->found.reason);
		assert_true(isnan(disk->found.p_upper_95));
		close_disk(disk);
		free(disk);
	}
}

static void a_device_that_went_away_is_a_cut(void **state)
{
	static const int lost[] = { EIO, EROFS, ENXIO, ENODEV, EINVAL, EREMOTEIO };

	(void)state;
	for (size_t i = 0; i < WP_COUNT(lost); i++) {
		struct disk *disk = wp_xcalloc(1, sizeof(*disk));

		open_disk(disk);
		no_silence(disk);
		disk->run->failed_errno = lost[i];
		judge(disk);
		assert_int_equal(disk->found.verdict, WP_SURVIVAL_NO_LOSS);
		close_disk(disk);
		free(disk);
	}
}

static void the_bound_falls_with_the_number_of_cuts(void **state)
{
	struct disk *disk = wp_xcalloc(1, sizeof(*disk));
	struct wp_cycle_result results[4] = { { .cycle = 11, .verdict = WP_SURVIVAL_NO_LOSS },
		{ .cycle = 12, .verdict = WP_SURVIVAL_CANNOT_TELL },
		{ .cycle = 13, .verdict = WP_SURVIVAL_NO_LOSS },
		{ .cycle = 1, .verdict = WP_SURVIVAL_NO_LOSS } };

	(void)state;
	open_disk(disk);
	disk->run->results = results;
	disk->run->result_count = WP_COUNT(results);
	judge(disk);
	assert_int_equal(disk->found.cuts, 3);
	assert_true(fabs(disk->found.p_upper_95 - 0.6316) < 0.0001);
	disk->run->results = NULL;
	close_disk(disk);
	free(disk);
	assert_true(fabs(wp_upper_bound_95(59) - 0.0495) < 0.0001);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_fault_is_named_and_counted),
		cmocka_unit_test(what_is_in_flight_is_counted_apart),
		cmocka_unit_test(what_one_sync_covers_may_survive_in_any_part),
		cmocka_unit_test(no_verdict_where_nothing_was_shown),
		cmocka_unit_test(a_device_that_went_away_is_a_cut),
		cmocka_unit_test(the_bound_falls_with_the_number_of_cuts),
	};

	return cmocka_run_group_tests_name("classify", tests, NULL, NULL);
}
