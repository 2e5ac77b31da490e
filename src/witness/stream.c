/* SPDX-License-Identifier: PostgreSQL */
#include "witness/stream.h"
#include "walprobe/mem.h"
#include "walprobe/net.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#define CHUNK_BYTES 16384
#define UNSENT_MAXIMUM 65536 /* what TLS may keep for a peer that does not take it */

static const unsigned char identity[] = "walprobe";
static const unsigned char cipher_number[2] = { 0x13, 0x01 }; /* TLS_AES_128_GCM_SHA256 */

struct wp_tls {
	SSL_CTX *context;
	uint8_t key[WP_MAC_BYTES];
	bool is_witness;
};

static void must(bool is_good)
{
	if (!is_good) {
		fputs("walprobe: error: the cryptographic library failed\n", stderr);
		abort();
	}
}

/* A session that was never negotiated: that is how the library takes an external key. */
static SSL_SESSION *session_of(SSL *ssl)
{
	const struct wp_tls *tls = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
	const SSL_CIPHER *cipher = SSL_CIPHER_find(ssl, cipher_number);
	SSL_SESSION *session = SSL_SESSION_new();

	must(session && cipher &&
		SSL_SESSION_set1_master_key(session, tls->key, sizeof(tls->key)) == 1 &&
		SSL_SESSION_set_cipher(session, cipher) == 1 &&
		SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1);
	return session;
}

static int find_session(SSL *ssl, const unsigned char *name, size_t length, SSL_SESSION **session)
{
	/* Without a session the handshake fails: there is no certificate to go on with. */
	*session = length == sizeof(identity) && memcmp(name, identity, length) == 0
			   ? session_of(ssl)
			   : NULL;
	return 1;
}

static int use_session(SSL *ssl, const EVP_MD *digest, const unsigned char **name, size_t *length,
	SSL_SESSION **session)
{
	*session = !digest || EVP_MD_is_a(digest, "SHA256") ? session_of(ssl) : NULL;
	*name = identity;
	*length = sizeof(identity);
	return 1;
}

struct wp_tls *wp_tls_new(const struct wp_key *key, bool is_witness)
{
	struct wp_tls *tls = wp_xcalloc(1, sizeof(*tls));
	SSL_CTX *context = SSL_CTX_new(is_witness ? TLS_server_method() : TLS_client_method());

	must(context && SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1 &&
		SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256") == 1 &&
		SSL_CTX_set_num_tickets(context, 0) == 1);
	tls->context = context;
	tls->is_witness = is_witness;
	wp_secret_derive(key, "walprobe tls", NULL, 0, NULL, 0, tls->key);
	(void)SSL_CTX_set_app_data(context, tls);
	(void)SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE |
						SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
						SSL_MODE_RELEASE_BUFFERS);
	(void)SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
	/* A witness that shows a certificate instead of the key is none of ours. */
	SSL_CTX_set_verify(context, is_witness ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, NULL);
	if (is_witness)
		SSL_CTX_set_psk_find_session_callback(context, find_session);
	else
		SSL_CTX_set_psk_use_session_callback(context, use_session);
	return tls;
}

void wp_tls_free(struct wp_tls *tls)
{
	if (!tls)
		return;
	SSL_CTX_free(tls->context);
	memset(tls->key, 0, sizeof(tls->key));
	free(tls);
}

/* What TLS has to say goes out as far as it can. Returns 0, or -errno of a broken connection. */
static int flush(struct wp_stream *stream)
{
	BIO *out = SSL_get_wbio(stream->ssl);
	char *bytes;
	long left;

	while ((left = BIO_get_mem_data(out, &bytes)) > 0) {
		int64_t taken = wp_net_send(stream->fd, bytes, (size_t)left);
		char scratch[CHUNK_BYTES];

		if (taken == -EAGAIN)
			return 0;
		if (taken < 0)
			return (int)taken;
		while (taken > 0) {
			int step = taken < CHUNK_BYTES ? (int)taken : CHUNK_BYTES;

			must(BIO_read(out, scratch, step) == step);
			taken -= step;
		}
	}
	return 0;
}

static int failed(struct wp_stream *stream)
{
	unsigned long code = ERR_peek_error();
	int reason = ERR_GET_REASON(code);

	stream->has_wrong_key = reason == SSL_R_BINDER_DOES_NOT_VERIFY ||
				reason == SSL_R_SSLV3_ALERT_ILLEGAL_PARAMETER ||
				reason == SSL_R_TLSV1_ALERT_DECRYPT_ERROR;
	if (stream->has_wrong_key)
		stream->problem = "a wrong key";
	else if (reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_HTTP_REQUEST ||
		 reason == SSL_R_UNEXPECTED_MESSAGE || reason == SSL_R_BAD_RECORD_TYPE)
		stream->problem = "what is not TLS";
	else
		stream->problem = "TLS that cannot be agreed on";
	(void)flush(stream); /* the alert, if it can still be sent */
	return -EPROTO;
}

/* After a call that did not give what it should: 0 when it only needs more bytes. */
static int reason_of(struct wp_stream *stream, int result)
{
	switch (SSL_get_error(stream->ssl, result)) {
	case SSL_ERROR_WANT_READ:
	case SSL_ERROR_WANT_WRITE:
		return flush(stream);
	case SSL_ERROR_ZERO_RETURN:
		return -EPIPE;
	default:
		return failed(stream);
	}
}

void wp_stream_open(struct wp_stream *stream, int fd, const struct wp_tls *tls)
{
	BIO *in = NULL;
	BIO *out = NULL;

	memset(stream, 0, sizeof(*stream));
	stream->fd = fd;
	if (!tls)
		return;
	stream->ssl = SSL_new(tls->context);
	in = BIO_new(BIO_s_mem());
	out = BIO_new(BIO_s_mem());
	must(stream->ssl && in && out);
	(void)BIO_set_mem_eof_return(in, -1);
	SSL_set_bio(stream->ssl, in, out);
	if (tls->is_witness) {
		SSL_set_accept_state(stream->ssl);
		return;
	}
	SSL_set_connect_state(stream->ssl);
	ERR_clear_error();
	/* Only begins; what goes wrong with it shows with the first bytes that are received. */
	(void)reason_of(stream, SSL_do_handshake(stream->ssl));
}

void wp_stream_close(struct wp_stream *stream)
{
	SSL_free(stream->ssl);
	wp_net_close(stream->fd);
	memset(stream, 0, sizeof(*stream));
	stream->fd = -1;
}

/* Bytes of the socket into TLS: 1, 0 at the end, -errno. */
static int64_t feed(struct wp_stream *stream)
{
	char bytes[CHUNK_BYTES];
	int64_t got = wp_net_receive(stream->fd, bytes, sizeof(bytes));

	if (got > 0)
		must(BIO_write(SSL_get_rbio(stream->ssl), bytes, (int)got) == (int)got);
	return got > 0 ? 1 : got;
}

int64_t wp_stream_receive(struct wp_stream *stream, void *buffer, size_t length, bool may_read)
{
	int wanted = length < INT_MAX ? (int)length : INT_MAX;

	if (!stream->ssl)
		return may_read ? wp_net_receive(stream->fd, buffer, length) : -EAGAIN;
	if (stream->problem)
		return -EPROTO;
	for (;;) {
		int got;
		int64_t rc;

		ERR_clear_error();
		got = SSL_read(stream->ssl, buffer, wanted);
		if (got > 0)
			return got;
		rc = reason_of(stream, got);
		if (rc == -EPIPE)
			return 0;
		if (rc < 0)
			return rc;
		if (!may_read)
			return -EAGAIN;
		rc = feed(stream);
		if (rc <= 0)
			return rc;
		may_read = false;
	}
}

int64_t wp_stream_send(struct wp_stream *stream, const void *buffer, size_t length)
{
	int wanted = length < INT_MAX ? (int)length : INT_MAX;
	int taken;
	int rc;

	if (!stream->ssl)
		return wp_net_send(stream->fd, buffer, length);
	if (stream->problem)
		return -EPROTO;
	rc = flush(stream);
	if (rc < 0)
		return rc;
	if (!SSL_is_init_finished(stream->ssl) ||
		BIO_pending(SSL_get_wbio(stream->ssl)) > UNSENT_MAXIMUM)
		return -EAGAIN;
	ERR_clear_error();
	taken = SSL_write(stream->ssl, buffer, wanted);
	rc = taken > 0 ? flush(stream) : reason_of(stream, taken);
	if (rc < 0)
		return rc;
	return taken > 0 ? taken : -EAGAIN;
}

bool wp_stream_wants_write(const struct wp_stream *stream, bool has_more)
{
	if (!stream->ssl)
		return has_more;
	if (BIO_pending(SSL_get_wbio(stream->ssl)) > 0)
		return true;
	return has_more && SSL_is_init_finished(stream->ssl);
}
