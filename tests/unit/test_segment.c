/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"
#include "fake_os.h"
#include "walprobe/mem.h"
#include "walprobe/segment.h"
#include "watch_os.h"

#define MB (INT64_C(1) << 20)

static struct watch_os watch;
static const char *dir;

static int make_dir(void **state)
{
	(void)state;
	watch_os_init(&watch);
	dir = scratch_dir();
	return 0;
}

static int remove_dir(void **state)
{
	(void)state;
	scratch_dir_remove(dir);
	watch_os_release(&watch);
	return 0;
}

static struct wp_segments segments_of(const struct wp_os *os, const char *era)
{
	const struct wp_era *found = wp_era_find(era);
	struct wp_segments segments = { .os = os,
		.dir = dir,
		.era = found,
		.segment_bytes = MB,
		.ahead = 4,
		.is_link = found->is_link };

	return segments;
}

/* The directory's own name changes from run to run: DIR stands for it. */
static void assert_calls(const char *wanted)
{
	const char *name = strrchr(dir, '/') + 1;
	char *seen = wp_xstrdup(watch.calls);
	char *found;

	while ((found = strstr(seen, name)) != NULL) {
		memcpy(found, "DIR", 3);
		memmove(found + 3, found + strlen(name), strlen(found + strlen(name)) + 1);
	}
	assert_string_equal(seen, wanted);
	free(seen);
}

static void names_are_timeline_and_number_in_hexadecimal(void **state)
{
	char name[WP_SEGMENT_NAME_BYTES];

	(void)state;
	assert_string_equal(wp_segment_name(name, 1, 1, 16 * MB), "000000010000000000000001");
	assert_string_equal(wp_segment_name(name, 1, 255, 16 * MB), "0000000100000000000000FF");
	assert_string_equal(wp_segment_name(name, 1, 256, 16 * MB), "000000010000000100000000");
	assert_string_equal(wp_segment_name(name, 0xab, 4095, MB), "000000AB0000000000000FFF");
	assert_string_equal(wp_segment_name(name, 1, 4, 1024 * MB), "000000010000000100000000");
}

#define INSTALL_15                                                                                 \
	"fsync\nclose\n"                                                                           \
	"stat 000000010000000000000003 ENOENT\n"                                                   \
	"open xlogtemp.7 rw ok\nfsync\nclose\n"                                                    \
	"open 000000010000000000000003 rw ENOENT\n"                                                \
	"rename xlogtemp.7 000000010000000000000003\n"                                             \
	"open 000000010000000000000003 rw ok\nfsync\nclose\n"                                      \
	"open DIR ro ok\nfsync\nclose\n"

#define BEGIN(flags)                                                                               \
	"open 000000010000000000000003 rw" flags " ENOENT\n"                                       \
	"unlink xlogtemp.7 ENOENT\n"                                                               \
	"open xlogtemp.7 rw+creat+excl ok\n"

static void create(struct wp_segments *segments, int flags)
{
	int fd = -1;

	assert_int_equal(wp_segment_open(segments, 7, 3, flags, &fd, NULL), 0);
	atomic_store(&watch.is_recording, false);
	assert_int_equal(wp_os_close(&watch.os, fd), 0);
	assert_int_equal(atomic_load(&segments->created), 1);
}

static void version_15_fills_by_vectors_of_256_kb_and_renames(void **state)
{
	struct wp_segments segments = segments_of(&watch.os, "15");

	(void)state;
	create(&segments, O_DSYNC);
	assert_calls(BEGIN("+dsync") "pwritev 32x8192 at 0\n"
				     "pwritev 32x8192 at 262144\n"
				     "pwritev 32x8192 at 524288\n"
				     "pwritev 32x8192 at 786432\n" INSTALL_15
				     "open 000000010000000000000003 rw+dsync ok\n");
	assert_int_equal(atomic_load(&segments.fsyncs), 4);
	assert_int_equal(atomic_load(&segments.filled_bytes), MB);
}

static void version_18_fills_by_vectors_of_1_mb(void **state)
{
	struct wp_segments segments = segments_of(&watch.os, "18");

	(void)state;
	create(&segments, 0);
	assert_calls(BEGIN("") "pwritev 128x8192 at 0\n" INSTALL_15
			       "open 000000010000000000000003 rw ok\n");
}

static void sparse_segments_get_one_byte_at_their_end(void **state)
{
	struct wp_segments segments = segments_of(&watch.os, "15");
	struct stat info;
	char *path = wp_xasprintf("%s/000000010000000000000003", dir);

	(void)state;
	segments.is_sparse = true;
	create(&segments, O_SYNC);
	assert_calls(BEGIN("+sync") "pwrite 1 at 1048575\n" INSTALL_15
				    "open 000000010000000000000003 rw+sync ok\n");
	assert_int_equal(wp_os_stat(wp_os_linux(), path, &info), 0);
	assert_int_equal(info.st_size, MB);
	free(path);
}

/* The 128 page writes of the older eras, then what follows. */
static void assert_page_fill(const char *after)
{
	char *wanted = wp_xstrdup(BEGIN(""));

	for (int64_t offset = 0; offset < MB; offset += 8192) {
		char *longer = wp_xasprintf("%spwrite 8192 at %" PRId64 "\n", wanted, offset);

		free(wanted);
		wanted = longer;
	}
	wanted = wp_xreallocarray(wanted, strlen(wanted) + strlen(after) + 1, 1);
	memcpy(wanted + strlen(wanted), after, strlen(after) + 1);
	assert_calls(wanted);
	free(wanted);
}

static void version_12_fills_page_by_page_and_links(void **state)
{
	struct wp_segments segments = segments_of(&watch.os, "12");

	(void)state;
	create(&segments, 0);
	assert_page_fill("fsync\nclose\n"
			 "stat 000000010000000000000003 ENOENT\n"
			 "open xlogtemp.7 rw ok\nfsync\nclose\n"
			 "link xlogtemp.7 000000010000000000000003\n"
			 "unlink xlogtemp.7 ok\n"
			 "open 000000010000000000000003 rw ok\nfsync\nclose\n"
			 "open DIR ro ok\nfsync\nclose\n"
			 "open 000000010000000000000003 rw ok\n");
}

static void version_7_1_links_without_syncing_names(void **state)
{
	struct wp_segments segments = segments_of(&watch.os, "7.1");

	(void)state;
	create(&segments, 0);
	assert_page_fill("fsync\nclose\n"
			 "stat 000000010000000000000003 ENOENT\n"
			 "link xlogtemp.7 000000010000000000000003\n"
			 "unlink xlogtemp.7 ok\n"
			 "open 000000010000000000000003 rw ok\n");
}

static void make_segments(struct wp_segments *segments, uint64_t first, uint64_t last)
{
	for (uint64_t segno = first; segno <= last; segno++) {
		int fd = -1;

		assert_int_equal(wp_segment_open(segments, 1, segno, 0, &fd, NULL), 0);
		assert_int_equal(wp_os_close(segments->os, fd), 0);
	}
}

static void an_existing_segment_is_only_opened(void **state)
{
	struct wp_segments segments = segments_of(&watch.os, "15");
	int fd = -1;

	(void)state;
	make_segments(&segments, 3, 3);
	watch_os_clear(&watch);
	assert_int_equal(wp_segment_open(&segments, 7, 3, O_DSYNC, &fd, NULL), 0);
	assert_calls("open 000000010000000000000003 rw+dsync ok\n");
	assert_int_equal(wp_os_close(&watch.os, fd), 0);
}

static void recycling_renames_to_the_first_free_number_with_three_syncs(void **state)
{
	struct wp_segments segments = segments_of(&watch.os, "15");
	uint64_t next = 2;

	(void)state;
	make_segments(&segments, 1, 3);
	watch_os_clear(&watch);
	atomic_store(&segments.fsyncs, 0);
	assert_int_equal(wp_segment_retire(&segments, 1, &next, 5, NULL), 0);
	assert_calls("lstat 000000010000000000000001 ok\n"
		     "stat 000000010000000000000002 ok\n"
		     "stat 000000010000000000000003 ok\n"
		     "stat 000000010000000000000004 ENOENT\n"
		     "open 000000010000000000000001 rw ok\nfsync\nclose\n"
		     "open 000000010000000000000004 rw ENOENT\n"
		     "rename 000000010000000000000001 000000010000000000000004\n"
		     "open 000000010000000000000004 rw ok\nfsync\nclose\n"
		     "open DIR ro ok\nfsync\nclose\n"
		     "unlink 000000010000000000000001.done ENOENT\n"
		     "unlink 000000010000000000000001.ready ENOENT\n");
	assert_int_equal(next, 5);
	assert_int_equal(atomic_load(&segments.recycled), 1);
	assert_int_equal(atomic_load(&segments.fsyncs), 3);
}

static void recycling_may_link_and_unlink(void **state)
{
	struct wp_segments segments = segments_of(&watch.os, "15");
	uint64_t next = 1;

	(void)state;
	make_segments(&segments, 1, 1);
	segments.is_link = true;
	watch_os_clear(&watch);
	assert_int_equal(wp_segment_retire(&segments, 1, &next, 5, NULL), 0);
	assert_calls("lstat 000000010000000000000001 ok\n"
		     "stat 000000010000000000000001 ok\n"
		     "stat 000000010000000000000002 ENOENT\n"
		     "open 000000010000000000000001 rw ok\nfsync\nclose\n"
		     "link 000000010000000000000001 000000010000000000000002\n"
		     "unlink 000000010000000000000001 ok\n"
		     "open 000000010000000000000002 rw ok\nfsync\nclose\n"
		     "open DIR ro ok\nfsync\nclose\n"
		     "unlink 000000010000000000000001.done ENOENT\n"
		     "unlink 000000010000000000000001.ready ENOENT\n");
}

static void what_the_ring_does_not_need_is_removed_durably(void **state)
{
	struct wp_segments segments = segments_of(&watch.os, "15");
	uint64_t next = 2;

	(void)state;
	make_segments(&segments, 1, 3);
	watch_os_clear(&watch);
	assert_int_equal(wp_segment_retire(&segments, 1, &next, 3, NULL), 0);
	assert_calls("lstat 000000010000000000000001 ok\n"
		     "stat 000000010000000000000002 ok\n"
		     "stat 000000010000000000000003 ok\n"
		     "unlink 000000010000000000000001 ok\n"
		     "open DIR ro ok\nfsync\nclose\n"
		     "unlink 000000010000000000000001.done ENOENT\n"
		     "unlink 000000010000000000000001.ready ENOENT\n");
	assert_int_equal(atomic_load(&segments.removed), 1);
	assert_int_equal(scratch_dir_count(dir), 2);
}

static void without_hard_links_the_reason_is_unsupported_and_nothing_stays(void **state)
{
	struct wp_segments segments = segments_of(&watch.os, "12");
	struct wp_err err = { 0 };
	int sys_errno = 0;
	int fd = -1;

	(void)state;
	atomic_store(&watch.refuse_link, 1);
	assert_int_equal(wp_segment_open(&segments, 7, 3, 0, &fd, &err), -WP_E_UNSUPPORTED);
	assert_int_equal(err.sys_errno, EPERM);
	assert_non_null(strstr(err.message, "000000010000000000000003"));
	assert_int_equal(wp_segment_can_link(&watch.os, dir, &sys_errno, &err), 0);
	assert_int_equal(sys_errno, EPERM);
	assert_int_equal(scratch_dir_count(dir), 0);
	atomic_store(&watch.refuse_link, 0);
	assert_int_equal(wp_segment_can_link(&watch.os, dir, &sys_errno, &err), 1);
	assert_int_equal(scratch_dir_count(dir), 0);
}

static bool has_temporary(void)
{
	struct wp_names names = { NULL, 0 };
	bool found = false;

	assert_int_equal(wp_os_list(wp_os_linux(), dir, &names), 0);
	for (size_t i = 0; i < names.count; i++)
		found |= strncmp(names.names[i], "xlogtemp", 8) == 0;
	wp_names_release(&names);
	return found;
}

/* Creating and recycling with call n failing; true when nothing failed any more. */
static bool survives(const char *era, int64_t n)
{
	struct wp_segments segments;
	struct fake_os fake;
	struct wp_err err = { 0 };
	uint64_t next = 1;
	int fd = -1;
	int rc;

	fake_os_init(&fake);
	segments = segments_of(&fake.os, era);
	fake_os_arm(&fake, NULL, n, EIO);
	rc = wp_segment_open(&segments, 7, 1, 0, &fd, &err);
	if (!rc)
		rc = wp_os_close(&fake.os, fd) < 0 ? -WP_E_SYS : 0;
	if (!rc)
		rc = wp_segment_retire(&segments, 1, &next, 5, &err);
	assert_int_equal(atomic_load(&fake.open_count), 0);
	assert_false(has_temporary());
	if (rc && strcmp(fake.last_failed, "close") != 0) {
		assert_true(atomic_load(&fake.failures) > 0);
		assert_non_null(strstr(err.message, dir));
		assert_int_equal(err.sys_errno, EIO);
	}
	/* Only clearing the way may fail without anybody minding. */
	if (!rc && atomic_load(&fake.failures) > 0)
		assert_string_equal(fake.last_failed, "unlink");
	scratch_dir_remove(dir);
	assert_int_equal(wp_os_mkdir(wp_os_linux(), dir, 0700), 0);
	return atomic_load(&fake.failures) == 0;
}

static void whichever_call_fails_no_descriptor_and_no_temporary_file_is_left(void **state)
{
	static const char *const eras[] = { "7.1", "12", "15", "18" };

	(void)state;
	for (size_t i = 0; i < WP_COUNT(eras); i++)
		for (int64_t n = 1; !survives(eras[i], n); n++)
			assert_true(n < 400);
}

static void a_short_write_is_completed(void **state)
{
	struct wp_segments segments;
	struct fake_os fake;
	struct stat info;
	char *path = wp_xasprintf("%s/000000010000000000000001", dir);
	int fd = -1;

	(void)state;
	fake_os_init(&fake);
	fake.is_short_write = true;
	segments = segments_of(&fake.os, "12");
	fake_os_arm(&fake, "pwrite", 3, EIO);
	assert_int_equal(wp_segment_open(&segments, 7, 1, 0, &fd, NULL), 0);
	assert_int_equal(wp_os_close(&fake.os, fd), 0);
	assert_int_equal(wp_os_stat(wp_os_linux(), path, &info), 0);
	assert_int_equal(info.st_size, MB);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_timeline_and_number_in_hexadecimal),
#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, make_dir, remove_dir)
		IN_DIR(version_15_fills_by_vectors_of_256_kb_and_renames),
		IN_DIR(version_18_fills_by_vectors_of_1_mb),
		IN_DIR(sparse_segments_get_one_byte_at_their_end),
		IN_DIR(version_12_fills_page_by_page_and_links),
		IN_DIR(version_7_1_links_without_syncing_names),
		IN_DIR(an_existing_segment_is_only_opened),
		IN_DIR(recycling_renames_to_the_first_free_number_with_three_syncs),
		IN_DIR(recycling_may_link_and_unlink),
		IN_DIR(what_the_ring_does_not_need_is_removed_durably),
		IN_DIR(without_hard_links_the_reason_is_unsupported_and_nothing_stays),
		IN_DIR(whichever_call_fails_no_descriptor_and_no_temporary_file_is_left),
		IN_DIR(a_short_write_is_completed),
	};

	return cmocka_run_group_tests_name("segment", tests, NULL, NULL);
}
