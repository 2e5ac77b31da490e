/* SPDX-License-Identifier: PostgreSQL */
#include "fake_os.h"
#include "harness.h"
#include "walprobe/mem.h"
#include "walprobe/registry.h"

#include <unistd.h>

static void put_file(const char *directory, const char *name)
{
	char *path = wp_xasprintf("%s/%s", directory, name);
	int fd = wp_os_open(wp_os_linux(), path, O_WRONLY | O_CREAT | O_EXCL, 0600);

	assert_true(fd >= 0);
	assert_int_equal(wp_os_close(wp_os_linux(), fd), 0);
	free(path);
}

static char *put_directory(const char *directory, const char *name)
{
	char *path = wp_xasprintf("%s/%s", directory, name);

	assert_int_equal(wp_os_mkdir(wp_os_linux(), path, 0700), 0);
	return path;
}

static void a_private_directory_carries_a_marker(void **state)
{
	const char *scratch = scratch_dir();
	struct wp_registry *registry = wp_registry_new(wp_os_linux());
	struct stat info;
	char *path = NULL;
	char *marker;
	char *text;
	char *ours;
	int sys_errno;

	(void)state;
	assert_int_equal(wp_workdir_create(registry, scratch, &path, NULL, NULL), 0);
	assert_int_equal(path[0], '/');
	assert_non_null(strstr(path, "/walprobe-"));
	assert_int_equal(wp_os_stat(wp_os_linux(), path, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0700);
	marker = wp_xasprintf("%s/%s", path, WP_MARKER_NAME);
	text = wp_os_read_text(wp_os_linux(), marker, 1000, &sys_errno);
	ours = wp_marker_text(wp_os_linux(), &sys_errno);
	assert_non_null(text);
	ours[strlen(ours) - 1] = '\0';
	assert_string_equal(text, ours);
	assert_non_null(strstr(text, "version " WP_VERSION "\npid "));
	assert_non_null(strstr(text, "\nboot "));
	assert_int_equal(wp_registry_undo_all(registry, NULL), 0);
	assert_int_equal(scratch_dir_count(scratch), 0);
	free(ours);
	free(text);
	free(marker);
	free(path);
	wp_registry_free(registry);
	scratch_dir_remove(scratch);
}

static void a_relative_parent_gives_an_absolute_path(void **state)
{
	struct wp_registry *registry = wp_registry_new(wp_os_linux());
	const char *scratch = scratch_dir();
	char *dotted = wp_xasprintf("%s/./", scratch);
	char *path = NULL;

	(void)state;
	assert_int_equal(wp_workdir_create(registry, dotted, &path, NULL, NULL), 0);
	assert_null(strstr(path, "/./"));
	assert_int_equal(wp_registry_undo_all(registry, NULL), 0);
	free(path);
	free(dotted);
	wp_registry_free(registry);
	scratch_dir_remove(scratch);
}

/* Returns true while a call failed and the creation with it. */
static bool create_with_call_failing(const char *scratch, int64_t n)
{
	struct fake_os fake;
	struct wp_registry *registry;
	struct wp_err err = { 0 };
	char *path = NULL;
	bool has_failed;
	int rc;

	fake_os_init(&fake);
	fake_os_arm(&fake, NULL, n, EIO);
	registry = wp_registry_new(&fake.os);
	rc = wp_workdir_create(registry, scratch, &path, NULL, &err);
	has_failed = atomic_load(&fake.failures) > 0;
	if (rc) {
		assert_non_null(strstr(err.message, "Input/output error"));
		assert_true(strstr(err.message, scratch) || strstr(err.message, "/proc"));
		assert_null(path);
		assert_int_equal(scratch_dir_count(scratch), 0);
	}
	assert_int_equal(wp_registry_undo_all(registry, NULL), 0);
	assert_int_equal(scratch_dir_count(scratch), 0);
	assert_int_equal(atomic_load(&fake.open_count), 0);
	free(path);
	wp_registry_free(registry);
	return has_failed;
}

static void whichever_call_fails_nothing_is_left(void **state)
{
	const char *scratch = scratch_dir();
	int64_t n = 1;

	(void)state;
	while (create_with_call_failing(scratch, n))
		n++;
	assert_true(n > 12);
	scratch_dir_remove(scratch);
}

static void a_failed_sync_of_the_marker_is_told(void **state)
{
	const char *scratch = scratch_dir();
	struct wp_registry *registry;
	struct wp_err err = { 0 };
	struct fake_os fake;
	char *path = NULL;

	(void)state;
	fake_os_init(&fake);
	fake_os_arm(&fake, "fsync", 1, ENOSPC);
	registry = wp_registry_new(&fake.os);
	assert_int_equal(wp_workdir_create(registry, scratch, &path, NULL, &err), -WP_E_NOSPACE);
	assert_non_null(strstr(err.message, WP_MARKER_NAME));
	assert_int_equal(scratch_dir_count(scratch), 0);
	wp_registry_free(registry);
	scratch_dir_remove(scratch);
}

static void a_tree_is_removed_and_links_are_not_followed(void **state)
{
	char *scratch = wp_xstrdup(scratch_dir());
	char *precious = put_directory(scratch, "precious");
	char *tree = put_directory(scratch, "tree");
	char *deep = put_directory(tree, "deep");
	char *link_path = wp_xasprintf("%s/link", deep);

	(void)state;
	put_file(precious, "file");
	put_file(deep, "000000010000000000000001");
	put_file(tree, ".hidden");
	assert_int_equal(symlink(precious, link_path), 0);
	assert_int_equal(wp_remove_tree(wp_os_linux(), tree), 0);
	assert_int_equal(scratch_dir_count(precious), 1);
	assert_int_equal(scratch_dir_count(scratch), 1);
	assert_int_equal(wp_remove_tree(wp_os_linux(), tree), 0);
	free(link_path);
	free(deep);
	free(tree);
	free(precious);
	scratch_dir_remove(scratch);
	free(scratch);
}

static void a_link_in_place_of_the_tree_is_refused(void **state)
{
	char *scratch = wp_xstrdup(scratch_dir());
	char *precious = put_directory(scratch, "precious");
	char *link_path = wp_xasprintf("%s/link", scratch);

	(void)state;
	put_file(precious, "file");
	assert_int_equal(symlink(precious, link_path), 0);
	assert_true(wp_remove_tree(wp_os_linux(), link_path) < 0);
	assert_int_equal(scratch_dir_count(precious), 1);
	free(link_path);
	free(precious);
	scratch_dir_remove(scratch);
	free(scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_private_directory_carries_a_marker),
		cmocka_unit_test(a_relative_parent_gives_an_absolute_path),
		cmocka_unit_test(whichever_call_fails_nothing_is_left),
		cmocka_unit_test(a_failed_sync_of_the_marker_is_told),
		cmocka_unit_test(a_tree_is_removed_and_links_are_not_followed),
		cmocka_unit_test(a_link_in_place_of_the_tree_is_refused),
	};

	return cmocka_run_group_tests_name("workdir", tests, NULL, NULL);
}
