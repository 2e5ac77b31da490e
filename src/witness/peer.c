/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/mem.h"
#include "witness/server.h"

/* A session that spoke within this time is alive; a target that lost it must wait so long. */
#define ALIVE_NS (2 * WP_NS_PER_S)
#define READS_PER_TURN 16

static void reserve(struct wp_peer *peer, size_t more)
{
	if (peer->sent == peer->used)
		peer->sent = peer->used = 0;
	if (peer->used + more <= peer->capacity)
		return;
	peer->capacity = 2 * (peer->used + more);
	peer->bytes = wp_xreallocarray(peer->bytes, peer->capacity, 1);
}

void wp_peer_send(struct wp_peer *peer, enum wp_frame_type type, const void *body, size_t length)
{
	if (peer->is_dead)
		return;
	reserve(peer, wp_frame_size(length));
	peer->used += wp_frame_build(&peer->out, type, body, length, peer->bytes + peer->used);
}

void wp_peer_push(struct wp_peer *peer)
{
	while (!peer->is_dead && peer->sent < peer->used) {
		int64_t taken = wp_stream_send(
			&peer->stream, peer->bytes + peer->sent, peer->used - peer->sent);

		if (taken == -EAGAIN)
			break;
		if (taken < 0)
			peer->is_dead = true;
		else
			peer->sent += (size_t)taken;
	}
	if (peer->is_closing && peer->sent == peer->used)
		peer->is_dead = true;
	/* A peer that does not listen is not worth the memory; an answer is one turn of it. */
	if (!peer->has_asked && peer->used - peer->sent > WP_PEER_OUT_MAXIMUM)
		peer->is_dead = true;
}

void wp_peer_refuse(struct wp_witness *witness, struct wp_peer *peer, const char *reason)
{
	uint8_t body[WP_WIRE_TEXT_BYTES + 2];
	struct wp_put put = { .bytes = body, .size = sizeof(body) };

	wp_witness_log(witness, "warning", "%s: refused: %s", peer->name, reason);
	wp_put_text(&put, reason);
	wp_peer_send(peer, WP_FRAME_REFUSE, body, put.used);
	peer->is_closing = true;
}

static void greet(struct wp_witness *witness, struct wp_peer *peer, const struct wp_frame *frame)
{
	struct wp_get get = { .bytes = frame->body, .size = frame->length };
	uint64_t protocol = wp_get_number(&get, 2);
	uint8_t proof[WP_FRAME_MAC_BYTES];
	uint8_t right_proof[WP_MAC_BYTES];
	uint8_t to_witness[WP_MAC_BYTES];
	uint8_t to_client[WP_MAC_BYTES];
	uint8_t body[WP_FRAME_HELLO_MAXIMUM];
	struct wp_put put = { .bytes = body, .size = sizeof(body) };

	wp_get_bytes(&get, peer->their_nonce, WP_NONCE_BYTES);
	wp_get_bytes(&get, proof, sizeof(proof));
	if (frame->type != WP_FRAME_HELLO || !wp_get_is_done(&get)) {
		wp_peer_refuse(witness, peer, "a malformed frame");
		return;
	}
	if (protocol != WP_PROTOCOL) {
		wp_peer_refuse(witness, peer, "another version of the protocol");
		return;
	}
	wp_secret_derive(&witness->key, "walprobe hello", peer->their_nonce, WP_NONCE_BYTES, NULL,
		0, right_proof);
	if (!wp_secret_is_equal(proof, right_proof, sizeof(proof))) {
		wp_peer_refuse(witness, peer, "a wrong key");
		return;
	}
	wp_put_number(&put, WP_PROTOCOL, 2);
	wp_put_bytes(&put, peer->nonce, WP_NONCE_BYTES);
	wp_put_text(&put, witness->options.machine);
	wp_session_keys(&witness->key, peer->their_nonce, peer->nonce, to_witness, to_client);
	wp_channel_open(&peer->in, to_witness);
	wp_channel_open(&peer->out, to_client);
	peer->reader.body_limit = WP_FRAME_BODY_MAXIMUM; /* memory follows what arrives */
	wp_peer_send(peer, WP_FRAME_CHALLENGE, body, put.used);
}

static void attach(struct wp_witness *witness, struct wp_peer *peer, struct wp_ledger_run *run)
{
	struct wp_life *life = wp_life_of(witness, run);
	char id[2 * WP_RUN_ID_BYTES + 1];

	if (life->speaker && life->speaker != peer) {
		if (wp_os_now_ns(witness->os) - life->heard_ns < ALIVE_NS) {
			wp_peer_refuse(witness, peer, "a second session of a run");
			return;
		}
		life->speaker->life = NULL;
		life->speaker->is_dead = true;
	}
	if (life->speaker != peer)
		wp_witness_log(witness, "note", "%s: run %s of \"%s\", \"%s\"", peer->name,
			wp_run_id_text(run->manifest.run, id), run->manifest.host,
			run->manifest.path);
	life->speaker = peer;
	life->heard_ns = wp_os_now_ns(witness->os);
	peer->life = life;
}

static bool is_of_run(const struct wp_frame *frame, const struct wp_ledger_run *run)
{
	return frame->length > WP_RUN_ID_BYTES &&
	       memcmp(frame->body + 1, run->manifest.run, WP_RUN_ID_BYTES) == 0;
}

/* What this peer may say at this point. */
static const char *reason_against(const struct wp_peer *peer, const struct wp_frame *frame)
{
	uint8_t type = frame->length ? frame->body[0] : 0;

	if (frame->length > WP_ENTRY_MAXIMUM)
		return "an oversized entry";
	if (type == WP_ENTRY_CUT || type == WP_ENTRY_DAMAGED)
		return "an entry that only a witness may make";
	if (type == WP_ENTRY_RESULT)
		return NULL;
	if (!peer->life)
		return type == WP_ENTRY_RUN ? NULL : "an entry before the beginning of a run";
	return is_of_run(frame, peer->life->run) ? NULL : "an entry of another run";
}

static bool has_life_elsewhere(
	struct wp_witness *witness, const struct wp_peer *peer, const struct wp_frame *frame)
{
	struct wp_ledger_run *run = frame->length > WP_RUN_ID_BYTES
					    ? wp_ledger_find(&witness->ledger, frame->body + 1)
					    : NULL;
	struct wp_life *life = run ? wp_life_of(witness, run) : NULL;

	return life && life->speaker && life->speaker != peer &&
	       wp_os_now_ns(witness->os) - life->heard_ns < ALIVE_NS;
}

static void take_entry(
	struct wp_witness *witness, struct wp_peer *peer, const struct wp_frame *frame)
{
	const char *problem = reason_against(peer, frame);
	struct wp_ledger_run *run = NULL;

	if (!problem && frame->body[0] == WP_ENTRY_RUN && has_life_elsewhere(witness, peer, frame))
		problem = "a second session of a run";
	if (!problem &&
		!wp_ledger_apply(&witness->ledger, frame->body, frame->length, &run, &problem) &&
		!problem)
		problem = "an entry that makes no sense";
	if (problem) {
		wp_peer_refuse(witness, peer, problem);
		return;
	}
	if (frame->body[0] == WP_ENTRY_RUN)
		attach(witness, peer, run);
	/* Acknowledgements come often and are written once for many. */
	if (frame->body[0] != WP_ENTRY_ACKED)
		wp_journal_add(&witness->journal, frame->body, frame->length);
	if (peer->life && peer->life->run == run && run->start.cycle)
		wp_life_heard(witness, peer->life);
}

static void take_question(
	struct wp_witness *witness, struct wp_peer *peer, const struct wp_frame *frame)
{
	struct wp_get get = { .bytes = frame->body, .size = frame->length };
	static const uint8_t none[WP_RUN_ID_BYTES] = { 0 };
	uint8_t run[WP_RUN_ID_BYTES];
	char machine[WP_WIRE_TEXT_BYTES];
	char path[WP_WIRE_TEXT_BYTES];

	wp_get_bytes(&get, run, sizeof(run));
	wp_get_text(&get, machine, sizeof(machine));
	wp_get_text(&get, path, sizeof(path));
	if (!wp_get_is_done(&get)) {
		wp_peer_refuse(witness, peer, "a malformed question");
		return;
	}
	peer->asked = memcmp(run, none, sizeof(run)) != 0
			      ? wp_ledger_find(&witness->ledger, run)
			      : wp_ledger_newest(&witness->ledger, machine, path);
	peer->has_asked = true;
}

static void take_frame(
	struct wp_witness *witness, struct wp_peer *peer, const struct wp_frame *frame)
{
	if (!peer->in.mac) {
		greet(witness, peer, frame);
		return;
	}
	peer->is_proved = true;
	if (frame->type == WP_FRAME_ENTRY)
		take_entry(witness, peer, frame);
	else if (frame->type == WP_FRAME_ASK)
		take_question(witness, peer, frame);
	else
		wp_peer_refuse(witness, peer, "an unknown frame");
	peer->received = frame->counter;
	peer->has_unacknowledged = true;
}

static void take_frames(struct wp_witness *witness, struct wp_peer *peer)
{
	struct wp_frame frame;
	const char *problem = NULL;
	int rc = 0;

	while (!peer->is_closing && !peer->is_dead &&
		(rc = wp_frame_next(
			 &peer->reader, peer->in.mac ? &peer->in : NULL, &frame, &problem)) > 0)
		take_frame(witness, peer, &frame);
	if (rc < 0)
		wp_peer_refuse(witness, peer, problem);
}

void wp_peer_serve(struct wp_witness *witness, struct wp_peer *peer)
{
	/* A few reads at a time: a peer that never stops sending must not keep the others waiting.
	 * What TLS holds after the last of them is taken, too: nothing would tell of it. */
	for (int i = 0; !peer->is_closing && !peer->is_dead; i++) {
		size_t size;
		uint8_t *room = wp_frame_room(&peer->reader, &size);
		int64_t got = wp_stream_receive(&peer->stream, room, size, i < READS_PER_TURN);

		if (got == -EAGAIN)
			break;
		if (got == -EPROTO)
			wp_witness_log(witness, "warning", "%s: refused: %s", peer->name,
				peer->stream.problem);
		if (got <= 0) {
			peer->has_hung_up = got == 0;
			peer->is_dead = true;
			break;
		}
		wp_frame_arrived(&peer->reader, (size_t)got);
		take_frames(witness, peer);
	}
	wp_peer_push(peer);
}

/* an answer on its way out: as many entries in a frame as fit */
struct answer {
	struct wp_peer *peer;
	uint8_t bytes[WP_FRAME_BODY_MAXIMUM];
	struct wp_put put;
};

static void send_part(struct answer *answer)
{
	if (answer->put.used)
		wp_peer_send(answer->peer, WP_FRAME_STATE, answer->bytes, answer->put.used);
	answer->put = (struct wp_put){ .bytes = answer->bytes, .size = sizeof(answer->bytes) };
}

static int add_entry(void *ctx, const uint8_t *entry, size_t length)
{
	struct answer *answer = ctx;

	if (answer->put.size - answer->put.used < length + 4)
		send_part(answer);
	wp_put_number(&answer->put, length, 4);
	wp_put_bytes(&answer->put, entry, length);
	return 0;
}

void wp_peer_answer(struct wp_witness *witness, struct wp_peer *peer)
{
	struct answer *answer = wp_xcalloc(1, sizeof(*answer));
	struct wp_life *life = peer->asked ? wp_life_of(witness, peer->asked) : NULL;
	int64_t silent_ns =
		life && life->heard_ns ? wp_os_now_ns(witness->os) - life->heard_ns : -1;

	answer->peer = peer;
	send_part(answer);
	if (peer->asked)
		(void)wp_ledger_write(peer->asked, add_entry, answer); /* add_entry never fails */
	send_part(answer);
	wp_put_number(&answer->put, peer->asked != NULL, 1);
	wp_put_number(&answer->put,
		life && life->speaker && silent_ns < WP_SILENCE_NS && !peer->asked->is_stopped, 1);
	wp_put_number(&answer->put, (uint64_t)silent_ns, 8);
	wp_put_text(&answer->put, witness->options.machine);
	wp_peer_send(peer, WP_FRAME_STATE_END, answer->bytes, answer->put.used);
	free(answer);
	wp_peer_push(peer);
	peer->has_asked = false;
}
