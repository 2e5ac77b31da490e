/* SPDX-License-Identifier: PostgreSQL */
#include "fake_os.h"
#include "harness.h"
#include "walprobe/mem.h"
#include "walprobe/stop.h"
#include "walprobe/target.h"

#include <unistd.h>

/* everything that one test needs */
struct fixture {
	struct fake_os fake;
	struct wp_registry *registry;
	struct wp_target_options options;
	struct wp_target_specs specs;
	struct wp_target target;
	struct wp_err err;
	char *scratch;
};

static int set_up(void **state)
{
	struct fixture *f = wp_xcalloc(1, sizeof(*f));

	fake_os_init(&f->fake);
	f->registry = wp_registry_new(&f->fake.os);
	f->options.needed_bytes = 1 << 20;
	f->options.reserve_bytes = -1;
	f->scratch = wp_xstrdup(scratch_dir());
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	fake_os_arm(&f->fake, NULL, 0, 0);
	wp_target_release(&f->target);
	wp_targets_release(&f->specs);
	assert_int_equal(wp_registry_undo_all(f->registry, NULL), 0);
	wp_registry_free(f->registry);
	assert_int_equal(atomic_load(&f->fake.open_count), 0);
	scratch_dir_remove(f->scratch);
	free(f->scratch);
	free(f);
	return 0;
}

static int open_word(struct fixture *f, const char *word)
{
	wp_target_release(&f->target);
	wp_targets_release(&f->specs);
	memset(&f->err, 0, sizeof(f->err));
	assert_int_equal(wp_targets_parse(&word, 1, &f->specs, NULL), 0);
	return wp_target_open(
		&f->fake.os, f->registry, &f->specs.items[0], &f->options, &f->target, &f->err);
}

/* Below the scratch directory; name may hold slashes. A trailing slash makes a directory. */
static void put(struct fixture *f, const char *name)
{
	char *path = wp_xasprintf("%s/%s", f->scratch, name);
	size_t length = strlen(path);

	if (path[length - 1] == '/') {
		assert_int_equal(wp_os_mkdir(f->fake.real, path, 0700), 0);
	} else {
		int fd = wp_os_open(f->fake.real, path, O_WRONLY | O_CREAT | O_EXCL, 0600);

		assert_true(fd >= 0);
		assert_int_equal(wp_os_close(f->fake.real, fd), 0);
	}
	free(path);
}

static int open_below(struct fixture *f, const char *name)
{
	char *path = wp_xasprintf("%s/%s", f->scratch, name);
	int rc = open_word(f, path);

	free(path);
	return rc;
}

/* The private directory was made in this directory below scratch. */
static void assert_made_in(struct fixture *f, const char *name)
{
	char *want = wp_xasprintf("%s%s%s/walprobe-", f->scratch, *name ? "/" : "", name);

	assert_non_null(f->target.dir);
	assert_int_equal(strncmp(f->target.dir, want, strlen(want)), 0);
	assert_null(strchr(f->target.dir + strlen(want), '/'));
	free(want);
}

static void a_directory_gets_a_private_one_inside(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(open_word(f, f->scratch), 0);
	assert_true(f->target.is_open);
	assert_string_equal(f->target.place, f->scratch);
	assert_string_equal(f->target.label, f->scratch);
	assert_made_in(f, "");
	assert_int_equal(wp_registry_undo_all(f->registry, NULL), 0);
	assert_int_equal(scratch_dir_count(f->scratch), 0);
}

static void inspection_writes_nothing(void **state)
{
	struct fixture *f = *state;

	f->options.for_inspection = true;
	assert_int_equal(open_word(f, f->scratch), 0);
	assert_string_equal(f->target.dir, f->scratch);
	assert_int_equal(scratch_dir_count(f->scratch), 0);
}

static void places_that_cannot_be_used_are_refused_with_the_reason(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(open_word(f, "/nonexistent/wal"), -WP_E_SYS);
	assert_string_equal(f->err.message,
		"could not find directory \"/nonexistent/wal\": No such file or directory");
	assert_int_equal(open_word(f, "slow=/nonexistent"), -WP_E_SYS);
	assert_string_equal(f->err.message, "target \"slow\": could not find directory "
					    "\"/nonexistent\": No such file or directory");
	put(f, "file");
	assert_int_equal(open_below(f, "file"), -WP_E_SYS);
	assert_non_null(strstr(f->err.message, "/file\" as a directory: Not a directory"));
	assert_false(f->target.is_open);
	assert_null(f->target.dir);
}

static void missing_permission_names_the_user(void **state)
{
	struct fixture *f = *state;

	f->fake.euid = 1234;
	fake_os_arm(&f->fake, "access", 1, EACCES);
	assert_int_equal(open_word(f, f->scratch), -WP_E_SYS);
	assert_non_null(strstr(f->err.message, "as user id 1234: Permission denied"));
	assert_non_null(strstr(f->err.hint, "sudo -u postgres"));
}

static void a_read_only_file_system_is_named(void **state)
{
	struct fixture *f = *state;

	fake_os_arm(&f->fake, "access", 1, EROFS);
	assert_int_equal(open_word(f, f->scratch), -WP_E_SYS);
	assert_non_null(strstr(f->err.message, "Read-only file system"));
	assert_non_null(strstr(f->err.hint, "mounted read-only"));
}

static void too_little_space_tells_the_bytes(void **state)
{
	struct fixture *f = *state;

	f->options.needed_bytes = INT64_C(1) << 60;
	assert_int_equal(open_word(f, f->scratch), -WP_E_NOSPACE);
	assert_non_null(strstr(f->err.message, "No space left on device"));
	assert_non_null(strstr(f->err.detail, "1152921504606846976 bytes"));
	assert_non_null(strstr(f->err.detail, "are free"));
	f->options.needed_bytes = 1;
	f->options.reserve_bytes = INT64_C(1) << 60;
	assert_int_equal(open_word(f, f->scratch), -WP_E_NOSPACE);
	assert_int_equal(scratch_dir_count(f->scratch), 0);
}

static void a_pg_wal_is_refused_and_measured_beside_with_force(void **state)
{
	struct fixture *f = *state;

	put(f, "wal/");
	put(f, "wal/00000001000000000000000A");
	assert_int_equal(open_below(f, "wal"), -WP_E_UNSUPPORTED);
	assert_non_null(strstr(f->err.message, "/wal\" is a pg_wal"));
	assert_non_null(strstr(f->err.hint, "--force"));
	assert_int_equal(scratch_dir_count(f->scratch), 1);
	f->options.is_forced = true;
	assert_int_equal(open_below(f, "wal"), 0);
	assert_made_in(f, "");
}

static void a_data_directory_and_all_in_it_is_left_for_the_one_above(void **state)
{
	static const char *const names[] = { "data", "data/pg_wal", "data/base", "data/base/5" };
	struct fixture *f = *state;

	put(f, "data/");
	put(f, "data/PG_VERSION");
	put(f, "data/pg_wal/");
	put(f, "data/pg_wal/000000010000000000000001");
	put(f, "data/base/");
	put(f, "data/base/5/");
	put(f, "data/base/5/PG_VERSION");
	for (size_t i = 0; i < WP_COUNT(names); i++) {
		f->options.is_forced = false;
		assert_int_equal(open_below(f, names[i]), -WP_E_UNSUPPORTED);
		f->options.is_forced = true;
		assert_int_equal(open_below(f, names[i]), 0);
		assert_made_in(f, "");
	}
	f->options.is_forced = false;
	assert_int_equal(open_word(f, f->scratch), 0);
}

static void a_running_server_s_directory_is_known_by_its_pid_file(void **state)
{
	struct fixture *f = *state;

	put(f, "data/");
	put(f, "data/postmaster.pid");
	assert_int_equal(open_below(f, "data"), -WP_E_UNSUPPORTED);
	assert_non_null(strstr(f->err.message, "is a PostgreSQL data directory"));
}

static void a_link_to_a_pg_wal_is_followed(void **state)
{
	struct fixture *f = *state;
	char *to = wp_xasprintf("%s/mount/wal", f->scratch);
	char *link_path = wp_xasprintf("%s/link", f->scratch);

	put(f, "mount/");
	put(f, "mount/wal/");
	put(f, "mount/wal/000000010000000000000001");
	assert_int_equal(symlink(to, link_path), 0);
	assert_int_equal(open_below(f, "link"), -WP_E_UNSUPPORTED);
	f->options.is_forced = true;
	assert_int_equal(open_below(f, "link"), 0);
	assert_made_in(f, "mount");
	free(link_path);
	free(to);
}

static void a_directory_that_holds_a_pg_wal_is_beside_it(void **state)
{
	struct fixture *f = *state;

	put(f, "mount/");
	put(f, "mount/pg_wal/");
	assert_int_equal(open_below(f, "mount"), 0);
	put(f, "mount/pg_wal/000000010000000000000001");
	assert_int_equal(open_below(f, "mount"), -WP_E_UNSUPPORTED);
	assert_non_null(strstr(f->err.message, "holds a pg_wal"));
	f->options.is_forced = true;
	assert_int_equal(open_below(f, "mount"), 0);
	assert_made_in(f, "mount");
}

static void names_that_only_look_like_segments_are_no_pg_wal(void **state)
{
	struct fixture *f = *state;

	put(f, "00000001000000000000000a");
	put(f, "0000000100000000000000");
	put(f, "000000010000000000000001.partial");
	assert_int_equal(open_word(f, f->scratch), 0);
}

static void images_are_for_root(void **state)
{
	struct fixture *f = *state;

	f->fake.euid = 1234;
	assert_int_equal(open_word(f, "image:ext4"), -WP_E_UNSUPPORTED);
	assert_non_null(strstr(f->err.message, "target \"ext4\": "));
	assert_non_null(strstr(f->err.message, "user id 1234"));
	assert_non_null(strstr(f->err.hint, "name a directory"));
}

static void a_file_system_that_the_kernel_lacks_is_absent(void **state)
{
	struct fixture *f = *state;

	f->fake.euid = 0;
	fake_os_arm(&f->fake, "has_filesystem", 1, ENODEV);
	assert_int_equal(open_word(f, "image:jfs"), 0);
	assert_false(f->target.is_open);
	assert_string_equal(f->target.absent, "this kernel lacks jfs (module jfs)");
}

static void a_file_system_without_its_mkfs_is_absent(void **state)
{
	struct fixture *f = *state;

	f->fake.euid = 0;
	fake_os_arm(&f->fake, "access", 1, EACCES);
	f->fake.is_sticky = true;
	assert_int_equal(open_word(f, "image:ext4"), 0);
	assert_string_equal(
		f->target.absent, "program \"mkfs.ext4\" not found (Debian package e2fsprogs)");
}

static void too_small_a_file_system_below_an_image_is_told_before_anything_is_made(void **state)
{
	struct fixture *f = *state;
	char *word = wp_xasprintf("image:ext4:size=16TB:on=%s", f->scratch);

	f->options.reserve_bytes = INT64_C(1) << 60;
	f->fake.euid = 0;
	assert_int_equal(open_word(f, word), -WP_E_NOSPACE);
	assert_non_null(strstr(f->err.detail, "17592186044416 bytes"));
	assert_int_equal(scratch_dir_count(f->scratch), 0);
	free(word);
}

static void nothing_is_begun_after_a_stop_request(void **state)
{
	struct fixture *f = *state;

	wp_stop_raise(15);
	assert_int_equal(open_word(f, f->scratch), -WP_E_STOPPED);
	wp_stop_reset();
	assert_int_equal(scratch_dir_count(f->scratch), 0);
}

/* Call 1 fails, then 2, ... until none did: each time one message, and nothing is left. */
static void fail_each_call(struct fixture *f, const char *word, int64_t least_calls)
{
	int64_t n = 0;
	bool has_failed = true;

	while (has_failed) {
		int rc;

		fake_os_arm(&f->fake, NULL, ++n, EIO);
		rc = open_word(f, word);
		has_failed = atomic_load(&f->fake.failures) > 0;
		if (rc) {
			assert_non_null(strstr(f->err.message, "Input/output error"));
			assert_int_equal(atomic_load(&f->fake.open_count), 0);
			assert_int_equal(scratch_dir_count(f->scratch), 0);
		}
		fake_os_arm(&f->fake, NULL, 0, 0);
		assert_int_equal(wp_registry_undo_all(f->registry, NULL), 0);
		assert_int_equal(atomic_load(&f->fake.open_count), 0);
		assert_int_equal(scratch_dir_count(f->scratch), 0);
	}
	assert_true(n > least_calls);
}

static void whichever_call_fails_nothing_is_left(void **state)
{
	struct fixture *f = *state;

	fail_each_call(f, f->scratch, 20);
}

/* Needs loop devices and mounts: tests/integration/image_faults.sh asks for it. */
static void whichever_call_fails_on_the_way_to_an_image_nothing_is_left(void **state)
{
	struct fixture *f = *state;
	char *word;

	if (!getenv("WALPROBE_TEST_IMAGES"))
		skip();
	word = wp_xasprintf("image:ext2:size=16MB:on=%s", f->scratch);
	fail_each_call(f, word, 80);
	free(word);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_directory_gets_a_private_one_inside),
		TEST(inspection_writes_nothing),
		TEST(places_that_cannot_be_used_are_refused_with_the_reason),
		TEST(missing_permission_names_the_user),
		TEST(a_read_only_file_system_is_named),
		TEST(too_little_space_tells_the_bytes),
		TEST(a_pg_wal_is_refused_and_measured_beside_with_force),
		TEST(a_data_directory_and_all_in_it_is_left_for_the_one_above),
		TEST(a_running_server_s_directory_is_known_by_its_pid_file),
		TEST(a_link_to_a_pg_wal_is_followed),
		TEST(a_directory_that_holds_a_pg_wal_is_beside_it),
		TEST(names_that_only_look_like_segments_are_no_pg_wal),
		TEST(images_are_for_root),
		TEST(a_file_system_that_the_kernel_lacks_is_absent),
		TEST(a_file_system_without_its_mkfs_is_absent),
		TEST(too_small_a_file_system_below_an_image_is_told_before_anything_is_made),
		TEST(nothing_is_begun_after_a_stop_request),
		TEST(whichever_call_fails_nothing_is_left),
		TEST(whichever_call_fails_on_the_way_to_an_image_nothing_is_left),
	};

	return cmocka_run_group_tests_name("target", tests, NULL, NULL);
}
