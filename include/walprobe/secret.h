/* SPDX-License-Identifier: PostgreSQL */
/*
 * secret.h - the key that target and witness share, and what is derived from it.
 *
 * Floor: witness (may include base, os, stats). A key file holds 16 to 4096 raw bytes and can be
 * read by its owner alone. The seed of a run's payloads is derived from key and run id: it need
 * not be stored where a power cut could take it, and cannot be known without the key.
 * Threads: yes; a struct wp_mac belongs to one thread.
 */
#ifndef WALPROBE_SECRET_H
#define WALPROBE_SECRET_H

#include "walprobe/os.h"

#define WP_KEY_MINIMUM_BYTES 16
#define WP_KEY_MAXIMUM_BYTES 4096
#define WP_KEY_NEW_BYTES 32
#define WP_MAC_BYTES 32

struct wp_key {
	uint8_t bytes[WP_KEY_MAXIMUM_BYTES];
	size_t length;
};

struct wp_mac;

/*
 * wp_key_load - read a key file.
 *
 * Returns: 0, or -WP_E_SYS, or -WP_E_USAGE when it is no regular file, others than its owner may
 * use it, or it is too short or too long; with a hint.
 */
int wp_key_load(const struct wp_os *os, const char *path, struct wp_key *key, struct wp_err *err);

/* wp_key_create - a new key file of WP_KEY_NEW_BYTES random bytes, mode 0600, synced; an existing
 * file is refused. 0 or -code. */
int wp_key_create(const struct wp_os *os, const char *path, struct wp_err *err);

/* wp_key_wipe - overwrite a key in memory. */
void wp_key_wipe(struct wp_key *key);

/* wp_secret_fill - unpredictable bytes. */
void wp_secret_fill(void *out, size_t length);

/*
 * wp_secret_derive - HMAC-SHA256 of purpose (with its terminating zero), a and b under key.
 *
 * a, b  may be NULL when their length is 0.
 */
void wp_secret_derive(const struct wp_key *key, const char *purpose, const void *a, size_t a_length,
	const void *b, size_t b_length, uint8_t out[WP_MAC_BYTES]);

/* wp_secret_is_equal - compare in a time that does not depend on the bytes. */
bool wp_secret_is_equal(const void *a, const void *b, size_t length);

/* wp_mac_new - a reusable HMAC-SHA256; free with wp_mac_free(), which accepts NULL. */
struct wp_mac *wp_mac_new(const uint8_t key[WP_MAC_BYTES]);

/* wp_mac_free - accepts NULL. */
void wp_mac_free(struct wp_mac *mac);

/* wp_mac_two - the code of a followed by b. */
void wp_mac_two(struct wp_mac *mac, const void *a, size_t a_length, const void *b, size_t b_length,
	uint8_t out[WP_MAC_BYTES]);

#endif
