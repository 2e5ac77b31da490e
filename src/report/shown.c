/* SPDX-License-Identifier: PostgreSQL */
#include "views.h"
#include "walprobe/mem.h"

void wp_shown_add_line(struct wp_shown *shown, const char *lead, const char *text)
{
	shown->lines = wp_xreallocarray(shown->lines, shown->line_count + 1, sizeof(*shown->lines));
	shown->lines[shown->line_count++] =
		(struct wp_shown_line){ .lead = lead, .text = wp_xstrdup(text) };
}

void wp_shown_release(struct wp_shown *shown)
{
	for (size_t i = 0; i < shown->line_count; i++)
		free(shown->lines[i].text);
	free(shown->lines);
	free(shown->folded);
	wp_notes_release(&shown->notes);
	wp_grid_release(&shown->grid);
	*shown = (struct wp_shown){ 0 };
}
