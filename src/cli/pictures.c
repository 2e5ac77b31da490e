/* SPDX-License-Identifier: PostgreSQL */
#include "cli/pictures.h"
#include "walprobe/mem.h"
#include "walprobe/plot.h"
#include "walprobe/proc.h"

#define LIMIT_NS (20 * WP_NS_PER_S)
#define PICTURE_BYTES ((size_t)16 << 20)
#define PACKAGE "gnuplot-nox"

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text);
	size_t end_length = strlen(end);

	return length > end_length && strcmp(text + length - end_length, end) == 0;
}

/* One picture of count plots; output is filled when 0 is returned. */
static int draw(const struct wp_os *os, const struct wp_plot *plots, size_t count,
	enum wp_plot_image image, struct wp_proc_output *output, struct wp_err *err)
{
	/* Without what the user's own ~/.gnuplot says: the same result gives the same picture. */
	static const char *const argv[] = { "gnuplot", "-d", "-", NULL };
	char *script = wp_plot_script(plots, count, image);
	struct wp_proc_options options = { .limit_ns = LIMIT_NS,
		.package = PACKAGE,
		.input = script,
		.output_bytes = PICTURE_BYTES,
		.ignores_stop = true };
	int rc = wp_proc_run(os, argv, &options, output, err);

	free(script);
	if (rc)
		return rc;
	rc = wp_proc_check("gnuplot", output, err);
	if (!rc && (output->is_cut || !output->out_bytes))
		rc = wp_fail(err, WP_E_SYS, 0, "program \"gnuplot\" gave %s",
			output->is_cut ? "too large a picture" : "no picture");
	if (rc)
		wp_proc_output_release(output);
	return rc;
}

static char *reason(const struct wp_err *err)
{
	if (err->code == WP_E_UNSUPPORTED)
		return wp_xstrdup(
			"No plots: gnuplot is not installed (Debian package " PACKAGE ").");
	return wp_xasprintf("Some plots are missing: %s%s%s.", err->message,
		err->detail[0] ? ": " : "", err->detail);
}

void wp_pictures_draw(
	const struct wp_os *os, const struct wp_result *result, struct wp_pictures *pictures)
{
	struct wp_plots plots;

	*pictures = (struct wp_pictures){ 0 };
	wp_plots_make(result, &plots);
	pictures->items = wp_xcalloc(plots.count + 1, sizeof(*pictures->items));
	for (size_t i = 0; i < plots.count; i++) {
		struct wp_picture *picture = &pictures->items[pictures->count];
		struct wp_proc_output output = { 0 };
		struct wp_err err = { 0 };
		int rc = draw(os, &plots.items[i], 1, WP_PLOT_SVG, &output, &err);

		if (rc) {
			if (!pictures->missing)
				pictures->missing = reason(&err);
			/* A gnuplot that does not end will not do so for the others either. */
			if (rc == -WP_E_UNSUPPORTED || !err.detail[0])
				break;
			continue;
		}
		picture->title = wp_xstrdup(plots.items[i].title);
		picture->svg = wp_xstrdup(output.out);
		pictures->count++;
		wp_proc_output_release(&output);
	}
	wp_plots_release(&plots);
}

void wp_pictures_release(struct wp_pictures *pictures)
{
	for (size_t i = 0; i < pictures->count; i++) {
		free(pictures->items[i].title);
		free(pictures->items[i].svg);
	}
	free(pictures->items);
	free(pictures->missing);
	*pictures = (struct wp_pictures){ 0 };
}

int wp_picture_check(const char *path, struct wp_err *err)
{
	if (ends_with(path, ".svg") || ends_with(path, ".png"))
		return 0;
	(void)wp_fail(err, WP_E_USAGE, 0, "\"%s\" is no name of a picture", path);
	wp_err_hint(err, "Give --plot a name that ends in .svg or .png.");
	return -WP_E_USAGE;
}

int wp_picture_write(const struct wp_os *os, const struct wp_result *result, const char *path,
	FILE *stream, struct wp_err *err)
{
	struct wp_proc_output output = { 0 };
	struct wp_plots plots;
	int rc;

	wp_plots_make(result, &plots);
	if (plots.count)
		rc = draw(os, plots.items, plots.count,
			ends_with(path, ".png") ? WP_PLOT_PNG : WP_PLOT_SVG, &output, err);
	else
		rc = wp_fail(err, WP_E_UNSUPPORTED, 0, "nothing in this result can be drawn");
	if (!rc)
		(void)fwrite(output.out, 1, output.out_bytes, stream);
	wp_proc_output_release(&output);
	wp_plots_release(&plots);
	return rc;
}
