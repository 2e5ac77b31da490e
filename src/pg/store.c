/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/store.h"
#include "sql_store_schema_1.h"
#include "sql_store_state.h"

#include <string.h>

#define NO_LIMIT_NS (3600 * WP_NS_PER_S) /* for a server that takes its time */

static const char *const upgrades[] = { wp_sql_store_schema_1 }; /* [n]: from version n to n + 1 */

#define NEWEST ((int64_t)WP_COUNT(upgrades))

const struct wp_store_query wp_store_queries[] = {
	{ "lying-caches", "places whose newest checks say that flushed data can be lost",
		"SELECT * FROM walprobe.lying_caches" },
	{ "batteries", "batteries and capacitors of controllers, those that learn or failed first",
		"SELECT * FROM walprobe.batteries" },
	{ "fastest-file-system", "file systems by speed for each device model and measurement",
		"SELECT * FROM walprobe.fastest_file_system" },
	{ "kernel-change", "what changed with each host's newest kernel, the slower first",
		"SELECT * FROM walprobe.kernel_change" },
	{ "power-cuts", "the newest verdict of each place that a power cut was tried on",
		"SELECT * FROM walprobe.power_cut_verdicts" },
	{ "silent-hosts", "hosts by their newest document, the longest silent first",
		"SELECT * FROM walprobe.silent_hosts" },
	{ NULL, NULL, NULL },
};

static int read_version(struct wp_session *session, int64_t *version, struct wp_err *err)
{
	static const char doing[] = "could not read the version of the schema \"walprobe\"";
	struct wp_rows rows;
	/* Documents are UTF-8, whatever the environment says. */
	int rc = wp_session_query(session, "SET client_encoding = 'UTF8'", 0, doing, NULL, err);

	if (!rc)
		rc = wp_session_query(session, wp_sql_store_state, 0, doing, &rows, err);
	if (rc)
		return rc;
	*version = 0;
	if (strcmp(wp_rows_text(&rows, 0, 1), "t") != 0) {
		if (strcmp(wp_rows_text(&rows, 0, 0), "t") != 0)
			return 0;
		rc = wp_fail(err, WP_E_SERVER, 0,
			"the database has a schema \"walprobe\" that walprobe did not make");
		wp_err_hint(err, "Rename that schema, or give another database with --db.");
		return rc;
	}
	rc = wp_session_query(
		session, "SELECT max(version) FROM walprobe.schema_version", 0, doing, &rows, err);
	if (!rc && !wp_rows_int(&rows, 0, 0, version))
		rc = wp_fail(err, WP_E_SERVER, 0, "%s: it is empty", doing);
	if (!rc && *version > NEWEST) {
		rc = wp_fail(err, WP_E_SERVER, 0,
			"the schema \"walprobe\" has version %" PRId64
			", this program knows %" PRId64,
			*version, NEWEST);
		wp_err_hint(err, "Use the newer walprobe that made it.");
	}
	return rc;
}

static int upgrade(struct wp_session *session, int64_t *version, struct wp_err *err)
{
	int rc = wp_session_query(session,
		"SELECT pg_advisory_xact_lock(hashtext('walprobe.schema_version'))", NO_LIMIT_NS,
		"could not lock the schema \"walprobe\"", NULL, err);

	if (!rc)
		rc = read_version(session, version, err);
	while (!rc && *version < NEWEST) {
		rc = wp_session_query(session, upgrades[*version], NO_LIMIT_NS,
			"could not make the schema \"walprobe\"", NULL, err);
		++*version;
	}
	return rc;
}

/* The first error is what is told; a transaction that cannot be rolled back ends with the session. */
static int end_transaction(struct wp_session *session, int rc, struct wp_err *err)
{
	if (!rc)
		return wp_session_query(
			session, "COMMIT", NO_LIMIT_NS, "could not commit", NULL, err);
	(void)wp_session_query(session, "ROLLBACK", 0, "could not roll back", NULL, NULL);
	return rc;
}

int wp_store_open(struct wp_session *session, int64_t *version, struct wp_err *err)
{
	int rc = wp_session_query(session, "BEGIN", 0, "could not begin a transaction", NULL, err);

	if (rc)
		return rc;
	return end_transaction(session, upgrade(session, version, err), err);
}

int wp_store_check(struct wp_session *session, struct wp_err *err)
{
	int64_t version;
	int rc = read_version(session, &version, err);

	if (rc || version == NEWEST)
		return rc;
	rc = wp_fail(err, WP_E_SERVER, 0,
		version ? "the schema \"walprobe\" is of an older version"
			: "the database has no schema \"walprobe\"");
	wp_err_hint(err, "\"walprobe store\" makes and upgrades it.");
	return rc;
}

int wp_store_put(struct wp_session *session, const char *json, const char *host, bool *is_new,
	struct wp_err *err)
{
	const char *const values[] = { json, host };
	struct wp_rows rows;
	/* One statement is one transaction. */
	int rc = wp_session_query_with(session, "SELECT walprobe.put($1, $2)", values,
		WP_COUNT(values), NO_LIMIT_NS, "could not store the document", &rows, err);

	if (!rc)
		*is_new = strcmp(wp_rows_text(&rows, 0, 0), "t") == 0;
	return rc;
}

int wp_store_read(
	struct wp_session *session, const char *sql, struct wp_rows *rows, struct wp_err *err)
{
	int rc = wp_session_query(session, "BEGIN READ ONLY", 0,
		"could not begin a read-only transaction", NULL, err);

	if (!rc)
		rc = wp_session_query(
			session, sql, NO_LIMIT_NS, "could not run the query", rows, err);
	return rc;
}
