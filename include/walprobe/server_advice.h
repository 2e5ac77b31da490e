/* SPDX-License-Identifier: PostgreSQL */
/*
 * server_advice.h - what a running server's settings mean for its pg_wal, as tables and checks.
 *
 * Floor: probe. Pure: works on facts that were read before and on the result.
 * Threads: main thread only.
 */
#ifndef WALPROBE_SERVER_ADVICE_H
#define WALPROBE_SERVER_ADVICE_H

#include "walprobe/run.h"
#include "walprobe/server_facts.h"

/*
 * wp_server_advice_checks - table "server" and the checks "server-settings" of the target whose
 * label is target: fsync, full_page_writes, synchronous_commit, wal_recycle and wal_init_zero
 * against a copy-on-write file system.
 */
void wp_server_advice_checks(
	struct wp_run *run, const struct wp_server_facts *facts, const char *target);

/*
 * wp_server_advice_changes - lines "change" in table "recommendation": what to set or move on this
 * server so that it follows the recommendation that is in the result already.
 */
void wp_server_advice_changes(
	struct wp_run *run, const struct wp_server_facts *facts, const char *target);

#endif
