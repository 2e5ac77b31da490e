/* SPDX-License-Identifier: PostgreSQL */
/*
 * load_internal.h - what the loads on a pg_wal share (wal_load.c, server_load.c).
 */
#ifndef WALPROBE_WAL_LOAD_INTERNAL_H
#define WALPROBE_WAL_LOAD_INTERNAL_H

#include "walprobe/wal_load.h"

/* wal_figures_take - counts up to now, as a basis for a difference or less the basis. */
void wal_figures_take(struct wp_wal *wal, struct wp_wal_figures *figures);

/* wal_figures_combine - sum += sign * more, in every figure. */
void wal_figures_combine(
	struct wp_wal_figures *sum, const struct wp_wal_figures *more, int64_t sign);

/*
 * wal_prepare_segment - the segment to write to exists before any thread asks for it.
 *
 * backend  has no descriptor, before and after.
 * Returns: 0, or -code with err filled.
 */
int wal_prepare_segment(struct wp_wal *wal, struct wp_wal_backend *backend, struct wp_err *err);

#endif
