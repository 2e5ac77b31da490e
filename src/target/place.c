/* SPDX-License-Identifier: PostgreSQL */
#include "target/place.h"

#include "target/pgwal.h"
#include "walprobe/mem.h"
#include "walprobe/units.h"

#define RESERVE_MOST (INT64_C(1) << 30)
#define RESERVE_PART 20 /* 5 % */

static int refuse_read_only(const struct wp_os *os, const char *path, struct wp_err *err)
{
	struct wp_stack stack = { .mount_point = NULL };
	const char *mount_point = "/";

	if (wp_stack_find(os, NULL, path, &stack, NULL) == 0 && stack.mount_point)
		mount_point = stack.mount_point;
	(void)wp_fail(err, WP_E_SYS, EROFS, "could not write to directory \"%s\"", path);
	wp_err_hint(err,
		"The file system on \"%s\" is mounted read-only; remount it read-write "
		"(mount -o remount,rw), or name another directory.",
		mount_point);
	wp_stack_release(&stack);
	return -WP_E_SYS;
}

static int refuse_permission(
	const struct wp_os *os, const char *path, const struct stat *info, struct wp_err *err)
{
	(void)wp_fail(err, WP_E_SYS, EACCES, "could not write to directory \"%s\" as user id %d",
		path, (int)wp_os_geteuid(os));
	wp_err_hint(err,
		"It belongs to user id %u; run walprobe as a user who may write there, as "
		"with \"sudo -u postgres\".",
		(unsigned)info->st_uid);
	return -WP_E_SYS;
}

int wp_place_check(const struct wp_os *os, const char *path, bool will_write, struct wp_err *err)
{
	struct stat info;
	int rc = wp_os_stat(os, path, &info);

	if (rc == -EACCES) {
		(void)wp_fail(err, WP_E_SYS, EACCES,
			"could not enter directory \"%s\" as user id %d", path,
			(int)wp_os_geteuid(os));
		wp_err_hint(err, "Run walprobe as a user who may, as with \"sudo -u postgres\".");
		return -WP_E_SYS;
	}
	if (rc) {
		rc = wp_fail(err, WP_E_SYS, -rc, "could not find directory \"%s\"", path);
		wp_err_hint(err, "A target is a directory that exists, or image:FSTYPE.");
		return rc;
	}
	if (!S_ISDIR(info.st_mode)) {
		rc = wp_fail(err, WP_E_SYS, ENOTDIR, "could not use \"%s\" as a directory", path);
		wp_err_hint(err, "Name the directory that holds it.");
		return rc;
	}
	rc = wp_os_access(os, path, will_write ? W_OK | X_OK : X_OK);
	if (rc == -EROFS)
		return refuse_read_only(os, path, err);
	if (rc == -EACCES)
		return refuse_permission(os, path, &info, err);
	return rc ? wp_fail(err, WP_E_SYS, -rc, "could not use directory \"%s\"", path) : 0;
}

static int64_t reserve_of(const struct statvfs *info, int64_t reserve_bytes)
{
	int64_t part = (int64_t)(info->f_blocks / RESERVE_PART * info->f_frsize);

	if (reserve_bytes)
		return reserve_bytes > 0 ? reserve_bytes : 0;
	return part < RESERVE_MOST ? part : RESERVE_MOST;
}

int wp_place_has_room(const struct wp_os *os, const char *path, int64_t needed_bytes,
	int64_t reserve_bytes, struct wp_err *err)
{
	struct statvfs info;
	char needed_text[32];
	char free_text[32];
	int64_t reserve;
	int64_t free_bytes;
	int rc = wp_os_statvfs(os, path, &info);

	if (rc)
		return wp_fail(err, WP_E_SYS, -rc, "could not read the free space of \"%s\"", path);
	/* ramfs and some network file systems do not count; writing will tell. */
	if (info.f_blocks == 0)
		return 0;
	reserve = reserve_of(&info, reserve_bytes);
	free_bytes = (int64_t)(info.f_bavail * info.f_frsize);
	if (needed_bytes <= free_bytes && needed_bytes + reserve <= free_bytes)
		return 0;
	rc = wp_fail(err, WP_E_NOSPACE, ENOSPC, "could not make room in \"%s\"", path);
	wp_err_detail(err,
		"%" PRId64 " bytes (%s) are needed and %" PRId64 " kept in reserve, %" PRId64
		" bytes (%s) are free.",
		needed_bytes, wp_format_size(needed_bytes, needed_text, sizeof(needed_text)),
		reserve, free_bytes, wp_format_size(free_bytes, free_text, sizeof(free_text)));
	wp_err_hint(err, "Free some space, name another directory, or measure with less data.");
	return rc;
}

int wp_place_find(const struct wp_os *os, const char *path, int64_t needed_bytes,
	const struct wp_target_options *options, char **place, struct wp_err *err)
{
	char *absolute = NULL;
	char *chosen = NULL;
	int rc = wp_place_check(os, path, true, err);

	if (rc)
		return rc;
	rc = wp_os_realpath(os, path, &absolute);
	if (rc)
		return wp_fail(err, WP_E_SYS, -rc, "could not find directory \"%s\"", path);
	rc = wp_pgwal_place(os, absolute, options->is_forced, &chosen, err);
	if (!rc && strcmp(absolute, chosen) != 0)
		rc = wp_place_check(os, chosen, true, err);
	if (!rc)
		rc = wp_place_has_room(os, chosen, needed_bytes, options->reserve_bytes, err);
	free(absolute);
	if (rc)
		free(chosen);
	else
		*place = chosen;
	return rc;
}
