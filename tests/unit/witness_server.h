/* SPDX-License-Identifier: PostgreSQL */
/*
 * witness_server.h - a witness served by a thread of the test, and targets that speak to it over
 * the loopback interface.
 */
#ifndef WALPROBE_TEST_WITNESS_SERVER_H
#define WALPROBE_TEST_WITNESS_SERVER_H

#include "walprobe/client.h"
#include "walprobe/net.h"
#include "walprobe/thread.h"
#include "walprobe/witness.h"

#include <stdatomic.h>

#define LONG_NS (20 * WP_NS_PER_S) /* nothing here takes so long; a test that waits it out fails */

struct server {
	const struct wp_os *os;
	const char *dir;
	bool is_tls;
	char address[WP_NET_NAME_BYTES];
	struct wp_witness *witness;
	struct wp_thread thread;
	atomic_bool is_ending;
	atomic_int step_rc;
	struct wp_mutex mutex;
	char log[65536];
};

struct target {
	struct wp_manifest manifest;
	struct wp_cycle_start start;
	char where[WP_NET_NAME_BYTES];
	struct wp_client *client;
	uint64_t ticket;
};

extern const struct wp_cut_plan *cut_plan; /* likewise */
extern bool uses_tls;                      /* servers that are started now */
extern const struct wp_key key;
extern const struct wp_key wrong_key;
extern atomic_int write_errno; /* of failing_os() */
extern atomic_int sync_errno;

bool has_logged(struct server *server, const char *text);
void start(struct server *server, const struct wp_os *os, const char *dir, const char *where);
void stop(struct server *server);
const struct wp_os *failing_os(void);
void wait_for(bool (*is_so)(void *argument), void *argument, const char *what);
void make_target(struct target *target, uint8_t number);
int connect_with(struct target *target, const struct server *server, const struct wp_key *its_key,
	struct wp_err *err);
void connect_target(struct target *target, const struct server *server);
void say_segment(struct target *target, uint32_t segno);
bool is_durable(void *argument);
bool is_armed(void *argument);
bool is_blind(void *argument);
bool sees_again(void *argument);
void ask(const struct server *server, const struct target *target, struct wp_testimony *answer);
void expect_acked(
	const struct server *server, const struct target *target, uint64_t first, uint64_t second);

#endif
