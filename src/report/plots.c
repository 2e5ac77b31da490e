/* SPDX-License-Identifier: PostgreSQL */
#include "chart.h"
#include "walprobe/mem.h"
#include "walprobe/plot.h"

#define FONT "sans-serif,12"

void wp_plots_make(const struct wp_result *result, struct wp_plots *plots)
{
	*plots = (struct wp_plots){ 0 };
	wp_charts_verdict(result, plots);
	wp_charts_clients(result, plots);
	wp_charts_sync(result, plots);
	wp_charts_io(result, plots);
	wp_charts_time(result, plots);
}

void wp_plots_release(struct wp_plots *plots)
{
	for (size_t i = 0; i < plots->count; i++) {
		free(plots->items[i].title);
		free(plots->items[i].body);
	}
	free(plots->items);
	*plots = (struct wp_plots){ 0 };
}

/* Columns in which count plots stand, at most three: pages are read downwards. */
static size_t column_count(size_t count)
{
	return count > 4 ? 3 : count > 1 ? 2 : 1;
}

static int tallest(const struct wp_plot *plots, size_t count)
{
	int height = 0;

	for (size_t i = 0; i < count; i++)
		if (plots[i].height > height)
			height = plots[i].height;
	return height;
}

char *wp_plot_script(const struct wp_plot *plots, size_t count, enum wp_plot_image image)
{
	size_t columns = column_count(count);
	size_t lines = (count + columns - 1) / columns;
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	assert(out); /* as all allocation: out of memory ends the process */
	fprintf(out,
		"set encoding utf8\nset terminal %s size %zu,%zu font '" FONT "' noenhanced%s\n",
		image == WP_PLOT_SVG ? "svg dynamic" : "pngcairo", columns * (size_t)plots[0].width,
		lines * (size_t)tallest(plots, count),
		image == WP_PLOT_SVG ? "" : " background rgb '#ffffff'");
	if (count > 1)
		fprintf(out, "set multiplot layout %zu,%zu\n", lines, columns);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%s", i ? "reset\n" : "", plots[i].body);
	if (count > 1)
		fputs("unset multiplot\n", out);
	(void)fclose(out); /* memory */
	return text;
}
