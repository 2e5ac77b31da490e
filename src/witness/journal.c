/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/journal.h"
#include "walprobe/crc32c.h"
#include "walprobe/mem.h"

#include <sys/file.h>

#define PREFIX "journal."
#define TEMPORARY "new-journal"
#define MAGIC "WPJ1"
#define MAGIC_BYTES 4
#define HEADER_BYTES 8
#define CHUNK_BYTES ((size_t)1 << 20)
#define ROTATE_BYTES (INT64_C(64) << 20)

static int fail_on(struct wp_err *err, int rc, const char *what, const char *path)
{
	return wp_fail(err, WP_E_SYS, -rc, "could not %s \"%s\"", what, path);
}

static char *journal_path(const char *dir, uint64_t number)
{
	return wp_xasprintf("%s/" PREFIX "%06" PRIu64, dir, number);
}

/* The number of the newest file; 0 when there is none. */
static int newest(const struct wp_os *os, const char *dir, uint64_t *number, struct wp_err *err)
{
	struct wp_names names = { NULL, 0 };
	int rc = wp_os_list(os, dir, &names);

	*number = 0;
	if (rc < 0)
		return fail_on(err, rc, "read directory", dir);
	for (size_t i = 0; i < names.count; i++) {
		const char *digits = names.names[i] + sizeof(PREFIX) - 1;
		uint64_t value;

		if (strncmp(names.names[i], PREFIX, sizeof(PREFIX) - 1) != 0 || !*digits ||
			strlen(digits) > 18 || digits[strspn(digits, "0123456789")])
			continue;
		value = strtoull(digits, NULL, 10);
		if (value > *number)
			*number = value;
	}
	wp_names_release(&names);
	return 0;
}

/* a journal file on its way in */
struct load {
	struct wp_ledger *ledger;
	uint8_t *bytes;
	size_t used;
};

/* Length of the entry at this place with its header; 0 when there is no whole and sound one. */
static size_t sound_entry(const uint8_t *bytes, size_t left)
{
	struct wp_get get = { .bytes = bytes, .size = left };
	uint64_t length = wp_get_number(&get, 4);
	uint64_t crc = wp_get_number(&get, 4);

	if (get.is_short || length == 0 || length > WP_ENTRY_MAXIMUM ||
		length > left - HEADER_BYTES)
		return 0;
	return wp_crc32c(bytes + HEADER_BYTES, (size_t)length) == crc
		       ? HEADER_BYTES + (size_t)length
		       : 0;
}

/* True when sound entries follow somewhere: not a torn end, but a hole. */
static bool has_sound_entry(const uint8_t *bytes, size_t size)
{
	for (size_t at = 0; at + HEADER_BYTES < size; at++)
		if (sound_entry(bytes + at, size - at))
			return true;
	return false;
}

static bool apply_all(struct load *load)
{
	const char *problem;
	size_t at = MAGIC_BYTES;
	size_t length;

	while ((length = sound_entry(load->bytes + at, load->used - at)) > 0) {
		/* What the ledger refused then it refuses now; it was never acknowledged. */
		(void)wp_ledger_apply(load->ledger, load->bytes + at + HEADER_BYTES,
			length - HEADER_BYTES, NULL, &problem);
		at += length;
	}
	return !has_sound_entry(load->bytes + at, load->used - at);
}

static int read_file(
	const struct wp_os *os, const char *path, struct load *load, struct wp_err *err)
{
	int fd = wp_os_open(os, path, O_RDONLY, 0);
	int64_t got = 1;

	if (fd < 0)
		return fail_on(err, fd, "open", path);
	while (got > 0) {
		load->bytes = wp_xreallocarray(load->bytes, load->used + CHUNK_BYTES, 1);
		got = wp_os_pread(
			os, fd, load->bytes + load->used, CHUNK_BYTES, (int64_t)load->used);
		load->used += got > 0 ? (size_t)got : 0;
	}
	(void)wp_os_close(os, fd); /* read only: nothing can be lost */
	if (got < 0)
		return fail_on(err, (int)got, "read", path);
	if (load->used < MAGIC_BYTES || memcmp(load->bytes, MAGIC, MAGIC_BYTES) != 0)
		return wp_fail(err, WP_E_DATA, 0, "\"%s\" is no journal of a witness", path);
	return 0;
}

/* Reads the newest file. *number is 0 when there is none. */
static int load_newest(const struct wp_os *os, const char *dir, struct wp_ledger *ledger,
	uint64_t *number, bool *is_whole, struct wp_err *err)
{
	struct load load = { .ledger = ledger };
	char *path;
	int rc = newest(os, dir, number, err);

	*is_whole = true;
	if (rc || !*number)
		return rc;
	path = journal_path(dir, *number);
	rc = read_file(os, path, &load, err);
	if (!rc)
		*is_whole = apply_all(&load);
	for (size_t i = 0; !*is_whole && i < ledger->count; i++)
		if (!wp_ledger_result(ledger->runs[i], ledger->runs[i]->start.cycle))
			ledger->runs[i]->is_damaged = true;
	free(load.bytes);
	free(path);
	return rc;
}

int wp_journal_read(
	const struct wp_os *os, const char *dir, struct wp_ledger *ledger, struct wp_err *err)
{
	uint64_t number;
	bool is_whole;

	return load_newest(os, dir, ledger, &number, &is_whole, err);
}

void wp_journal_add(struct wp_journal *journal, const uint8_t *entry, size_t length)
{
	size_t wanted = journal->pending_used + HEADER_BYTES + length;
	struct wp_put put;

	assert(length > 0 && length <= WP_ENTRY_MAXIMUM);
	if (wanted > journal->pending_capacity) {
		journal->pending_capacity = wanted * 2;
		journal->pending = wp_xreallocarray(journal->pending, journal->pending_capacity, 1);
	}
	put = (struct wp_put){ .bytes = journal->pending + journal->pending_used,
		.size = HEADER_BYTES + length };
	wp_put_number(&put, length, 4);
	wp_put_number(&put, wp_crc32c(entry, length), 4);
	wp_put_bytes(&put, entry, length);
	journal->pending_used = wanted;
}

static int add_entry(void *ctx, const uint8_t *entry, size_t length)
{
	wp_journal_add(ctx, entry, length);
	return 0;
}

static int sync_directory(const struct wp_os *os, const char *dir, struct wp_err *err)
{
	int fd = wp_os_open(os, dir, O_RDONLY | O_DIRECTORY, 0);
	int rc;

	if (fd < 0)
		return fail_on(err, fd, "open directory", dir);
	rc = wp_os_fsync(os, fd);
	(void)wp_os_close(os, fd); /* the sync's result is the one that counts */
	return rc < 0 ? fail_on(err, rc, "fsync directory", dir) : 0;
}

/* A file under a temporary name with the sum of the ledger; *fd is -1 after a failure. */
static int write_sum(
	struct wp_journal *journal, const char *path, int *fd, int64_t *bytes, struct wp_err *err)
{
	const struct wp_os *os = journal->os;
	struct wp_journal sum = { .os = os };
	int rc;

	*fd = wp_os_open(os, path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (*fd < 0)
		return fail_on(err, *fd, "create", path);
	for (size_t i = 0; i < journal->ledger->count; i++)
		(void)wp_ledger_write(journal->ledger->runs[i], add_entry, &sum); /* never fails */
	rc = wp_os_write_all(os, *fd, MAGIC, MAGIC_BYTES, 0);
	if (!rc)
		rc = wp_os_write_all(os, *fd, sum.pending, sum.pending_used, MAGIC_BYTES);
	if (!rc)
		rc = wp_os_fsync(os, *fd);
	*bytes = MAGIC_BYTES + (int64_t)sum.pending_used;
	free(sum.pending);
	if (!rc)
		return 0;
	(void)wp_os_close(os, *fd); /* the failed write is what counts */
	*fd = -1;
	(void)wp_os_unlink(os, path);
	return fail_on(err, rc, "write", path);
}

/* The old file goes only when the new one has its name for good. */
static int rotate(struct wp_journal *journal, bool keeps_old, struct wp_err *err)
{
	const struct wp_os *os = journal->os;
	char *temporary = wp_xasprintf("%s/" TEMPORARY, journal->dir);
	char *old = journal_path(journal->dir, journal->number);
	char *path = journal_path(journal->dir, journal->number + 1);
	int64_t bytes = 0;
	int fd;
	int rc = write_sum(journal, temporary, &fd, &bytes, err);

	if (!rc) {
		rc = wp_os_rename(os, temporary, path);
		rc = rc < 0 ? fail_on(err, rc, "rename", temporary)
			    : sync_directory(os, journal->dir, err);
	}
	if (!rc) {
		if (journal->fd >= 0)
			(void)wp_os_close(os, journal->fd); /* all in it was synced */
		journal->fd = fd;
		journal->end_bytes = bytes;
		journal->rotate_bytes = bytes + ROTATE_BYTES;
		journal->number++;
		if (!keeps_old && journal->number > 1)
			(void)wp_os_unlink(os, old); /* an older number is not looked at */
	} else if (fd >= 0) {
		(void)wp_os_close(os, fd); /* the failure before is what counts */
	}
	free(path);
	free(old);
	free(temporary);
	return rc;
}

static int lock(struct wp_journal *journal, struct wp_err *err)
{
	const struct wp_os *os = journal->os;
	int rc = wp_os_mkdir(os, journal->dir, 0700);

	if (rc < 0 && rc != -EEXIST)
		return fail_on(err, rc, "create directory", journal->dir);
	journal->lock_fd = wp_os_open(os, journal->dir, O_RDONLY | O_DIRECTORY, 0);
	if (journal->lock_fd < 0)
		return fail_on(err, journal->lock_fd, "open directory", journal->dir);
	rc = wp_os_flock(os, journal->lock_fd, LOCK_EX | LOCK_NB);
	if (rc == -EWOULDBLOCK) {
		rc = wp_fail(
			err, WP_E_SYS, 0, "another witness uses the store \"%s\"", journal->dir);
		wp_err_hint(err, "Stop it, or give this one another --store.");
		return rc;
	}
	return rc < 0 ? fail_on(err, rc, "lock", journal->dir) : 0;
}

int wp_journal_open(struct wp_journal *journal, const struct wp_os *os, const char *dir,
	struct wp_ledger *ledger, struct wp_err *err)
{
	bool is_whole = true;
	int rc;

	memset(journal, 0, sizeof(*journal));
	journal->os = os;
	journal->dir = wp_xstrdup(dir);
	journal->ledger = ledger;
	journal->fd = -1;
	journal->lock_fd = -1;
	rc = lock(journal, err);
	if (!rc)
		rc = load_newest(os, dir, ledger, &journal->number, &is_whole, err);
	journal->is_damaged = !is_whole;
	if (!rc)
		rc = rotate(journal, !is_whole, err);
	if (rc)
		wp_journal_close(journal);
	return rc;
}

static int no_space(struct wp_journal *journal, int rc, struct wp_err *err)
{
	char *path = journal_path(journal->dir, journal->number);
	int code = fail_on(err, rc, "write", path);

	if (code == -WP_E_NOSPACE) {
		journal->is_full = true;
		/* The half that was written must not stand in front of what follows. It would be
		 * overwritten at the same place; cutting it off is for a reader that comes first. */
		(void)wp_os_ftruncate(journal->os, journal->fd, journal->end_bytes);
	}
	free(path);
	return code;
}

int wp_journal_flush(struct wp_journal *journal, struct wp_err *err)
{
	const struct wp_os *os = journal->os;
	char *path;
	int rc;

	if (!journal->pending_used)
		return 0;
	rc = wp_os_write_all(
		os, journal->fd, journal->pending, journal->pending_used, journal->end_bytes);
	if (rc < 0)
		return no_space(journal, rc, err);
	rc = wp_os_fdatasync(os, journal->fd);
	if (rc < 0) {
		path = journal_path(journal->dir, journal->number);
		/* Even for want of space: a sync that failed is never tried again. */
		(void)wp_fail(err, WP_E_SYS, 0, "could not fdatasync \"%s\": %s", path,
			wp_errno_text(-rc));
		free(path);
		return -WP_E_SYS;
	}
	journal->end_bytes += (int64_t)journal->pending_used;
	journal->pending_used = 0;
	journal->is_full = false;
	if (journal->end_bytes < journal->rotate_bytes)
		return 0;
	rc = rotate(journal, false, err);
	if (rc == -WP_E_NOSPACE) {
		/* All is durable where it is; shorten it another time. */
		journal->rotate_bytes = journal->end_bytes + ROTATE_BYTES;
		return 0;
	}
	return rc;
}

void wp_journal_close(struct wp_journal *journal)
{
	if (journal->fd >= 0)
		(void)wp_os_close(journal->os, journal->fd); /* what counts was synced */
	if (journal->lock_fd >= 0)
		(void)wp_os_close(journal->os, journal->lock_fd); /* a directory */
	free(journal->pending);
	free(journal->dir);
	memset(journal, 0, sizeof(*journal));
	journal->fd = -1;
	journal->lock_fd = -1;
}
