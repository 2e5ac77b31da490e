/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/vars.h"
#include "walprobe/mem.h"

#include <float.h>
#include <math.h>
#include <strings.h>

#define SYMBOLS_FIRST 32

/* ---- values ---------------------------------------------------------------------------------- */

const char *wp_value_type_name(enum wp_value_type type)
{
	static const char *const names[] = { "null", "boolean", "int", "double" };

	assert((size_t)type < WP_COUNT(names));
	return names[type];
}

/* This stands in the path of every parameter of every statement, hence no printf. */
static size_t format_int(int64_t value, char out[WP_VALUE_TEXT_SIZE])
{
	uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
	char digits[WP_VALUE_TEXT_SIZE];
	size_t start = sizeof(digits);
	size_t length;

	do {
		digits[--start] = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest > 0);
	if (value < 0)
		digits[--start] = '-';
	length = sizeof(digits) - start;
	memcpy(out, digits + start, length);
	out[length] = '\0';
	return length;
}

static size_t format_word(const char *word, char out[WP_VALUE_TEXT_SIZE])
{
	size_t length = strlen(word);

	memcpy(out, word, length + 1);
	return length;
}

/* PostgreSQL's own words instead of the C library's inf and -nan */
static size_t format_double(double value, char out[WP_VALUE_TEXT_SIZE])
{
	if (isnan(value))
		return format_word("NaN", out);
	if (isinf(value))
		return format_word(value < 0 ? "-Infinity" : "Infinity", out);
	return (size_t)snprintf(out, WP_VALUE_TEXT_SIZE, "%.*g", DBL_DIG, value);
}

size_t wp_value_format(const struct wp_value *value, char out[WP_VALUE_TEXT_SIZE])
{
	switch (value->type) {
	case WP_VALUE_BOOLEAN:
		return format_word(value->boolean ? "true" : "false", out);
	case WP_VALUE_INT:
		return format_int(value->integer, out);
	case WP_VALUE_DOUBLE:
		return format_double(value->real, out);
	case WP_VALUE_NULL:
		break;
	}
	return format_word("NULL", out);
}

/* ---- names ----------------------------------------------------------------------------------- */

static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static uint64_t hash_name(const char *prefix, size_t prefix_length, const char *name, size_t length)
{
	uint64_t hash = hash_bytes(UINT64_C(0xcbf29ce484222325), prefix, prefix_length);

	return hash_bytes(hash, name, length);
}

static bool same_name(const char *known, const char *prefix, size_t prefix_length, const char *name,
	size_t length)
{
	return strlen(known) == prefix_length + length &&
	       memcmp(known, prefix, prefix_length) == 0 &&
	       memcmp(known + prefix_length, name, length) == 0;
}

/* The bucket that holds the name, or the empty one where it belongs. */
static size_t find_bucket(const struct wp_symbols *symbols, const char *prefix,
	size_t prefix_length, const char *name, size_t length)
{
	size_t mask = symbols->bucket_count - 1;
	size_t bucket = (size_t)hash_name(prefix, prefix_length, name, length) & mask;

	while (symbols->buckets[bucket] && !same_name(symbols->names[symbols->buckets[bucket] - 1],
						   prefix, prefix_length, name, length))
		bucket = (bucket + 1) & mask;
	return bucket;
}

static void grow_symbols(struct wp_symbols *symbols)
{
	symbols->capacity = symbols->capacity ? symbols->capacity * 2 : SYMBOLS_FIRST;
	symbols->names =
		wp_xreallocarray(symbols->names, symbols->capacity, sizeof(*symbols->names));
	symbols->assigned =
		wp_xreallocarray(symbols->assigned, symbols->capacity, sizeof(*symbols->assigned));
	free(symbols->buckets);
	symbols->bucket_count = symbols->capacity * 2;
	symbols->buckets = wp_xcalloc(symbols->bucket_count, sizeof(*symbols->buckets));
	for (size_t i = 0; i < symbols->count; i++) {
		const char *name = symbols->names[i];

		symbols->buckets[find_bucket(symbols, "", 0, name, strlen(name))] = (int32_t)i + 1;
	}
}

void wp_symbols_release(struct wp_symbols *symbols)
{
	for (size_t i = 0; i < symbols->count; i++)
		free(symbols->names[i]);
	free(symbols->names);
	free(symbols->assigned);
	free(symbols->buckets);
	memset(symbols, 0, sizeof(*symbols));
}

int32_t wp_symbols_add(struct wp_symbols *symbols, const char *name, size_t length)
{
	size_t bucket;

	if (symbols->count == symbols->capacity)
		grow_symbols(symbols);
	bucket = find_bucket(symbols, "", 0, name, length);
	if (!symbols->buckets[bucket]) {
		symbols->names[symbols->count] = wp_xstrndup(name, length);
		symbols->assigned[symbols->count] = false;
		symbols->buckets[bucket] = (int32_t)++symbols->count;
	}
	return symbols->buckets[bucket] - 1;
}

int32_t wp_symbols_define(struct wp_symbols *symbols, const char *name, size_t length)
{
	int32_t slot = wp_symbols_add(symbols, name, length);

	symbols->assigned[slot] = true;
	return slot;
}

int32_t wp_symbols_find(const struct wp_symbols *symbols, const char *prefix, const char *name)
{
	if (symbols->count == 0)
		return -1;
	if (!prefix)
		prefix = "";
	return symbols->buckets[find_bucket(symbols, prefix, strlen(prefix), name, strlen(name))] -
	       1;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool starts_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       (unsigned char)c > 127;
}

size_t wp_name_length(const char *text, size_t length)
{
	size_t i = 1;

	if (length == 0 || !starts_name(text[0]))
		return 0;
	while (i < length && (starts_name(text[i]) || is_digit(text[i])))
		i++;
	return i;
}

/* ---- one client's variables ------------------------------------------------------------------ */

void wp_vars_init(struct wp_vars *vars, const struct wp_symbols *symbols)
{
	vars->symbols = symbols;
	vars->count = symbols->count;
	vars->slots = wp_xcalloc(vars->count, sizeof(*vars->slots));
}

void wp_vars_release(struct wp_vars *vars)
{
	for (size_t i = 0; i < vars->count; i++)
		free(vars->slots[i].long_text);
	free(vars->slots);
	memset(vars, 0, sizeof(*vars));
}

void wp_vars_set(struct wp_vars *vars, int32_t slot, struct wp_value value)
{
	struct wp_var *var = &vars->slots[slot];

	var->value = value;
	var->has_value = true;
	var->has_text = false;
}

static void set_slot_text(struct wp_var *var, const char *text)
{
	size_t size = strlen(text) + 1;

	if (size <= sizeof(var->short_text)) {
		var->text = var->short_text;
	} else {
		if (size > var->long_size) {
			var->long_text = wp_xreallocarray(var->long_text, size, 1);
			var->long_size = size;
		}
		var->text = var->long_text;
	}
	/* text may be this very variable's own */
	memmove(var->text, text, size);
	var->has_text = true;
	var->has_value = false;
}

/* Is prefix followed by name a variable name? */
static bool is_name(const char *prefix, const char *name)
{
	size_t prefix_length = strlen(prefix);
	size_t length = strlen(name);

	if (prefix_length == 0)
		return length > 0 && wp_name_length(name, length) == length;
	if (wp_name_length(prefix, prefix_length) != prefix_length)
		return false;
	while (length > 0 && (starts_name(*name) || is_digit(*name))) {
		name++;
		length--;
	}
	return length == 0;
}

int wp_vars_set_text(struct wp_vars *vars, const char *context, const char *prefix,
	const char *name, const char *text, struct wp_err *err)
{
	int32_t slot;

	if (!prefix)
		prefix = "";
	if (!is_name(prefix, name))
		return wp_fail(err, WP_E_DATA, 0, "%s: invalid variable name: \"%s%s\"", context,
			prefix, name);
	slot = wp_symbols_find(vars->symbols, prefix, name);
	if (slot >= 0)
		set_slot_text(&vars->slots[slot], text);
	return 0;
}

int wp_vars_define(struct wp_vars *vars, const char *definition, struct wp_err *err)
{
	const char *equals = strchr(definition, '=');
	char *name;
	int result;

	if (!equals || equals == definition) {
		result = wp_fail(
			err, WP_E_USAGE, 0, "invalid variable definition: \"%s\"", definition);
		wp_err_hint(err, "Write it as name=value.");
		return result;
	}
	name = wp_xstrndup(definition, (size_t)(equals - definition));
	if (wp_vars_set_text(vars, "-D", NULL, name, equals + 1, NULL) == 0)
		result = 0;
	else
		result = wp_fail(err, WP_E_USAGE, 0, "-D: invalid variable name: \"%s\"", name);
	free(name);
	return result;
}

void wp_vars_set_default(struct wp_vars *vars, const char *name, int64_t integer)
{
	int32_t slot = wp_symbols_find(vars->symbols, NULL, name);

	if (slot >= 0 && !vars->slots[slot].has_text && !vars->slots[slot].has_value)
		wp_vars_set(
			vars, slot, (struct wp_value){ .type = WP_VALUE_INT, .integer = integer });
}

const char *wp_vars_text(struct wp_vars *vars, int32_t slot, size_t *length)
{
	struct wp_var *var = &vars->slots[slot];
	size_t made = 0;

	if (!var->has_text) {
		if (!var->has_value)
			return NULL;
		made = wp_value_format(&var->value, var->short_text);
		var->text = var->short_text;
		var->has_text = true;
	}
	if (length)
		*length = made ? made : strlen(var->text);
	return var->text;
}

static bool begins_word(const char *text, size_t length, const char *word)
{
	return strncasecmp(text, word, length) == 0;
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* spaces, a sign, digits; as in pgbench a sign alone counts, and fails as a number later */
static bool looks_like_int(const char *text)
{
	while (is_space(*text))
		text++;
	if (*text == '+' || *text == '-')
		text++;
	if (*text && !is_digit(*text))
		return false;
	while (is_digit(*text))
		text++;
	return *text == '\0';
}

static int text_to_number(
	const char *name, const char *text, struct wp_value *out, struct wp_err *err)
{
	char *end;

	errno = 0;
	if (looks_like_int(text)) {
		out->type = WP_VALUE_INT;
		out->integer = strtoll(text, &end, 10);
		if (errno == ERANGE)
			return wp_fail(err, WP_E_DATA, 0,
				"value \"%s\" is out of range for type bigint", text);
	} else {
		out->type = WP_VALUE_DOUBLE;
		out->real = strtod(text, &end);
	}
	if (errno || end == text || *end)
		return wp_fail(
			err, WP_E_DATA, 0, "malformed variable \"%s\" value: \"%s\"", name, text);
	return 0;
}

static int text_to_value(
	const char *name, const char *text, struct wp_value *out, struct wp_err *err)
{
	size_t length = strlen(text);

	*out = (struct wp_value){ .type = WP_VALUE_NULL };
	if (length == 0)
		return wp_fail(err, WP_E_DATA, 0, "malformed variable \"%s\" value: \"\"", name);
	if (strcasecmp(text, "null") == 0)
		return 0;
	/* y, ye, n, no ... but not o, which could be either */
	out->type = WP_VALUE_BOOLEAN;
	out->boolean = begins_word(text, length, "true") || begins_word(text, length, "yes") ||
		       strcasecmp(text, "on") == 0;
	if (out->boolean || begins_word(text, length, "false") || begins_word(text, length, "no") ||
		strcasecmp(text, "off") == 0 || strcasecmp(text, "of") == 0)
		return 0;
	return text_to_number(name, text, out, err);
}

int wp_vars_value(struct wp_vars *vars, int32_t slot, struct wp_value *out, struct wp_err *err)
{
	struct wp_var *var = &vars->slots[slot];
	int result;

	if (!var->has_value) {
		const char *name = vars->symbols->names[slot];

		if (!var->has_text)
			return wp_fail(err, WP_E_DATA, 0, "undefined variable \"%s\"", name);
		result = text_to_value(name, var->text, &var->value, err);
		if (result < 0)
			return result;
		var->has_value = true;
	}
	*out = var->value;
	return 0;
}
