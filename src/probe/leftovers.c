/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/leftovers.h"

const char *wp_target_place(const struct wp_target_spec *spec)
{
	return spec->is_image ? spec->on : spec->path;
}

static bool is_seen_before(const struct wp_target_specs *specs, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(wp_target_place(&specs->items[i]),
			    wp_target_place(&specs->items[index])) == 0)
			return true;
	return false;
}

void wp_leftovers_tell(struct wp_run *run, const struct wp_target_specs *specs)
{
	for (size_t i = 0; i < specs->count; i++) {
		struct wp_leftovers found = { NULL, 0 };

		if (is_seen_before(specs, i) ||
			wp_leftovers_find(
				run->os, wp_target_place(&specs->items[i]), &found, NULL) != 0)
			continue;
		for (size_t j = 0; j < found.count; j++)
			wp_run_tell(run, "note",
				"found left over from an earlier run (%s): \"%s\"; \"walprobe "
				"cleanup %s\" removes it",
				found.items[j].reason, found.items[j].path, found.items[j].path);
		wp_leftovers_release(&found);
	}
}
