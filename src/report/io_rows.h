/* SPDX-License-Identifier: PostgreSQL */
/*
 * io_rows.h - rows of table "io" by what they measured, for the layouts of bonnie++ and iozone.
 *
 * Floor: report, private.
 */
#ifndef WALPROBE_REPORT_IO_ROWS_H
#define WALPROBE_REPORT_IO_ROWS_H

#include "walprobe/result.h"

/* what a row is about, besides its test */
struct wp_io_key {
	const char *target;  /* borrowed from the table */
	double file_bytes;   /* NaN: small files */
	double record_bytes; /* NaN: small files */
};

/*
 * wp_io_keys - each target, file size and record size of the big files' tests once, in the order of
 * the table; tests that work byte by byte or have a record size of their own do not count. A target
 * with small files alone has one key with NaN.
 *
 * Returns: how many; *keys is the caller's to free.
 */
size_t wp_io_keys(const struct wp_table *table, struct wp_io_key **keys);

/*
 * wp_io_find - the row of a test at this key; NULL: there is none, or it has no figure.
 *
 * The record size is not looked at for putc, getc, write1 and read1, neither size for small files.
 */
const struct wp_row *wp_io_find(
	const struct wp_table *table, const struct wp_io_key *key, const char *test);

#endif
