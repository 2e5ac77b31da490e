/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/script.h"

#include "sql_commit_only.h"
#include "sql_select_only.h"
#include "sql_simple_update.h"
#include "sql_tpcb_like.h"

static const struct wp_builtin builtins[] = {
	{ "tpcb-like", "<builtin: TPC-B (sort of)>", wp_sql_tpcb_like },
	{ "simple-update", "<builtin: simple update>", wp_sql_simple_update },
	{ "select-only", "<builtin: select only>", wp_sql_select_only },
	{ "commit-only", "<builtin: commit only>", wp_sql_commit_only },
};

const struct wp_builtin *wp_builtins(size_t *count)
{
	*count = WP_COUNT(builtins);
	return builtins;
}

static void hint_names(struct wp_err *err)
{
	wp_err_hint(err, "The built-in scripts are %s, %s, %s and %s.", builtins[0].name,
		builtins[1].name, builtins[2].name, builtins[3].name);
}

int wp_builtin_find(
	const char *name, size_t length, const struct wp_builtin **out, struct wp_err *err)
{
	int shown = length < 100 ? (int)length : 100;
	int found = 0;
	int result;

	for (size_t i = 0; i < WP_COUNT(builtins); i++) {
		if (strncmp(builtins[i].name, name, length) == 0) {
			*out = &builtins[i];
			found++;
		}
	}
	if (found == 1)
		return 0;
	if (found == 0)
		result = wp_fail(err, WP_E_USAGE, 0, "no builtin script found for name \"%.*s\"",
			shown, name);
	else
		result = wp_fail(err, WP_E_USAGE, 0,
			"ambiguous builtin name: %d builtin scripts found for prefix \"%.*s\"",
			found, shown, name);
	hint_names(err);
	return result;
}
