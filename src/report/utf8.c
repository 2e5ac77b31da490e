/* SPDX-License-Identifier: PostgreSQL */
#include "utf8.h"
#include "walprobe/mem.h"

struct range {
	uint32_t first;
	uint32_t last;
};

/* Marks that combine with what stands before them, and characters without a width. */
static const struct range zero_width[] = {
	{ 0x0300, 0x036F },
	{ 0x0483, 0x0489 },
	{ 0x0591, 0x05BD },
	{ 0x0610, 0x061A },
	{ 0x064B, 0x065F },
	{ 0x0900, 0x0902 },
	{ 0x093C, 0x093C },
	{ 0x0E31, 0x0E31 },
	{ 0x0E34, 0x0E3A },
	{ 0x1AB0, 0x1AFF },
	{ 0x1DC0, 0x1DFF },
	{ 0x200B, 0x200D },
	{ 0x20D0, 0x20FF },
	{ 0xFE00, 0xFE0F },
	{ 0xFE20, 0xFE2F },
	{ 0xFEFF, 0xFEFF },
	{ 0xE0100, 0xE01EF },
};

/* East Asian Wide and Fullwidth of Unicode's annex 11, and the emoji blocks. */
static const struct range two_wide[] = {
	{ 0x1100, 0x115F },
	{ 0x2E80, 0x303E },
	{ 0x3041, 0x33FF },
	{ 0x3400, 0x4DBF },
	{ 0x4E00, 0x9FFF },
	{ 0xA000, 0xA4CF },
	{ 0xAC00, 0xD7A3 },
	{ 0xF900, 0xFAFF },
	{ 0xFE30, 0xFE6F },
	{ 0xFF00, 0xFF60 },
	{ 0xFFE0, 0xFFE6 },
	{ 0x1F300, 0x1F64F },
	{ 0x1F680, 0x1F6FF },
	{ 0x1F900, 0x1F9FF },
	{ 0x20000, 0x3FFFD },
};

/* Characters that move or reorder what a terminal shows. */
static const struct range unsafe[] = {
	{ 0x0000, 0x001F },
	{ 0x007F, 0x009F },
	{ 0x200E, 0x200F },
	{ 0x202A, 0x202E },
	{ 0x2066, 0x2069 },
};

static bool is_in(uint32_t code, const struct range *ranges, size_t count)
{
	for (size_t i = 0; i < count && code >= ranges[i].first; i++)
		if (code <= ranges[i].last)
			return true;
	return false;
}

size_t wp_utf8_next(const char *text, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned char lead = (unsigned char)text[0];
	size_t length = lead < 0x80             ? 1
			: (lead & 0xE0) == 0xC0 ? 2
			: (lead & 0xF0) == 0xE0 ? 3
			: (lead & 0xF8) == 0xF0 ? 4
						: 0;
	uint32_t value = length == 1 ? lead : length ? lead & (0x7Fu >> length) : 0;

	/* The terminating zero is no continuation byte, so this never runs past the end. */
	for (size_t i = 1; i < length; i++) {
		if (((unsigned char)text[i] & 0xC0) != 0x80) {
			length = 0;
			break;
		}
		value = value << 6 | ((unsigned char)text[i] & 0x3F);
	}
	if (!length || value < least[length] || value > 0x10FFFF ||
		(value >= 0xD800 && value <= 0xDFFF)) {
		*code = WP_UTF8_REPLACEMENT;
		return 1;
	}
	*code = value;
	return length;
}

size_t wp_utf8_put(uint32_t code, char *out)
{
	size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	static const unsigned char leads[] = { 0, 0, 0xC0, 0xE0, 0xF0 };

	for (size_t i = length - 1; i > 0; i--) {
		out[i] = (char)(0x80 | (code & 0x3F));
		code >>= 6;
	}
	out[0] = (char)(leads[length] | code);
	return length;
}

size_t wp_utf8_code_width(uint32_t code)
{
	if (is_in(code, zero_width, WP_COUNT(zero_width)))
		return 0;
	return is_in(code, two_wide, WP_COUNT(two_wide)) ? 2 : 1;
}

size_t wp_utf8_width(const char *text)
{
	size_t width = 0;
	uint32_t code;

	while (*text) {
		text += wp_utf8_next(text, &code);
		width += wp_utf8_code_width(code);
	}
	return width;
}

static bool is_blank(uint32_t code)
{
	return code == '\t' || code == '\n' || code == '\r' || code == 0x85 || code == 0xA0 ||
	       code == 0x2028 || code == 0x2029;
}

char *wp_utf8_clean(const char *text)
{
	/* "\x1b" for one byte is the longest that one byte becomes. */
	size_t size = text ? strlen(text) * 4 + 1 : 1;
	char *out = wp_xcalloc(size, 1);
	size_t used = 0;
	uint32_t code;

	while (text && *text) {
		text += wp_utf8_next(text, &code);
		if (is_blank(code))
			out[used++] = ' ';
		else if (is_in(code, unsafe, WP_COUNT(unsafe)))
			used += (size_t)snprintf(out + used, size - used,
				code < 0x100 ? "\\x%02x" : "\\u%04x", (unsigned)code);
		else
			used += wp_utf8_put(code, out + used);
	}
	return out;
}
