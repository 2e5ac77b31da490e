/* SPDX-License-Identifier: PostgreSQL */
/*
 * server_facts.h - where a running server keeps pg_wal, and the settings that matter for it.
 *
 * Floor: pg (may include base, os, stats). Reads only; one connection, closed before it returns.
 * Threads: yes.
 */
#ifndef WALPROBE_SERVER_FACTS_H
#define WALPROBE_SERVER_FACTS_H

#include "walprobe/session.h"

struct wp_server_setting {
	char *name;
	char *value;  /* as SHOW prints it */
	char *source; /* "default", "configuration file", ... */
};

struct wp_server_facts {
	char *version;      /* "15.18 (Debian ...)" */
	int version_number; /* 150018 */
	char *data_directory;
	char *wal_directory; /* data_directory/pg_wal (pg_xlog before 10) */
	struct wp_server_setting *settings;
	size_t setting_count;
};

/*
 * wp_server_facts_read - connect with conninfo (libpq's strings, URIs, services and PG* variables)
 * and read version, data directory and settings.
 *
 * Returns: 0, or -WP_E_SERVER with the server's message: no connection, another host than this one
 * (its file systems cannot be measured from here), no right to see data_directory (a superuser or
 * a member of pg_read_all_settings has it).
 */
int wp_server_facts_read(const struct wp_os *os, const char *conninfo, struct wp_server_facts *out,
	struct wp_err *err);

/*
 * wp_session_facts - the same through a session that is open already, from any host; the
 * directories only where the server shows them.
 */
int wp_session_facts(struct wp_session *session, struct wp_server_facts *out, struct wp_err *err);

/* wp_server_setting - value of a setting that was read, or NULL when this version lacks it. */
const char *wp_server_setting(const struct wp_server_facts *facts, const char *name);

/* wp_server_facts_release - free; accepts a zeroed struct. */
void wp_server_facts_release(struct wp_server_facts *facts);

#endif
