/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/registry.h"
#include "walprobe/mem.h"

#include <sys/mount.h>

#define BUSY_TRIES 100
#define BUSY_PAUSE_NS (50 * WP_NS_PER_MS)

struct entry {
	uint64_t ticket;
	const char *what;
	char *name;
	wp_undo_fn *undo;
	void *argument;
};

struct wp_registry {
	const struct wp_os *os;
	struct entry *entries; /* oldest first */
	size_t count;
	uint64_t last_ticket;
};

struct wp_registry *wp_registry_new(const struct wp_os *os)
{
	struct wp_registry *registry = wp_xcalloc(1, sizeof(*registry));

	registry->os = os;
	return registry;
}

void wp_registry_free(struct wp_registry *registry)
{
	if (!registry)
		return;
	for (size_t i = 0; i < registry->count; i++)
		free(registry->entries[i].name);
	free(registry->entries);
	free(registry);
}

const struct wp_os *wp_registry_os(const struct wp_registry *registry)
{
	return registry->os;
}

uint64_t wp_registry_push(struct wp_registry *registry, const char *what, const char *name,
	wp_undo_fn *undo, void *argument)
{
	struct entry *entry;

	registry->entries = wp_xreallocarray(
		registry->entries, registry->count + 1, sizeof(*registry->entries));
	entry = &registry->entries[registry->count++];
	entry->ticket = ++registry->last_ticket;
	entry->what = what;
	entry->name = wp_xstrdup(name);
	entry->undo = undo;
	entry->argument = argument;
	return entry->ticket;
}

/* Take entry index out of the list; the caller frees its name. */
static struct entry take(struct wp_registry *registry, size_t index)
{
	struct entry entry = registry->entries[index];

	registry->count--;
	memmove(&registry->entries[index], &registry->entries[index + 1],
		(registry->count - index) * sizeof(*registry->entries));
	return entry;
}

/* Index of the entry with this ticket; count when there is none. */
static size_t find(const struct wp_registry *registry, uint64_t ticket)
{
	size_t i = 0;

	while (i < registry->count && registry->entries[i].ticket != ticket)
		i++;
	return i;
}

static int undo_index(struct wp_registry *registry, size_t index, struct wp_err *err)
{
	struct entry entry = take(registry, index);
	int rc = entry.undo(registry->os, entry.name, entry.argument);

	if (rc) {
		rc = wp_fail(
			err, WP_E_SYS, -rc, "could not remove %s \"%s\"", entry.what, entry.name);
		if (entry.undo == wp_undo_mount && err && err->sys_errno == EBUSY)
			wp_err_detail(err, "It stayed busy and was detached; it goes away when the "
					   "last process that uses it ends.");
		wp_err_hint(err, "Run \"walprobe cleanup\" on the directory that holds it when "
				 "nothing uses it any more.");
	}
	free(entry.name);
	return rc;
}

int wp_registry_undo(struct wp_registry *registry, uint64_t ticket, struct wp_err *err)
{
	size_t index = find(registry, ticket);

	return index < registry->count ? undo_index(registry, index, err) : 0;
}

void wp_registry_forget(struct wp_registry *registry, uint64_t ticket)
{
	size_t index = find(registry, ticket);

	if (index < registry->count)
		free(take(registry, index).name);
}

uint64_t wp_registry_mark(const struct wp_registry *registry)
{
	return registry->last_ticket;
}

int wp_registry_undo_since(struct wp_registry *registry, uint64_t mark, struct wp_err *err)
{
	int first = 0;

	while (registry->count && registry->entries[registry->count - 1].ticket > mark) {
		int rc = undo_index(registry, registry->count - 1, first ? NULL : err);

		if (!first)
			first = rc;
	}
	return first;
}

int wp_registry_undo_all(struct wp_registry *registry, struct wp_err *err)
{
	return wp_registry_undo_since(registry, 0, err);
}

void wp_registry_keep_all(struct wp_registry *registry,
	void (*tell)(void *ctx, const char *what, const char *name), void *ctx)
{
	for (size_t i = 0; i < registry->count; i++) {
		tell(ctx, registry->entries[i].what, registry->entries[i].name);
		free(registry->entries[i].name);
	}
	registry->count = 0;
}

static bool is_not_mounted(int rc)
{
	return rc == -EINVAL || rc == -ENOENT;
}

int wp_undo_mount(const struct wp_os *os, const char *name, void *argument)
{
	int rc = wp_os_umount(os, name, UMOUNT_NOFOLLOW);

	(void)argument;
	/* A signal may cut a pause short; undoing goes on all the same. */
	for (int i = 0; rc == -EBUSY && i < BUSY_TRIES; i++) {
		(void)wp_os_sleep_ns(os, BUSY_PAUSE_NS);
		rc = wp_os_umount(os, name, UMOUNT_NOFOLLOW);
	}
	if (rc == 0 || is_not_mounted(rc))
		return 0;
	if (rc != -EBUSY)
		/* One more try: nothing else would ever remove it. */
		rc = wp_os_umount(os, name, UMOUNT_NOFOLLOW);
	if (rc == -EBUSY)
		return wp_os_umount(os, name, UMOUNT_NOFOLLOW | MNT_DETACH) ? rc : -EBUSY;
	return is_not_mounted(rc) ? 0 : rc;
}
