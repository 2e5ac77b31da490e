/* SPDX-License-Identifier: PostgreSQL */
/*
 * journal.h - the witness's memory on disk: entries of the ledger, appended, checksummed, synced.
 *
 * Floor: witness (may include base, os, stats). A store is a directory with one file
 * journal.NUMBER: "WPJ1", then u32 length, u32 CRC32C, entry; again and again. Opening reads it up
 * to the first bytes that are no entry (a torn end only makes the ledger know less), and writes
 * the sum into a new file, so that nothing is ever appended after such bytes; the same happens when
 * the file has grown. Where whole entries follow the damage, something in the middle was lost, a
 * DROP perhaps: every run that was not judged is marked as damaged, and its old file is kept.
 * Threads: no.
 */
#ifndef WALPROBE_JOURNAL_H
#define WALPROBE_JOURNAL_H

#include "walprobe/ledger.h"
#include "walprobe/os.h"

struct wp_journal {
	const struct wp_os *os;
	char *dir;
	struct wp_ledger *ledger; /* borrowed */
	int fd;                   /* -1: closed */
	int lock_fd;              /* of the directory */
	uint64_t number;
	int64_t end_bytes; /* what is durable */
	int64_t rotate_bytes;
	uint8_t *pending;
	size_t pending_used;
	size_t pending_capacity;
	bool is_full;    /* the last flush found no space; nothing is durable since */
	bool is_damaged; /* found when it was opened */
};

/*
 * wp_journal_open - lock the store (made when it does not exist), read it into ledger, which is
 * empty and outlives the journal, and begin a new file.
 *
 * Returns: 0, or -WP_E_SYS, -WP_E_NOSPACE, -WP_E_DATA when the file is no journal.
 */
int wp_journal_open(struct wp_journal *journal, const struct wp_os *os, const char *dir,
	struct wp_ledger *ledger, struct wp_err *err);

/* wp_journal_read - read a store into ledger, changing nothing; for lists. 0 or -code. */
int wp_journal_read(
	const struct wp_os *os, const char *dir, struct wp_ledger *ledger, struct wp_err *err);

/* wp_journal_add - append an entry that the ledger has taken; durable after wp_journal_flush(). */
void wp_journal_add(struct wp_journal *journal, const uint8_t *entry, size_t length);

/*
 * wp_journal_flush - make all that was added durable.
 *
 * Returns: 0; -WP_E_NOSPACE when there is no space: all is kept in memory for the next flush; any
 * other -code is final: after a failed sync nobody knows what is on disk.
 */
int wp_journal_flush(struct wp_journal *journal, struct wp_err *err);

/* wp_journal_close - close without flushing; accepts one that failed to open. */
void wp_journal_close(struct wp_journal *journal);

#endif
