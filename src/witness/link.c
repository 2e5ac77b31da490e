/* SPDX-License-Identifier: PostgreSQL */
#include "witness/link.h"
#include "walprobe/mem.h"
#include "walprobe/net.h"
#include "walprobe/poller.h"
#include "walprobe/wire.h"

#define QUEUE_MAXIMUM ((size_t)4 << 20)
#define TLS_HINT "Give --tls to both sides or to none."

static int broken(const struct wp_link *link, int sys_errno, struct wp_err *err)
{
	int rc = sys_errno ? wp_fail(err, WP_E_SYS, sys_errno,
				     "lost the connection to the witness at \"%s\"", link->where)
			   : wp_fail(err, WP_E_SYS, 0,
				     "the witness at \"%s\" closed the connection", link->where);

	if (!link->in.mac)
		wp_err_hint(err, TLS_HINT);
	return rc;
}

void wp_link_close(struct wp_link *link)
{
	wp_stream_close(&link->stream);
	wp_tls_free(link->tls);
	wp_frame_reader_release(&link->reader);
	wp_channel_release(&link->in);
	wp_channel_release(&link->out);
	free(link->bytes);
	memset(link, 0, sizeof(*link));
	link->stream.fd = -1;
}

uint64_t wp_link_send(
	struct wp_link *link, enum wp_frame_type type, const void *body, size_t length)
{
	uint64_t counter = link->out.counter;
	size_t size = wp_frame_size(length);

	if (link->sent == link->used)
		link->sent = link->used = 0;
	if (link->used + size > link->capacity) {
		link->capacity = 2 * (link->used + size);
		link->bytes = wp_xreallocarray(link->bytes, link->capacity, 1);
	}
	link->used += wp_frame_build(&link->out, type, body, length, link->bytes + link->used);
	return counter;
}

int wp_link_push(struct wp_link *link)
{
	while (link->sent < link->used) {
		int64_t taken = wp_stream_send(
			&link->stream, link->bytes + link->sent, link->used - link->sent);

		if (taken == -EAGAIN)
			return link->used - link->sent > QUEUE_MAXIMUM ? -ETIMEDOUT : 0;
		if (taken < 0)
			return (int)taken;
		link->sent += (size_t)taken;
	}
	return 0;
}

static int refused(const struct wp_link *link, const struct wp_frame *frame, struct wp_err *err)
{
	struct wp_get get = { .bytes = frame->body, .size = frame->length };
	char reason[256];
	int rc;

	wp_get_text(&get, reason, sizeof(reason));
	for (char *c = reason; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = '?';
	rc = wp_fail(err, WP_E_SERVER, 0, "the witness at \"%s\" refuses: %s", link->where,
		get.is_short ? "for a reason that cannot be read" : reason);
	if (strstr(reason, "key"))
		wp_err_hint(err, "Both sides need a copy of the same key file.");
	return rc;
}

/* 1 with a frame that has arrived already. */
static int arrived(struct wp_link *link, struct wp_frame *frame, struct wp_err *err)
{
	const char *problem;
	int rc = wp_frame_next(&link->reader, link->in.mac ? &link->in : NULL, frame, &problem);

	if (rc < 0) {
		rc = wp_fail(
			err, WP_E_SERVER, 0, "the witness at \"%s\" sent %s", link->where, problem);
		if (!link->in.mac)
			wp_err_hint(err, TLS_HINT);
		return rc;
	}
	if (rc > 0 && frame->type == WP_FRAME_REFUSE)
		return refused(link, frame, err);
	return rc;
}

static int no_tls(const struct wp_link *link, struct wp_err *err)
{
	(void)wp_fail(err, WP_E_SERVER, 0, "the witness at \"%s\" sent %s", link->where,
		link->stream.problem);
	if (link->stream.has_wrong_key)
		(void)wp_fail(err, WP_E_SERVER, 0, "the witness at \"%s\" refuses: a wrong key",
			link->where);
	wp_err_hint(err, link->stream.has_wrong_key ? "Both sides need a copy of the same key file."
						    : TLS_HINT);
	return -WP_E_SERVER;
}

/* 1 when something came. */
static int receive(struct wp_link *link, struct wp_err *err)
{
	size_t size;
	uint8_t *room = wp_frame_room(&link->reader, &size);
	int64_t got = wp_stream_receive(&link->stream, room, size, true);

	if (got == -EAGAIN)
		return 0;
	if (got == -EPROTO)
		return no_tls(link, err);
	if (got <= 0)
		return broken(link, (int)-got, err);
	wp_frame_arrived(&link->reader, (size_t)got);
	return 1;
}

static int wait(struct wp_link *link, int64_t timeout_ns)
{
	bool wants_write = wp_stream_wants_write(&link->stream, link->sent < link->used);

	return wp_poll_one(
		link->stream.fd, WP_POLL_READ | (wants_write ? WP_POLL_WRITE : 0U), timeout_ns);
}

int wp_link_next(
	struct wp_link *link, int64_t timeout_ns, struct wp_frame *frame, struct wp_err *err)
{
	int64_t until_ns = wp_os_now_ns(link->os) + timeout_ns;

	for (;;) {
		int64_t left_ns = until_ns - wp_os_now_ns(link->os);
		int rc = arrived(link, frame, err);

		if (rc != 0)
			return rc;
		rc = wp_link_push(link);
		if (rc < 0)
			return broken(link, -rc, err);
		/* Before waiting: TLS may hold what the socket no longer tells of. */
		rc = receive(link, err);
		if (rc < 0)
			return rc;
		if (rc > 0)
			continue;
		if (left_ns < 0)
			return 0;
		rc = wait(link, left_ns);
		if (rc < 0)
			return broken(link, -rc, err);
	}
}

static void say_hello(
	struct wp_link *link, const struct wp_key *key, const uint8_t nonce[WP_NONCE_BYTES])
{
	uint8_t body[WP_FRAME_HELLO_MAXIMUM];
	struct wp_put put = { .bytes = body, .size = sizeof(body) };
	uint8_t proof[WP_MAC_BYTES];

	wp_secret_derive(key, "walprobe hello", nonce, WP_NONCE_BYTES, NULL, 0, proof);
	wp_put_number(&put, WP_PROTOCOL, 2);
	wp_put_bytes(&put, nonce, WP_NONCE_BYTES);
	wp_put_bytes(&put, proof, WP_FRAME_MAC_BYTES);
	(void)wp_link_send(link, WP_FRAME_HELLO, body, put.used);
}

/*
 * The challenge carries the witness's nonce, which its code needs: it is read first and checked
 * with what it says.
 */
static int take_challenge(struct wp_link *link, const struct wp_key *key,
	const uint8_t nonce[WP_NONCE_BYTES], const struct wp_frame *frame, struct wp_err *err)
{
	struct wp_get get = { .bytes = frame->body, .size = frame->length };
	uint64_t protocol = wp_get_number(&get, 2);
	uint8_t their_nonce[WP_NONCE_BYTES];
	uint8_t to_witness[WP_MAC_BYTES];
	uint8_t to_client[WP_MAC_BYTES];
	struct wp_frame again;
	const char *problem;

	wp_get_bytes(&get, their_nonce, sizeof(their_nonce));
	wp_get_text(&get, link->machine, sizeof(link->machine));
	if (frame->type != WP_FRAME_CHALLENGE || protocol != WP_PROTOCOL || !wp_get_is_done(&get))
		return wp_fail(
			err, WP_E_SERVER, 0, "what listens at \"%s\" is no witness", link->where);
	wp_session_keys(key, nonce, their_nonce, to_witness, to_client);
	wp_channel_open(&link->in, to_client);
	wp_channel_open(&link->out, to_witness);
	link->reader.taken = 0; /* the same frame once more, now with a key */
	if (wp_frame_next(&link->reader, &link->in, &again, &problem) == 1)
		return 0;
	(void)wp_fail(
		err, WP_E_SERVER, 0, "the witness at \"%s\" does not know our key", link->where);
	wp_err_hint(err, "Both sides need a copy of the same key file.");
	return -WP_E_SERVER;
}

static int connect_stream(struct wp_link *link, const struct wp_access *access, int64_t timeout_ns,
	struct wp_err *err)
{
	struct wp_tls *tls;
	int fd = wp_net_connect(access->where, timeout_ns, err);

	if (fd < 0)
		return fd;
	tls = access->is_tls ? wp_tls_new(access->key, false) : NULL;
	wp_stream_open(&link->stream, fd, tls);
	link->tls = tls;
	return 0;
}

int wp_link_open(struct wp_link *link, const struct wp_os *os, const struct wp_access *access,
	int64_t timeout_ns, struct wp_err *err)
{
	uint8_t nonce[WP_NONCE_BYTES];
	struct wp_frame frame;
	int rc;

	memset(link, 0, sizeof(*link));
	link->os = os;
	link->where = access->where;
	link->stream.fd = -1;
	wp_frame_reader_init(&link->reader, WP_FRAME_BODY_MAXIMUM);
	wp_secret_fill(nonce, sizeof(nonce));
	rc = connect_stream(link, access, timeout_ns, err);
	if (rc) {
		wp_link_close(link);
		return rc;
	}
	say_hello(link, access->key, nonce);
	rc = wp_link_next(link, timeout_ns, &frame, err);
	if (rc == 0)
		rc = wp_fail(err, WP_E_SYS, ETIMEDOUT, "no answer from the witness at \"%s\"",
			access->where);
	else if (rc > 0)
		rc = take_challenge(link, access->key, nonce, &frame, err);
	if (rc)
		wp_link_close(link);
	return rc;
}
