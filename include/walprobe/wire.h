/* SPDX-License-Identifier: PostgreSQL */
/*
 * wire.h - numbers and texts in messages and files, little endian, never past the end.
 *
 * Floor: witness (may include base). A writer that runs out of room and a reader that runs out of
 * bytes remember it and go on with zeros, so that a caller looks once, at the end.
 * Threads: no; one struct per thread.
 */
#ifndef WALPROBE_WIRE_H
#define WALPROBE_WIRE_H

#include "walprobe/base.h"

#define WP_WIRE_TEXT_BYTES 1024 /* longest text, its terminating zero included */

struct wp_put {
	uint8_t *bytes;
	size_t size;
	size_t used;
	bool is_full;
};

struct wp_get {
	const uint8_t *bytes;
	size_t size;
	size_t at;
	bool is_short;
};

/* wp_put_bytes - append length bytes. */
void wp_put_bytes(struct wp_put *put, const void *bytes, size_t length);

/* wp_put_number - append the width (1, 2, 4 or 8) low bytes of value. */
void wp_put_number(struct wp_put *put, uint64_t value, size_t width);

/* wp_put_text - append a text with its length; cut at WP_WIRE_TEXT_BYTES - 1. NULL is "". */
void wp_put_text(struct wp_put *put, const char *text);

/* wp_get_bytes - take length bytes into out; zeros when there are fewer. */
void wp_get_bytes(struct wp_get *get, void *out, size_t length);

/* wp_get_number - take a number of width bytes; 0 when there are fewer. */
uint64_t wp_get_number(struct wp_get *get, size_t width);

/* wp_get_text - take a text into size bytes of out, terminated; a longer one, or one with a zero
 * inside, counts as short. */
void wp_get_text(struct wp_get *get, char *out, size_t size);

/* wp_get_is_done - true when all was taken and nothing was missing. */
bool wp_get_is_done(const struct wp_get *get);

#endif
