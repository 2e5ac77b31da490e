/* SPDX-License-Identifier: PostgreSQL */
/*
 * import.h - published output of other tools becomes a result document.
 *
 * Floor: import (may include base, stats and result). Text is cleaned once (quotes, line ends, prefixes,
 * quoted-printable), then every importer is asked, line by line, whether a run of its tool starts
 * there. An importer adds rows to the tables that walprobe's own commands fill (sync, ramp, io,
 * verdict) and marks the lines that it understood; the rest is listed with its line numbers. A
 * figure that could mean two things is an absent cell with the reason, never a guess.
 * Mail breaks long lines, also inside numbers: only the importer, which knows the layout, can tell
 * how the pieces go together (wp_import_unwrap).
 * Threads: no.
 */
#ifndef WALPROBE_IMPORT_H
#define WALPROBE_IMPORT_H

#include "walprobe/err.h"
#include "walprobe/result.h"

#define WP_IMPORT_LIMIT_BYTES ((size_t)64 << 20) /* longer text is refused; streams are not */
#define WP_IMPORT_HEAD_BYTES ((size_t)64 << 10)  /* by which a stream is recognised */

/* One line after cleaning. */
struct wp_import_line {
	char *text;    /* no line end, no quote marks, no tabs, no trailing blanks */
	char *host;    /* machine that pdsh put before the line; NULL: none */
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
	size_t unknown_count;     /* lines told to wp_import_not_understood() */
	size_t unknown_last;      /* number of the last of them, where they are too many to list */
};

/* A tool's output. */
struct wp_importer {
	const char *name;  /* for --as: "bonnie", "iozone", "pgbench" ... */
	const char *title; /* for --help */

	/* take - when a run starts at line at: add what it says to in->result, mark the lines that
	 * are understood and return the number of lines that belong to it; else 0, nothing changed.
	 * NULL: this importer reads streams only. */
	size_t (*take)(struct wp_import *in, size_t at);

	/*
	 * For input that may be longer than memory; all four are NULL, or none. Such input is not
	 * cleaned. is_stream looks at the first whole lines (WP_IMPORT_HEAD_BYTES at most, all of a
	 * shorter input). open returns the importer's own state; in has no lines. feed receives
	 * whole lines with their ends, many at once, in order (only the last may lack its end, and
	 * a line longer than a block comes in pieces). close adds the rows and frees the state.
	 */
	bool (*is_stream)(const char *head, size_t length);
	void *(*open)(struct wp_import *in);
	void (*feed)(void *stream, const char *text, size_t length);
	void (*close)(void *stream);
};

extern const struct wp_importer wp_import_bonnie, wp_import_bonnie_csv, wp_import_iozone;
extern const struct wp_importer wp_import_pgbench, wp_import_pgbench_log, wp_import_pg_test_fsync;
extern const struct wp_importer wp_import_fio_json, wp_import_fio_text, wp_import_diskchecker;

/* All importers in the order in which they are asked, and their names for --as; NULL ends both. */
extern const struct wp_importer *const wp_importers[];
extern const char *const wp_importer_names[];

/* ---- reading one input ------------------------------------------------------------------------ */

struct wp_import_reader;

/* wp_import_open - begin with one input; name, words and result are borrowed until
 * wp_import_close(). Never NULL. */
struct wp_import_reader *wp_import_open(
	struct wp_result *result, const char *name, const struct wp_import_words *words);

/* wp_import_feed - the next bytes of the input, in pieces of any size. 0, or -WP_E_DATA when text
 * that is no stream exceeds WP_IMPORT_LIMIT_BYTES. */
int wp_import_feed(
	struct wp_import_reader *reader, const char *data, size_t length, struct wp_err *err);

/*
 * wp_import_close - the input has ended: import it, list what was not understood, free reader.
 *
 * is_whole  false: reading failed or was stopped; nothing more is imported.
 * Returns: 0, or -WP_E_DATA when no run was found.
 */
int wp_import_close(struct wp_import_reader *reader, bool is_whole, struct wp_err *err);

/* ---- for importers: what a run says -------------------------------------------------------- */

/* Where a run comes from; all but tool, line and line_count may be NULL. Copied. */
struct wp_import_run {
	const char *tool;          /* "bonnie++" */
	const char *version;       /* of the tool, as printed */
	const char *machine;       /* as the tool prints it */
	const char *title;         /* heading above the run, in the words of who published it */
	const char *fstype;        /* where the run itself says it */
	const char *mount_options; /* likewise */
	const char *command;       /* command line of the tool */
	const char *started;       /* as printed */
	const char *settings;      /* what decides whether figures may be compared, "; " between */
	size_t line;               /* number of the run's first line in the input */
	size_t line_count;
};

/*
 * wp_import_add_run - a new target, and a row of table "runs" that says where it comes from.
 *
 * The target is labelled by --label, else by a short title, else by the file system that a longer
 * title names and what it says of it, else by machine, else by title or the name of the input; "#2"
 * and so on keep labels apart. What --host, --fstype and --options say fills what
 * run leaves open. Counts in->runs.
 * Returns: the label, which the result owns.
 */
const char *wp_import_add_run(struct wp_import *in, const struct wp_import_run *run);

/* wp_import_target - wp_import_add_run() for a run of which nothing else is known. */
const char *wp_import_target(
	struct wp_import *in, const char *machine, const char *fstype, const char *mount_options);

/* What people wrote above a run; each may be NULL. */
struct wp_import_heading {
	char *title;         /* without the colon */
	char *fstype;        /* NULL: names none */
	char *mount_options; /* NULL: names none */
	char *command;       /* command line of the tool between heading and run; NULL: none */
};

/*
 * wp_import_heading - what people wrote above a run: "xfs:", "Ext4 (mount options: rw,noatime):".
 *
 * Looks at the few lines above line at, past blank lines and commands, for a line that ends in a
 * colon; marks it as understood and finds file system and mount options in it and its neighbours.
 * Returns: false when there is none. Free with wp_import_heading_release() in either case.
 */
bool wp_import_heading(
	struct wp_import *in, size_t at, const char *tool, struct wp_import_heading *out);

/* wp_import_heading_release - free the strings of heading. */
void wp_import_heading_release(struct wp_import_heading *heading);

/* wp_import_fstype - the first word of text that names a file system, lower case; NULL: none. The
 * caller frees. */
char *wp_import_fstype(const char *text);

/* wp_import_not_understood - list one line (the first 1,000; then they are counted); for streams. Lines
 * that take() returned over but did not understand need no call. */
void wp_import_not_understood(struct wp_import *in, size_t number, const char *text);

/* wp_import_check - a check about a run (see wp_result_add_check), its text formatted. */
void wp_import_check(struct wp_import *in, const char *id, const char *target,
	enum wp_check_status status, const char *format, ...) WP_PRINTF(5, 6);

/* ---- for importers: tables, columns as walprobe's own commands have them --------------------- */

/* wp_import_sync_table and so on - the table, made when it is not there yet. */
struct wp_table *wp_import_sync_table(struct wp_import *in);
struct wp_table *wp_import_io_table(struct wp_import *in);
struct wp_table *wp_import_ramp_table(struct wp_import *in);
struct wp_table *wp_import_scripts_table(struct wp_import *in);
struct wp_table *wp_import_statements_table(struct wp_import *in);
struct wp_table *wp_import_progress_table(struct wp_import *in);
struct wp_table *wp_import_verdict_table(struct wp_import *in);

/* wp_import_row - a new row of table with its column target set; an interval's ends are absent with
 * the reason that one published run has none. */
struct wp_row *wp_import_row(struct wp_table *table, const char *target);

/* wp_import_absent_rest - every cell of row that is still absent without a reason gets this one. */
void wp_import_absent_rest(struct wp_row *row, const char *reason);

/* ---- for importers: text -------------------------------------------------------------------- */

/* wp_import_mark - lines at .. at + count - 1 are understood. */
void wp_import_mark(struct wp_import *in, size_t at, size_t count);

/* wp_import_is_blank - line at is beyond the end or has no text. */
bool wp_import_is_blank(const struct wp_import *in, size_t at);

/* wp_import_command - what follows a shell's prompt ("root@db1:/data# ", "$ ") in text; text itself
 * when there is no prompt. */
const char *wp_import_command(const char *text);

/* wp_import_number - a number of the form 123 or 123.45 at the beginning of text, not negative;
 * false when there is none. *end: behind it. */
bool wp_import_number(const char *text, double *out, const char **end);

/*
 * wp_import_unwrap - read one line of a tool that mail may have broken into several.
 *
 * Tries line at alone and joined with the lines after it, up to most of them, each joint once with
 * and once without a blank. parse fills out (size bytes, zeroed before each try) and says whether
 * text is a whole line. The longest that parse accepts wins; when it accepts two joints of the same
 * length with different results, none does, nor a shorter one, and *is_ambiguous is set (it may be
 * NULL).
 * Returns: the number of lines, 0 when none will do; out is then zeroed.
 */
size_t wp_import_unwrap(const struct wp_import *in, size_t at, size_t most,
	bool (*parse)(const char *text, const void *ctx, void *out), const void *ctx, void *out,
	size_t size, bool *is_ambiguous);

#endif
