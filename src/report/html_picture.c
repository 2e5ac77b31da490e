/* SPDX-License-Identifier: PostgreSQL */
/*
 * gnuplot's SVG was made to stand alone: in a page, ids of several pictures would collide, its
 * titles would show as tooltips, and its size is the page's matter.
 */
#include "html.h"
#include "walprobe/mem.h"

/* Whether text begins with start. */
static bool begins(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* What follows the end of the element that starts at text. */
static const char *skip_element(const char *text, const char *end)
{
	const char *found = strstr(text, end);

	return found ? found + strlen(end) : text + strlen(text);
}

/* The places behind which an id stands. */
static size_t id_prefix(const char *text)
{
	static const char *const places[] = { " id=\"", " id='", "href=\"#", "href='#", "url(#" };

	for (size_t i = 0; i < WP_COUNT(places); i++)
		if (begins(text, places[i]))
			return strlen(places[i]);
	return 0;
}

static void put_body(const char *text, size_t number, FILE *stream)
{
	while (*text && !begins(text, "</svg>")) {
		size_t length = id_prefix(text);

		if (begins(text, "<title>")) {
			text = skip_element(text, "</title>");
		} else if (begins(text, "<desc>")) {
			text = skip_element(text, "</desc>");
		} else if (length) {
			(void)fwrite(text, 1, length, stream);
			fprintf(stream, "p%zu-", number);
			text += length;
		} else {
			putc(*text++, stream);
		}
	}
}

/* The size inside gnuplot's own tag, as "0 0 460 330"; NULL when this is no picture. */
static char *view_box(const char *svg)
{
	const char *start = strstr(svg, "<svg");
	const char *end = start ? strchr(start, '>') : NULL;
	const char *box = start ? strstr(start, "viewBox=\"") : NULL;

	if (!end || !box || box > end)
		return NULL;
	box += strlen("viewBox=\"");
	return wp_xstrndup(box, strspn(box, "0123456789. -"));
}

void wp_html_picture(const struct wp_picture *picture, size_t number, FILE *stream)
{
	const char *start = strstr(picture->svg, "<svg");
	char *box = view_box(picture->svg);

	/* No terminal of gnuplot's writes a script unless asked to; a page never has one. */
	if (!box || strcasestr(picture->svg, "<script")) {
		free(box);
		return;
	}
	fprintf(stream,
		"<figure>\n<svg viewBox=\"%s\" xmlns=\"http://www.w3.org/2000/svg\" "
		"xmlns:xlink=\"http://www.w3.org/1999/xlink\" role=\"img\" aria-label=\"",
		box);
	wp_html_text(stream, picture->title);
	fputs("\">", stream);
	put_body(strchr(start, '>') + 1, number, stream);
	fputs("</svg>\n</figure>\n", stream);
	free(box);
}
