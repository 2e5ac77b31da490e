/* SPDX-License-Identifier: PostgreSQL */
#include "import/place.h"
#include "walprobe/mem.h"

#include <ctype.h>
#include <string.h>

#define HEADING_CHARS 40
#define REACH 4

static bool is_mark(char c)
{
	return c == '=' || c == '#' || c == '*' || c == '-' || c == ' ';
}

/* Without its marks; NULL when the line is no heading. */
static char *words_of(const char *line)
{
	const char *begin = line;
	size_t length;
	bool is_marked;

	while (is_mark(*begin))
		begin++;
	length = strlen(begin);
	while (length && (is_mark(begin[length - 1]) || begin[length - 1] == ':'))
		length--;
	is_marked = *begin && strchr("=#*", line[strspn(line, " ")]) != NULL;
	if (!length || length > HEADING_CHARS || !isalnum((unsigned char)*begin) ||
		(!is_marked && begin[strlen(begin) - 1] != ':') || strcasestr(line, "client") ||
		strcasestr(line, "password"))
		return NULL;
	return wp_xstrndup(begin, length);
}

/* Index of the nearest line above with words, a fence skipped; line_count for none near enough. */
static size_t nearest(const struct wp_import *in, size_t at)
{
	for (int i = 0; i < REACH && at > 0; i++) {
		const char *line = in->lines[--at].text;

		line += strspn(line, " ");
		if (*line && strncmp(line, "```", 3) != 0)
			return in->lines[at].is_taken ? in->line_count : at;
	}
	return in->line_count;
}

char *place_heading(const struct wp_import *in, size_t at)
{
	size_t above = nearest(in, at);

	return above < in->line_count ? words_of(in->lines[above].text) : NULL;
}

void place_take_heading(struct wp_import *in, size_t at)
{
	char *words = place_heading(in, at);

	if (words)
		in->lines[nearest(in, at)].is_taken = true;
	free(words);
}

/* Longer headings, with mount options in them, where they name a file system. */
static bool is_long_heading(const struct wp_import *in, size_t at)
{
	size_t above = nearest(in, at);
	const char *line = above < in->line_count ? in->lines[above].text : "";
	size_t length = strlen(line);
	char *fstype = length && line[length - 1] == ':' ? wp_import_fstype(line) : NULL;
	bool is_long = fstype != NULL;

	free(fstype);
	return is_long;
}

const char *place_add(struct wp_import *in, size_t at, struct wp_import_run *run)
{
	struct wp_import_heading heading = { .title = NULL };
	char *title = NULL;
	char *fstype = NULL;
	const char *label;

	run->line = in->lines[at].number;
	run->machine = run->machine ? run->machine : in->lines[at].host;
	if (is_long_heading(in, at) && wp_import_heading(in, at, run->tool, &heading)) {
		run->title = heading.title;
		run->fstype = run->fstype ? run->fstype : heading.fstype;
		run->mount_options = heading.mount_options;
	} else if (!run->title) {
		run->title = title = place_heading(in, at);
		fstype = title ? wp_import_fstype(title) : NULL;
		run->fstype = run->fstype ? run->fstype : fstype;
		place_take_heading(in, at);
	}
	label = wp_import_add_run(in, run);
	wp_import_heading_release(&heading);
	free(title);
	free(fstype);
	return label;
}
