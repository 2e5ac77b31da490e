/* SPDX-License-Identifier: PostgreSQL */
#include "number.h"
#include "walprobe/units.h"

#include <math.h>

const char *wp_number_real(double value, char *out)
{
	for (int digits = 15; digits <= 17; digits++) {
		(void)snprintf(out, WP_NUMBER_SIZE, "%.*g", digits, value);
		if (strtod(out, NULL) == value)
			break;
	}
	if (!strpbrk(out, ".e")) {
		size_t used = strlen(out);

		(void)snprintf(out + used, WP_NUMBER_SIZE - used, ".0");
	}
	return out;
}

/* No hexadecimal, infinity or white space, which strtod() would take. */
static bool is_decimal(const char *text, double *value)
{
	char *end;

	if (!*text || text[strspn(text, "0123456789+-.eE")])
		return false;
	*value = strtod(text, &end);
	return !*end && isfinite(*value);
}

const char *wp_number_fact(const struct wp_fact *fact, char *out, bool *is_number)
{
	int64_t integer;
	double real;

	*is_number = false;
	if (!fact->value)
		return NULL;
	if (fact->kind == WP_KIND_INT && wp_parse_int(fact->value, &integer, NULL) == 0) {
		*is_number = true;
		(void)snprintf(out, WP_NUMBER_SIZE, "%" PRId64, integer);
		return out;
	}
	if (fact->kind == WP_KIND_REAL && is_decimal(fact->value, &real)) {
		*is_number = true;
		return wp_number_real(real, out);
	}
	return fact->value;
}
