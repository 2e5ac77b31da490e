/* SPDX-License-Identifier: PostgreSQL */
/*
 * import_log.h - pgbench's logs of transactions (--log) and of intervals (--aggregate-interval), read
 * as they come: a log of any length takes the same memory.
 *
 * Floor: import (may include base, stats and result).
 * Source: PostgreSQL 8.0 to 18, pgbench.c, doLog(); documentation of pgbench, "Per-Transaction
 * Logging" and "Aggregated Logging".
 * Threads: no.
 */
#ifndef WALPROBE_IMPORT_LOG_H
#define WALPROBE_IMPORT_LOG_H

#include "walprobe/import.h"

struct wp_import_log;

/*
 * wp_import_log_open - a reader, when an input that begins with these bytes is such a log.
 *
 * head    first bytes of the input, not consumed: they are fed again. At least two whole lines, or
 *         one where the input ends behind it, must have the form of a log's line.
 * Returns: NULL when it is none.
 */
struct wp_import_log *wp_import_log_open(const char *head, size_t size);

/* wp_import_log_feed - the next bytes of the input, cut anywhere. */
void wp_import_log_feed(struct wp_import_log *log, const char *bytes, size_t size);

/*
 * wp_import_log_close - add what was found to in->result: a row of "ramp", rows over time of
 * "progress", one of "scripts" for each script where there are several; free the reader.
 *
 * in     lines are not looked at; name, words, result and runs are used.
 * line   number of the first line within the input, from 1.
 * Returns: how many lines were not understood.
 */
size_t wp_import_log_close(struct wp_import_log *log, struct wp_import *in, size_t line);

/* wp_import_log_discard - free a reader whose input could not be read to the end; accepts NULL. */
void wp_import_log_discard(struct wp_import_log *log);

#endif
