/* SPDX-License-Identifier: PostgreSQL */
/*
 * document.h - saved result documents as files.
 *
 * Floor: cli.
 * Threads: no.
 */
#ifndef WALPROBE_DOCUMENT_H
#define WALPROBE_DOCUMENT_H

#include "walprobe/os.h"
#include "walprobe/result.h"

/*
 * wp_document_read - the document in one file.
 *
 * path  "-" is the standard input; a pipe will do.
 * Returns: 0 with *out (free with wp_result_free()); -WP_E_SYS when it cannot be read, -WP_E_DATA
 * when it is no document, -WP_E_STOPPED when a signal came while waiting for it.
 */
int wp_document_read(
	const struct wp_os *os, const char *path, struct wp_result **out, struct wp_err *err);

#endif
