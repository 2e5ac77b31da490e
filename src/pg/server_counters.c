/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/server_counters.h"
#include "walprobe/mem.h"

#include "sql_server_counters_12.h"
#include "sql_server_counters_14.h"
#include "sql_server_counters_17.h"
#include "sql_server_counters_18.h"

#include <math.h>

#define QUESTION_LIMIT_NS (10 * WP_NS_PER_S)
#define SETTLE_LIMIT_NS (3 * WP_NS_PER_S)
#define SETTLE_POLL_NS (5 * WP_NS_PER_MS)
#define COLLECTOR_NS (1100 * WP_NS_PER_MS) /* up to 14 a process of its own collects */

struct wp_counter_watch {
	const struct wp_os *os;
	struct wp_session *session;
	const char *statement;
	int version;
	int64_t postmaster;
	int64_t limit_ns; /* of one question */
};

static const char *statement_of(int version)
{
	if (version >= 180000)
		return wp_sql_server_counters_18;
	if (version >= 170000)
		return wp_sql_server_counters_17;
	return version >= 140000 ? wp_sql_server_counters_14 : wp_sql_server_counters_12;
}

int wp_counter_watch_open(const struct wp_os *os, const struct wp_conn *conn,
	struct wp_counter_watch **out, struct wp_err *err)
{
	static const char begin[] = "BEGIN READ ONLY; "
				    "SET LOCAL idle_in_transaction_session_timeout = 0; "
				    "SET LOCAL statement_timeout = 0";
	struct wp_counter_watch *watch;
	struct wp_session *session = NULL;
	int rc = wp_session_open(os, conn, &session, err);
	int64_t postmaster;

	if (rc)
		return rc;
	postmaster = wp_server_postmaster(os, session);
	rc = wp_session_query(session, begin, 0, "could not read the server's counters", NULL, err);
	if (rc) {
		wp_session_close(session);
		return rc;
	}
	watch = wp_xcalloc(1, sizeof(*watch));
	watch->os = os;
	watch->session = session;
	watch->version = wp_session_version(session);
	watch->statement = statement_of(watch->version);
	watch->postmaster = postmaster;
	watch->limit_ns = QUESTION_LIMIT_NS;
	*out = watch;
	return 0;
}

void wp_counter_watch_close(struct wp_counter_watch *watch)
{
	if (!watch)
		return;
	wp_session_close(watch->session);
	free(watch);
}

void wp_counter_watch_limit(struct wp_counter_watch *watch, int64_t limit_ns)
{
	watch->limit_ns = limit_ns;
}

int wp_counter_watch_read(
	struct wp_counter_watch *watch, struct wp_counters *out, struct wp_err *err)
{
	static const char doing[] = "could not read the server's counters";
	struct wp_rows rows;
	int rc = wp_session_query(watch->session, "SELECT pg_catalog.pg_stat_clear_snapshot()",
		watch->limit_ns, doing, NULL, err);

	if (!rc)
		rc = wp_session_query(
			watch->session, watch->statement, watch->limit_ns, doing, &rows, err);
	if (rc)
		return rc;
	for (int i = 0; i < WP_COUNTER_COUNT; i++)
		if (!wp_rows_real(&rows, 0, i, &out->values[i]))
			out->values[i] = (double)NAN;
	out->cpu_ns = wp_server_cpu_ns(watch->os, watch->postmaster);
	return 0;
}

static int count_backends(
	struct wp_counter_watch *watch, const char *application, int64_t *count, struct wp_err *err)
{
	struct wp_rows rows;
	char *statement = wp_xasprintf("SELECT pg_catalog.pg_stat_clear_snapshot(); "
				       "SELECT pg_catalog.count(*) FROM "
				       "pg_catalog.pg_stat_activity WHERE application_name = '%s' "
				       "AND pid <> pg_catalog.pg_backend_pid()",
		application);
	int rc = wp_session_query(watch->session, statement, watch->limit_ns,
		"could not see whether the clients have disconnected", &rows, err);

	free(statement);
	if (!rc && !wp_rows_int(&rows, 0, 0, count))
		*count = 0;
	return rc;
}

int wp_counter_watch_settle(
	struct wp_counter_watch *watch, const char *application, struct wp_err *err)
{
	int64_t until_ns = wp_os_now_ns(watch->os) + SETTLE_LIMIT_NS;
	int64_t count = 1;
	int rc = 0;

	while (!rc && count > 0 && wp_os_now_ns(watch->os) < until_ns) {
		rc = count_backends(watch, application, &count, err);
		if (!rc && count > 0)
			(void)wp_os_sleep_ns(watch->os, SETTLE_POLL_NS); /* a signal: sooner */
	}
	if (!rc && watch->version < 150000)
		(void)wp_os_sleep_ns(watch->os, COLLECTOR_NS); /* a signal: sooner */
	return rc;
}

const char *wp_counter_absent(int version_number, enum wp_counter counter)
{
	if (counter >= WP_COUNTER_WAL_RECORDS && counter <= WP_COUNTER_WAL_SYNC_MS &&
		version_number < 140000)
		return "pg_stat_wal exists from PostgreSQL 14 on";
	return NULL;
}
