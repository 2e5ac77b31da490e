/* SPDX-License-Identifier: PostgreSQL */
/*
 * report_documents.h - saved documents as one result: one as it is, several combined, two compared.
 *
 * Floor: cli.
 */
#ifndef WALPROBE_CLI_REPORT_DOCUMENTS_H
#define WALPROBE_CLI_REPORT_DOCUMENTS_H

#include "walprobe/run.h"

/*
 * wp_report_documents - the documents of files take the place of run's result.
 *
 * One file is read and changed in nothing. Several become one document with a comparison. With
 * baseline (a file; NULL: none) there is one file, and table "changes" says what differs; where
 * something is slower, or a check fails that did not, run->is_worse is set.
 * margin  practical margin as a ratio above 1.
 * Returns: 0, -WP_E_USAGE, or what wp_document_read() gives.
 */
int wp_report_documents(struct wp_run *run, const char *const *files, size_t count,
	const char *baseline, double margin, struct wp_err *err);

#endif
