/* SPDX-License-Identifier: PostgreSQL */
#include "cli/opts_iter.h"

/* Step over empty tables to the next option. */
static void settle(struct wp_opt_iter *it)
{
	while (*it->table && !it->opt->name) {
		it->table++;
		it->opt = *it->table;
	}
	if (!*it->table)
		it->opt = NULL;
}

struct wp_opt_iter wp_opt_first(const struct wp_command *command)
{
	struct wp_opt_iter it = { command->tables, command->tables[0] };

	settle(&it);
	return it;
}

void wp_opt_next(struct wp_opt_iter *it)
{
	it->opt++;
	settle(it);
}

const char *wp_opt_standard(const struct wp_command *command, const struct wp_opt *opt)
{
	for (const struct wp_default *own = command->defaults; own && own->name; own++)
		if (strcmp(own->name, opt->name) == 0)
			return own->standard;
	return opt->standard;
}

const char *const *wp_opt_choices(const struct wp_command *command, const struct wp_opt *opt)
{
	if (command->formats && opt->choices && strcmp(opt->name, "format") == 0)
		return command->formats;
	return opt->choices;
}

bool wp_opt_is_duration(enum wp_opt_type type)
{
	return type == WP_OPT_DURATION || type == WP_OPT_DURATION_S || type == WP_OPT_DURATION_MS ||
	       type == WP_OPT_DURATION_US;
}

struct scale {
	const char *unit;
	int64_t factor;
};

static const struct scale duration_scales[] = {
	{ "d", 86400 * WP_NS_PER_S },
	{ "h", 3600 * WP_NS_PER_S },
	{ "min", 60 * WP_NS_PER_S },
	{ "s", WP_NS_PER_S },
	{ "ms", WP_NS_PER_MS },
	{ "us", WP_NS_PER_US },
	{ "ns", 1 },
};

static const struct scale size_scales[] = {
	{ "TB", INT64_C(1) << 40 },
	{ "GB", INT64_C(1) << 30 },
	{ "MB", INT64_C(1) << 20 },
	{ "kB", INT64_C(1) << 10 },
	{ "B", 1 },
};

static void scaled_text(
	const struct scale *scales, size_t count, int64_t value, char *out, size_t size)
{
	size_t i = 0;

	while (i + 1 < count && value % scales[i].factor != 0)
		i++;
	(void)snprintf(out, size, "%" PRId64 "%s", value / scales[i].factor, scales[i].unit);
}

void wp_opt_number_text(const struct wp_opt *opt, int64_t value, char *out, size_t size)
{
	if (value == 0 && wp_opt_is_duration(opt->type))
		(void)snprintf(out, size, "0s");
	else if (wp_opt_is_duration(opt->type))
		scaled_text(duration_scales, WP_COUNT(duration_scales), value, out, size);
	else if (value != 0 && opt->type == WP_OPT_SIZE)
		scaled_text(size_scales, WP_COUNT(size_scales), value, out, size);
	else
		(void)snprintf(
			out, size, "%" PRId64 "%s", value, opt->type == WP_OPT_SIZE ? "B" : "");
}
