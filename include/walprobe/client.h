/* SPDX-License-Identifier: PostgreSQL */
/*
 * client.h - the target's side of the witness.
 *
 * Floor: witness (may include base, os, stats). A writer never waits for the network: it stores
 * the sequence that was acknowledged to it into a word, and a thread of its own sends all words
 * together, as often as there is news, every 50 ms without, and connects again when the connection
 * breaks. What is said in words (entries) is kept until the witness has it on disk, and said again
 * on a new connection. Without an answer for a second the client is blind, and writers must pause:
 * what nobody witnesses proves nothing.
 */
#ifndef WALPROBE_CLIENT_H
#define WALPROBE_CLIENT_H

#include "walprobe/ledger.h"
#include "walprobe/os.h"
#include "walprobe/secret.h"

struct wp_client;

/* how to reach a witness; all borrowed */
struct wp_access {
	const char *where; /* HOST:PORT */
	const struct wp_key *key;
	bool is_tls; /* TLS 1.3 under the same key */
};

struct wp_client_options {
	struct wp_access access;
	const struct wp_manifest *manifest; /* copied */
	const struct wp_cycle_start *start; /* copied */
	/* kind is "note" or "warning"; called from the client's thread; NULL: nobody listens */
	void (*log)(void *ctx, const char *kind, const char *text);
	void *ctx;
};

/*
 * wp_client_start - connect, begin the cycle, and start the thread.
 *
 * Returns: 0 with *out when the witness has the beginning of the cycle on disk; -WP_E_SYS when it
 * cannot be reached; -WP_E_SERVER with its reason when it refuses, or does not know our key.
 */
int wp_client_start(struct wp_client **out, const struct wp_os *os,
	const struct wp_client_options *options, struct wp_err *err);

/* wp_client_witness_machine - machine id of the witness; borrowed. */
const char *wp_client_witness_machine(const struct wp_client *client);

/* wp_client_acked - all records of writer up to seq are acknowledged. Threads: one per writer. */
void wp_client_acked(struct wp_client *client, uint16_t writer, uint64_t seq);

/* wp_client_acked_seq - what was last stored for a writer. Threads: yes. */
uint64_t wp_client_acked_seq(const struct wp_client *client, uint16_t writer);

/* wp_client_say - queue one entry; returns a ticket for wp_client_is_durable(). Threads: yes. */
uint64_t wp_client_say(struct wp_client *client, const struct wp_put *entry);

/* wp_client_is_durable - the witness has that entry, and all before it, on disk. Threads: yes. */
bool wp_client_is_durable(const struct wp_client *client, uint64_t ticket);

/* wp_client_is_blind - no answer for a second; writers pause. Threads: yes. */
bool wp_client_is_blind(const struct wp_client *client);

/* wp_client_is_armed - the witness has an acknowledged record of every writer. Threads: yes. */
bool wp_client_is_armed(const struct wp_client *client);

/* wp_client_blind_ns - how long it was blind in all. Threads: yes. */
int64_t wp_client_blind_ns(const struct wp_client *client);

/*
 * wp_client_end - wait until all that was said is durable, timeout_ns at most, then end the thread
 * and free. Accepts NULL.
 *
 * Returns: true when everything was durable.
 */
bool wp_client_end(struct wp_client *client, int64_t timeout_ns);

/* what a witness answers about a run */
struct wp_testimony {
	struct wp_ledger ledger; /* of that one run, or of none */
	bool is_live;            /* its writers are connected now */
	int64_t silent_ns;       /* since they last spoke; -1: unknown */
	char machine[64];        /* of the witness */
};

/*
 * wp_client_ask - what the witness knows of a run.
 *
 * run      NULL: the newest of machine and path, one that is not judged if there is one.
 * Returns: 0 with *answer (answer->ledger.count 0: it knows none), or -WP_E_SYS, -WP_E_SERVER.
 */
int wp_client_ask(const struct wp_os *os, const struct wp_access *access, const uint8_t *run,
	const char *machine, const char *path, struct wp_testimony *answer, struct wp_err *err);

/* wp_testimony_release - accepts a zeroed struct. */
void wp_testimony_release(struct wp_testimony *answer);

/* wp_client_tell - one entry of a run that the witness knows; 0 when it has it on disk. */
int wp_client_tell(const struct wp_os *os, const struct wp_access *access,
	const struct wp_put *entry, struct wp_err *err);

#endif
