/* SPDX-License-Identifier: PostgreSQL */
/*
 * cluster_text.h - settings of throwaway servers as people read them.
 *
 * Floor: report, private.
 * Threads: no.
 */
#ifndef WALPROBE_REPORT_CLUSTER_TEXT_H
#define WALPROBE_REPORT_CLUSTER_TEXT_H

#include "walprobe/result.h"

/*
 * wp_cluster_print - a list for each source of settings; what all targets share is said once, and
 * what only keeps a server apart from others (its port and the like) is left to the document.
 */
void wp_cluster_print(const struct wp_table *table, size_t limit, FILE *stream);

#endif
