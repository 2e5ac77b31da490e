/* SPDX-License-Identifier: PostgreSQL */
/*
 * cluster.h - a throwaway PostgreSQL cluster with pg_wal on the place that is measured.
 *
 * Floor: pg (may include base, os, stats). The data directory lies in a private directory below a
 * common base (or, whole, on the target), pg_wal always on the target. The server speaks on a Unix
 * socket in a private directory only, as an ordinary user, and dies with us. All that is made is
 * entered in the registry and goes away on every way out; nothing here needs to be undone by hand.
 * Threads: main thread only (the server dies with the thread that started it).
 */
#ifndef WALPROBE_CLUSTER_H
#define WALPROBE_CLUSTER_H

#include "walprobe/pg_binaries.h"
#include "walprobe/registry.h"

#define WP_CLUSTER_SUPERUSER "walprobe"
#define WP_CLUSTER_DATABASE "postgres"
#define WP_SOCKET_PATH_MOST 107 /* sun_path of unix(7), without its end */

struct wp_cluster_options {
	const struct wp_pg_binaries *binaries; /* borrowed as long as the cluster lives */
	const struct wp_user *user;            /* likewise */
	const char *base; /* directory to make ours in; see wp_cluster_base() */
	const char *wal;  /* private directory on the target, in one of wp_workdir_create() */
	bool is_whole;    /* the data directory lies in wal as well */
	bool is_kept;     /* --keep: the server outlives us */
	const char *const *settings; /* --set: "name=value", each once more wins */
	size_t setting_count;
	int64_t clients_most;         /* most connections at once; 0: 100 */
	int64_t wal_bytes;            /* max_wal_size; 0: wp_cluster_wal_bytes() of wal */
	int64_t shared_buffers_bytes; /* 0: wp_cluster_buffer_bytes() */
	uint64_t seed;                /* of the port number */
};

/* where a setting comes from */
enum wp_cluster_origin {
	WP_CLUSTER_CHOSEN, /* by us, so that WAL is what limits the speed */
	WP_CLUSTER_ASKED,  /* by --set */
	WP_CLUSTER_SERVER, /* the server's own default, read because it matters */
};

struct wp_cluster_setting {
	char *name;
	char *value; /* as it was written into the configuration; NULL: left to the server */
	char *shown; /* as the running server shows it; NULL before the first start */
	enum wp_cluster_origin origin;
};

struct wp_cluster {
	char *directory; /* private: log, sockets, and data unless whole */
	char *data_directory;
	char *wal_directory; /* what pg_wal leads to */
	char *socket_directory;
	char *log;      /* what the server says */
	char *conninfo; /* connection string of libpq that PG* variables cannot alter */
	char *psql;     /* a command that reaches it */
	int port;
	int64_t pid;       /* postmaster; 0: not running */
	bool knows_owners; /* file system of pg_wal; false: pg_wal was moved there */
	struct wp_cluster_setting *settings;
	size_t setting_count;
	struct wp_registry *registry;          /* borrowed */
	const struct wp_pg_binaries *binaries; /* borrowed */
	const struct wp_user *user;            /* borrowed */
	uint64_t ticket;                       /* of the running server */
	bool is_kept;
};

/*
 * wp_cluster_base - a directory for clusters that user can reach and we can write to: base when
 * given, otherwise the first of $TMPDIR, /tmp, /var/tmp.
 *
 * Returns: 0 with *place (absolute; the caller frees), or -WP_E_SYS naming the component of the
 * path that stands in the way.
 */
int wp_cluster_base(const struct wp_os *os, const struct wp_user *user, const char *base,
	char **place, struct wp_err *err);

/*
 * wp_cluster_wal_bytes - max_wal_size for a directory by its free space: half of it, at most 4 GB,
 * whole segments. Clusters that are compared should all get the least of theirs.
 *
 * Returns: bytes, or -WP_E_NOSPACE with the bytes needed and free (5 segments), -WP_E_SYS.
 */
int64_t wp_cluster_wal_bytes(const struct wp_os *os, const char *directory, struct wp_err *err);

/* wp_cluster_buffer_bytes - shared_buffers by the machine's memory: 1/16, 32 to 256 MB. */
int64_t wp_cluster_buffer_bytes(const struct wp_os *os);

/*
 * wp_cluster_create - private directories, initdb, configuration; not started.
 *
 * out  free with wp_cluster_release(); what was made is undone by the registry. On failure what
 *      was made is undone already.
 * Returns: 0, or -code: -WP_E_USAGE for a setting that cannot be had (wp_cluster_check_settings()),
 * -WP_E_NOSPACE, -WP_E_SYS (initdb's words as detail; a path that user cannot reach),
 * -WP_E_UNSUPPORTED (whole on a file system without owners), -WP_E_STOPPED.
 */
int wp_cluster_create(struct wp_registry *registry, const struct wp_cluster_options *options,
	struct wp_cluster **out, struct wp_err *err);

/* wp_cluster_check_settings - 0, or -WP_E_USAGE naming the word of --set that is wrong: no
 * name=value, no name of a setting, a line break in the value, a setting that is ours to make. */
int wp_cluster_check_settings(const char *const *settings, size_t count, struct wp_err *err);

/*
 * wp_cluster_start - start the server, wait until it accepts connections, and read all settings
 * back.
 *
 * Returns: 0, or -WP_E_SERVER with the end of its log as detail, -WP_E_SYS, -WP_E_STOPPED; the
 * server is stopped then.
 */
int wp_cluster_start(struct wp_cluster *cluster, struct wp_err *err);

/* wp_cluster_check - 0 while the server runs; -WP_E_SERVER with how it ended and the end of its
 * log once it does not. */
int wp_cluster_check(struct wp_cluster *cluster, struct wp_err *err);

/*
 * wp_cluster_explain - what stands behind a failure rc of a session or client: where the server does
 * not answer any more and ends (5 s are waited for it), err is replaced by how it ended; a file
 * system without space under pg_wal is told with the bytes needed and free.
 *
 * Returns: rc, or the code that err has now: -WP_E_SERVER, -WP_E_NOSPACE.
 */
int wp_cluster_explain(struct wp_cluster *cluster, int rc, struct wp_err *err);

/* wp_cluster_stop - stop the server (wp_server_stop()); it can be started again. 0 also when it
 * does not run. */
int wp_cluster_stop(struct wp_cluster *cluster, struct wp_err *err);

/* wp_cluster_setting - value that the server shows for a setting, NULL when it was not read. */
const char *wp_cluster_setting(const struct wp_cluster *cluster, const char *name);

/* wp_cluster_release - free memory; accepts NULL. */
void wp_cluster_release(struct wp_cluster *cluster);

#endif
