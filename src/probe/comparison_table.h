/* SPDX-License-Identifier: PostgreSQL */
/*
 * comparison_table.h - table "comparison", for who fills it.
 *
 * Floor: probe.
 */
#ifndef WALPROBE_PROBE_COMPARISON_TABLE_H
#define WALPROBE_PROBE_COMPARISON_TABLE_H

#include "walprobe/result.h"

#define WP_COMPARISON_COLUMNS 18

extern const struct wp_column wp_comparison_columns[WP_COMPARISON_COLUMNS];

/* what is compared; NULL or "" and 0: does not apply */
struct wp_measurement {
	const char *table;
	const char *metric;
	const char *method;
	const char *variant;
	const char *test;
	int64_t clients;
	int64_t record_bytes;
};

/* wp_measurement_words - "ext4 fdatasync overwrite", "ext4 append fdatasync with 8 clients", "ext4
 * read of 8 kB", into out. */
void wp_measurement_words(
	const struct wp_measurement *measurement, const char *label, char *out, size_t size);

/* wp_measurement_fill - the row's cells that say what is compared. */
void wp_measurement_fill(struct wp_row *row, const struct wp_measurement *measurement);

#endif
