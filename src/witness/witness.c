/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/mem.h"
#include "witness/server.h"

#define FLUSH_NS (100 * WP_NS_PER_MS)
#define PROVE_NS (5 * WP_NS_PER_S) /* for a peer to show that it knows the key */
#define ACCEPTS_PER_TURN 64

void wp_witness_log(struct wp_witness *witness, const char *kind, const char *format, ...)
{
	char text[1024];
	va_list args;

	if (!witness->options.log)
		return;
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	witness->options.log(witness->options.ctx, kind, text);
}

static void free_peer(struct wp_peer *peer)
{
	wp_frame_reader_release(&peer->reader);
	wp_channel_release(&peer->in);
	wp_channel_release(&peer->out);
	wp_stream_close(&peer->stream);
	free(peer->bytes);
	free(peer);
}

/* Makes what the poller watches agree with what the peer needs. */
static void watch(struct wp_witness *witness, struct wp_peer *peer)
{
	bool wants_write = wp_stream_wants_write(&peer->stream, peer->sent < peer->used);
	bool is_paused = witness->journal.is_full;
	unsigned interest = (is_paused ? 0U : WP_POLL_READ) | (wants_write ? WP_POLL_WRITE : 0U);

	if (peer->is_dead || (wants_write == peer->wants_write && is_paused == peer->is_paused))
		return;
	peer->wants_write = wants_write;
	peer->is_paused = is_paused;
	if (wp_poller_change(&witness->poller, peer->stream.fd, interest, peer) < 0)
		peer->is_dead = true;
}

static int open_parts(struct wp_witness *witness, struct wp_err *err)
{
	int rc = wp_journal_open(
		&witness->journal, witness->os, witness->options.store, &witness->ledger, err);

	if (!rc)
		rc = wp_poller_open(&witness->poller, err);
	if (rc)
		return rc;
	witness->listener = wp_net_listen(witness->options.listen, err);
	if (witness->listener < 0)
		return witness->listener;
	(void)wp_net_name(witness->listener, false, witness->address);
	rc = wp_poller_add(&witness->poller, witness->listener, WP_POLL_READ, witness);
	return rc < 0 ? wp_fail(err, WP_E_SYS, -rc, "could not wait for connections") : 0;
}

int wp_witness_open(struct wp_witness **out, const struct wp_os *os,
	const struct wp_witness_options *options, const struct wp_key *key, struct wp_err *err)
{
	struct wp_witness *witness = wp_xcalloc(1, sizeof(*witness));
	int rc;

	witness->os = os;
	witness->options = *options;
	witness->key = *key;
	witness->tls = options->is_tls ? wp_tls_new(key, true) : NULL;
	witness->listener = -1;
	witness->cutter.plan = options->cuts;
	witness->cutter.os = os;
	witness->poller.fd = -1;
	witness->journal.fd = -1;
	witness->journal.lock_fd = -1;
	rc = open_parts(witness, err);
	if (rc) {
		wp_witness_close(witness);
		return rc;
	}
	if (witness->journal.is_damaged)
		wp_witness_log(witness, "warning",
			"the journal in \"%s\" was damaged; runs not judged yet cannot be any more",
			options->store);
	*out = witness;
	return 0;
}

const char *wp_witness_address(const struct wp_witness *witness)
{
	return witness->address;
}

static bool is_crowded(const struct wp_witness *witness)
{
	size_t strangers = 0;

	for (size_t i = 0; i < witness->peer_count; i++)
		strangers += !witness->peers[i]->is_proved;
	return witness->peer_count >= WP_PEERS_MAXIMUM || strangers >= WP_STRANGERS_MAXIMUM;
}

static void add_peer(struct wp_witness *witness, int fd)
{
	struct wp_peer *peer;

	if (is_crowded(witness)) {
		wp_witness_log(witness, "warning", "too many connections; one is turned away");
		wp_net_close(fd);
		return;
	}
	peer = wp_xcalloc(1, sizeof(*peer));
	wp_stream_open(&peer->stream, fd, witness->tls);
	(void)wp_net_name(fd, true, peer->name);
	peer->since_ns = wp_os_now_ns(witness->os);
	wp_frame_reader_init(&peer->reader, WP_FRAME_HELLO_MAXIMUM);
	wp_secret_fill(peer->nonce, sizeof(peer->nonce));
	if (wp_poller_add(&witness->poller, fd, WP_POLL_READ, peer) < 0) {
		free_peer(peer);
		return;
	}
	witness->peers = wp_xreallocarray(
		(void *)witness->peers, witness->peer_count + 1, sizeof(*witness->peers));
	witness->peers[witness->peer_count++] = peer;
}

static void accept_peers(struct wp_witness *witness)
{
	for (int i = 0; i < ACCEPTS_PER_TURN; i++) {
		int fd = wp_net_accept(witness->listener);

		if (fd == -EAGAIN || fd == -ECONNABORTED)
			return;
		if (fd < 0) {
			wp_witness_log(witness, "warning", "could not accept a connection: %s",
				wp_errno_text(-fd));
			return;
		}
		add_peer(witness, fd);
	}
}

static void say_full(struct wp_witness *witness, struct wp_peer *peer)
{
	static const char reason[] = "the disk of the witness is full";
	uint8_t body[64];
	struct wp_put put = { .bytes = body, .size = sizeof(body) };

	(void)witness;
	if (peer->was_told_full || !peer->is_proved)
		return;
	wp_put_text(&put, reason);
	wp_peer_send(peer, WP_FRAME_NACK, body, put.used);
	wp_peer_push(peer);
	peer->was_told_full = true;
}

static void acknowledge(struct wp_witness *witness, struct wp_peer *peer)
{
	uint8_t body[8];
	struct wp_put put = { .bytes = body, .size = sizeof(body) };

	peer->was_told_full = false;
	if (peer->has_unacknowledged) {
		wp_put_number(&put, peer->received, 8);
		wp_peer_send(peer, WP_FRAME_ACK, body, put.used);
		peer->has_unacknowledged = false;
		wp_peer_push(peer);
	}
	if (peer->has_asked)
		wp_peer_answer(witness, peer);
}

static int flush(struct wp_witness *witness, struct wp_err *err)
{
	bool was_full = witness->journal.is_full;
	struct wp_err own = { 0 };
	int rc;

	for (size_t i = 0; i < witness->life_count; i++)
		wp_life_journal(witness, witness->lives[i]);
	rc = wp_journal_flush(&witness->journal, &own);
	witness->flushed_ns = wp_os_now_ns(witness->os);
	if (rc && rc != -WP_E_NOSPACE) {
		if (err)
			*err = own;
		return rc;
	}
	if (rc && !was_full)
		wp_witness_log(witness, "warning", "%s; nothing is acknowledged until there is",
			own.message);
	if (!rc && was_full)
		wp_witness_log(witness, "note", "there is space again");
	for (size_t i = 0; i < witness->peer_count; i++) {
		if (rc)
			say_full(witness, witness->peers[i]);
		else
			acknowledge(witness, witness->peers[i]);
	}
	return 0;
}

static void look_for_silence(struct wp_witness *witness)
{
	int64_t now_ns = wp_os_now_ns(witness->os);

	/* While nothing is read, silence means nothing. */
	if (witness->journal.is_full)
		return;
	for (size_t i = 0; i < witness->life_count; i++) {
		struct wp_life *life = witness->lives[i];

		if (life->speaker && now_ns - life->heard_ns > WP_SILENCE_NS)
			wp_life_silent(witness, life, false);
	}
	for (size_t i = 0; i < witness->peer_count; i++) {
		struct wp_peer *peer = witness->peers[i];

		if (!peer->is_proved && now_ns - peer->since_ns > PROVE_NS) {
			wp_witness_log(witness, "warning",
				"%s: refused: it did not say what it wants", peer->name);
			peer->is_dead = true;
		}
	}
}

static void bury(struct wp_witness *witness)
{
	size_t kept = 0;

	for (size_t i = 0; i < witness->peer_count; i++) {
		struct wp_peer *peer = witness->peers[i];

		if (!peer->is_dead) {
			watch(witness, peer);
			witness->peers[kept++] = peer;
			continue;
		}
		if (peer->life) {
			peer->life->speaker = NULL;
			wp_life_silent(witness, peer->life, peer->has_hung_up);
		}
		wp_poller_remove(&witness->poller, peer->stream.fd);
		free_peer(peer);
	}
	witness->peer_count = kept;
}

int wp_witness_step(struct wp_witness *witness, int64_t timeout_ns, struct wp_err *err)
{
	struct wp_poll_event events[WP_POLLER_BATCH];
	int count = wp_poller_wait(&witness->poller, timeout_ns, events);
	int rc = 0;

	if (count < 0)
		return wp_fail(err, WP_E_SYS, -count, "could not wait for connections");
	for (int i = 0; i < count; i++) {
		struct wp_peer *peer = events[i].owner;

		if (events[i].owner == witness)
			accept_peers(witness);
		else if (!witness->journal.is_full)
			wp_peer_serve(witness, peer);
		else if (peer->is_paused && (events[i].ready & WP_POLL_READ))
			peer->is_dead = true; /* nobody asked for that: it has hung up */
		else
			wp_peer_push(peer);
	}
	look_for_silence(witness);
	if (wp_os_now_ns(witness->os) - witness->flushed_ns >= FLUSH_NS)
		rc = flush(witness, err);
	bury(witness);
	wp_cutter_step(witness);
	return rc;
}

void wp_witness_close(struct wp_witness *witness)
{
	if (!witness)
		return;
	wp_cutter_end(witness);
	if (witness->journal.fd >= 0) {
		struct wp_err ignored;

		for (size_t i = 0; i < witness->life_count; i++)
			wp_life_journal(witness, witness->lives[i]);
		(void)wp_journal_flush(&witness->journal, &ignored); /* less is known, not wrong */
	}
	for (size_t i = 0; i < witness->peer_count; i++)
		free_peer(witness->peers[i]);
	for (size_t i = 0; i < witness->life_count; i++)
		free(witness->lives[i]);
	free(witness->peers);
	free(witness->lives);
	wp_net_close(witness->listener);
	wp_poller_close(&witness->poller);
	wp_journal_close(&witness->journal);
	wp_ledger_release(&witness->ledger);
	wp_tls_free(witness->tls);
	wp_key_wipe(&witness->key);
	free(witness);
}
