/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/wire.h"

void wp_put_bytes(struct wp_put *put, const void *bytes, size_t length)
{
	if (put->is_full || length > put->size - put->used) {
		put->is_full = true;
		return;
	}
	if (length)
		memcpy(put->bytes + put->used, bytes, length);
	put->used += length;
}

void wp_put_number(struct wp_put *put, uint64_t value, size_t width)
{
	uint8_t bytes[8];

	assert(width <= sizeof(bytes));
	for (size_t i = 0; i < width; i++)
		bytes[i] = (uint8_t)(value >> (8 * i));
	wp_put_bytes(put, bytes, width);
}

void wp_put_text(struct wp_put *put, const char *text)
{
	size_t length = text ? strnlen(text, WP_WIRE_TEXT_BYTES - 1) : 0;

	wp_put_number(put, length, 2);
	wp_put_bytes(put, text, length);
}

void wp_get_bytes(struct wp_get *get, void *out, size_t length)
{
	if (get->is_short || length > get->size - get->at) {
		get->is_short = true;
		memset(out, 0, length);
		return;
	}
	if (length)
		memcpy(out, get->bytes + get->at, length);
	get->at += length;
}

uint64_t wp_get_number(struct wp_get *get, size_t width)
{
	uint8_t bytes[8] = { 0 };
	uint64_t value = 0;

	assert(width <= sizeof(bytes));
	wp_get_bytes(get, bytes, width);
	for (size_t i = width; i > 0; i--)
		value = value << 8 | bytes[i - 1];
	return value;
}

void wp_get_text(struct wp_get *get, char *out, size_t size)
{
	size_t length = (size_t)wp_get_number(get, 2);

	if (length >= size || get->is_short || length > get->size - get->at) {
		get->is_short = true;
		length = 0;
	}
	wp_get_bytes(get, out, length);
	out[length] = '\0';
	if (memchr(out, '\0', length))
		get->is_short = true;
}

bool wp_get_is_done(const struct wp_get *get)
{
	return !get->is_short && get->at == get->size;
}
