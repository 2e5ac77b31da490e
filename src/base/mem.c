/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/mem.h"

static void *must(void *memory)
{
	if (!memory) {
		fputs("walprobe: error: out of memory\n", stderr);
		abort();
	}
	return memory;
}

void *wp_xcalloc(size_t count, size_t size)
{
	return must(calloc(count ? count : 1, size ? size : 1));
}

void *wp_xreallocarray(void *old, size_t count, size_t size)
{
	return must(reallocarray(old, count ? count : 1, size ? size : 1));
}

char *wp_xstrdup(const char *text)
{
	return text ? must(strdup(text)) : NULL;
}

char *wp_xstrndup(const char *text, size_t length)
{
	return must(strndup(text, length));
}

char *wp_xvasprintf(const char *format, va_list args)
{
	char *text = NULL;

	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	return must(text);
}

char *wp_xasprintf(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = wp_xvasprintf(format, args);
	va_end(args);
	return text;
}

void *wp_xaligned(size_t alignment, size_t size)
{
	void *memory = NULL;

	if (posix_memalign(&memory, alignment, size ? size : 1) != 0)
		memory = NULL;
	must(memory);
	memset(memory, 0, size);
	return memory;
}
