/* SPDX-License-Identifier: PostgreSQL */
#include "fake_os.h"
#include "harness.h"
#include "walprobe/mem.h"
#include "walprobe/registry.h"

#include <unistd.h>

/* larger than any pid_max of Linux (2^22) */
#define NO_SUCH_PID 5000000

static char *scratch;

static int make_scratch(void **state)
{
	(void)state;
	scratch = wp_xstrdup(scratch_dir());
	return 0;
}

static int remove_scratch(void **state)
{
	(void)state;
	scratch_dir_remove(scratch);
	free(scratch);
	return 0;
}

static void put_marker(const char *name, const char *text)
{
	const struct wp_os *os = wp_os_linux();
	char *path = wp_xasprintf("%s/%s", scratch, name);
	char *marker = wp_xasprintf("%s/%s", path, WP_MARKER_NAME);
	int fd;

	assert_int_equal(wp_os_mkdir(os, path, 0700), 0);
	if (text) {
		fd = wp_os_open(os, marker, O_WRONLY | O_CREAT | O_EXCL, 0600);
		assert_int_equal(wp_os_write_all(os, fd, text, strlen(text), 0), 0);
		assert_int_equal(wp_os_close(os, fd), 0);
	}
	free(marker);
	free(path);
}

/* Our own marker with the value of one key replaced; the caller frees. */
static char *marker_with(const char *key, const char *value)
{
	int sys_errno;
	char *ours = wp_marker_text(wp_os_linux(), &sys_errno);
	char *line = wp_xasprintf("\n%s ", key);
	char *at = strstr(ours, line);
	char *text;

	assert_non_null(at);
	text = wp_xasprintf(
		"%.*s%s%s%s", (int)(at - ours), ours, line, value, strchr(at + 1, '\n'));
	free(line);
	free(ours);
	return text;
}

static void put_changed(const char *name, const char *key, const char *value)
{
	char *text = marker_with(key, value);

	put_marker(name, text);
	free(text);
}

/* Expect exactly one leftover with this name and reason, or none when name is NULL. */
static void expect(const char *name, const char *reason)
{
	struct wp_leftovers found = { NULL, 0 };

	assert_int_equal(wp_leftovers_find(wp_os_linux(), scratch, &found, NULL), 0);
	assert_int_equal(found.count, name ? 1 : 0);
	if (name) {
		assert_string_equal(strrchr(found.items[0].path, '/') + 1, name);
		assert_string_equal(found.items[0].reason, reason);
	}
	wp_leftovers_release(&found);
}

static void a_directory_of_a_dead_process_is_found_and_removed(void **state)
{
	struct wp_leftovers found = { NULL, 0 };

	(void)state;
	put_changed("walprobe-abc123", "pid", "5000000");
	put_changed("walprobe-def456", "pid", "5000001");
	assert_int_equal(wp_leftovers_find(wp_os_linux(), scratch, &found, NULL), 0);
	assert_int_equal(found.count, 2);
	assert_int_equal(found.items[0].pid, NO_SUCH_PID);
	assert_string_equal(found.items[0].reason, "process 5000000 is gone");
	for (size_t i = 0; i < found.count; i++)
		assert_int_equal(wp_leftover_remove(wp_os_linux(), &found.items[i], NULL), 0);
	assert_int_equal(scratch_dir_count(scratch), 0);
	assert_int_equal(wp_leftover_remove(wp_os_linux(), &found.items[0], NULL), 0);
	wp_leftovers_release(&found);
	wp_leftovers_release(&found);
}

static void a_number_used_again_is_another_process(void **state)
{
	char *reason;

	(void)state;
	put_changed("walprobe-abc123", "start", "1");
	reason = wp_xasprintf("process %d is gone, its number is another's", (int)getpid());
	expect("walprobe-abc123", reason);
	free(reason);
}

static void another_boot_id_means_that_the_process_is_gone(void **state)
{
	(void)state;
	put_changed("walprobe-abc123", "boot", "00000000-0000-0000-0000-000000000000");
	expect("walprobe-abc123", "made before the last boot");
}

static void a_directory_of_a_running_process_is_not_listed(void **state)
{
	struct wp_registry *registry = wp_registry_new(wp_os_linux());
	char *path = NULL;

	(void)state;
	assert_int_equal(wp_workdir_create(registry, scratch, &path, NULL, NULL), 0);
	expect(NULL, NULL);
	assert_int_equal(wp_registry_undo_all(registry, NULL), 0);
	free(path);
	wp_registry_free(registry);
}

static void other_hosts_and_namespaces_cannot_be_judged(void **state)
{
	char *text = marker_with("host", "another.example");
	char *boot = strstr(text, "\nboot ");

	(void)state;
	boot[6] = boot[6] == '0' ? '1' : '0';
	put_marker("walprobe-abc123", text);
	free(text);
	text = marker_with("pids", "1");
	memcpy(strstr(text, "\nstart ") + 7, "0", 1);
	put_marker("walprobe-def456", text);
	free(text);
	expect(NULL, NULL);
}

static void a_name_without_a_marker_is_not_listed(void **state)
{
	(void)state;
	put_marker("walprobe-abc123", NULL);
	expect(NULL, NULL);
}

static void a_marker_under_another_name_is_not_listed(void **state)
{
	(void)state;
	put_changed("precious", "pid", "5000000");
	expect(NULL, NULL);
}

static void damaged_markers_are_not_listed(void **state)
{
	(void)state;
	put_marker("walprobe-000001", "");
	put_marker("walprobe-000002", "version 0.1.0\npid 5000000\n");
	put_marker("walprobe-000003", "version 0.1.0\npid x5000000\nstart 1\n");
	put_marker("walprobe-000004", "version 0.1.0\npid 5000000x\nstart 1\n");
	put_marker("walprobe-000005", "version 0.1.0\npid -1\nstart 1\n");
	put_marker("walprobe-000006", "mypid 5000000\nstart 1\n");
	expect(NULL, NULL);
}

static void a_link_to_a_leftover_is_not_listed(void **state)
{
	char *link_path = wp_xasprintf("%s/walprobe-link", scratch);
	char *to = wp_xasprintf("%s/elsewhere", scratch);

	(void)state;
	put_changed("elsewhere", "pid", "5000000");
	assert_int_equal(symlink(to, link_path), 0);
	expect(NULL, NULL);
	free(to);
	free(link_path);
}

static void links_inside_are_not_followed(void **state)
{
	struct wp_leftovers found = { NULL, 0 };
	char *link_path = wp_xasprintf("%s/walprobe-abc123/link", scratch);
	char *precious = wp_xasprintf("%s/precious", scratch);

	(void)state;
	put_changed("walprobe-abc123", "pid", "5000000");
	put_marker("precious", "kept");
	assert_int_equal(symlink(precious, link_path), 0);
	assert_int_equal(wp_leftovers_find(wp_os_linux(), scratch, &found, NULL), 0);
	assert_int_equal(found.count, 1);
	assert_int_equal(wp_leftover_remove(wp_os_linux(), &found.items[0], NULL), 0);
	assert_int_equal(scratch_dir_count(precious), 1);
	assert_int_equal(scratch_dir_count(scratch), 1);
	wp_leftovers_release(&found);
	free(precious);
	free(link_path);
}

static void a_leftover_can_be_named_itself(void **state)
{
	struct wp_leftovers found = { NULL, 0 };
	char *path = wp_xasprintf("%s/walprobe-abc123/", scratch);

	(void)state;
	put_changed("walprobe-abc123", "pid", "5000000");
	assert_int_equal(wp_leftover_look(wp_os_linux(), scratch, &found, NULL), 0);
	assert_int_equal(found.count, 0);
	assert_int_equal(wp_leftover_look(wp_os_linux(), path, &found, NULL), 0);
	assert_int_equal(found.count, 1);
	wp_leftovers_release(&found);
	free(path);
}

static void a_place_that_cannot_be_read_is_named(void **state)
{
	struct wp_leftovers found = { NULL, 0 };
	struct wp_err err = { 0 };

	(void)state;
	assert_int_equal(wp_leftovers_find(wp_os_linux(), "/nonexistent", &found, &err), -WP_E_SYS);
	assert_non_null(strstr(err.message, "/nonexistent"));
	assert_null(found.items);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_scratch, remove_scratch)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_directory_of_a_dead_process_is_found_and_removed),
		TEST(a_number_used_again_is_another_process),
		TEST(another_boot_id_means_that_the_process_is_gone),
		TEST(a_directory_of_a_running_process_is_not_listed),
		TEST(other_hosts_and_namespaces_cannot_be_judged),
		TEST(a_name_without_a_marker_is_not_listed),
		TEST(a_marker_under_another_name_is_not_listed),
		TEST(damaged_markers_are_not_listed),
		TEST(a_link_to_a_leftover_is_not_listed),
		TEST(links_inside_are_not_followed),
		TEST(a_leftover_can_be_named_itself),
		cmocka_unit_test(a_place_that_cannot_be_read_is_named),
	};

	return cmocka_run_group_tests_name("leftover", tests, NULL, NULL);
}
