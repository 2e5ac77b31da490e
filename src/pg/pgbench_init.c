/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/pgbench_init.h"
#include "walprobe/mem.h"
#include "walprobe/stop.h"

#define STEP_LIMIT_NS (24 * 3600 * WP_NS_PER_S)
#define BIGINT_SCALE 20000 /* from here on account numbers do not fit into an int */
#define COPY_BYTES 65536
#define LINE_BYTES 64

static const char all_steps[] = "dtgGvpf";

struct init {
	const struct wp_os *os;
	struct wp_session *session;
	const struct wp_init_options *options;
	bool is_in_transaction;
};

int wp_init_check(const char *steps, struct wp_err *err)
{
	if (!*steps)
		return wp_fail(err, WP_E_USAGE, 0, "no initialization steps specified");
	for (const char *step = steps; *step; step++) {
		if (*step == ' ' || strchr(all_steps, *step))
			continue;
		(void)wp_fail(err, WP_E_USAGE, 0, "unrecognized initialization step \"%c\"", *step);
		wp_err_hint(err, "Allowed step characters are \"%s\".", all_steps);
		return -WP_E_USAGE;
	}
	return 0;
}

static int run(struct init *init, const char *doing, struct wp_err *err, const char *format, ...)
	WP_PRINTF(4, 5);

static int run(struct init *init, const char *doing, struct wp_err *err, const char *format, ...)
{
	va_list args;
	char *statement;
	int rc;

	va_start(args, format);
	statement = wp_xvasprintf(format, args);
	va_end(args);
	rc = wp_session_query(init->session, statement, STEP_LIMIT_NS, doing, NULL, err);
	free(statement);
	return rc;
}

static int begin(struct init *init, struct wp_err *err)
{
	int rc = 0;

	if (!init->is_in_transaction)
		rc = run(init, "could not begin", err, "BEGIN");
	init->is_in_transaction = !rc;
	return rc;
}

static int commit(struct init *init, struct wp_err *err)
{
	if (!init->is_in_transaction)
		return 0;
	init->is_in_transaction = false;
	return run(init, "could not commit", err, "COMMIT");
}

/* ---- tables ---------------------------------------------------------------------------------- */

static const char *const tables[] = { "pgbench_accounts", "pgbench_branches", "pgbench_history",
	"pgbench_tellers" };

static int drop(struct init *init, struct wp_err *err)
{
	return run(init, "could not drop tables", err,
		"DROP TABLE IF EXISTS pgbench_accounts, pgbench_branches, pgbench_history, "
		"pgbench_tellers");
}

static void storage(
	const struct wp_init_options *options, bool is_partitioned, char *out, size_t size)
{
	out[0] = '\0';
	if (!is_partitioned)
		(void)snprintf(out, size, " WITH (fillfactor = %" PRId64 ")", options->fillfactor);
}

static int create_range(struct init *init, int64_t part, struct wp_err *err)
{
	const struct wp_init_options *options = init->options;
	int64_t rows = options->scale * WP_INIT_ACCOUNTS;
	int64_t share = (rows + options->partitions - 1) / options->partitions;
	char low[32] = "MINVALUE";
	char high[32] = "MAXVALUE";

	if (part > 1)
		(void)snprintf(low, sizeof(low), "%" PRId64, (part - 1) * share + 1);
	if (part < options->partitions)
		(void)snprintf(high, sizeof(high), "%" PRId64, part * share + 1);
	return run(init, "could not make a partition", err,
		"CREATE%s TABLE pgbench_accounts_%" PRId64
		" PARTITION OF pgbench_accounts FOR VALUES FROM (%s) TO (%s) "
		"WITH (fillfactor = %" PRId64 ")",
		options->is_unlogged ? " UNLOGGED" : "", part, low, high, options->fillfactor);
}

static int create_partition(struct init *init, int64_t part, struct wp_err *err)
{
	const struct wp_init_options *options = init->options;

	if (!options->is_hash)
		return create_range(init, part, err);
	return run(init, "could not make a partition", err,
		"CREATE%s TABLE pgbench_accounts_%" PRId64
		" PARTITION OF pgbench_accounts FOR VALUES WITH (MODULUS %" PRId64
		", REMAINDER %" PRId64 ") WITH (fillfactor = %" PRId64 ")",
		options->is_unlogged ? " UNLOGGED" : "", part, options->partitions, part - 1,
		options->fillfactor);
}

static int create_accounts(struct init *init, struct wp_err *err)
{
	const struct wp_init_options *options = init->options;
	const char *aid = options->scale >= BIGINT_SCALE ? "bigint" : "int";
	bool is_partitioned = options->partitions > 0;
	char with[48];
	int rc;

	storage(options, is_partitioned, with, sizeof(with));
	rc = run(init, "could not make table pgbench_accounts", err,
		"CREATE%s TABLE pgbench_accounts (aid %s NOT NULL, bid int, abalance int, filler "
		"char(84))%s%s",
		options->is_unlogged && !is_partitioned ? " UNLOGGED" : "", aid, with,
		!is_partitioned    ? ""
		: options->is_hash ? " PARTITION BY HASH (aid)"
				   : " PARTITION BY RANGE (aid)");
	for (int64_t part = 1; !rc && part <= options->partitions; part++)
		rc = create_partition(init, part, err);
	return rc;
}

static int create(struct init *init, struct wp_err *err)
{
	const struct wp_init_options *options = init->options;
	const char *unlogged = options->is_unlogged ? " UNLOGGED" : "";
	const char *aid = options->scale >= BIGINT_SCALE ? "bigint" : "int";
	char with[48];
	int rc;

	storage(options, false, with, sizeof(with));
	rc = run(init, "could not make table pgbench_history", err,
		"CREATE%s TABLE pgbench_history (tid int, bid int, aid %s, delta int, mtime "
		"timestamp, filler char(22))",
		unlogged, aid);
	if (!rc)
		rc = run(init, "could not make table pgbench_tellers", err,
			"CREATE%s TABLE pgbench_tellers (tid int NOT NULL, bid int, tbalance int, "
			"filler char(84))%s",
			unlogged, with);
	if (!rc)
		rc = create_accounts(init, err);
	if (!rc)
		rc = run(init, "could not make table pgbench_branches", err,
			"CREATE%s TABLE pgbench_branches (bid int NOT NULL, bbalance int, filler "
			"char(88))%s",
			unlogged, with);
	return rc;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int account_line(char *out, size_t size, int64_t number)
{
	return snprintf(out, size, "%" PRId64 "\t%" PRId64 "\t0\t\n", number,
		(number - 1) / WP_INIT_ACCOUNTS + 1);
}

static int branch_line(char *out, size_t size, int64_t number)
{
	return snprintf(out, size, "%" PRId64 "\t0\t\\N\n", number);
}

static int teller_line(char *out, size_t size, int64_t number)
{
	return snprintf(out, size, "%" PRId64 "\t%" PRId64 "\t0\t\\N\n", number,
		(number - 1) / WP_INIT_TELLERS + 1);
}

static int copy_rows(struct init *init, const char *table, int64_t rows, bool is_frozen,
	int (*line)(char *out, size_t size, int64_t number), struct wp_err *err)
{
	const struct wp_init_options *options = init->options;
	char *buffer = wp_xcalloc(1, COPY_BYTES);
	size_t used = 0;
	int rc = run(init, "could not copy rows", err, "COPY %s FROM STDIN%s", table,
		is_frozen ? " WITH (FREEZE on)" : "");

	for (int64_t number = 1; !rc && number <= rows; number++) {
		used += (size_t)line(buffer + used, COPY_BYTES - used, number);
		if (used + LINE_BYTES < COPY_BYTES && number < rows)
			continue;
		rc = wp_stop_fail(err);
		if (!rc)
			rc = wp_session_copy(init->session, buffer, used, err);
		used = 0;
		if (!rc && options->progress && line == account_line)
			options->progress(options->ctx, number, rows);
	}
	if (!rc)
		rc = wp_session_copy(init->session, NULL, 0, err);
	free(buffer);
	return rc;
}

static int empty(struct init *init, struct wp_err *err)
{
	return run(init, "could not empty the tables", err,
		"TRUNCATE pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers");
}

static int generate_here(struct init *init, struct wp_err *err)
{
	const struct wp_init_options *options = init->options;
	/* COPY FREEZE needs a table that this transaction has emptied, and no partitions. */
	bool is_frozen = wp_session_version(init->session) >= 140000;
	int rc = empty(init, err);

	if (!rc)
		rc = copy_rows(
			init, "pgbench_branches", options->scale, is_frozen, branch_line, err);
	if (!rc)
		rc = copy_rows(init, "pgbench_tellers", options->scale * WP_INIT_TELLERS, is_frozen,
			teller_line, err);
	if (!rc)
		rc = copy_rows(init, "pgbench_accounts", options->scale * WP_INIT_ACCOUNTS,
			is_frozen && !options->partitions, account_line, err);
	return rc;
}

static int generate_there(struct init *init, struct wp_err *err)
{
	static const char doing[] = "could not generate rows";
	int64_t scale = init->options->scale;
	int rc = empty(init, err);

	if (!rc)
		rc = run(init, doing, err,
			"INSERT INTO pgbench_branches (bid, bbalance) SELECT bid, 0 FROM "
			"pg_catalog.generate_series(1, %" PRId64 ") AS bid",
			scale);
	if (!rc)
		rc = run(init, doing, err,
			"INSERT INTO pgbench_tellers (tid, bid, tbalance) SELECT tid, (tid - 1) / "
			"%d "
			"+ 1, 0 FROM pg_catalog.generate_series(1, %" PRId64 ") AS tid",
			WP_INIT_TELLERS, scale * WP_INIT_TELLERS);
	if (!rc)
		rc = run(init, doing, err,
			"INSERT INTO pgbench_accounts (aid, bid, abalance, filler) SELECT aid, "
			"(aid - "
			"1) / %d + 1, 0, '' FROM pg_catalog.generate_series(1, %" PRId64 ") AS aid",
			WP_INIT_ACCOUNTS, scale * WP_INIT_ACCOUNTS);
	return rc;
}

/* ---- what follows the rows ------------------------------------------------------------------- */

static int vacuum(struct init *init, struct wp_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < WP_COUNT(tables); i++)
		rc = run(init, "could not vacuum", err, "VACUUM ANALYZE %s", tables[i]);
	return rc;
}

static int run_each(struct init *init, const char *doing, const char *const *statements,
	size_t count, struct wp_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < count; i++)
		rc = run(init, doing, err, "ALTER TABLE %s", statements[i]);
	return rc;
}

static int add_primary_keys(struct init *init, struct wp_err *err)
{
	static const char *const statements[] = {
		"pgbench_branches ADD PRIMARY KEY (bid)",
		"pgbench_tellers ADD PRIMARY KEY (tid)",
		"pgbench_accounts ADD PRIMARY KEY (aid)",
	};

	return run_each(init, "could not make primary keys", statements, WP_COUNT(statements), err);
}

static int add_foreign_keys(struct init *init, struct wp_err *err)
{
	static const char *const statements[] = {
		"pgbench_tellers ADD CONSTRAINT pgbench_tellers_bid_fkey FOREIGN KEY (bid) "
		"REFERENCES pgbench_branches",
		"pgbench_accounts ADD CONSTRAINT pgbench_accounts_bid_fkey FOREIGN KEY (bid) "
		"REFERENCES pgbench_branches",
		"pgbench_history ADD CONSTRAINT pgbench_history_bid_fkey FOREIGN KEY (bid) "
		"REFERENCES pgbench_branches",
		"pgbench_history ADD CONSTRAINT pgbench_history_tid_fkey FOREIGN KEY (tid) "
		"REFERENCES pgbench_tellers",
		"pgbench_history ADD CONSTRAINT pgbench_history_aid_fkey FOREIGN KEY (aid) "
		"REFERENCES pgbench_accounts",
	};

	return run_each(init, "could not make foreign keys", statements, WP_COUNT(statements), err);
}

/* ---- steps ----------------------------------------------------------------------------------- */

struct step {
	char letter;
	size_t time; /* offset in struct wp_init_times */
	int (*run)(struct init *init, struct wp_err *err);
};

#define T(field) offsetof(struct wp_init_times, field)

static const struct step steps[] = {
	{ 'd', T(drop_ns), drop },
	{ 't', T(create_ns), create },
	{ 'g', T(generate_ns), generate_here },
	{ 'G', T(generate_ns), generate_there },
	{ 'v', T(vacuum_ns), vacuum },
	{ 'p', T(primary_keys_ns), add_primary_keys },
	{ 'f', T(foreign_keys_ns), add_foreign_keys },
};

static int run_step(
	struct init *init, const struct step *step, struct wp_init_times *times, struct wp_err *err)
{
	int64_t begun_ns = wp_os_now_ns(init->os);
	int64_t *time = (int64_t *)(void *)((char *)times + step->time);
	int rc = step->letter == 'v' ? commit(init, err) : begin(init, err);

	if (!rc)
		rc = step->run(init, err);
	*time += wp_os_now_ns(init->os) - begun_ns;
	return rc;
}

/* A table of one of the four names, seen or not through the search path. */
static int refuse_existing(struct init *init, struct wp_err *err)
{
	struct wp_rows rows;
	char place[256];
	int rc;

	if (init->options->is_replacing || !strpbrk(init->options->steps, "dtgG"))
		return 0;
	rc = wp_session_query(init->session,
		"SELECT pg_catalog.to_regclass(name) FROM pg_catalog.unnest('{pgbench_accounts,"
		"pgbench_branches,pgbench_history,pgbench_tellers}'::text[]) AS name "
		"WHERE pg_catalog.to_regclass(name) IS NOT NULL",
		0, "could not look for pgbench's tables", &rows, err);
	if (rc || rows.count == 0)
		return rc;
	(void)wp_fail(err, WP_E_DATA, 0, "table \"%s\" exists already in %s",
		wp_rows_text(&rows, 0, 0), wp_session_place(init->session, place, sizeof(place)));
	wp_err_hint(err, "--replace-tables replaces pgbench's tables, with all their rows.");
	return -WP_E_DATA;
}

int wp_init_run(const struct wp_os *os, struct wp_session *session,
	const struct wp_init_options *options, struct wp_init_times *times, struct wp_err *err)
{
	struct init init = { .os = os, .session = session, .options = options };
	int rc = wp_init_check(options->steps, err);

	memset(times, 0, sizeof(*times));
	if (!rc)
		rc = refuse_existing(&init, err);
	for (const char *letter = options->steps; !rc && *letter; letter++)
		for (size_t i = 0; !rc && i < WP_COUNT(steps); i++)
			if (steps[i].letter == *letter)
				rc = run_step(&init, &steps[i], times, err);
	if (!rc)
		rc = commit(&init, err);
	return rc;
}
