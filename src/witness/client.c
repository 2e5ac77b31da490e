/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/client.h"
#include "walprobe/mem.h"
#include "walprobe/thread.h"
#include "witness/link.h"

#include <stdatomic.h>

#define CONNECT_NS (5 * WP_NS_PER_S)
#define TURN_NS (10 * WP_NS_PER_MS) /* news are sent this often at most */
#define BEAT_NS (50 * WP_NS_PER_MS)
#define BLIND_NS WP_NS_PER_S
#define RETRY_NS (200 * WP_NS_PER_MS)

struct word {
	struct word *next;
	uint64_t ticket;
	uint64_t counter; /* of the frame that carried it; valid when is_sent */
	bool is_sent;     /* on this connection */
	size_t length;
	uint8_t bytes[];
};

struct wp_client {
	const struct wp_os *os;
	struct wp_access access; /* its key is ours */
	struct wp_key key;
	struct wp_manifest manifest;
	struct wp_cycle_start start;
	void (*log)(void *ctx, const char *kind, const char *text);
	void *ctx;
	struct wp_link link;
	struct wp_thread thread;
	struct wp_mutex mutex; /* of the words */
	struct word *first;
	struct word *last;
	uint64_t next_ticket;
	char machine[64];
	uint64_t sent[WP_WRITERS_MAXIMUM]; /* the last vector on this connection */
	int64_t beat_ns;
	int64_t answered_ns;
	int64_t blind_since_ns;
	uint64_t arming_counter;
	bool is_arming; /* arming_counter is a frame with a record of every writer */
	bool was_told_broken;
	atomic_ullong acked[WP_WRITERS_MAXIMUM];
	atomic_ullong durable_ticket;
	atomic_bool is_blind;
	atomic_bool is_armed;
	atomic_bool is_ending;
	atomic_llong blind_ns;
};

const char *wp_client_witness_machine(const struct wp_client *client)
{
	return client->machine;
}

void wp_client_acked(struct wp_client *client, uint16_t writer, uint64_t seq)
{
	atomic_store_explicit(&client->acked[writer], seq, memory_order_release);
}

uint64_t wp_client_acked_seq(const struct wp_client *client, uint16_t writer)
{
	return atomic_load_explicit(&client->acked[writer], memory_order_acquire);
}

uint64_t wp_client_say(struct wp_client *client, const struct wp_put *entry)
{
	struct word *word = wp_xcalloc(1, sizeof(*word) + entry->used);
	uint64_t ticket;

	assert(!entry->is_full);
	word->length = entry->used;
	memcpy(word->bytes, entry->bytes, entry->used);
	wp_mutex_lock(&client->mutex);
	ticket = ++client->next_ticket;
	word->ticket = ticket;
	if (client->last)
		client->last->next = word;
	else
		client->first = word;
	client->last = word;
	wp_mutex_unlock(&client->mutex);
	return ticket; /* the word may be gone already */
}

bool wp_client_is_durable(const struct wp_client *client, uint64_t ticket)
{
	return atomic_load(&client->durable_ticket) >= ticket;
}

bool wp_client_is_blind(const struct wp_client *client)
{
	return atomic_load_explicit(&client->is_blind, memory_order_relaxed);
}

bool wp_client_is_armed(const struct wp_client *client)
{
	return atomic_load(&client->is_armed);
}

int64_t wp_client_blind_ns(const struct wp_client *client)
{
	return atomic_load(&client->blind_ns);
}

static void tell(struct wp_client *client, const char *kind, const char *text)
{
	if (client->log)
		client->log(client->ctx, kind, text);
}

static void look_at_clock(struct wp_client *client)
{
	int64_t now_ns = wp_os_now_ns(client->os);
	bool is_blind = now_ns - client->answered_ns > BLIND_NS;

	if (is_blind == atomic_load(&client->is_blind))
		return;
	if (is_blind) {
		client->blind_since_ns = now_ns;
		tell(client, "warning", "the witness does not answer; the writers pause");
	} else {
		(void)atomic_fetch_add(&client->blind_ns, now_ns - client->blind_since_ns);
		tell(client, "note", "the witness answers again; the writers go on");
	}
	atomic_store(&client->is_blind, is_blind);
}

/* Words that were sent on a connection that broke are sent again, in their order. */
static void forget_connection(struct wp_client *client)
{
	wp_link_close(&client->link);
	wp_mutex_lock(&client->mutex);
	for (struct word *word = client->first; word; word = word->next)
		word->is_sent = false;
	wp_mutex_unlock(&client->mutex);
	memset(client->sent, 0, sizeof(client->sent));
	client->is_arming = false;
	client->beat_ns = 0;
}

static int open_connection(struct wp_client *client, struct wp_err *err)
{
	uint8_t bytes[WP_ENTRY_MAXIMUM];
	struct wp_put put = { .bytes = bytes, .size = sizeof(bytes) };
	int rc = wp_link_open(&client->link, client->os, &client->access, CONNECT_NS, err);

	if (rc)
		return rc;
	(void)snprintf(client->machine, sizeof(client->machine), "%s", client->link.machine);
	wp_entry_run(&put, &client->manifest);
	(void)wp_link_send(&client->link, WP_FRAME_ENTRY, bytes, put.used);
	put.used = 0;
	wp_entry_cycle(&put, client->manifest.run, &client->start, client->manifest.writers);
	(void)wp_link_send(&client->link, WP_FRAME_ENTRY, bytes, put.used);
	return 0;
}

static void send_words(struct wp_client *client)
{
	wp_mutex_lock(&client->mutex);
	for (struct word *word = client->first; word; word = word->next) {
		if (word->is_sent)
			continue;
		word->counter =
			wp_link_send(&client->link, WP_FRAME_ENTRY, word->bytes, word->length);
		word->is_sent = true;
	}
	wp_mutex_unlock(&client->mutex);
}

static void send_vector(struct wp_client *client, const uint64_t *acked, bool has_all)
{
	static const int64_t unknown[WP_EXPOSURES] = { 0 };
	uint8_t bytes[WP_ENTRY_MAXIMUM];
	struct wp_put put = { .bytes = bytes, .size = sizeof(bytes) };
	uint64_t counter;

	wp_entry_acked(&put, client->manifest.run, acked, client->manifest.writers, unknown, 0);
	counter = wp_link_send(&client->link, WP_FRAME_ENTRY, bytes, put.used);
	if (has_all && !client->is_arming) {
		client->is_arming = true;
		client->arming_counter = counter;
	}
	client->beat_ns = wp_os_now_ns(client->os);
}

/*
 * The vector is read before the words are sent: the segment of every record in it was announced
 * by a word that is in the queue by then.
 */
static void send_news(struct wp_client *client)
{
	uint64_t acked[WP_WRITERS_MAXIMUM];
	bool is_new = false;
	bool has_all = true;

	for (uint16_t i = 0; i < client->manifest.writers; i++) {
		acked[i] = wp_client_acked_seq(client, i);
		is_new = is_new || acked[i] != client->sent[i];
		has_all = has_all && acked[i] > client->start.bases[i];
	}
	send_words(client);
	if (!is_new && wp_os_now_ns(client->os) - client->beat_ns < BEAT_NS)
		return;
	memcpy(client->sent, acked, client->manifest.writers * sizeof(*acked));
	send_vector(client, acked, has_all);
}

static void take_ack(struct wp_client *client, uint64_t counter)
{
	wp_mutex_lock(&client->mutex);
	while (client->first && client->first->is_sent && client->first->counter <= counter) {
		struct word *word = client->first;

		client->first = word->next;
		if (!client->first)
			client->last = NULL;
		atomic_store(&client->durable_ticket, word->ticket);
		free(word);
	}
	wp_mutex_unlock(&client->mutex);
	client->answered_ns = wp_os_now_ns(client->os);
	if (client->is_arming && counter >= client->arming_counter)
		atomic_store(&client->is_armed, true);
}

static int take_frame(struct wp_client *client, const struct wp_frame *frame)
{
	struct wp_get get = { .bytes = frame->body, .size = frame->length };
	char reason[256];

	if (frame->type == WP_FRAME_ACK) {
		take_ack(client, wp_get_number(&get, 8));
	} else if (frame->type == WP_FRAME_NACK) {
		wp_get_text(&get, reason, sizeof(reason));
		tell(client, "warning", reason);
	}
	return 0;
}

/* One turn: news out, answers in, until the next turn is due. */
static int serve(struct wp_client *client, struct wp_err *err)
{
	int64_t until_ns = wp_os_now_ns(client->os) + TURN_NS;
	int64_t left_ns = TURN_NS;
	struct wp_frame frame;

	send_news(client);
	while (left_ns > 0) {
		int rc = wp_link_next(&client->link, left_ns, &frame, err);

		if (rc < 0)
			return rc;
		if (rc > 0)
			(void)take_frame(client, &frame);
		left_ns = until_ns - wp_os_now_ns(client->os);
	}
	return 0;
}

static void tell_broken(struct wp_client *client, const struct wp_err *err)
{
	if (!client->was_told_broken)
		tell(client, "warning", err->message);
	client->was_told_broken = true;
}

static void run(void *argument)
{
	struct wp_client *client = argument;
	struct wp_err err = { 0 };

	while (!atomic_load(&client->is_ending)) {
		int rc;

		if (client->link.stream.fd < 0) {
			rc = open_connection(client, &err);
			if (rc) {
				tell_broken(client, &err);
				look_at_clock(client);
				(void)wp_os_sleep_ns(client->os, RETRY_NS);
				continue;
			}
		}
		rc = serve(client, &err);
		if (rc < 0) {
			tell_broken(client, &err);
			forget_connection(client);
			(void)wp_os_sleep_ns(client->os, RETRY_NS / 4);
		} else if (client->was_told_broken &&
			   wp_os_now_ns(client->os) - client->answered_ns < BLIND_NS / 2) {
			client->was_told_broken = false;
		}
		look_at_clock(client);
	}
	wp_link_close(&client->link);
}

static void free_client(struct wp_client *client)
{
	while (client->first) {
		struct word *word = client->first;

		client->first = word->next;
		free(word);
	}
	wp_link_close(&client->link);
	wp_mutex_release(&client->mutex);
	wp_key_wipe(&client->key);
	free(client);
}

/* The run and the cycle are the first two frames after the greeting; their answer is waited for,
 * so that a refusal is an error of the start. */
static int begin(struct wp_client *client, struct wp_err *err)
{
	int64_t until_ns = wp_os_now_ns(client->os) + 2 * CONNECT_NS;
	struct wp_frame frame;
	int rc = open_connection(client, err);

	while (!rc) {
		struct wp_get get;

		rc = wp_link_next(&client->link, until_ns - wp_os_now_ns(client->os), &frame, err);
		if (rc == 0)
			return wp_fail(err, WP_E_SYS, ETIMEDOUT,
				"no answer from the witness at \"%s\"", client->access.where);
		if (rc < 0)
			return rc;
		get = (struct wp_get){ .bytes = frame.body, .size = frame.length };
		rc = 0;
		if (frame.type == WP_FRAME_NACK)
			rc = wp_fail(err, WP_E_SERVER, 0,
				"the witness at \"%s\" cannot begin: its disk is full",
				client->access.where);
		if (frame.type == WP_FRAME_ACK &&
			wp_get_number(&get, 8) + 1 == client->link.out.counter)
			return 0;
	}
	return rc;
}

int wp_client_start(struct wp_client **out, const struct wp_os *os,
	const struct wp_client_options *options, struct wp_err *err)
{
	struct wp_client *client = wp_xcalloc(1, sizeof(*client));
	int rc;

	client->os = os;
	client->access = options->access;
	client->key = *options->access.key;
	client->access.key = &client->key;
	client->manifest = *options->manifest;
	client->start = *options->start;
	client->log = options->log;
	client->ctx = options->ctx;
	client->link.stream.fd = -1;
	wp_mutex_init(&client->mutex);
	for (size_t i = 0; i < client->manifest.writers; i++)
		atomic_store(&client->acked[i], client->start.bases[i]);
	rc = begin(client, err);
	client->answered_ns = wp_os_now_ns(os);
	if (!rc)
		rc = wp_thread_start(&client->thread, run, client, 0, err);
	if (rc) {
		free_client(client);
		return rc;
	}
	*out = client;
	return 0;
}

static bool is_all_durable(struct wp_client *client)
{
	bool is_all;

	wp_mutex_lock(&client->mutex);
	is_all = !client->first;
	wp_mutex_unlock(&client->mutex);
	return is_all;
}

bool wp_client_end(struct wp_client *client, int64_t timeout_ns)
{
	int64_t until_ns;
	bool is_all;

	if (!client)
		return true;
	until_ns = wp_os_now_ns(client->os) + timeout_ns;
	while (!(is_all = is_all_durable(client)) && wp_os_now_ns(client->os) < until_ns)
		(void)wp_os_sleep_ns(client->os, TURN_NS / 2);
	atomic_store(&client->is_ending, true);
	wp_thread_join(&client->thread);
	free_client(client);
	return is_all;
}
