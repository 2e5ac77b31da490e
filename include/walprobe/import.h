/* SPDX-License-Identifier: PostgreSQL */
/*
 * import.h - published output of other tools becomes a result document.
 *
 * Floor: import (may include base and result). Text is cleaned once (quotes, CRLF, prefixes, soft
 * breaks), then every importer is asked, line by line, whether a run of its tool starts there. An
 * importer adds rows to the tables that walprobe's own commands fill (sync, ramp, io, verdict) and
 * marks the lines that it understood; the rest is listed with its line numbers. A figure that could
 * mean two things is an absent cell with the reason, never a guess.
 * Threads: no.
 */
#ifndef WALPROBE_IMPORT_H
#define WALPROBE_IMPORT_H

#include "walprobe/err.h"
#include "walprobe/result.h"

/* One line after cleaning. */
struct wp_import_line {
	char *text;    /* no line end, no quote marks, no trailing blanks */
	size_t number; /* line of the input where it begins, from 1 */
	bool is_taken; /* an importer understood it */
};

/* What the command line says that files do not; each may be NULL. */
struct wp_import_words {
	const char *label;
	const char *host;
	const char *fstype;
	const char *mount_options;
	const char *format; /* --as: only this importer */
};

/* One input being read. */
struct wp_import {
	const char *name; /* file name for messages */
	struct wp_import_line *lines;
	size_t line_count;
	const struct wp_import_words *words;
	struct wp_result *result; /* filled by importers */
	size_t runs;              /* runs found up to here, all importers */
};

/* A tool's output. */
struct wp_importer {
	const char *name;  /* for --as: "bonnie", "iozone", "pgbench" ... */
	const char *title; /* for --help */
	/* take - when a run starts at line at: add what it says to in->result, mark the lines that
	 * are understood and return the number of lines that belong to it; else 0, nothing changed. */
	size_t (*take)(struct wp_import *in, size_t at);
};

extern const struct wp_importer wp_import_bonnie, wp_import_bonnie_csv, wp_import_iozone;
extern const struct wp_importer wp_import_pgbench, wp_import_pgbench_log, wp_import_pg_test_fsync;
extern const struct wp_importer wp_import_fio_json, wp_import_fio_text, wp_import_diskchecker;

/* wp_import_target - the target entry of a run: labelled by words, else by machine, else by the
 * input's name; "#2" and so on keep labels apart. Fills fstype and mount options from words where
 * the run says nothing. Returns the label, owned by the result. */
const char *wp_import_target(
	struct wp_import *in, const char *machine, const char *fstype, const char *mount_options);

#endif
