/* SPDX-License-Identifier: PostgreSQL */
/* sync_columns.h - the columns of table "sync". */
#ifndef WALPROBE_SRC_SYNC_COLUMNS_H
#define WALPROBE_SRC_SYNC_COLUMNS_H

#include "walprobe/result.h"

extern const struct wp_column wp_sync_columns[];
extern const size_t wp_sync_column_count;

#endif
