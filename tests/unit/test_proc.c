/* SPDX-License-Identifier: PostgreSQL */
#include "fake_os.h"
#include "harness.h"
#include "walprobe/mem.h"
#include "walprobe/proc.h"
#include "walprobe/stop.h"

#include <signal.h>

static int run_shell(const char *script, const struct wp_proc_options *options,
	struct wp_proc_output *output, struct wp_err *err)
{
	const char *const argv[] = { "sh", "-c", script, NULL };

	return wp_proc_run(wp_os_linux(), argv, options, output, err);
}

static const struct wp_proc_options plain = { .limit_ns = 60 * WP_NS_PER_S };

static void a_program_s_words_and_status_come_back(void **state)
{
	struct wp_proc_output output = { 0 };
	struct wp_err err = { 0 };

	(void)state;
	assert_int_equal(
		run_shell("echo to out; echo to err >&2; exit 3", &plain, &output, &err), 0);
	assert_int_equal(output.exit_status, 3);
	assert_int_equal(output.signal, 0);
	assert_string_equal(output.out, "to out\n");
	assert_string_equal(output.errors, "to err\n");
	assert_false(output.is_cut);
	assert_int_equal(wp_proc_check("sh", &output, &err), -WP_E_SYS);
	assert_string_equal(err.message, "program \"sh\" failed with exit status 3");
	assert_string_equal(err.detail, "to err");
	wp_proc_output_release(&output);
	wp_proc_output_release(&output);
}

static void words_are_handed_over_without_a_shell(void **state)
{
	const char *const argv[] = { "printf", "%s|", "a b", "$HOME", "`id`", "", NULL };
	struct wp_proc_output output = { 0 };

	(void)state;
	assert_int_equal(wp_proc_run(wp_os_linux(), argv, &plain, &output, NULL), 0);
	assert_string_equal(output.out, "a b|$HOME|`id`||");
	wp_proc_output_release(&output);
}

static void what_a_program_is_given_comes_from_its_standard_input(void **state)
{
	struct wp_proc_options options = plain;
	struct wp_proc_output output = { 0 };
	char *text = wp_xcalloc(200001, 1);

	(void)state;
	/* More than a pipe holds, to a program that first writes as much itself. */
	memset(text, 'x', 200000);
	options.input = text;
	options.output_bytes = 1 << 20;
	assert_int_equal(run_shell("head -c 200000 /dev/zero; cat", &options, &output, NULL), 0);
	assert_int_equal(output.out_bytes, 400000);
	assert_memory_equal(output.out + 200000, text, 200000);
	wp_proc_output_release(&output);
	free(text);
}

static void standard_input_is_empty_and_the_locale_is_c(void **state)
{
	struct wp_proc_output output = { 0 };

	(void)state;
	assert_int_equal(setenv("LC_ALL", "C.UTF-8", 1), 0);
	assert_int_equal(run_shell("cat; echo $LC_ALL", &plain, &output, NULL), 0);
	assert_string_equal(output.out, "C\n");
	assert_int_equal(wp_proc_check("sh", &output, NULL), 0);
	wp_proc_output_release(&output);
	assert_int_equal(unsetenv("LC_ALL"), 0);
}

static void endless_words_are_cut_and_do_not_block(void **state)
{
	struct wp_proc_output output = { 0 };

	(void)state;
	assert_int_equal(run_shell("i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo "
				   "0123456789012345678901234567890123456789; done; echo x >&2",
				 &plain, &output, NULL),
		0);
	assert_true(output.is_cut);
	assert_int_equal(strlen(output.out), WP_PROC_OUTPUT_BYTES);
	assert_string_equal(output.errors, "x\n");
	wp_proc_output_release(&output);
}

static void a_missing_program_is_named_with_its_package(void **state)
{
	const char *const argv[] = { "mkfs.nonexistent", NULL };
	struct wp_proc_options options = { .package = "nonexistent-progs" };
	struct wp_proc_output output = { 0 };
	struct wp_err err = { 0 };

	(void)state;
	assert_int_equal(
		wp_proc_run(wp_os_linux(), argv, &options, &output, &err), -WP_E_UNSUPPORTED);
	assert_string_equal(err.message, "program \"mkfs.nonexistent\" not found");
	assert_string_equal(err.hint, "Install the Debian package nonexistent-progs.");
}

static void what_cannot_be_executed_is_told(void **state)
{
	char *scratch = wp_xstrdup(scratch_dir());
	char *path = wp_xasprintf("%s/program", scratch);
	const char *const argv[] = { path, NULL };
	struct wp_proc_output output = { 0 };
	struct wp_err err = { 0 };
	int fd = wp_os_open(wp_os_linux(), path, O_WRONLY | O_CREAT, 0700);

	(void)state;
	assert_int_equal(wp_os_write_all(wp_os_linux(), fd, "\177nothing", 8, 0), 0);
	assert_int_equal(wp_os_close(wp_os_linux(), fd), 0);
	assert_int_equal(wp_proc_run(wp_os_linux(), argv, &plain, &output, &err), -WP_E_SYS);
	assert_int_equal(err.sys_errno, ENOEXEC);
	assert_non_null(strstr(err.message, path));
	free(path);
	scratch_dir_remove(scratch);
	free(scratch);
}

static void a_program_that_does_not_end_is_ended(void **state)
{
	struct wp_proc_options options = { .limit_ns = 20 * WP_NS_PER_MS };
	struct wp_proc_output output = { 0 };
	struct wp_err err = { 0 };

	(void)state;
	assert_int_equal(run_shell("exec sleep 600", &options, &output, &err), -WP_E_SYS);
	assert_string_equal(err.message, "program \"sh\" did not end within 1 s");
	assert_null(output.out);
}

static void a_program_that_ignores_sigterm_is_killed(void **state)
{
	struct wp_proc_options options = { .limit_ns = 20 * WP_NS_PER_MS };
	struct wp_proc_output output = { 0 };

	(void)state;
	assert_int_equal(
		run_shell("trap '' TERM; while :; do sleep 600; done", &options, &output, NULL),
		-WP_E_SYS);
}

static void a_stop_request_ends_the_program(void **state)
{
	struct wp_proc_output output = { 0 };
	struct wp_err err = { 0 };

	(void)state;
	wp_stop_raise(SIGTERM);
	assert_int_equal(run_shell("exec sleep 600", &plain, &output, &err), -WP_E_STOPPED);
	wp_stop_reset();
}

static void undoing_runs_programs_in_spite_of_a_stop_request(void **state)
{
	struct wp_proc_options options = { .ignores_stop = true };
	struct wp_proc_output output = { 0 };

	(void)state;
	wp_stop_raise(SIGTERM);
	assert_int_equal(run_shell("exit 0", &options, &output, NULL), 0);
	wp_stop_reset();
	wp_proc_output_release(&output);
}

static void what_a_program_leaves_running_is_ended(void **state)
{
	struct wp_proc_output output = { 0 };
	pid_t left;

	(void)state;
	assert_int_equal(run_shell("sleep 600 & echo $!", &plain, &output, NULL), 0);
	left = (pid_t)strtol(output.out, NULL, 10);
	assert_true(left > 0);
	/* SIGKILL is on its way; whoever adopted it may still have to collect it. */
	for (int i = 0; i < 1000 && kill(left, 0) == 0; i++) {
		char *path = wp_xasprintf("/proc/%d/stat", (int)left);
		int sys_errno;
		char *text = wp_os_read_text(wp_os_linux(), path, 1000, &sys_errno);
		bool has_ended = !text || strstr(text, ") Z ");

		free(text);
		free(path);
		if (has_ended)
			break;
		assert_true(i < 999);
		(void)wp_os_sleep_ns(wp_os_linux(), WP_NS_PER_MS);
	}
	wp_proc_output_release(&output);
}

static void a_program_ended_by_a_signal_is_told(void **state)
{
	struct wp_proc_output output = { 0 };
	struct wp_err err = { 0 };

	(void)state;
	assert_int_equal(run_shell("kill -SEGV $$", &plain, &output, NULL), 0);
	assert_int_equal(output.signal, SIGSEGV);
	assert_int_equal(wp_proc_check("sh", &output, &err), -WP_E_SYS);
	assert_string_equal(
		err.message, "program \"sh\" was ended by signal 11 (Segmentation fault)");
	wp_proc_output_release(&output);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_s_words_and_status_come_back),
		cmocka_unit_test(words_are_handed_over_without_a_shell),
		cmocka_unit_test(what_a_program_is_given_comes_from_its_standard_input),
		cmocka_unit_test(standard_input_is_empty_and_the_locale_is_c),
		cmocka_unit_test(endless_words_are_cut_and_do_not_block),
		cmocka_unit_test(a_missing_program_is_named_with_its_package),
		cmocka_unit_test(what_cannot_be_executed_is_told),
		cmocka_unit_test(a_program_that_does_not_end_is_ended),
		cmocka_unit_test(a_program_that_ignores_sigterm_is_killed),
		cmocka_unit_test(a_stop_request_ends_the_program),
		cmocka_unit_test(undoing_runs_programs_in_spite_of_a_stop_request),
		cmocka_unit_test(what_a_program_leaves_running_is_ended),
		cmocka_unit_test(a_program_ended_by_a_signal_is_told),
	};

	return cmocka_run_group_tests_name("proc", tests, NULL, NULL);
}
