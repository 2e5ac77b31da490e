/* SPDX-License-Identifier: PostgreSQL */
/*
 * registry.h - everything that walprobe made and must undo, in one list.
 *
 * Floor: os. What is made is pushed right after it exists; wp_registry_undo_all() undoes in
 * reverse order on every way out. A private directory carries a marker (process id, start time of
 * the process, boot id) so that a later run recognises what a killed run left, never by name alone.
 * Threads: push and undo from the main thread only.
 */
#ifndef WALPROBE_REGISTRY_H
#define WALPROBE_REGISTRY_H

#include "walprobe/os.h"

#define WP_WORKDIR_PREFIX "walprobe-"
#define WP_MARKER_NAME ".walprobe-owner"

struct wp_registry;

/*
 * undo functions return 0 or -errno; name is what was pushed, argument the caller's. A thing that
 * is already gone counts as undone.
 */
typedef int wp_undo_fn(const struct wp_os *os, const char *name, void *argument);

/* wp_registry_new - an empty registry over os (borrowed); free with wp_registry_free(). */
struct wp_registry *wp_registry_new(const struct wp_os *os);

/* wp_registry_free - frees the list only; undo first. Accepts NULL. */
void wp_registry_free(struct wp_registry *registry);

/* wp_registry_os - the system that the registry was made over. */
const struct wp_os *wp_registry_os(const struct wp_registry *registry);

/*
 * wp_registry_push - remember that a thing called name exists.
 *
 * what      "directory", "mount", "loop device", "process", ...; borrowed, static.
 * argument  borrowed until undone.
 * Returns: a ticket for wp_registry_undo(), never 0.
 */
uint64_t wp_registry_push(struct wp_registry *registry, const char *what, const char *name,
	wp_undo_fn *undo, void *argument);

/* wp_registry_undo - undo one thing now; 0, or -WP_E_SYS naming it (it is forgotten either way). */
int wp_registry_undo(struct wp_registry *registry, uint64_t ticket, struct wp_err *err);

/* wp_registry_forget - drop one entry without undoing it (--keep). */
void wp_registry_forget(struct wp_registry *registry, uint64_t ticket);

/* wp_registry_undo_all - undo all in reverse order, going on after failures; 0, or the first
 * failure with a hint naming `walprobe cleanup`. */
int wp_registry_undo_all(struct wp_registry *registry, struct wp_err *err);

/* wp_registry_keep_all - forget all, calling tell for each kept thing (--keep says where). */
void wp_registry_keep_all(struct wp_registry *registry,
	void (*tell)(void *ctx, const char *what, const char *name), void *ctx);

/* wp_registry_mark - a ticket that stands for "now", for wp_registry_undo_since(). */
uint64_t wp_registry_mark(const struct wp_registry *registry);

/*
 * wp_registry_undo_since - undo in reverse order what was pushed after mark was taken: what one
 * target made before it failed, while others stay. Goes on after failures; 0 or the first one.
 */
int wp_registry_undo_since(struct wp_registry *registry, uint64_t mark, struct wp_err *err);

/*
 * wp_undo_mount - the undo function of a mount point: unmount it; while it is busy try again for
 * 5 s, then detach it (it goes when its last user does) and return -EBUSY, of which
 * wp_registry_undo() tells. Not mounted counts as undone.
 */
wp_undo_fn wp_undo_mount;

/*
 * wp_workdir_create - a fresh private directory PARENT/walprobe-XXXXXX (mode 0700) with a marker
 * in it, fsynced into place; it and all in it is removed by the registry.
 *
 * path     receives the absolute path; the caller frees.
 * ticket   receives the registry's ticket; NULL allowed.
 */
int wp_workdir_create(struct wp_registry *registry, const char *parent, char **path,
	uint64_t *ticket, struct wp_err *err);

/*
 * wp_workdir_share - let a group through: path and the directories above it, up to and including
 * the nearest that carries the marker of this process, get that group and mode 0710.
 *
 * path     absolute, in a directory that wp_workdir_create() made
 * Where the file system knows no owners it stays as it is, which is no error: whether a user gets
 * through is for wp_user_reach() to say.
 * Returns: 0; -WP_E_SYS when path is in no directory of ours, or the change failed.
 */
int wp_workdir_share(const struct wp_os *os, const char *path, unsigned gid, struct wp_err *err);

/* wp_remove_tree - remove a directory and all in it, without crossing mounts or following
 * symbolic links; 0 or -errno. */
int wp_remove_tree(const struct wp_os *os, const char *path);

/* a directory that a dead run left */
struct wp_leftover {
	char *path;
	int64_t pid;
	char *reason; /* "process 123 is gone", "made before the last boot" */
};

struct wp_leftovers {
	struct wp_leftover *items;
	size_t count;
};

/*
 * wp_leftovers_find - directories below parent (one level) that carry our marker and whose process
 * is gone: other boot id, no such process, or a process of that id with another start time.
 * A name without a marker is never listed.
 */
int wp_leftovers_find(
	const struct wp_os *os, const char *parent, struct wp_leftovers *out, struct wp_err *err);

/*
 * wp_leftover_look - append path to list when it is itself such a directory; 0 also when it is not.
 */
int wp_leftover_look(
	const struct wp_os *os, const char *path, struct wp_leftovers *list, struct wp_err *err);

/*
 * wp_marker_text - what the marker of a directory made by this process says: lines of key and
 * value. The caller frees. NULL with *out_errno when /proc cannot tell.
 */
char *wp_marker_text(const struct wp_os *os, int *out_errno);

/* wp_leftover_remove - stop a server of ours that still runs in it, unmount what is mounted below
 * it, detach its loop devices, remove it. */
int wp_leftover_remove(
	const struct wp_os *os, const struct wp_leftover *leftover, struct wp_err *err);

/* wp_leftovers_release - free the list; accepts a zeroed struct. */
void wp_leftovers_release(struct wp_leftovers *leftovers);

#endif
