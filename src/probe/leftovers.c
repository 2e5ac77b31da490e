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

void wp_leftovers_tell_in(struct wp_run *run, const char *place)
{
	struct wp_leftovers found = { NULL, 0 };

	if (wp_leftovers_find(run->os, place, &found, NULL) != 0)
		return;
	for (size_t i = 0; i < found.count; i++)
		wp_run_tell(run, "note",
			"found left over from an earlier run (%s): \"%s\"; \"walprobe cleanup %s\" "
			"removes it",
			found.items[i].reason, found.items[i].path, found.items[i].path);
	wp_leftovers_release(&found);
}

void wp_leftovers_tell(struct wp_run *run, const struct wp_target_specs *specs)
{
	for (size_t i = 0; i < specs->count; i++)
		if (!is_seen_before(specs, i))
			wp_leftovers_tell_in(run, wp_target_place(&specs->items[i]));
}
