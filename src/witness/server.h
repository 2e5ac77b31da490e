/* SPDX-License-Identifier: PostgreSQL */
/*
 * server.h - what the files of the witness share.
 *
 * A peer is one connection; a life is what the witness remembers of a run while it runs, apart
 * from the ledger: who speaks for it, and when records were acknowledged.
 */
#ifndef WALPROBE_WITNESS_SERVER_H
#define WALPROBE_WITNESS_SERVER_H

#include "walprobe/frame.h"
#include "walprobe/journal.h"
#include "walprobe/net.h"
#include "walprobe/poller.h"
#include "walprobe/thread.h"
#include "walprobe/witness.h"
#include "witness/stream.h"

#include <stdatomic.h>

#define WP_PEERS_MAXIMUM 4096
#define WP_STRANGERS_MAXIMUM 1024             /* who have not shown yet that they know the key */
#define WP_PEER_OUT_MAXIMUM ((size_t)1 << 20) /* beside an answer to a verifier */
#define WP_HISTORY 256
#define WP_HISTORY_STEP_NS (5 * WP_NS_PER_MS)
#define WP_SILENCE_NS (1500 * WP_NS_PER_MS) /* a target speaks every 50 ms */

struct wp_peer {
	struct wp_stream stream;
	char name[WP_NET_NAME_BYTES];
	struct wp_frame_reader reader;
	struct wp_channel in;
	struct wp_channel out;
	bool is_proved; /* its frames are authentic */
	uint8_t nonce[WP_NONCE_BYTES];
	uint8_t their_nonce[WP_NONCE_BYTES];
	struct wp_life *life; /* that it writes for; NULL: none */
	struct wp_ledger_run *asked;
	bool has_asked;
	int64_t since_ns;
	uint64_t received; /* counter of the newest frame, to be acknowledged */
	bool has_unacknowledged;
	bool was_told_full;
	bool is_closing; /* as soon as what is left to send is sent */
	bool is_dead;
	bool has_hung_up; /* in good order, while we still listened to it */
	bool wants_write; /* as the poller knows it */
	bool is_paused;
	uint8_t *bytes; /* to send */
	size_t used;
	size_t sent;
	size_t capacity;
};

struct wp_life {
	struct wp_ledger_run *run;
	struct wp_peer *speaker; /* NULL: nobody is connected */
	int64_t heard_ns;        /* when it last said something */
	int64_t progress_ns;     /* when more was last acknowledged */
	struct {
		int64_t at_ns;
		uint64_t total;
	} history[WP_HISTORY]; /* ring */
	size_t history_next;
	size_t history_count;
	bool is_dirty;      /* acknowledgements are not in the journal yet */
	uint16_t cut_cycle; /* in which we cut its power; 0: none */
};

enum wp_cutter_state {
	WP_CUTTER_WAITING, /* for writers at work */
	WP_CUTTER_DUE,     /* the moment is chosen */
	WP_CUTTER_CUTTING, /* the command runs */
	WP_CUTTER_OFF,
	WP_CUTTER_TURNING_ON, /* the command runs */
	WP_CUTTER_ENDED,
};

struct wp_cutter {
	const struct wp_cut_plan *plan; /* NULL: no cuts */
	const struct wp_os *os;
	enum wp_cutter_state state;
	int64_t until_ns; /* of DUE and OFF */
	int64_t cycles;   /* that are done */
	bool has_failed;
	/* the command that runs, on a thread of its own */
	struct wp_thread thread;
	const char *command;
	struct wp_err err;
	atomic_bool is_done;
};

struct wp_witness {
	const struct wp_os *os;
	struct wp_witness_options options;
	struct wp_key key;
	struct wp_tls *tls; /* NULL: plain */
	struct wp_ledger ledger;
	struct wp_journal journal;
	struct wp_poller poller;
	int listener;
	char address[WP_NET_NAME_BYTES];
	struct wp_peer **peers;
	size_t peer_count;
	struct wp_life **lives;
	size_t life_count;
	int64_t flushed_ns;
	struct wp_cutter cutter;
};

/* wp_witness_log - one line. */
void wp_witness_log(struct wp_witness *witness, const char *kind, const char *format, ...)
	WP_PRINTF(3, 4);

/* wp_peer_send - queue one frame; a peer that does not take what it is sent is let go. */
void wp_peer_send(struct wp_peer *peer, enum wp_frame_type type, const void *body, size_t length);

/* wp_peer_push - send what is queued, as far as it goes. */
void wp_peer_push(struct wp_peer *peer);

/* wp_peer_refuse - log and tell why, then end the connection. */
void wp_peer_refuse(struct wp_witness *witness, struct wp_peer *peer, const char *reason);

/* wp_peer_serve - take in all frames that have arrived. */
void wp_peer_serve(struct wp_witness *witness, struct wp_peer *peer);

/* wp_peer_answer - the state of the run that was asked for; the journal is durable. */
void wp_peer_answer(struct wp_witness *witness, struct wp_peer *peer);

/* wp_life_of - the life of a run, made when it is new. */
struct wp_life *wp_life_of(struct wp_witness *witness, struct wp_ledger_run *run);

/* wp_life_heard - something was said; acknowledgements may have gone on. */
void wp_life_heard(struct wp_witness *witness, struct wp_life *life);

/* wp_life_exposures - records acknowledged shortly before the last progress. */
void wp_life_exposures(const struct wp_life *life, int64_t out[WP_EXPOSURES]);

/* wp_life_silent - the speaker is gone or silent: note the candidate for a cut, once. */
void wp_life_silent(struct wp_witness *witness, struct wp_life *life, bool was_closed);

/* wp_life_journal - add acknowledgements that are not in the journal yet. */
void wp_life_journal(struct wp_witness *witness, struct wp_life *life);

/* wp_cutter_step - go on with the plan of cuts; never waits. */
void wp_cutter_step(struct wp_witness *witness);

/* wp_cutter_end - wait for a command that runs, and put the power on again where it is off. */
void wp_cutter_end(struct wp_witness *witness);

#endif
