/* SPDX-License-Identifier: PostgreSQL */
/*
 * What pgbench prints comes in a fixed order, so that each thing has a rank: one that comes again,
 * or one of a lower rank, belongs to the next run. A run therefore never inherits a figure.
 */
#include "import/pgbench_parse.h"
#include "walprobe/mem.h"

#include <ctype.h>
#include <strings.h>

/* lines in between that are nobody's, within the summary and elsewhere */
#define SUMMARY_GAP 2
#define OTHER_GAP 8

static const struct key {
	const char *pattern;
	const char *terminator;
	enum pgbench_rank rank;
	enum pgbench_field field;
	int decimals;
} keys[] = {
	{ "scaling factor~:~", NULL, PGBENCH_RANK_SCALE, PGBENCH_SCALE, 0 },
	{ "number of clients~:~", NULL, PGBENCH_RANK_CLIENTS, PGBENCH_CLIENTS, 0 },
	{ "number of threads~:~", NULL, PGBENCH_RANK_THREADS, PGBENCH_THREADS, 0 },
	{ "maximum number of tries~:~", NULL, PGBENCH_RANK_TRIES, PGBENCH_TRIES, 0 },
	{ "number of transactions per client~:~", NULL, PGBENCH_RANK_LENGTH, PGBENCH_PER_CLIENT,
		0 },
	{ "duration~:~", "~s", PGBENCH_RANK_LENGTH, PGBENCH_DURATION_S, 0 },
	{ "number of failed transactions~:~", "~(", PGBENCH_RANK_COUNTS, PGBENCH_FAILED, 0 },
	{ "number of serialization failures~:~", "~(", PGBENCH_RANK_COUNTS, PGBENCH_SERIALIZATION,
		0 },
	{ "number of deadlock failures~:~", "~(", PGBENCH_RANK_COUNTS, PGBENCH_DEADLOCK, 0 },
	{ "number of transactions retried~:~", "~(", PGBENCH_RANK_COUNTS, PGBENCH_RETRIED, 0 },
	{ "total number of retries~:~", NULL, PGBENCH_RANK_COUNTS, PGBENCH_RETRIES, 0 },
	{ "number of transactions skipped~:~", "~(", PGBENCH_RANK_COUNTS, PGBENCH_SKIPPED, 0 },
	{ "latency average~=~|latency average~:~", "~ms", PGBENCH_RANK_LATENCY, PGBENCH_LATENCY_MS,
		3 },
	{ "latency stddev~=~|latency stddev~:~", "~ms", PGBENCH_RANK_LATENCY, PGBENCH_STDDEV_MS,
		3 },
	{ "initial connection time~=~", "~ms", PGBENCH_RANK_CONNECT, PGBENCH_CONNECT_MS, 3 },
	{ "average connection time~=~", "~ms", PGBENCH_RANK_CONNECT, PGBENCH_CONNECT_MS, 3 },
};

/* ---- order ----------------------------------------------------------------------------------- */

bool pgbench_enter(struct pgbench_state *state, enum pgbench_rank rank, bool is_again)
{
	if (state->run->first && (rank < state->rank || is_again)) {
		state->is_over = true;
		return false;
	}
	state->rank = rank;
	state->run->has_summary = state->run->has_summary || rank >= PGBENCH_RANK_TYPE;
	return true;
}

static bool is_set(const struct pgbench_state *state, enum pgbench_field field)
{
	return state->run->fields[field].state != SCAN_NONE;
}

void pgbench_put(struct pgbench_value *value, const struct scan_number *number)
{
	value->state = number->state;
	value->value = number->value;
}

struct pgbench_script *pgbench_script_now(struct pgbench_state *state)
{
	struct pgbench_run *run = state->run;

	return run->script_count ? &run->scripts[run->script_count - 1] : NULL;
}

/* Within the scripts the same words speak of one script. */
static struct pgbench_value *script_value(struct pgbench_state *state, enum pgbench_field field)
{
	struct pgbench_script *script = pgbench_script_now(state);

	if (!script || state->rank != PGBENCH_RANK_SCRIPTS)
		return NULL;
	switch (field) {
	case PGBENCH_FAILED:
		return &script->failed;
	case PGBENCH_LATENCY_MS:
		return &script->latency_ms;
	case PGBENCH_STDDEV_MS:
		return &script->stddev_ms;
	default:
		return NULL;
	}
}

/* "- " before the words: pgbench's way to say that they are about a script. */
static bool is_listed(const struct pgbench_state *state, const char *at)
{
	while (at > state->text->text && (at[-1] == ' ' || at[-1] == '\t' || at[-1] == '\n'))
		at--;
	return at > state->text->text && at[-1] == '-';
}

static const char *take_key(struct pgbench_state *state, const struct key *key, const char *begin)
{
	const char *at = scan_words(begin, key->pattern);
	struct scan_number number;
	struct pgbench_value *value;

	if (!at)
		return NULL;
	number = scan_number(at, key->terminator, key->decimals);
	if (number.state == SCAN_NONE)
		number.state = SCAN_UNSURE;
	if (is_listed(state, begin)) {
		/* without its script it is nobody's */
		value = script_value(state, key->field);
		if (value && value->state == SCAN_NONE)
			pgbench_put(value, &number);
		return number.end;
	}
	if (!pgbench_enter(state, key->rank, is_set(state, key->field)))
		return NULL;
	if (*begin == 'a' && key->field == PGBENCH_CONNECT_MS)
		state->run->is_reconnecting = true;
	pgbench_put(&state->run->fields[key->field], &number);
	return number.end;
}

/* ---- lines of their own ---------------------------------------------------------------------- */

static const char *take_command(struct pgbench_state *state, const char *begin)
{
	const char *at = scan_words(begin, "pgbench -");

	if (!at || !(isalpha((unsigned char)*at) || *at == '-'))
		return NULL;
	if (!pgbench_enter(state, PGBENCH_RANK_COMMAND, state->run->command != NULL))
		return NULL;
	state->run->command = scan_rest(begin);
	state->run->is_reconnecting =
		strstr(state->run->command, " -C ") || strstr(state->run->command, " --connect");
	return begin + strcspn(begin, "\n");
}

static const char *take_version(struct pgbench_state *state, const char *begin)
{
	const char *at = scan_words(begin, "pgbench (");
	size_t length = at ? strcspn(at, "\n") : 0;

	if (!at || !isdigit((unsigned char)*at))
		return NULL;
	if (!pgbench_enter(state, PGBENCH_RANK_HEAD, state->run->version != NULL))
		return NULL;
	while (length && at[length - 1] != ')')
		length--;
	state->run->version = wp_xstrndup(at, length ? length - 1 : strcspn(at, "\n"));
	return at + length;
}

/* what 7.x and 8.x said about the connection, and words of 9.x to 18 */
static const char *take_head(struct pgbench_state *state, const char *begin)
{
	static const char *const words[] = { "pghost~:", "starting vacuum",
		"nclients~:", "nxacts~:", "dbName~:" };

	for (size_t i = 0; i < WP_COUNT(words); i++) {
		const char *at = scan_words(begin, words[i]);

		if (!at)
			continue;
		if (!pgbench_enter(state, PGBENCH_RANK_HEAD, (state->seen & (1u << i)) != 0))
			return NULL;
		state->seen |= 1u << i;
		return at;
	}
	return NULL;
}

/* Text up to the end of the line, or to where a next key is glued on. */
static char *text_value(const char *at)
{
	char *text;
	const char *glued;

	while (*at == ' ' || *at == '\n')
		at++;
	text = scan_rest(at);
	glued = scan_find(text, text + strlen(text),
		"scaling factor~:|query mode~:|number of clients~:|tps~=");
	if (glued)
		text[glued - text] = '\0';
	for (size_t length = strlen(text); length && text[length - 1] == ' '; length--)
		text[length - 1] = '\0';
	return text;
}

static const char *take_type(struct pgbench_state *state, const char *begin)
{
	const char *at = scan_words(begin, "transaction type~:");

	if (!at)
		return NULL;
	if (!pgbench_enter(state, PGBENCH_RANK_TYPE, state->run->type != NULL))
		return NULL;
	state->run->type = text_value(at);
	return at;
}

static const char *take_mode(struct pgbench_state *state, const char *begin)
{
	static const char *const modes[] = { "simple", "extended", "prepared" };
	const char *at = scan_words(begin, "query mode~:~");

	if (!at)
		return NULL;
	if (!pgbench_enter(state, PGBENCH_RANK_MODE, state->run->mode != NULL))
		return NULL;
	for (size_t i = 0; i < WP_COUNT(modes); i++)
		if (scan_words(at, modes[i]))
			state->run->mode = wp_xstrdup(modes[i]);
	return at;
}

static const char *take_done(struct pgbench_state *state, const char *begin)
{
	const char *at = scan_words(begin, "number of transactions actually processed~:~");
	struct pgbench_value *fields = state->run->fields;
	struct scan_number done;
	struct scan_number planned;

	if (!at)
		return NULL;
	if (!pgbench_enter(state, PGBENCH_RANK_DONE, is_set(state, PGBENCH_DONE)))
		return NULL;
	done = scan_number(at, "/", 0);
	if (done.state == SCAN_SURE) {
		planned = scan_number(done.end, NULL, 0);
		pgbench_put(&fields[PGBENCH_PLANNED], &planned);
	} else {
		done = scan_number(at, NULL, 0);
	}
	if (done.state == SCAN_NONE)
		done.state = SCAN_UNSURE;
	pgbench_put(&fields[PGBENCH_DONE], &done);
	return done.end;
}

static const char *take_late(struct pgbench_state *state, const char *begin)
{
	const char *at = scan_words(begin, "number of transactions above the ");
	struct scan_number limit;
	struct scan_number late;

	if (!at)
		return NULL;
	limit = scan_number(at, " ms latency limit~:~", 1);
	if (limit.state != SCAN_SURE)
		return NULL;
	late = scan_number(limit.end, "/|~(", 0);
	if (!pgbench_enter(state, PGBENCH_RANK_COUNTS, is_set(state, PGBENCH_LATE)))
		return NULL;
	pgbench_put(&state->run->fields[PGBENCH_LATE], &late);
	return late.end;
}

static const char *take_lag(struct pgbench_state *state, const char *begin)
{
	const char *at = scan_words(begin, "rate limit schedule lag~:~avg~");
	struct scan_number mean;
	struct scan_number most;

	if (!at)
		return NULL;
	if (!pgbench_enter(state, PGBENCH_RANK_LATENCY, is_set(state, PGBENCH_LAG_MS)))
		return NULL;
	mean = scan_number(at, "~(max~", 3);
	pgbench_put(&state->run->fields[PGBENCH_LAG_MS], &mean);
	if (mean.state != SCAN_SURE)
		return at;
	most = scan_number(mean.end, ")~ms", 3);
	pgbench_put(&state->run->fields[PGBENCH_LAG_MAX_MS], &most);
	return most.end;
}

static const char *take_tps(struct pgbench_state *state, const char *begin)
{
	const char *at = scan_words(begin, "tps~=~");
	struct scan_number number;
	enum pgbench_field field;
	const char *words;

	if (!at || (begin > state->text->text && isalpha((unsigned char)begin[-1])))
		return NULL;
	number = scan_number(at, "~(", 6);
	/* in prose it is no more than a mention */
	if (number.state == SCAN_NONE || (number.state == SCAN_UNSURE && !state->run->has_summary))
		return NULL;
	words = number.end;
	field = scan_words(words, "~inc") ? PGBENCH_TPS_INCLUDING : PGBENCH_TPS_EXCLUDING;
	if (number.state == SCAN_SURE && !scan_words(words, "~inc|~exc|~without"))
		return NULL;
	if (!pgbench_enter(
		    state, PGBENCH_RANK_TPS, number.state == SCAN_SURE && is_set(state, field)))
		return NULL;
	if (number.state == SCAN_UNSURE)
		return number.end;
	if (scan_words(words, "including reconn"))
		state->run->is_reconnecting = true;
	pgbench_put(&state->run->fields[field], &number);
	return number.end;
}

static const char *take_aborted(struct pgbench_state *state, const char *begin)
{
	const char *at = scan_words(begin, "Run was aborted");

	if (!at)
		return NULL;
	/* standard error may come before what it speaks of, or after it */
	if (!pgbench_enter(state,
		    state->run->has_summary ? PGBENCH_RANK_ABORTED : PGBENCH_RANK_PROGRESS,
		    state->run->is_aborted))
		return NULL;
	state->run->is_aborted = true;
	return at;
}

/* ---- a run ----------------------------------------------------------------------------------- */

static const char *take_any(struct pgbench_state *state, const char *at)
{
	static const char *(*const takers[])(struct pgbench_state *, const char *) = { take_command,
		take_version, take_head, take_type, take_mode, take_done, take_late, take_lag,
		take_tps, take_aborted, pgbench_take_progress, pgbench_take_script,
		pgbench_take_script_line, pgbench_take_statements };
	const char *end;

	if (!strchr("pstqnmdlirRaS-", *at) || *at == '\0')
		return NULL;
	for (size_t i = 0; i < WP_COUNT(takers); i++) {
		end = takers[i](state, at);
		if (end || state->is_over)
			return end;
	}
	/* single words must begin where they stand */
	if (*at == 'd' && at > state->text->text && isalpha((unsigned char)at[-1]))
		return NULL;
	for (size_t i = 0; i < WP_COUNT(keys); i++) {
		end = take_key(state, &keys[i], at);
		if (end || state->is_over)
			return end;
	}
	return NULL;
}

static bool is_elision(const char *line)
{
	line += strspn(line, " \t");
	return scan_words(line, "@@ -|...~\n|[...]|\xe2\x80\xa6|<snip|[snip|(snip|--snip") != NULL;
}

/* Messages of pgbench and the server, which may come between any two lines. */
static bool is_message(const char *line)
{
	line += strspn(line, " \t");
	return scan_words(line, "pgbench:|client |Client |ERROR:|DETAIL:|HINT:|WARNING:|NOTICE:|"
				"CONTEXT:|LOG:|FATAL:|QUERY:|STATEMENT:") != NULL;
}

/* A line begins: has the run ended before it? */
static bool ends_before(struct pgbench_state *state, const char *line, int *gap)
{
	int limit = state->rank >= PGBENCH_RANK_TYPE && state->rank < PGBENCH_RANK_TPS ? SUMMARY_GAP
										       : OTHER_GAP;

	if (!state->run->first || *line == '\0')
		return false;
	if (is_elision(line))
		return true;
	if (line[strspn(line, " \t")] == '\n' || is_message(line))
		return false;
	/* the line before this one began after the last words, and had none */
	if (*gap > 0 && state->rank >= PGBENCH_RANK_TYPE && state->rank < PGBENCH_RANK_TPS)
		state->run->has_gap = true;
	return ++*gap > limit;
}

/* "+tps = ..." of a diff whose head is lost: nobody knows whose it is. */
static bool is_of_diff(const char *text, const char *at)
{
	return (at == text || at[-1] == '\n') && (*at == '+' || *at == '-') &&
	       isalpha((unsigned char)at[1]);
}

const char *pgbench_parse(const struct scan_text *text, const char *at, struct pgbench_run *run)
{
	struct pgbench_state state = { .text = text, .run = run };
	int gap = 0;

	memset(run, 0, sizeof(*run));
	while (*at) {
		const char *end;

		if (is_of_diff(text->text, at)) {
			at += strcspn(at, "\n");
			continue;
		}
		end = take_any(&state, at);

		if (state.is_over)
			return at;
		if (end) {
			run->first = run->first ? run->first : at;
			run->last = end;
			gap = 0;
			at = end > at ? end : at + 1;
			continue;
		}
		if (*at++ == '\n' && ends_before(&state, at, &gap))
			return at;
	}
	return at;
}

bool pgbench_is_run(const struct pgbench_run *run)
{
	static const enum pgbench_field own[] = { PGBENCH_SCALE, PGBENCH_CLIENTS, PGBENCH_DONE,
		PGBENCH_TPS_INCLUDING, PGBENCH_TPS_EXCLUDING };

	if (!run->first)
		return false;
	for (size_t i = 0; i < WP_COUNT(own); i++)
		if (run->fields[own[i]].state != SCAN_NONE)
			return true;
	return run->type || run->progress_count ||
	       (run->is_aborted && (run->command || run->version));
}

void pgbench_run_release(struct pgbench_run *run)
{
	for (size_t i = 0; i < run->script_count; i++)
		free(run->scripts[i].name);
	for (size_t i = 0; i < run->statement_count; i++)
		free(run->statements[i].command);
	free(run->version);
	free(run->type);
	free(run->mode);
	free(run->command);
	free(run->scripts);
	free(run->statements);
	free(run->progress);
	memset(run, 0, sizeof(*run));
}

bool pgbench_starts(const char *line)
{
	static const char words[] =
		"progress~:~|transaction type~:|pgbench (|pghost~:|starting vacuum|tps~=|"
		"number of clients~:|Run was aborted|pgbench -|scaling factor~:|"
		"number of transactions actually|latency average~|query mode~:";

	return scan_find(line, line + strcspn(line, "\n"), words) != NULL;
}
