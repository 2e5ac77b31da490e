/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/target.h"

#include "target/place.h"
#include "walprobe/mem.h"
#include "walprobe/stop.h"

#include <sched.h>
#include <linux/mount.h>

static int open_directory(const struct wp_os *os, struct wp_registry *registry,
	const struct wp_target_spec *spec, const struct wp_target_options *options,
	struct wp_target *target, struct wp_err *err)
{
	char *place = NULL;
	int rc = wp_place_find(os, spec->path, options->needed_bytes, options, &place, err);

	if (!rc)
		rc = wp_workdir_create(registry, place, &target->dir, NULL, err);
	free(place);
	return rc;
}

static int open_for_inspection(const struct wp_os *os, const struct wp_target_spec *spec,
	struct wp_target *target, struct wp_err *err)
{
	int rc = wp_place_check(os, spec->path, false, err);

	if (rc)
		return rc;
	rc = wp_os_realpath(os, spec->path, &target->dir);
	return rc ? wp_fail(err, WP_E_SYS, -rc, "could not find directory \"%s\"", spec->path) : 0;
}

static int open_any(const struct wp_os *os, struct wp_registry *registry,
	const struct wp_target_spec *spec, const struct wp_target_options *options,
	struct wp_target *target, struct wp_err *err)
{
	if (spec->is_image)
		return wp_image_open(os, registry, spec, options, target, err);
	if (options->for_inspection)
		return open_for_inspection(os, spec, target, err);
	return open_directory(os, registry, spec, options, target, err);
}

int wp_target_open(const struct wp_os *os, struct wp_registry *registry,
	const struct wp_target_spec *spec, const struct wp_target_options *options,
	struct wp_target *target, struct wp_err *err)
{
	uint64_t mark = wp_registry_mark(registry);
	int rc;

	memset(target, 0, sizeof(*target));
	target->spec = spec;
	target->label = spec->label;
	target->place = wp_xstrdup(spec->is_image ? strstr(spec->text, "image:") : spec->path);
	rc = wp_stop_fail(err);
	if (!rc)
		rc = open_any(os, registry, spec, options, target, err);
	if (!rc && target->dir)
		rc = wp_stack_find(os, NULL, target->dir, &target->stack, err);
	if (rc || !target->dir) {
		/* The first failure is the one to tell; what cannot be removed stays findable. */
		(void)wp_registry_undo_since(registry, mark, NULL);
		free(target->dir);
		target->dir = NULL;
	}
	if (rc && rc != -WP_E_STOPPED && (spec->is_image || spec->has_own_label))
		wp_err_prefix(err, "target \"%s\": ", spec->label);
	target->is_open = target->dir != NULL;
	return rc;
}

void wp_target_release(struct wp_target *target)
{
	free(target->dir);
	free(target->place);
	free(target->absent);
	free(target->note);
	wp_stack_release(&target->stack);
	memset(target, 0, sizeof(*target));
}

int wp_target_private_mounts(struct wp_err *err)
{
	const struct wp_os *os = wp_os_linux();
	int rc = wp_os_unshare(os, CLONE_NEWNS);

	if (!rc)
		rc = wp_os_mount(os, "none", "/", NULL, MS_REC | MS_SLAVE, NULL);
	return rc ? wp_fail(err, WP_E_SYS, -rc, "could not make mounts private") : 0;
}
