/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/secret.h"
#include "walprobe/mem.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

struct wp_mac {
	EVP_MAC_CTX *context;
};

static void must(int is_good)
{
	if (is_good != 1) {
		fputs("walprobe: error: the cryptographic library failed\n", stderr);
		abort();
	}
}

static int refuse(struct wp_err *err, const char *path, const char *what)
{
	(void)wp_fail(err, WP_E_USAGE, 0, "key file \"%s\" %s", path, what);
	wp_err_hint(err, "A key file holds 16 to 4096 bytes and has mode 0600; \"walprobe witness "
			 "--new-key FILE\" makes one, to be copied to both hosts.");
	return -WP_E_USAGE;
}

static int read_key(
	const struct wp_os *os, int fd, const char *path, struct wp_key *key, struct wp_err *err)
{
	struct stat info;
	int64_t got;
	int rc = wp_os_fstat(os, fd, &info);

	if (rc < 0)
		return wp_fail(err, WP_E_SYS, -rc, "could not read key file \"%s\"", path);
	if (!S_ISREG(info.st_mode))
		return refuse(err, path, "is no regular file");
	if (info.st_mode & 077)
		return refuse(err, path, "can be used by others than its owner");
	if (info.st_size < WP_KEY_MINIMUM_BYTES)
		return refuse(err, path, "is too short");
	if (info.st_size > WP_KEY_MAXIMUM_BYTES)
		return refuse(err, path, "is too long");
	got = wp_os_pread(os, fd, key->bytes, (size_t)info.st_size, 0);
	if (got < 0)
		return wp_fail(err, WP_E_SYS, (int)-got, "could not read key file \"%s\"", path);
	if (got != info.st_size)
		return refuse(err, path, "changed while it was read");
	key->length = (size_t)got;
	return 0;
}

int wp_key_load(const struct wp_os *os, const char *path, struct wp_key *key, struct wp_err *err)
{
	int fd = wp_os_open(os, path, O_RDONLY | O_NONBLOCK, 0);
	int rc;

	key->length = 0;
	if (fd < 0) {
		rc = wp_fail(err, WP_E_SYS, -fd, "could not open key file \"%s\"", path);
		wp_err_hint(err, "\"walprobe witness --new-key FILE\" makes one, to be copied to "
				 "both hosts.");
		return rc;
	}
	rc = read_key(os, fd, path, key, err);
	(void)wp_os_close(os, fd); /* read only: nothing can be lost */
	return rc;
}

int wp_key_create(const struct wp_os *os, const char *path, struct wp_err *err)
{
	uint8_t bytes[WP_KEY_NEW_BYTES];
	int fd = wp_os_open(os, path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	int rc;
	int closed;

	if (fd < 0) {
		rc = wp_fail(err, WP_E_SYS, -fd, "could not create key file \"%s\"", path);
		wp_err_hint(err, "A key file is never overwritten: name a new one in a directory "
				 "that you may write to.");
		return rc;
	}
	wp_secret_fill(bytes, sizeof(bytes));
	rc = wp_os_write_all(os, fd, bytes, sizeof(bytes), 0);
	if (!rc)
		rc = wp_os_fsync(os, fd);
	closed = wp_os_close(os, fd);
	OPENSSL_cleanse(bytes, sizeof(bytes));
	rc = rc ? rc : closed;
	if (!rc)
		return 0;
	(void)wp_os_unlink(os, path); /* the failed write is what counts */
	return wp_fail(err, WP_E_SYS, -rc, "could not write key file \"%s\"", path);
}

void wp_key_wipe(struct wp_key *key)
{
	OPENSSL_cleanse(key, sizeof(*key));
}

void wp_secret_fill(void *out, size_t length)
{
	must(RAND_bytes(out, (int)length));
}

static EVP_MAC_CTX *new_context(const uint8_t *key, size_t length)
{
	char digest[] = "SHA256";
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
		OSSL_PARAM_construct_end(),
	};
	EVP_MAC *mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
	EVP_MAC_CTX *context;

	must(mac != NULL);
	context = EVP_MAC_CTX_new(mac);
	must(context != NULL);
	EVP_MAC_free(mac);
	must(EVP_MAC_init(context, key, length, params));
	return context;
}

static void update(EVP_MAC_CTX *context, const void *bytes, size_t length)
{
	if (length)
		must(EVP_MAC_update(context, bytes, length));
}

static void finish(EVP_MAC_CTX *context, uint8_t out[WP_MAC_BYTES])
{
	size_t length = 0;

	must(EVP_MAC_final(context, out, &length, WP_MAC_BYTES));
	must(length == WP_MAC_BYTES);
}

void wp_secret_derive(const struct wp_key *key, const char *purpose, const void *a, size_t a_length,
	const void *b, size_t b_length, uint8_t out[WP_MAC_BYTES])
{
	EVP_MAC_CTX *context = new_context(key->bytes, key->length);

	update(context, purpose, strlen(purpose) + 1);
	update(context, a, a_length);
	update(context, b, b_length);
	finish(context, out);
	EVP_MAC_CTX_free(context);
}

bool wp_secret_is_equal(const void *a, const void *b, size_t length)
{
	return CRYPTO_memcmp(a, b, length) == 0;
}

struct wp_mac *wp_mac_new(const uint8_t key[WP_MAC_BYTES])
{
	struct wp_mac *mac = wp_xcalloc(1, sizeof(*mac));

	mac->context = new_context(key, WP_MAC_BYTES);
	return mac;
}

void wp_mac_free(struct wp_mac *mac)
{
	if (!mac)
		return;
	EVP_MAC_CTX_free(mac->context);
	free(mac);
}

void wp_mac_two(struct wp_mac *mac, const void *a, size_t a_length, const void *b, size_t b_length,
	uint8_t out[WP_MAC_BYTES])
{
	/* Without a key: again with the one that it has. */
	must(EVP_MAC_init(mac->context, NULL, 0, NULL));
	update(mac->context, a, a_length);
	update(mac->context, b, b_length);
	finish(mac->context, out);
}
