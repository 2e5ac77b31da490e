/* SPDX-License-Identifier: PostgreSQL */
/*
 * target.h - the grammar of targets, and the private directory that each becomes.
 *
 * Floor: target (may include base, os, result, device). Grammar: [LABEL=]WHERE, where WHERE is a
 * directory or image:FSTYPE[:key=value]... (keys size, mount, mkfs, on). A WHERE that starts with
 * "/" or "." is never split at "=".
 * Threads: main thread only.
 */
#ifndef WALPROBE_TARGET_H
#define WALPROBE_TARGET_H

#include "walprobe/os.h"
#include "walprobe/registry.h"
#include "walprobe/stack.h"

#define WP_IMAGE_STANDARD_SIZE (INT64_C(1) << 30)

struct wp_target_spec {
	char *text;  /* as typed */
	char *label; /* never NULL after wp_targets_parse() */
	bool has_own_label;
	bool is_image;
	char *path;          /* directory targets */
	char *fstype;        /* images */
	int64_t size_bytes;  /* images */
	char *mount_options; /* images; NULL: none */
	char *mkfs_options;  /* images; NULL: none */
	char *on;            /* images: directory that holds the image; "." by default */
};

struct wp_target_specs {
	struct wp_target_spec *items;
	size_t count;
};

/*
 * wp_targets_parse - all targets of a command line, with labels settled: where two default labels
 * collide, the keys in which they differ are appended; identical ones get #1, #2.
 *
 * Returns: 0, or -WP_E_USAGE naming the word (unknown key, bad size, explicit label given twice).
 */
int wp_targets_parse(
	const char *const *words, size_t count, struct wp_target_specs *out, struct wp_err *err);

/* wp_targets_release - free; accepts a zeroed struct. */
void wp_targets_release(struct wp_target_specs *specs);

struct wp_target {
	const struct wp_target_spec *spec; /* borrowed */
	const char *label;                 /* borrowed from spec */
	char *dir;   /* private directory to work in; NULL when there is none */
	char *place; /* what the user would call it: directory as typed, or image:... */
	bool is_open;
	char *absent;          /* why this place cannot be measured here although nothing is wrong
	                     (kernel or tools lack the file system); NULL otherwise */
	char *note;            /* what a reader of its figures should know, one sentence; or NULL */
	struct wp_stack stack; /* what lies under dir */
};

struct wp_target_options {
	int64_t needed_bytes;  /* space that the measurement will use in dir */
	int64_t reserve_bytes; /* free space that must remain on a directory target, or where an
				  image lies; 0: 5 % of the file system, at most 1 GB; -1: none */
	bool is_forced;        /* --force: may lie beside a live pg_wal */
	bool is_kept;          /* --keep: mounts stay visible to others */
	const char *mounts_on; /* directory below which images are mounted, where a server's user
				  gets through to them; NULL: beside the image */
	bool for_inspection;   /* nothing is written: dir is the directory itself, no workdir */
};

/*
 * wp_target_open - make the private directory of a target (and for images file, loop device, file
 * system, mount), all entered in the registry, and find the stack under it.
 *
 * Images need root: otherwise -WP_E_UNSUPPORTED with a hint. A file system that the kernel or the
 * mkfs tools lack: returns 0 with target->absent set and is_open false. No space:
 * -WP_E_NOSPACE with the bytes needed and free. A directory that is or holds a live pg_wal is
 * refused without is_forced, and never written into itself.
 */
int wp_target_open(const struct wp_os *os, struct wp_registry *registry,
	const struct wp_target_spec *spec, const struct wp_target_options *options,
	struct wp_target *target, struct wp_err *err);

/* wp_target_release - free memory; what was made is undone by the registry. */
void wp_target_release(struct wp_target *target);

/*
 * wp_target_private_mounts - move this process into a mount namespace of its own, so that a mount
 * dies with the process. Root only, before any thread starts. Failure is harmless: -WP_E_SYS.
 */
int wp_target_private_mounts(struct wp_err *err);

#endif
