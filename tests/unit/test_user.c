/* SPDX-License-Identifier: PostgreSQL */
#include "fake_os.h"
#include "harness.h"
#include "walprobe/mem.h"
#include "walprobe/proc.h"
#include "walprobe/registry.h"
#include "walprobe/server_process.h"

#include <unistd.h>

/* Somebody whom a closed directory keeps out: nobody when we are root, else ourselves. */
static struct wp_user outsider(void)
{
	struct wp_user user = { .name = NULL };

	if (wp_user_find(wp_os_linux(), geteuid() == 0 ? "nobody" : NULL, &user, NULL) != 0)
		skip();
	return user;
}

static char *make_below(const char *directory, const char *name, unsigned mode)
{
	char *path = wp_xasprintf("%s/%s", directory, name);

	assert_int_equal(wp_os_mkdir(wp_os_linux(), path, 0777), 0);
	assert_int_equal(wp_os_chmod(wp_os_linux(), path, mode), 0);
	return path;
}

static void the_first_directory_in_the_way_is_named(void **state)
{
	const char *scratch = scratch_dir();
	struct wp_user user = outsider();
	struct wp_err err = { 0 };
	char *open;
	char *closed;
	char *inner;

	(void)state;
	assert_int_equal(wp_os_chmod(wp_os_linux(), scratch, 0755), 0);
	open = make_below(scratch, "open", 0755);
	closed = make_below(open, "closed", 0755);
	inner = make_below(closed, "inner", 0755);
	assert_int_equal(wp_user_reach(&user, inner, R_OK | X_OK, &err), 0);
	assert_int_equal(wp_os_chmod(wp_os_linux(), closed, 0), 0);
	assert_int_equal(wp_user_reach(&user, inner, X_OK, &err), -WP_E_SYS);
	assert_int_equal(err.sys_errno, EACCES);
	assert_non_null(strstr(err.message, " cannot enter \""));
	assert_non_null(strstr(err.message, "/open/closed\", which leads to "));
	assert_non_null(strstr(err.hint, "/open/closed"));
	assert_int_equal(wp_user_reach(&user, open, X_OK, &err), 0);
	assert_int_equal(wp_os_chmod(wp_os_linux(), closed, 0755), 0);
	free(inner);
	free(closed);
	free(open);
	wp_user_release(&user);
	scratch_dir_remove(scratch);
}

static void a_path_that_is_missing_says_so(void **state)
{
	struct wp_user user = outsider();
	struct wp_err err = { 0 };

	(void)state;
	assert_int_equal(wp_user_reach(&user, "/nowhere/at/all", X_OK, &err), -WP_E_SYS);
	assert_int_equal(err.sys_errno, ENOENT);
	assert_non_null(strstr(err.message, "\"/nowhere\""));
	wp_user_release(&user);
}

static void root_names_another_and_only_root_may(void **state)
{
	struct wp_user user = { .name = NULL };
	struct wp_err err = { 0 };
	struct fake_os fake;

	(void)state;
	fake_os_init(&fake);
	fake.euid = 65534;
	if (wp_user_find(&fake.os, NULL, &user, &err) == 0) {
		assert_false(user.is_other);
		assert_int_equal(user.uid, 65534);
		assert_int_equal(
			wp_user_find(&fake.os, "somebodyelse", &user, &err), -WP_E_UNSUPPORTED);
		assert_non_null(strstr(err.message, "only root"));
		wp_user_release(&user);
	}
	fake.euid = 54321;
	assert_int_equal(wp_user_find(&fake.os, NULL, &user, &err), -WP_E_UNSUPPORTED);
	assert_string_equal(err.message, "user id 54321 has no name");
	if (geteuid() == 0) {
		assert_int_equal(wp_user_find(wp_os_linux(), "root", &user, &err), -WP_E_USAGE);
		assert_int_equal(
			wp_user_find(wp_os_linux(), "nosuchuser", &user, &err), -WP_E_UNSUPPORTED);
		assert_non_null(strstr(err.message, "does not exist"));
		assert_non_null(strstr(err.hint, "--run-as"));
	}
}

static void a_program_runs_as_the_user_in_its_directory_without_our_settings(void **state)
{
	const char *const argv[] = { "sh", "-c",
		"id -u; id -G; pwd; echo \"$PGHOST$PGOPTIONS$LD_PRELOAD|$TZ|$LC_ALL\"", NULL };
	struct wp_user user = outsider();
	const struct wp_proc_options options = {
		.limit_ns = 60 * WP_NS_PER_S, .user = &user, .directory = "/usr", .is_clean = true
	};
	struct wp_proc_output output = { 0 };
	char expected[64];

	(void)state;
	assert_int_equal(setenv("PGHOST", "elsewhere", 1), 0);
	assert_int_equal(wp_proc_run(wp_os_linux(), argv, &options, &output, NULL), 0);
	(void)snprintf(expected, sizeof(expected), "%u\n", user.uid);
	assert_int_equal(strncmp(output.out, expected, strlen(expected)), 0);
	if (user.is_other)
		assert_null(strstr(output.out, "\n0\n"));
	assert_non_null(strstr(output.out, "\n/usr\n|UTC|C\n"));
	wp_proc_output_release(&output);
	wp_user_release(&user);
	assert_int_equal(unsetenv("PGHOST"), 0);
}

static void a_directory_of_ours_lets_the_group_through_and_no_other_one(void **state)
{
	const char *scratch = scratch_dir();
	const struct wp_os *os = wp_os_linux();
	struct wp_registry *registry = wp_registry_new(os);
	struct wp_err err = { 0 };
	struct stat info;
	char *path = NULL;
	char *inner;

	(void)state;
	assert_int_equal(wp_workdir_create(registry, scratch, &path, NULL, NULL), 0);
	inner = make_below(path, "inner", 0700);
	assert_int_equal(wp_workdir_share(os, inner, getegid(), &err), 0);
	assert_int_equal(wp_os_stat(os, path, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0710);
	assert_int_equal(wp_os_stat(os, inner, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0710);
	assert_int_equal(wp_os_stat(os, scratch, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0700);
	assert_int_equal(wp_workdir_share(os, scratch, getegid(), &err), -WP_E_SYS);
	assert_non_null(strstr(err.message, "is in no directory of this run"));
	assert_int_equal(wp_registry_undo_all(registry, NULL), 0);
	free(inner);
	free(path);
	wp_registry_free(registry);
	scratch_dir_remove(scratch);
}

static void where_no_server_is_there_is_nothing_to_stop(void **state)
{
	const char *scratch = scratch_dir();
	struct fake_os fake;

	(void)state;
	fake_os_init(&fake);
	assert_int_equal(wp_server_stop(&fake.os, scratch, true), 0);
	fake_os_arm(&fake, "list", 1, EACCES);
	assert_int_equal(wp_server_undo(&fake.os, scratch, NULL), -EACCES);
	scratch_dir_remove(scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_directory_in_the_way_is_named),
		cmocka_unit_test(a_path_that_is_missing_says_so),
		cmocka_unit_test(root_names_another_and_only_root_may),
		cmocka_unit_test(a_program_runs_as_the_user_in_its_directory_without_our_settings),
		cmocka_unit_test(a_directory_of_ours_lets_the_group_through_and_no_other_one),
		cmocka_unit_test(where_no_server_is_there_is_nothing_to_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
