/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/wal_load.h"

#define PAGES_BEFORE_END 2
#define FILL_BYTES (INT64_C(1) << 20) /* WAL of one transaction that fills a segment */

static uint64_t segment_end(const struct wp_wal *wal)
{
	uint64_t segment_bytes = (uint64_t)wp_wal_config_of(wal)->segment_bytes;

	return (wp_wal_inserted(wal) / segment_bytes + 1) * segment_bytes;
}

void wp_wal_approach(struct wp_wal *wal, int64_t expected_bytes)
{
	uint64_t back = (uint64_t)expected_bytes / 2;
	uint64_t end = segment_end(wal);

	back -= back % WP_WAL_PAGE_BYTES;
	if (back < WP_WAL_PAGE_BYTES)
		back = WP_WAL_PAGE_BYTES;
	/* Short of a whole segment nothing need move. */
	if (back < (uint64_t)wp_wal_config_of(wal)->segment_bytes)
		wp_wal_jump(wal, end - back);
}

/* Large transactions, as of a bulk load, up to shortly before the end of the segment. */
static int fill_segment(struct wp_wal *wal, struct wp_err *err)
{
	uint64_t end = segment_end(wal) - PAGES_BEFORE_END * WP_WAL_PAGE_BYTES;
	struct wp_wal_backend backend;
	int rc = 0;

	wp_wal_backend_init(&backend, wal, 0, FILL_BYTES);
	while (!rc && wp_wal_inserted(wal) + WP_WAL_PAGE_BYTES < end) {
		int64_t left = (int64_t)(end - wp_wal_inserted(wal)) - WP_WAL_PAGE_BYTES;
		uint64_t lsn;

		if (left < WP_WAL_RECORD_MINIMUM_BYTES)
			left = WP_WAL_RECORD_MINIMUM_BYTES;
		rc = wp_wal_insert(wal, &backend, left < FILL_BYTES ? left : FILL_BYTES, &lsn);
		if (!rc)
			rc = wp_wal_flush(wal, &backend, lsn);
	}
	if (!rc)
		rc = wp_wal_detach(wal, &backend);
	if (rc && err)
		*err = backend.err;
	wp_wal_backend_release(&backend, wal);
	return rc;
}

static int run_over_end(struct wp_wal *wal, const struct wp_wal_load *load, int64_t run_ns,
	struct wp_hist *hist, struct wp_hist *switches, struct wp_wal_figures *figures,
	struct wp_err *err)
{
	uint64_t end = segment_end(wal);
	struct wp_wal_figures run;
	int rc;

	do {
		rc = wp_wal_run(wal, load, run_ns, false, hist, switches, &run, err);
		wp_wal_figures_add(figures, &run);
	} while (!rc && wp_wal_written(wal) <= end);
	return rc;
}

int wp_wal_first_lap(struct wp_wal *wal, const struct wp_wal_load *load, int64_t run_ns,
	bool is_natural, struct wp_hist *hist, struct wp_hist *switches,
	struct wp_wal_figures *figures, struct wp_err *err)
{
	const struct wp_wal_config *config = wp_wal_config_of(wal);
	/* Without recycling there is no ring: one segment end shows what all will be like. */
	int64_t ends = config->recycle == WP_RECYCLE_NONE ? 1 : config->segments - 1;
	int rc = 0;

	memset(figures, 0, sizeof(*figures));
	for (int64_t i = 0; !rc && i < ends; i++) {
		if (!is_natural && config->is_sparse)
			rc = fill_segment(wal, err);
		if (!is_natural && !rc)
			wp_wal_jump(wal, segment_end(wal) - PAGES_BEFORE_END * WP_WAL_PAGE_BYTES);
		if (!rc)
			rc = run_over_end(wal, load, run_ns, hist, switches, figures, err);
	}
	/* The last of the new segments too must be used to its end before its turn comes. */
	if (!rc && !is_natural && config->is_sparse)
		rc = fill_segment(wal, err);
	return rc ? rc : wp_wal_checkpoint(wal, err);
}
