/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"
#include "sample_result.h"
#include "walprobe/mem.h"
#include "walprobe/plot.h"

#include <ctype.h>
#include <math.h>

static void check_golden(struct wp_result *result, const char *name)
{
	char *text = sample_render(result, wp_render_html, false, false);

	sample_golden(name, text);
	free(text);
	wp_result_free(result);
}

static void a_stopped_run_with_a_failed_check_is_this_page(void **state)
{
	(void)state;
	check_golden(sample_stopped(), "stopped.html");
}

static void odd_content_is_this_page(void **state)
{
	(void)state;
	check_golden(sample_odd(), "odd.html");
}

static void failed_checks_stand_before_everything_else(void **state)
{
	struct wp_result *result = sample_stopped();
	char *text = sample_render(result, wp_render_html, false, false);
	const char *body = strstr(text, "<body>");

	(void)state;
	assert_true(strstr(body, "INCOMPLETE") < strstr(body, "NOT SAFE"));
	assert_true(strstr(body, "NOT SAFE") < strstr(body, "Recommendation"));
	assert_true(strstr(body, "NOT SAFE") < strstr(body, "class=\"status unknown\""));
	free(text);
	wp_result_free(result);
}

static const char hostile[] = "<script>alert(1)</script>\"'>&`id`\x1b[31m\xE2\x80\xAE$(id)";

static struct wp_result *hostile_result(void)
{
	static const struct wp_column columns[] = {
		{ "target", hostile, "", WP_KIND_TEXT, hostile },
		{ "method", "method", hostile, WP_KIND_TEXT, "" },
		{ "ops_per_s", "ops/s", "1/s", WP_KIND_REAL, "" },
		{ "p50_ns", "p50", "ns", WP_KIND_INT, "" },
		{ "p99_ns", "p99", "ns", WP_KIND_INT, "" },
	};
	struct wp_result *result = wp_result_new(hostile);
	struct wp_table *table = wp_result_table(result, "sync", hostile, columns, 5);

	for (int i = 0; i < 2; i++) {
		struct wp_row *row = wp_table_add_row(table);

		wp_row_text(row, "target", i ? "plain" : hostile);
		wp_row_text(row, "method", hostile);
		wp_row_real(row, "ops_per_s", 100);
		if (i)
			wp_row_absent(row, "p50_ns", hostile);
		else
			wp_row_int(row, "p50_ns", 1000000);
		wp_row_int(row, "p99_ns", 2000000);
	}
	wp_result_add_argument(result, hostile);
	wp_result_add_environment(result, hostile, hostile, hostile);
	wp_result_add_parameter(result, hostile, hostile, WP_KIND_TEXT, hostile);
	wp_result_add_check(result, hostile, hostile, WP_CHECK_FAIL, hostile, hostile, hostile);
	wp_target_info_set(wp_result_add_target(result, hostile), hostile, hostile, hostile);
	return result;
}

static void nothing_from_a_document_is_markup(void **state)
{
	struct wp_result *result = hostile_result();
	char *text = sample_render(result, wp_render_html, false, false);

	(void)state;
	assert_null(strstr(text, "<script"));
	assert_null(strstr(text, "\"'>"));
	assert_null(strchr(text, '\x1b'));
	assert_null(strstr(text, "\xE2\x80\xAE"));
	assert_non_null(strstr(text, "&lt;script&gt;"));
	free(text);
	wp_result_free(result);
}

/* Outside of single quotes (in which '' is a quote) there is nothing of the document's. */
static void nothing_from_a_document_is_a_command_of_gnuplot(void **state)
{
	struct wp_result *result = hostile_result();
	struct wp_plots plots;

	(void)state;
	wp_plots_make(result, &plots);
	assert_true(plots.count > 0);
	for (size_t i = 0; i < plots.count; i++) {
		bool is_quoted = false;

		for (const char *c = plots.items[i].body; *c; c++) {
			if (*c == '\'')
				is_quoted = !is_quoted;
			/* A quoted text ends in its line; these have no meaning but in text. */
			assert_false(is_quoted && *c == '\n');
			assert_false(!is_quoted && strchr("`&!\x1b", *c));
			assert_false(!is_quoted && strncmp(c, "script", 6) == 0);
		}
		assert_false(is_quoted);
	}
	wp_plots_release(&plots);
	wp_result_free(result);
}

static void pictures_are_put_in_with_ids_of_their_own(void **state)
{
	static char title[] = "a <title>";
	static char svg[] = "<?xml version=\"1.0\"?>\n<svg width=\"9\" viewBox=\"0 0 460 330\">"
			    "<title>x</title><desc>y</desc><g id='a'/><use xlink:href='#a'/>"
			    "<g filter='url(#a)'/></svg>\n";
	static char scripted[] = "<svg viewBox=\"0 0 1 1\"><SCRIPT>x</SCRIPT></svg>";
	const struct wp_picture pictures[] = { { title, svg }, { title, svg },
		{ title, scripted } };
	const struct wp_render_options options = {
		.pictures = pictures, .picture_count = 3, .pictures_missing = "some are missing"
	};
	struct wp_result *result = wp_result_new("x");
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	(void)state;
	wp_render_html(result, &options, stream);
	(void)fclose(stream);
	assert_non_null(strstr(text, "aria-label=\"a &lt;title&gt;\""));
	assert_non_null(strstr(text, "<g id='p1-a'/><use xlink:href='#p1-a'/><g filter="
				     "'url(#p1-a)'/></svg>"));
	assert_non_null(strstr(text, "<g id='p2-a'/>"));
	assert_null(strstr(text, "<title>x"));
	assert_null(strcasestr(text, "<script"));
	assert_non_null(strstr(text, "some are missing"));
	free(text);
	wp_result_free(result);
}

/* Whether text has a line that begins so and has a word in parentheses: an axis with its unit. */
static void check_axis(const char *text, const char *start)
{
	const char *line = strstr(text, start);
	const char *end;

	assert_non_null(line);
	end = strchr(line, '\n');
	line = strchr(line, '(');
	assert_non_null(line);
	assert_true(line < end && (line[1] == '%' || isalnum((unsigned char)line[1])));
}

static void every_plot_has_axes_with_units_and_a_legend_with_the_targets(void **state)
{
	struct wp_result *result = sample_compare();
	struct wp_plots plots;

	(void)state;
	wp_plots_make(result, &plots);
	/* append by clients; sync as bars, and the percentiles of four methods. */
	assert_int_equal(plots.count, 6);
	for (size_t i = 0; i < plots.count; i++) {
		check_axis(plots.items[i].body, "set xlabel");
		check_axis(plots.items[i].body, "set ylabel");
		assert_non_null(strstr(plots.items[i].body, " title 'ext4'"));
		assert_non_null(strstr(plots.items[i].body, " title 'btrfs'"));
		/* What was not measured is not drawn as nothing. */
		assert_null(strstr(plots.items[i].body, "f2fs"));
	}
	wp_plots_release(&plots);
	wp_result_free(result);
}

static void a_plot_is_this_script(void **state)
{
	struct wp_result *result = sample_compare();
	struct wp_plots plots;
	char *text;

	(void)state;
	wp_plots_make(result, &plots);
	text = wp_plot_script(plots.items, 3, WP_PLOT_SVG);
	sample_golden("compare.gnuplot", text);
	free(text);
	wp_plots_release(&plots);
	wp_result_free(result);
}

static const struct wp_column io_columns[] = {
	{ "target", "target", "", WP_KIND_TEXT, "" },
	{ "test", "test", "", WP_KIND_TEXT, "" },
	{ "record_bytes", "record", "bytes", WP_KIND_INT, "" },
	{ "file_bytes", "file", "bytes", WP_KIND_INT, "" },
	{ "bytes_per_s", "MB/s", "bytes/s", WP_KIND_REAL, "" },
	{ "ops_per_s", "ops/s", "1/s", WP_KIND_REAL, "" },
};

static void add_io(struct wp_result *result, const char *test, int64_t record, int64_t file,
	double bytes_per_s, double ops_per_s)
{
	struct wp_table *table =
		wp_result_table(result, "io", "Files", io_columns, WP_COUNT(io_columns));
	struct wp_row *row = wp_table_add_row(table);

	wp_row_text(row, "target", "disk");
	wp_row_text(row, "test", test);
	wp_row_int(row, "record_bytes", record);
	wp_row_int(row, "file_bytes", file);
	wp_row_real(row, "bytes_per_s", bytes_per_s > 0 ? bytes_per_s : (double)NAN);
	wp_row_real(row, "ops_per_s", ops_per_s);
}

static void tests_of_several_record_sizes_are_drawn_by_size_and_others_as_bars(void **state)
{
	struct wp_result *result = wp_result_new("io");
	struct wp_plots plots;

	(void)state;
	wp_target_info_set(wp_result_add_target(result, "disk"), "/x", "xfs", NULL);
	add_io(result, "read", 8192, 1 << 30, 1048576, 128);
	add_io(result, "read", 16384, 1 << 30, 2097152, 128);
	add_io(result, "read", 16384, 1 << 20, 99 * 1048576.0, 128); /* a small file: the cache */
	add_io(result, "putc", 1, 1 << 30, 1048576, 1048576);
	add_io(result, "seeks", 8192, 1 << 30, 0, 500);
	add_io(result, "seq-create", 0, 0, 0, 900);
	wp_plots_make(result, &plots);
	assert_int_equal(plots.count, 4);
	assert_non_null(strstr(plots.items[0].body, "'putc' 0"));
	assert_non_null(strstr(plots.items[1].body, "'seeks' 0"));
	assert_non_null(strstr(plots.items[2].body, "'seq-create' 0"));
	assert_non_null(strstr(plots.items[3].body, "set logscale x 2"));
	assert_non_null(strstr(plots.items[3].body, "\n8 1 "));
	assert_non_null(strstr(plots.items[3].body, "\n16 2 "));
	assert_null(strstr(plots.items[3].body, " 99 "));
	assert_non_null(strstr(plots.items[3].body, "title 'disk (xfs)'"));
	wp_plots_release(&plots);
	wp_result_free(result);
}

static const struct wp_column progress_columns[] = {
	{ "target", "target", "", WP_KIND_TEXT, "" },
	{ "time_ns", "time", "ns", WP_KIND_INT, "" },
	{ "tps", "tps", "1/s", WP_KIND_REAL, "" },
	{ "event", "event", "", WP_KIND_TEXT, "" },
};

static struct wp_result *progress_result(int64_t rows)
{
	struct wp_result *result = wp_result_new("import");
	struct wp_table *table = wp_result_table(
		result, "progress", "Over time", progress_columns, WP_COUNT(progress_columns));

	for (int64_t i = 1; i <= rows; i++) {
		struct wp_row *row = wp_table_add_row(table);

		wp_row_text(row, "target", "server");
		wp_row_int(row, "time_ns", i * 1000000000);
		wp_row_real(row, "tps", i == 3 ? 0 : 500);
		wp_row_text(row, "event", i == 3 ? "checkpoint" : NULL);
	}
	return result;
}

static void throughput_over_time_shows_stalls_and_what_happened_then(void **state)
{
	struct wp_result *result = progress_result(5);
	struct wp_plots plots;

	(void)state;
	wp_plots_make(result, &plots);
	assert_int_equal(plots.count, 1);
	assert_non_null(strstr(plots.items[0].body, "\n3 0 "));
	assert_non_null(strstr(plots.items[0].body, "set label 'checkpoint' at first 3,"));
	assert_non_null(strstr(plots.items[0].body, "set xlabel offset 0,0.3 'Time since the "
						    "start (s)'"));
	wp_plots_release(&plots);
	wp_result_free(result);
}

static void a_long_run_is_averaged_in_the_plot_and_cut_in_the_page(void **state)
{
	struct wp_result *result = progress_result(5000);
	char *text = sample_render(result, wp_render_html, false, false);
	struct wp_plots plots;

	(void)state;
	wp_plots_make(result, &plots);
	assert_true(strlen(plots.items[0].body) < 30000);
	assert_non_null(strstr(text, "4000 more rows are in the document"));
	assert_true(strlen(text) < 300000);
	free(text);
	wp_plots_release(&plots);
	wp_result_free(result);
}

static void what_cannot_be_drawn_gives_no_plot(void **state)
{
	struct wp_result *results[] = { wp_result_new("inspect"), wp_result_new("<io>") };

	(void)state;
	for (size_t i = 0; i < WP_COUNT(results); i++) {
		struct wp_plots plots;

		wp_plots_make(results[i], &plots);
		assert_int_equal(plots.count, 0);
		wp_plots_release(&plots);
		wp_result_free(results[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stopped_run_with_a_failed_check_is_this_page),
		cmocka_unit_test(odd_content_is_this_page),
		cmocka_unit_test(failed_checks_stand_before_everything_else),
		cmocka_unit_test(nothing_from_a_document_is_markup),
		cmocka_unit_test(nothing_from_a_document_is_a_command_of_gnuplot),
		cmocka_unit_test(pictures_are_put_in_with_ids_of_their_own),
		cmocka_unit_test(every_plot_has_axes_with_units_and_a_legend_with_the_targets),
		cmocka_unit_test(a_plot_is_this_script),
		cmocka_unit_test(
			tests_of_several_record_sizes_are_drawn_by_size_and_others_as_bars),
		cmocka_unit_test(throughput_over_time_shows_stalls_and_what_happened_then),
		cmocka_unit_test(a_long_run_is_averaged_in_the_plot_and_cut_in_the_page),
		cmocka_unit_test(what_cannot_be_drawn_gives_no_plot),
	};

	return cmocka_run_group_tests_name("render_html", tests, NULL, NULL);
}
