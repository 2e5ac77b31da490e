/* SPDX-License-Identifier: PostgreSQL */
/*
 * The page in the order of a reader in a hurry: what ran and on what, what is unsafe, what to do,
 * pictures; then the figures, and in the end everything else there is to know.
 */
#include "html.h"
#include "number.h"
#include "views.h"
#include "walprobe/mem.h"

/* Tables that hold the answer come before the pictures; of raw rounds there are too many. */
static const char *const answers[] = { "changes", "recommendation", "summary" };
static const char *const last[] = { "comparison", "comparison_across", "methods", "documents",
	"runs", "not_understood" };
static const char raw[] = "rounds";

static bool is_among(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* ---- header ---------------------------------------------------------------------------------- */

static void put_command_line(const struct wp_result *result, FILE *stream)
{
	if (!result->argc)
		return;
	fputs("<p class=\"soft\"><code>", stream);
	for (size_t i = 0; i < result->argc; i++) {
		fputs(i ? " " : "", stream);
		wp_html_text(stream, result->argv[i]);
	}
	fputs("</code></p>\n", stream);
}

static void put_fact(const struct wp_fact *fact, FILE *stream)
{
	char number[WP_NUMBER_SIZE];
	bool is_number;
	const char *value = wp_number_fact(fact, number, &is_number);

	if (!value || !*value)
		return;
	fputs("<li title=\"", stream);
	wp_html_text(stream, fact->source);
	fputs("\"><b>", stream);
	wp_html_text(stream, fact->key);
	fputs("</b> ", stream);
	wp_html_text(stream, value);
	fputs("</li>\n", stream);
}

static void put_facts(const struct wp_fact *facts, size_t count, FILE *stream)
{
	fputs("<ul class=\"facts\">\n", stream);
	for (size_t i = 0; i < count; i++)
		put_fact(&facts[i], stream);
	fputs("</ul>\n", stream);
}

static void put_header(const struct wp_result *result, FILE *stream)
{
	char *title = wp_xasprintf("walprobe %s", result->command ? result->command : "");
	char *line = wp_xasprintf("%s%swalprobe %s", result->started ? result->started : "",
		result->started ? ", " : "", result->version ? result->version : "?");

	fputs("<header>\n", stream);
	wp_html_element(stream, "h1", NULL, title);
	wp_html_element(stream, "p", "soft", line);
	put_command_line(result, stream);
	if (!result->is_complete)
		wp_html_element(stream, "p", "stopped",
			"INCOMPLETE: stopped before the end; this is what was measured until then");
	if (result->environment_count)
		put_facts(result->environment, result->environment_count, stream);
	fputs("</header>\n", stream);
	free(line);
	free(title);
}

/* ---- checks ---------------------------------------------------------------------------------- */

static void put_check(const struct wp_check *check, FILE *stream)
{
	const char *status = wp_check_status_name(check->status);

	fprintf(stream, "<li><span class=\"status %s\">%s</span> <b>", status, status);
	wp_html_text(stream, check->id);
	fputs("</b> ", stream);
	if (check->target && *check->target) {
		wp_html_text(stream, check->target);
		fputs(": ", stream);
	}
	wp_html_text(stream, check->text);
	if (check->status == WP_CHECK_FAIL && check->expected && check->observed) {
		fputs(" (expected ", stream);
		wp_html_text(stream, check->expected);
		fputs(", observed ", stream);
		wp_html_text(stream, check->observed);
		putc(')', stream);
	}
	fputs("</li>\n", stream);
}

static size_t count_checks(const struct wp_result *result, enum wp_check_status status)
{
	size_t count = 0;

	for (size_t i = 0; i < result->check_count; i++)
		count += result->checks[i].status == status;
	return count;
}

static void put_checks(const struct wp_result *result, enum wp_check_status status, FILE *stream)
{
	if (!count_checks(result, status))
		return;
	fputs("<ul class=\"checks\">\n", stream);
	for (size_t i = 0; i < result->check_count; i++)
		if (result->checks[i].status == status)
			put_check(&result->checks[i], stream);
	fputs("</ul>\n", stream);
}

static void put_failed_checks(const struct wp_result *result, FILE *stream)
{
	if (!count_checks(result, WP_CHECK_FAIL))
		return;
	fputs("<section class=\"failed\">\n", stream);
	wp_html_element(stream, "h2", "fail", "NOT SAFE: failed checks");
	put_checks(result, WP_CHECK_FAIL, stream);
	fputs("</section>\n", stream);
}

static void put_other_checks(const struct wp_result *result, FILE *stream)
{
	size_t failed = count_checks(result, WP_CHECK_FAIL);
	size_t unknown = count_checks(result, WP_CHECK_UNKNOWN);
	size_t passed = count_checks(result, WP_CHECK_PASS);

	if (result->check_count == failed)
		return;
	fprintf(stream,
		"<details><summary><h2>%s</h2> <span class=\"soft\">%zu failed, %zu cannot "
		"tell, %zu to know, %zu passed</span></summary>\n",
		failed ? "Other checks" : "Checks", failed, unknown,
		count_checks(result, WP_CHECK_INFO), passed);
	put_checks(result, WP_CHECK_UNKNOWN, stream);
	put_checks(result, WP_CHECK_INFO, stream);
	put_checks(result, WP_CHECK_PASS, stream);
	fputs("</details>\n", stream);
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void put_pictures(const struct wp_render_options *options, FILE *stream)
{
	if (!options || (!options->picture_count && !options->pictures_missing))
		return;
	wp_html_element(stream, "h2", NULL, "Plots");
	if (options->pictures_missing)
		wp_html_element(stream, "p", "note", options->pictures_missing);
	fputs("<div class=\"plots\">\n", stream);
	for (size_t i = 0; i < options->picture_count; i++)
		wp_html_picture(&options->pictures[i], i + 1, stream);
	fputs("</div>\n", stream);
}

static void put_named(
	const struct wp_result *result, const char *const *names, size_t count, FILE *stream)
{
	for (size_t i = 0; i < count; i++) {
		const struct wp_table *table = wp_result_find_table(result, names[i]);

		if (table)
			wp_html_table(result, table, stream);
	}
}

static void put_figures(const struct wp_result *result, FILE *stream)
{
	for (size_t i = 0; i < result->table_count; i++) {
		const struct wp_table *table = result->tables[i];

		if (!is_among(answers, WP_COUNT(answers), table->name) &&
			!is_among(last, WP_COUNT(last), table->name) &&
			strcmp(table->name, raw) != 0)
			wp_html_table(result, table, stream);
	}
}

static void put_device(const struct wp_device *device, FILE *stream)
{
	fputs("<br/>", stream);
	wp_html_text(stream, device->name);
	fputs(": write cache ", stream);
	wp_html_text(stream, device->write_cache ? device->write_cache : "unknown");
	fputs(device->is_fua > 0 ? ", FUA" : device->is_fua == 0 ? ", no FUA" : "", stream);
	fputs(device->is_rotational > 0      ? ", rotational"
		: device->is_rotational == 0 ? ", not rotational"
					     : "",
		stream);
}

static void put_target(const struct wp_target_info *target, FILE *stream)
{
	fputs("<li><b>", stream);
	wp_html_text(stream, target->label);
	fputs("</b> ", stream);
	wp_html_text(stream, target->fstype);
	if (target->path) {
		fputs(" at ", stream);
		wp_html_text(stream, target->path);
	}
	if (target->mount_options) {
		fputs(", mounted ", stream);
		wp_html_text(stream, target->mount_options);
	}
	for (size_t i = 0; i < target->device_count; i++)
		put_device(&target->devices[i], stream);
	fputs("</li>\n", stream);
}

static void put_targets(const struct wp_result *result, FILE *stream)
{
	if (!result->target_count)
		return;
	wp_html_element(stream, "h2", NULL, "Targets");
	fputs("<ul class=\"checks\">\n", stream);
	for (size_t i = 0; i < result->target_count; i++)
		put_target(result->targets[i], stream);
	fputs("</ul>\n", stream);
}

static void put_parameters(const struct wp_result *result, FILE *stream)
{
	if (!result->parameter_count)
		return;
	fputs("<details><summary><h2>Parameters</h2></summary>\n", stream);
	put_facts(result->parameters, result->parameter_count, stream);
	fputs("</details>\n", stream);
}

static void put_head(const struct wp_result *result, FILE *stream)
{
	fputs("<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n"
	      "<head>\n<meta charset=\"utf-8\"/>\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>",
		stream);
	wp_html_text(stream, "walprobe ");
	wp_html_text(stream, result->command);
	if (result->started) {
		putc(' ', stream);
		wp_html_text(stream, result->started);
	}
	fputs("</title>\n<style>\n", stream);
	fputs(wp_html_style, stream);
	for (size_t i = 0; wp_html_cards[i]; i++)
		fputs(wp_html_cards[i], stream);
	fputs("</style>\n</head>\n<body>\n", stream);
}

void wp_render_html(
	const struct wp_result *result, const struct wp_render_options *options, FILE *stream)
{
	put_head(result, stream);
	put_header(result, stream);
	fputs("<main>\n", stream);
	put_failed_checks(result, stream);
	put_named(result, answers, WP_COUNT(answers), stream);
	put_pictures(options, stream);
	put_other_checks(result, stream);
	put_figures(result, stream);
	put_named(result, last, WP_COUNT(last), stream);
	put_targets(result, stream);
	put_parameters(result, stream);
	fputs("</main>\n<footer>All figures, also every round, are in the document that --save or "
	      "--format json writes.</footer>\n</body>\n</html>\n",
		stream);
}
