/* SPDX-License-Identifier: PostgreSQL */
/*
 * witness.h - the witness: listens, and remembers what targets say was acknowledged.
 *
 * Floor: witness (may include base, os, stats). One thread serves all peers through one poller and
 * never waits for one of them: what a peer does not take is kept up to a limit, then the peer is
 * let go. Nothing is acknowledged, and no question answered, before the journal is durable; it is
 * synced at most every 100 ms, for all runs together. Times between words are the witness's own;
 * clocks of two hosts are never compared.
 * Threads: main thread only, or one thread of its own in tests.
 */
#ifndef WALPROBE_WITNESS_H
#define WALPROBE_WITNESS_H

#include "walprobe/os.h"
#include "walprobe/secret.h"

struct wp_witness;

/*
 * Cuts that the witness makes by itself. The power of a host is cut at a random moment after all
 * writers of all its runs that are connected are acknowledged and at work, stays off, and is put on
 * again; the next cut comes when a later cycle is as far. Commands are run by sh.
 */
struct wp_cut_plan {
	const char *host; /* of the target, as it names itself */
	const char *cut_command;
	const char *on_command;
	int64_t delay_ns; /* longest time until the cut; a twelfth of it at least */
	int64_t off_ns;
	int64_t cycles; /* cuts in all */
};

struct wp_witness_options {
	const char *listen;             /* HOST:PORT */
	const char *store;              /* directory; made when it does not exist */
	const char *machine;            /* id of this machine, told to targets; "" for none */
	bool is_tls;                    /* TLS 1.3 under the same key; others are refused */
	const struct wp_cut_plan *cuts; /* NULL: none */
	/* kind is "note", "warning" or "detail"; NULL: nobody listens */
	void (*log)(void *ctx, const char *kind, const char *text);
	void *ctx;
};

/*
 * wp_witness_open - read the store and listen.
 *
 * options, key  copied but for the texts, which are borrowed until wp_witness_close().
 * Returns: 0 with *out, or -code.
 */
int wp_witness_open(struct wp_witness **out, const struct wp_os *os,
	const struct wp_witness_options *options, const struct wp_key *key, struct wp_err *err);

/* wp_witness_address - "ADDRESS:PORT" where it listens; borrowed. */
const char *wp_witness_address(const struct wp_witness *witness);

/*
 * wp_witness_step - serve what is ready, at most timeout_ns waiting for it.
 *
 * Returns: 0, or -code when the store failed for good (no space is waited out).
 */
int wp_witness_step(struct wp_witness *witness, int64_t timeout_ns, struct wp_err *err);

/* wp_witness_close - flush what can be flushed, end all sessions, free; accepts NULL. */
void wp_witness_close(struct wp_witness *witness);

#endif
