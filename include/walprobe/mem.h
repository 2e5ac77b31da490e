/* SPDX-License-Identifier: PostgreSQL */
/*
 * mem.h - allocation that ends the process when memory is out.
 *
 * Floor: base. Sizes that come from a user are bounded by the option tables first, so running out
 * here is the machine's state and not the user's input. Never called inside a timed loop.
 * Threads: yes, all functions.
 */
#ifndef WALPROBE_MEM_H
#define WALPROBE_MEM_H

#include "walprobe/base.h"

/* wp_xcalloc - count zeroed elements of size bytes; the caller frees. Never NULL. */
void *wp_xcalloc(size_t count, size_t size);

/* wp_xreallocarray - grow or shrink to count elements of size bytes; the caller frees. Never NULL. */
void *wp_xreallocarray(void *old, size_t count, size_t size);

/* wp_xstrdup - copy of text; NULL gives NULL; the caller frees. */
char *wp_xstrdup(const char *text);

/* wp_xstrndup - copy of at most length bytes of text, terminated; the caller frees. Never NULL. */
char *wp_xstrndup(const char *text, size_t length);

/* wp_xasprintf - formatted text of any length; the caller frees. Never NULL. */
char *wp_xasprintf(const char *format, ...) WP_PRINTF(1, 2);

/* wp_xvasprintf - as wp_xasprintf with a va_list. */
char *wp_xvasprintf(const char *format, va_list args) WP_PRINTF(1, 0);

/* wp_xaligned - size bytes aligned to alignment (a power of two), zeroed; the caller frees. */
void *wp_xaligned(size_t alignment, size_t size);

#endif
