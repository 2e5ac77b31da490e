/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/import.h"
#include "walprobe/mem.h"

#include <ctype.h>

void wp_import_mark(struct wp_import *in, size_t at, size_t count)
{
	for (size_t i = at; i < at + count && i < in->line_count; i++)
		in->lines[i].is_taken = true;
}

bool wp_import_is_blank(const struct wp_import *in, size_t at)
{
	const char *text = at < in->line_count ? in->lines[at].text : "";

	return !text[strspn(text, " ")];
}

/* A prompt ends in one of "$#%" and a blank, and has no more than one blank before that. */
const char *wp_import_command(const char *text)
{
	size_t length = strcspn(text, "$#%");
	const char *rest = text + length;

	if (!*rest || rest[1] != ' ' || length > 64)
		return text;
	/* "100% of" is no prompt of csh. */
	if (*rest == '%' && length && isdigit((unsigned char)text[length - 1]))
		return text;
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("@:~/._-[]() ", text[i]))
			return text;
	return rest + 1 + strspn(rest + 1, " ");
}

bool wp_import_number(const char *text, double *out, const char **end)
{
	size_t length = strspn(text, "0123456789");
	char *stop;

	if (!length || length > 18)
		return false;
	if (text[length] == '.')
		length += 1 + strspn(text + length + 1, "0123456789");
	if (length > 40)
		return false;
	*out = strtod(text, &stop);
	/* 0x10 and 1e5 are no numbers of these tools */
	if (stop != text + length)
		return false;
	*end = text + length;
	return true;
}

/* Bit i of glue: line i + 1 follows without a blank. The caller frees. */
static char *join(const struct wp_import *in, size_t at, size_t count, unsigned glue)
{
	size_t length = 1;
	size_t used = 0;
	char *text;

	for (size_t i = 0; i < count; i++)
		length += strlen(in->lines[at + i].text) + 1;
	text = wp_xcalloc(length, 1);
	for (size_t i = 0; i < count; i++) {
		const char *piece = in->lines[at + i].text;

		if (i && !(glue & (1u << (i - 1))))
			text[used++] = ' ';
		memcpy(text + used, piece, strlen(piece));
		used += strlen(piece);
	}
	return text;
}

/* All joints of count lines. Returns how many different results parse accepts, 2 for more. */
static int try_joints(const struct wp_import *in, size_t at, size_t count,
	bool (*parse)(const char *text, const void *ctx, void *out), const void *ctx, void *out,
	size_t size)
{
	void *found = wp_xcalloc(1, size);
	int readings = 0;

	for (unsigned glue = 0; glue < 1u << (count - 1) && readings < 2; glue++) {
		char *text = join(in, at, count, glue);

		memset(found, 0, size);
		if (parse(text, ctx, found)) {
			readings += readings && memcmp(found, out, size) == 0 ? 0 : 1;
			memcpy(out, found, size);
		}
		free(text);
	}
	free(found);
	return readings;
}

static bool is_joinable(const struct wp_import *in, size_t at, size_t count)
{
	size_t length = 0;

	for (size_t i = 0; i < count; i++) {
		if (wp_import_is_blank(in, at + i) || in->lines[at + i].is_taken)
			return false;
		length += strlen(in->lines[at + i].text);
	}
	return length < 4096;
}

size_t wp_import_unwrap(const struct wp_import *in, size_t at, size_t most,
	bool (*parse)(const char *text, const void *ctx, void *out), const void *ctx, void *out,
	size_t size, bool *is_ambiguous)
{
	if (is_ambiguous)
		*is_ambiguous = false;
	if (most > in->line_count - at)
		most = in->line_count - at;
	for (size_t count = most; count > 0; count--) {
		int readings;

		if (!is_joinable(in, at, count))
			continue;
		memset(out, 0, size);
		readings = try_joints(in, at, count, parse, ctx, out, size);
		if (readings == 1)
			return count;
		/* Not even a shorter one: it may be what a break left of the number. */
		if (readings > 1 && is_ambiguous)
			*is_ambiguous = true;
		if (readings > 1)
			break;
	}
	memset(out, 0, size);
	return 0;
}
