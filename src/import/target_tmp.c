/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/import.h"
#include "walprobe/mem.h"
#include "rows.h"
static bool used(const struct wp_result *r, const char *l)
{
	for (size_t i = 0; i < r->target_count; i++)
		if (strcmp(r->targets[i]->label, l) == 0)
			return true;
	return false;
}
const char *wp_import_target(
	struct wp_import *in, const char *machine, const char *fstype, const char *mount_options)
{
	const char *base = in->words && in->words->label ? in->words->label
			   : machine                     ? machine
							 : rows_base_name(in);
	char *label = wp_xstrdup(base);
	struct wp_target_info *t;
	for (int i = 2; used(in->result, label); i++) {
		free(label);
		label = wp_xasprintf("%s#%d", base, i);
	}
	t = wp_result_add_target(in->result, label);
	wp_target_info_set(t, NULL, fstype, mount_options);
	free(label);
	return t->label;
}
