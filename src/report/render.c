/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/render.h"

wp_render_fn *wp_renderer(const char *format)
{
	static const struct {
		const char *format;
		wp_render_fn *render;
	} renderers[] = {
		{ "text", wp_render_text },
		{ "json", wp_render_json },
		{ "csv", wp_render_csv },
		{ "html", wp_render_html },
		{ "prometheus", wp_render_prometheus },
		{ "pgbench", wp_render_pgbench },
		{ "bonnie-csv", wp_render_bonnie_200 },
		{ "bonnie-csv-1.03", wp_render_bonnie_103 },
		{ "iozone", wp_render_iozone },
	};

	for (size_t i = 0; i < WP_COUNT(renderers); i++)
		if (strcmp(renderers[i].format, format) == 0)
			return renderers[i].render;
	return NULL;
}
