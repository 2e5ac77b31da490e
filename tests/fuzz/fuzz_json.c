/* SPDX-License-Identifier: PostgreSQL */
/*
 * fuzz_json.c - whatever the reader takes must be written and read again to the same bytes, and
 * its text must fit 100 columns.
 */
#include "report/utf8.h"
#include "walprobe/render.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *render(const struct wp_result *result, wp_render_fn *fn, size_t *size)
{
	static const struct wp_render_options options = { false, true };
	char *text = NULL;
	FILE *stream = open_memstream(&text, size);

	if (!stream)
		abort();
	fn(result, &options, stream);
	if (fclose(stream) != 0)
		abort();
	return text;
}

static void check_width(char *text)
{
	char *line;

	while ((line = strsep(&text, "\n")) != NULL) {
		size_t length = strlen(line);

		if (wp_utf8_width(line) > 100 || (length && line[length - 1] == ' ')) {
			fprintf(stderr, "line: \"%s\"\n", line);
			abort();
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wp_result *result = NULL;
	struct wp_result *again = NULL;
	struct wp_err err = { 0 };
	size_t first_size;
	size_t second_size;
	size_t text_size;
	char *second;
	char *first;
	char *text;

	if (wp_result_read_json((const char *)data, size, "fuzz", &result, &err) != 0) {
		if (!err.message[0])
			abort();
		return 0;
	}
	first = render(result, wp_render_json, &first_size);
	if (wp_result_read_json(first, first_size, "again", &again, &err) != 0) {
		fprintf(stderr, "%s\n", err.message);
		abort();
	}
	second = render(again, wp_render_json, &second_size);
	if (first_size != second_size || memcmp(first, second, first_size) != 0)
		abort();
	free(render(result, wp_render_csv, &text_size));
	text = render(result, wp_render_text, &text_size);
	check_width(text);
	free(text);
	free(second);
	free(first);
	wp_result_free(again);
	wp_result_free(result);
	return 0;
}
