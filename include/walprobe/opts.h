/* SPDX-License-Identifier: PostgreSQL */
/*
 * opts.h - option tables: parsing, range errors, help, man page, completion and the parameters of
 * every report come from the same rows.
 *
 * Floor: cli. A command owns a parameter struct that starts with struct wp_common; rows name the
 * field by offset. Defaults are written as a user would type them and go through the same parser.
 * Threads: no.
 */
#ifndef WALPROBE_OPTS_H
#define WALPROBE_OPTS_H

#include "walprobe/result.h"

enum wp_opt_type {
	WP_OPT_FLAG,       /* bool; no argument */
	WP_OPT_INT,        /* int64_t in minimum..maximum */
	WP_OPT_DURATION,   /* int64_t ns; a unit is required */
	WP_OPT_DURATION_S, /* int64_t ns; a bare number counts seconds, as in pgbench */
	WP_OPT_DURATION_MS,
	WP_OPT_DURATION_US,
	WP_OPT_SIZE,   /* int64_t bytes in minimum..maximum */
	WP_OPT_TEXT,   /* const char *; NULL unless given or defaulted */
	WP_OPT_CHOICE, /* const char *; one of choices */
	WP_OPT_TEXTS,  /* struct wp_texts; every use of the option adds one */
};

/* values of an option that may be given several times; borrowed from argv */
struct wp_texts {
	const char **values;
	size_t count;
};

struct wp_opt {
	const char *name; /* without the dashes */
	char letter;      /* 0: none */
	enum wp_opt_type type;
	const char *argument; /* word in help, as NUM */
	size_t offset;        /* of the field in the command's parameter struct */
	const char *standard; /* default as typed; NULL: zero, false, NULL */
	int64_t minimum;
	int64_t maximum;
	const char *const *choices; /* NULL-terminated, for WP_OPT_CHOICE */
	const char *help;           /* one lower-case clause without a full stop */
};

/* options that every measuring command has; first member of each parameter struct */
struct wp_common {
	int64_t rounds;
	int64_t time_ns;
	int64_t warmup_ns;
	int64_t seed;
	const char *method;
	const char *format;
	const char *output;
	const char *save;
	const char *plot;
	const char *progress;
	const char *color;
	bool is_quiet;
	bool is_verbose;
	bool is_kept;
	bool is_forced;
};

/* a command's own default for an option of a shared table, as typed */
struct wp_default {
	const char *name;
	const char *standard;
};

struct wp_run;

struct wp_command {
	const char *name;
	const char *operands;               /* "TARGET...", "FILE...", "" */
	const char *summary;                /* one lower-case clause */
	const char *epilogue;               /* examples for help and man page; may be NULL */
	const struct wp_opt *const *tables; /* NULL-terminated list of option tables */
	const struct wp_default *defaults;  /* ends with a NULL name; NULL: none */
	const char *const *formats; /* values of --format, ends with NULL; NULL: the usual ones */
	size_t params_size;         /* of the parameter struct */
	size_t operands_minimum;
	size_t operands_maximum;
	/*
	 * Does the work. params is the filled parameter struct, operands the words that are no
	 * options. Fills run->result. Returns 0 or -code with err filled.
	 */
	int (*execute)(struct wp_run *run, const void *params, const char *const *operands,
		size_t operand_count, struct wp_err *err);
	bool is_silent; /* execute prints by itself; no result document is rendered */
	/* The result was read, not measured: main adds nothing to it after execute, and the exit
	 * status follows neither its checks nor its completeness. */
	bool is_reprint;
};

/* Tables end with a row whose name is NULL. */
extern const struct wp_opt wp_common_opts[]; /* rounds, time, warmup, seed, keep, force */
extern const struct wp_opt wp_output_opts[]; /* format, output, save, plot, progress, color, q, v */
extern const struct wp_opt wp_method_opts[]; /* method */

/*
 * wp_opts_parse - fill params from defaults and argv; options and operands may be mixed, "--"
 * ends the options.
 *
 * words, count  what follows the command's name.
 * operands      receives borrowed pointers; room for count.
 * Returns: 0, or -WP_E_USAGE with a message naming the option, and a hint.
 */
int wp_opts_parse(const struct wp_command *command, const char *const *words, size_t count,
	void *params, const char **operands, size_t *operand_count, struct wp_err *err);

/* wp_opts_release - free what wp_opts_parse() allocated inside params. */
void wp_opts_release(const struct wp_command *command, void *params);

/* wp_opts_record - put every option as it is in force into the parameters of result. */
void wp_opts_record(const struct wp_command *command, const void *params, struct wp_result *result);

/* wp_opts_help - usage, options and epilogue of one command. */
void wp_opts_help(const struct wp_command *command, FILE *stream);

/* wp_opts_check - true when the table keeps our promises (unique names and letters, defaults that
 * parse and are in range, one-clause help); problem receives the first breach. For unit tests. */
bool wp_opts_check(const struct wp_command *command, char *problem, size_t size);

#endif
