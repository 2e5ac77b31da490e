/* SPDX-License-Identifier: PostgreSQL */
/*
 * pgbench_log.h - what a log has told so far; private to import.
 *
 * pgbench's logs of transactions (--log) and of intervals (--aggregate-interval) are read as they
 * come: a log of any length takes the same memory.
 * Source: PostgreSQL 8.0 to 18, pgbench.c, doLog(); documentation of pgbench, "Per-Transaction
 * Logging" and "Aggregated Logging".
 */
#ifndef WALPROBE_IMPORT_PGBENCH_LOG_H
#define WALPROBE_IMPORT_PGBENCH_LOG_H

#include "walprobe/hist.h"
#include "walprobe/import.h"

#define LOG_FIELDS_MAX 16
#define LOG_LINE_BYTES 512
#define LOG_STRANGE_SHOWN 100
#define LOG_SPANS_MAX 4096
#define LOG_SCRIPTS_MAX 128
#define LOG_CLIENTS_MAX 1000000
#define LOG_LATENCY_MAX_US UINT64_C(1000000000000)

enum log_form {
	LOG_TRANSACTIONS,
	LOG_AGGREGATE,
};

/* what the third field of a transaction says */
enum log_outcome {
	LOG_DONE,
	LOG_SKIPPED,
	LOG_FAILED,
	LOG_SERIALIZATION,
	LOG_DEADLOCK,
};

struct log_line {
	uint64_t fields[LOG_FIELDS_MAX];
	size_t count;
	enum log_outcome outcome;
};

/* times of some transactions, in microseconds */
struct log_sums {
	uint64_t count;
	double sum_us;
	double square_us;
	uint64_t min_us;
	uint64_t max_us;
};

/* a stretch of time, of span_s seconds */
struct log_span {
	struct log_sums sums;
	double lag_sum_us;
	uint64_t skipped;
	uint64_t failed;
	uint64_t retried;
	uint64_t retries;
};

struct log_client {
	uint64_t count;
	uint64_t first;
	uint64_t last;
};

struct wp_import_log {
	enum log_form form;
	size_t field_count;
	uint64_t lines;
	uint64_t strange_lines;
	uint64_t read_lines;  /* all, understood or not */
	struct wp_import *in; /* that strange lines are told to; NULL: nobody */
	struct log_span total;
	uint64_t serialization_failures;
	uint64_t deadlock_failures;
	double lag_max_us;
	struct wp_hist hist;
	struct log_sums scripts[LOG_SCRIPTS_MAX];
	size_t script_count;
	struct log_client *clients;
	size_t client_room;
	/* stretches from begin_s on, so wide that they all fit */
	struct log_span *spans;
	size_t span_count;
	uint64_t begin_s;
	uint64_t span_s;
	uint64_t previous_s; /* of an aggregate: begin of the last interval */
	uint64_t interval_s; /* of an aggregate: 0 until two lines were read */
	/* of transactions: begin of the first and end of the last, microseconds since the epoch */
	uint64_t first_us;
	uint64_t last_us;
	char carry[LOG_LINE_BYTES]; /* begin of a line whose rest was not fed yet */
	size_t carried;
	bool is_overlong;
};

/* log_parse - a line without its end into fields; false when it is none of a log. */
bool log_parse(const char *line, size_t length, struct log_line *out);

/* log_form_of - which log a line is of, -1: of none, or it could be both. */
int log_form_of(const struct log_line *line);

/* log_span_at - the stretch that holds this second; wider ones are made when there are too many. */
struct log_span *log_span_at(struct wp_import_log *log, uint64_t second);

/* log_spans_sum - all of the stretches from .. to - 1, as far as there are so many. */
struct log_span log_spans_sum(const struct wp_import_log *log, size_t from, size_t to);

/* log_sums_add - a transaction, log_sums_merge - those of another sum. */
void log_sums_add(struct log_sums *sums, uint64_t latency_us);
void log_sums_merge(struct log_sums *into, const struct log_sums *from);

/* log_add_rows - what the log told as rows. */
void log_add_rows(struct wp_import *in, const struct wp_import_log *log, size_t line);

#endif
