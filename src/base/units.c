/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/units.h"
#include "walprobe/mem.h"

#include <ctype.h>
#include <math.h>

struct unit {
	const char *name;
	int64_t factor;
};

static const struct unit duration_units[] = {
	{ "ns", 1 },
	{ "us", WP_NS_PER_US },
	{ "ms", WP_NS_PER_MS },
	{ "s", WP_NS_PER_S },
	{ "min", 60 * WP_NS_PER_S },
	{ "h", 3600 * WP_NS_PER_S },
	{ "d", 86400 * WP_NS_PER_S },
};

static const struct unit size_units[] = {
	{ "B", 1 },
	{ "kB", INT64_C(1) << 10 },
	{ "MB", INT64_C(1) << 20 },
	{ "GB", INT64_C(1) << 30 },
	{ "TB", INT64_C(1) << 40 },
};

static const struct unit *find_unit(const struct unit *units, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(units[i].name, name) == 0)
			return &units[i];
	return NULL;
}

/* The decimal number at the start of text; only digits and one point, so no "inf", "0x" or "1e9". */
static int leading_number(const char *text, double *value, const char **rest)
{
	const char *end = text;
	char *stop;

	while (isdigit((unsigned char)*end))
		end++;
	if (*end == '.')
		end++;
	while (isdigit((unsigned char)*end))
		end++;
	if (end == text || !(isdigit((unsigned char)text[0]) || isdigit((unsigned char)text[1])))
		return -1;
	*value = strtod(text, &stop);
	*rest = end;
	return stop == end ? 0 : -1;
}

static int parse_with_units(const char *text, const struct unit *units, size_t count,
	int64_t bare_factor, const char *example, int64_t *out, struct wp_err *err)
{
	const struct unit *unit;
	const char *rest;
	double value;
	double factor = (double)bare_factor;

	if (leading_number(text, &value, &rest) < 0) {
		(void)wp_fail(err, WP_E_USAGE, 0, "\"%s\" is not a number with a unit", text);
		goto refuse;
	}
	while (*rest == ' ')
		rest++;
	unit = find_unit(units, count, rest);
	if (unit) {
		factor = (double)unit->factor;
	} else if (*rest) {
		(void)wp_fail(err, WP_E_USAGE, 0, "unknown unit in \"%s\"", text);
		goto refuse;
	} else if (!bare_factor) {
		(void)wp_fail(err, WP_E_USAGE, 0, "unit missing in \"%s\"", text);
		goto refuse;
	}
	if (value * factor > (double)(INT64_MAX / 2)) {
		(void)wp_fail(err, WP_E_USAGE, 0, "\"%s\" is too large", text);
		goto refuse;
	}
	*out = (int64_t)llround(value * factor);
	return 0;
refuse:
	wp_err_hint(err, "Write it as in %s.", example);
	return -WP_E_USAGE;
}

int wp_parse_duration_ns(
	const char *text, int64_t bare_unit_ns, int64_t *out_ns, struct wp_err *err)
{
	return parse_with_units(text, duration_units, WP_COUNT(duration_units), bare_unit_ns,
		"500ms, 2s or 1min", out_ns, err);
}

int wp_parse_size_bytes(const char *text, int64_t *out_bytes, struct wp_err *err)
{
	return parse_with_units(
		text, size_units, WP_COUNT(size_units), 0, "8kB, 16MB or 1GB", out_bytes, err);
}

int wp_parse_int(const char *text, int64_t *out, struct wp_err *err)
{
	const char *digits = *text == '-' ? text + 1 : text;
	char *end;
	long long value;

	if (!isdigit((unsigned char)*digits))
		return wp_fail(err, WP_E_USAGE, 0, "\"%s\" is not a whole number", text);
	errno = 0;
	value = strtoll(text, &end, 10);
	if (*end || errno)
		return wp_fail(err, WP_E_USAGE, 0, "\"%s\" is not a whole number", text);
	*out = value;
	return 0;
}

static int list_item(const char *item, int64_t *first, int64_t *last, struct wp_err *err)
{
	const char *dash = strchr(item, '-');
	char *head;
	int rc;

	if (!dash) {
		rc = wp_parse_int(item, first, err);
		*last = rc ? 0 : *first;
		return rc;
	}
	head = wp_xstrndup(item, (size_t)(dash - item));
	rc = wp_parse_int(head, first, err);
	free(head);
	if (!rc)
		rc = wp_parse_int(dash + 1, last, err);
	if (rc)
		return wp_fail(err, WP_E_USAGE, 0,
			"\"%s\" is neither a whole number nor a range as in 1-8", item);
	if (*last < *first)
		rc = wp_fail(err, WP_E_USAGE, 0, "range \"%s\" runs backwards", item);
	return rc;
}

static int list_add(int64_t value, int64_t *out, size_t capacity, size_t *count, struct wp_err *err)
{
	for (size_t i = 0; i < *count; i++)
		if (out[i] == value)
			return wp_fail(err, WP_E_USAGE, 0, "%" PRId64 " appears twice", value);
	if (*count == capacity)
		return wp_fail(err, WP_E_USAGE, 0, "more than %zu numbers in the list", capacity);
	out[(*count)++] = value;
	return 0;
}

int wp_parse_int_list(const char *text, int64_t minimum, int64_t maximum, int64_t *out,
	size_t capacity, size_t *count, struct wp_err *err)
{
	char *copy = wp_xstrdup(text);
	char *rest = copy;
	char *item;
	int rc = 0;

	*count = 0;
	while (!rc && (item = strsep(&rest, ",")) != NULL) {
		int64_t first;
		int64_t last;

		rc = list_item(item, &first, &last, err);
		if (!rc && (first < minimum || last > maximum))
			rc = wp_fail(err, WP_E_USAGE, 0,
				"\"%s\" is outside %" PRId64 " to %" PRId64, item, minimum,
				maximum);
		for (int64_t value = first; !rc && value <= last; value++)
			rc = list_add(value, out, capacity, count, err);
	}
	free(copy);
	return rc;
}

const char *wp_format_3(double value, char *out, size_t size)
{
	double magnitude = fabs(value);
	int decimals = 0;

	if (magnitude > 0 && magnitude < 1000) {
		/* Rounding first, so that 9.996 becomes 10.0 and not 10.00. */
		int exponent = (int)floor(log10(magnitude));

		if (magnitude >= pow(10, exponent + 1) - 0.5 * pow(10, exponent - 2))
			exponent++;
		decimals = exponent >= 2 ? 0 : 2 - exponent;
		if (decimals > 9)
			decimals = 9;
	} else if (magnitude >= 1000) {
		double step = pow(10, floor(log10(magnitude)) - 2);

		value = round(value / step) * step;
	}
	(void)snprintf(out, size, "%.*f", decimals, value);
	return out;
}

int64_t wp_int_list_most(const int64_t *list, size_t count)
{
	int64_t most = 0;

	for (size_t i = 0; i < count; i++)
		most = list[i] > most ? list[i] : most;
	return most;
}

static const char *format_scaled(double value, const struct unit *unit, char *out, size_t size)
{
	char number[32];

	(void)snprintf(out, size, "%s %s",
		wp_format_3(value / (double)unit->factor, number, sizeof(number)), unit->name);
	return out;
}

const char *wp_format_duration(int64_t ns, char *out, size_t size)
{
	size_t i = 0;

	while (i + 1 < 4 && (double)ns >= 999.5 * (double)duration_units[i].factor)
		i++;
	return format_scaled((double)ns, &duration_units[i], out, size);
}

const char *wp_format_size(int64_t bytes, char *out, size_t size)
{
	size_t i = 0;

	while (i + 1 < WP_COUNT(size_units) && bytes >= size_units[i + 1].factor)
		i++;
	return format_scaled((double)bytes, &size_units[i], out, size);
}
