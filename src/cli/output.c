/* SPDX-License-Identifier: PostgreSQL */
#include "cli/output.h"
#include "cli/pictures.h"
#include "walprobe/host.h"
#include "walprobe/render.h"

#define PROGRESS_TERMINAL_NS (100 * WP_NS_PER_MS)
#define PROGRESS_LINES_NS (5 * WP_NS_PER_S)

static int open_failed(const char *path, int sys_errno, struct wp_err *err)
{
	(void)wp_fail(err, WP_E_SYS, sys_errno, "could not open \"%s\" for writing", path);
	wp_err_hint(err, "Name a file in a directory that you may write to.");
	return -(int)err->code;
}

static int check_writable(
	const char *path, bool *is_new, const struct wp_os *os, struct wp_err *err)
{
	struct stat info;
	FILE *stream;

	*is_new = path && wp_os_stat(os, path, &info) < 0;
	if (!path)
		return 0;
	stream = fopen(path, "ae");
	if (!stream)
		return open_failed(path, errno, err);
	(void)fclose(stream); /* nothing was written */
	return 0;
}

int wp_output_open(struct wp_output *output, const struct wp_os *os, const struct wp_common *common,
	struct wp_err *err)
{
	int rc;

	memset(output, 0, sizeof(*output));
	output->os = os;
	output->common = common;
	output->is_terminal = wp_host_is_terminal(2);
	output->has_progress =
		strcmp(common->progress, "always") == 0 ||
		(output->is_terminal && strcmp(common->progress, "auto") == 0 && !common->is_quiet);
	output->started_ns = wp_os_now_ns(os);
	rc = check_writable(common->output, &output->is_output_new, os, err);
	if (!rc)
		rc = check_writable(common->save, &output->is_save_new, os, err);
	if (!rc && common->plot)
		rc = wp_picture_check(common->plot, err);
	if (!rc)
		rc = check_writable(common->plot, &output->is_plot_new, os, err);
	if (rc)
		wp_output_abandon(output);
	return rc;
}

static void remove_if_new(const struct wp_os *os, const char *path, bool is_new)
{
	struct stat info;

	if (is_new && wp_os_stat(os, path, &info) == 0 && S_ISREG(info.st_mode) &&
		info.st_size == 0)
		(void)wp_os_unlink(os, path); /* an empty file left is no harm */
}

void wp_output_abandon(struct wp_output *output)
{
	remove_if_new(output->os, output->common->output, output->is_output_new);
	remove_if_new(output->os, output->common->save, output->is_save_new);
	remove_if_new(output->os, output->common->plot, output->is_plot_new);
}

static bool is_colored(const struct wp_output *output)
{
	const char *no_color = getenv("NO_COLOR");

	if (strcmp(output->common->color, "auto") != 0)
		return strcmp(output->common->color, "always") == 0;
	return !output->common->output && wp_host_is_terminal(1) && !(no_color && no_color[0]);
}

static int finish(FILE *stream, const char *path, struct wp_err *err)
{
	int sys_errno = 0;

	errno = 0;
	if (fflush(stream) != 0 || ferror(stream))
		sys_errno = errno ? errno : EIO;
	if (stream != stdout && fclose(stream) != 0 && !sys_errno)
		sys_errno = errno;
	if (!sys_errno)
		return 0;
	if (path)
		(void)wp_fail(err, WP_E_SYS, sys_errno, "could not write \"%s\"", path);
	else
		(void)wp_fail(err, WP_E_SYS, sys_errno, "could not write to standard output");
	wp_err_hint(err, "Use --save to keep the document in a file as well.");
	return -(int)err->code;
}

static int write_to(const char *path, wp_render_fn *render, const struct wp_render_options *options,
	const struct wp_result *result, struct wp_err *err)
{
	FILE *stream = path ? fopen(path, "we") : stdout;

	if (!stream)
		return open_failed(path, errno, err);
	render(result, options, stream);
	return finish(stream, path, err);
}

static int write_plot(struct wp_output *output, const struct wp_result *result, struct wp_err *err)
{
	const char *path = output->common->plot;
	FILE *stream = fopen(path, "we");
	struct wp_err finish_err = { 0 };
	int rc;

	if (!stream)
		return open_failed(path, errno, err);
	rc = wp_picture_write(output->os, result, path, stream, err);
	if (finish(stream, path, &finish_err) != 0 && !rc) {
		*err = finish_err;
		rc = -(int)err->code;
	}
	if (rc)
		remove_if_new(output->os, path, output->is_plot_new);
	return rc;
}

static int write_printed(
	struct wp_output *output, const struct wp_result *result, struct wp_err *err)
{
	struct wp_render_options options = { .is_colored = is_colored(output),
		.is_verbose = output->common->is_verbose };
	struct wp_pictures pictures = { 0 };
	int rc;

	if (strcmp(output->common->format, "html") == 0) {
		wp_pictures_draw(output->os, result, &pictures);
		options.pictures = pictures.items;
		options.picture_count = pictures.count;
		options.pictures_missing = pictures.missing;
		if (pictures.missing)
			wp_output_tell(output, "note", pictures.missing);
	}
	rc = write_to(
		output->common->output, wp_renderer(output->common->format), &options, result, err);
	wp_pictures_release(&pictures);
	return rc;
}

/* What failed first is what is told. */
static void keep_first(int *rc, int other, struct wp_err *err, const struct wp_err *other_err)
{
	if (*rc || !other)
		return;
	*rc = other;
	*err = *other_err;
}

int wp_output_write(struct wp_output *output, const struct wp_result *result, struct wp_err *err)
{
	struct wp_render_options plain = { 0 };
	struct wp_err save_err = { 0 };
	struct wp_err plot_err = { 0 };
	int saved = 0;
	int drawn = 0;
	int rc;

	/* The document first: it must not be lost because standard output is closed. */
	if (output->common->save)
		saved = write_to(output->common->save, wp_render_json, &plain, result, &save_err);
	if (output->common->plot)
		drawn = write_plot(output, result, &plot_err);
	rc = write_printed(output, result, err);
	keep_first(&rc, saved, err, &save_err);
	keep_first(&rc, drawn, err, &plot_err);
	return rc;
}

void wp_output_end_progress(struct wp_output *output)
{
	if (output->is_line_open)
		fputs("\r\033[K", stderr);
	output->is_line_open = false;
}

void wp_output_tell(void *ctx, const char *kind, const char *text)
{
	struct wp_output *output = ctx;

	if (strcmp(kind, "detail") == 0 && !output->common->is_verbose)
		return;
	if (output->common->is_quiet && strcmp(kind, "error") != 0)
		return;
	wp_output_end_progress(output);
	wp_err_print_line(kind, text, stderr);
}

void wp_output_progress(void *ctx, const char *label, int64_t done_ns, int64_t total_ns)
{
	struct wp_output *output = ctx;
	int64_t now = wp_os_now_ns(output->os);
	int64_t every = output->is_terminal ? PROGRESS_TERMINAL_NS : PROGRESS_LINES_NS;
	int64_t left_s;

	if (!output->has_progress || (output->last_ns && now - output->last_ns < every))
		return;
	output->last_ns = now;
	if (done_ns > total_ns)
		done_ns = total_ns;
	left_s = (total_ns - done_ns + WP_NS_PER_S - 1) / WP_NS_PER_S;
	fprintf(stderr, "%s[%3d%%] %" PRId64 ":%02" PRId64 " left  %.60s%s",
		output->is_terminal ? "\r\033[K" : "walprobe: ",
		total_ns ? (int)(100 * done_ns / total_ns) : 0, left_s / 60, left_s % 60, label,
		output->is_terminal ? "" : "\n");
	output->is_line_open = output->is_terminal;
}
