/* SPDX-License-Identifier: PostgreSQL */
/*
 * cluster_internal.h - the parts of a throwaway cluster; private to src/pg.
 *
 * Floor: pg. Threads: main thread only.
 */
#ifndef WALPROBE_PG_CLUSTER_INTERNAL_H
#define WALPROBE_PG_CLUSTER_INTERNAL_H

#include "walprobe/cluster.h"

/* wp_cluster_quote - a value as postgresql.conf takes it, in single quotes; the caller frees. */
char *wp_cluster_quote(const char *value);

/* wp_cluster_settle - fill cluster->settings: ours, those asked for, those only read. */
void wp_cluster_settle(struct wp_cluster *cluster, const struct wp_cluster_options *options,
	int64_t wal_bytes, int64_t buffer_bytes);

/* wp_cluster_write_conf - replace postgresql.conf of a fresh data directory. */
int wp_cluster_write_conf(const struct wp_cluster *cluster, struct wp_err *err);

/* wp_cluster_read_settings - fill shown of all settings from the running server. */
int wp_cluster_read_settings(struct wp_cluster *cluster, struct wp_err *err);

/*
 * wp_cluster_make_directory - PARENT/name, mode 0700, given to user.
 *
 * path          receives it; the caller frees
 * knows_owners  set to whether the file system took owner and mode; NULL: it must
 */
int wp_cluster_make_directory(const struct wp_os *os, const struct wp_user *user,
	const char *parent, const char *name, char **path, bool *knows_owners, struct wp_err *err);

/* wp_cluster_make_sockets - the socket directory, where its path is short enough, and the port. */
int wp_cluster_make_sockets(struct wp_cluster *cluster, uint64_t seed, struct wp_err *err);

/* wp_cluster_port_is_taken - some socket of /proc/net/tcp (or tcp6), given as text, is bound to
 * port on this side. */
bool wp_cluster_port_is_taken(const char *table, int port);

/* wp_cluster_memory_bytes - shared_buffers for the memory that /proc/meminfo, given as text,
 * shows. */
int64_t wp_cluster_memory_bytes(const char *meminfo);

/* wp_cluster_log_end - the last lines of a server's log, one after another, into out; "" when
 * there are none. */
void wp_cluster_log_end(const char *text, char *out, size_t size);

#endif
