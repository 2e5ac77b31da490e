/* SPDX-License-Identifier: PostgreSQL */
/* Progress lines, scripts and their statements. */
#include "import/pgbench_parse.h"
#include "walprobe/mem.h"

#include <ctype.h>

/* ---- progress -------------------------------------------------------------------------------- */

static const char *progress_words(const char *at, struct pgbench_progress *progress)
{
	static const struct {
		const char *before;
		const char *after;
		size_t offset;
		int decimals;
	} parts[] = {
		{ ",~lag~", "~ms", offsetof(struct pgbench_progress, lag_ms), 3 },
		{ ",~", "~skipped", offsetof(struct pgbench_progress, skipped), 0 },
		{ ",~", "~failed", offsetof(struct pgbench_progress, failed), 0 },
		{ ",~", "~retried", offsetof(struct pgbench_progress, retried), 0 },
		{ ",~", "~retries", offsetof(struct pgbench_progress, retries), 0 },
	};
	bool is_any = true;

	while (is_any) {
		is_any = false;
		for (size_t i = 0; i < WP_COUNT(parts); i++) {
			const char *from = scan_words(at, parts[i].before);
			struct scan_number number;

			if (!from)
				continue;
			number = scan_number(from, parts[i].after, parts[i].decimals);
			if (number.state != SCAN_SURE)
				continue;
			pgbench_put((struct pgbench_value *)(void *)((char *)progress +
								     parts[i].offset),
				&number);
			at = number.end;
			is_any = true;
		}
	}
	return at;
}

static const char *progress_latency(const char *at, struct pgbench_progress *progress)
{
	const char *from = scan_words(at, "~lat~");
	struct scan_number number;

	if (!from)
		return at;
	number = scan_number(from, "~ms", 3);
	if (number.state != SCAN_SURE)
		return at;
	pgbench_put(&progress->latency_ms, &number);
	at = number.end;
	from = scan_words(at, " stddev~");
	if (!from)
		return at;
	number = scan_number(from, NULL, 3);
	pgbench_put(&progress->stddev_ms, &number);
	return number.end;
}

const char *pgbench_take_progress(struct pgbench_state *state, const char *begin)
{
	const char *at = scan_words(begin, "progress~:~");
	struct pgbench_run *run = state->run;
	struct pgbench_progress progress = { .at_s = 0 };
	struct scan_number time;
	struct scan_number tps;
	bool is_back;

	if (!at)
		return NULL;
	time = scan_number(at, "~s,~", 1);
	if (time.state != SCAN_SURE)
		return NULL;
	tps = scan_number(time.end, "~tps,", 1);
	if (tps.state != SCAN_SURE)
		return NULL;
	is_back = run->progress_count && time.value <= run->progress[run->progress_count - 1].at_s;
	if (!pgbench_enter(state, PGBENCH_RANK_PROGRESS, is_back))
		return NULL;
	progress.at_s = time.value;
	progress.tps = tps.value;
	at = progress_words(progress_latency(tps.end, &progress), &progress);
	run->progress =
		wp_xreallocarray(run->progress, run->progress_count + 1, sizeof(*run->progress));
	run->progress[run->progress_count++] = progress;
	return at;
}

/* ---- scripts and statements ------------------------------------------------------------------ */

const char *pgbench_take_script(struct pgbench_state *state, const char *begin)
{
	const char *at = scan_words(begin, "SQL script ");
	struct pgbench_run *run = state->run;
	struct scan_number number;

	if (!at)
		return NULL;
	number = scan_number(at, "~:~", 0);
	if (number.state != SCAN_SURE)
		return NULL;
	/* the first one again is another run's */
	if (!pgbench_enter(
		    state, PGBENCH_RANK_SCRIPTS, number.integer <= (int64_t)run->script_count))
		return NULL;
	run->scripts = wp_xreallocarray(run->scripts, run->script_count + 1, sizeof(*run->scripts));
	memset(&run->scripts[run->script_count], 0, sizeof(*run->scripts));
	run->scripts[run->script_count++].name = scan_rest(number.end);
	return number.end;
}

const char *pgbench_take_script_line(struct pgbench_state *state, const char *begin)
{
	struct pgbench_script *script = pgbench_script_now(state);
	const char *weight = scan_words(begin, "- weight~:~");
	const char *at = weight ? weight : scan_words(begin, "- ");
	struct scan_number number;

	if (!script || !at || state->rank != PGBENCH_RANK_SCRIPTS)
		return NULL;
	number = scan_number(at, weight ? "~(targets" : " transactions~(", 0);
	if (number.state != SCAN_SURE)
		return NULL;
	pgbench_put(weight ? &script->weight : &script->done, &number);
	if (weight)
		return number.end;
	number = scan_number(number.end, "%~of total", 1);
	if (number.state != SCAN_SURE)
		return number.end;
	at = scan_words(number.end, ",~tps~=~");
	if (!at)
		return number.end;
	number = scan_number(at, ")", 6);
	pgbench_put(&script->tps, &number);
	return number.end;
}

/* "   0.252  BEGIN;" with one or two counts before the words. */
static const char *take_statement(struct pgbench_state *state, const char *begin, int counts)
{
	struct pgbench_run *run = state->run;
	struct pgbench_statement statement = { .failures = -1, .retries = -1 };
	const char *at = begin + strspn(begin, " \t");
	struct scan_number number = scan_number(at, " ", 3);
	const char *point = strchr(at, '.');

	if (number.state != SCAN_SURE || *at == '\n' || !point || point > number.end ||
		strspn(point + 1, "0123456789") != 3 || strcspn(at, "\n") < 7)
		return NULL;
	statement.mean_ms = number.value;
	for (int i = 0; i < counts; i++) {
		number = scan_number(number.end, " ", 0);
		if (number.state != SCAN_SURE)
			return NULL;
		*(i ? &statement.retries : &statement.failures) = number.integer;
	}
	statement.script = run->script_count ? run->script_count - 1 : SIZE_MAX;
	statement.command = scan_rest(number.end);
	run->statements = wp_xreallocarray(
		run->statements, run->statement_count + 1, sizeof(*run->statements));
	run->statements[run->statement_count++] = statement;
	return number.end + strcspn(number.end, "\n");
}

static bool is_continued(const char *line)
{
	return strcspn(line, "\n") > 0 && *line != '\n' && !strchr(" \t-$#=[", *line) &&
	       !pgbench_starts(line) && !scan_words(line, "SQL script |pgbench:");
}

/* A mailer has broken the command: its rest stands on the next line. */
static const char *take_continuation(
	struct pgbench_state *state, const char *line_begin, const char *at)
{
	struct pgbench_run *run = state->run;
	struct pgbench_statement *last = &run->statements[run->statement_count - 1];

	for (int i = 0; i < 3 && *at == '\n' && at - line_begin >= 50 && is_continued(at + 1);
		i++) {
		char *rest = scan_rest(at + 1);
		char *both = wp_xasprintf("%s %s", last->command, rest);

		free(rest);
		free(last->command);
		last->command = both;
		line_begin = at + 1;
		at = line_begin + strcspn(line_begin, "\n");
	}
	return at;
}

const char *pgbench_take_statements(struct pgbench_state *state, const char *begin)
{
	const char *at = scan_words(begin, "statement latencies in milliseconds");
	int counts = 0;

	if (!at)
		return NULL;
	if (!pgbench_enter(state, PGBENCH_RANK_SCRIPTS,
		    state->run->statement_count > 0 && state->run->script_count == 0))
		return NULL;
	if (scan_words(at, "~, failures and retries"))
		counts = 2;
	else if (scan_words(at, "~and failures"))
		counts = 1;
	at += strcspn(at, ":\n");
	if (*at == '\n') /* the heading itself is broken */
		at += 1 + strcspn(at + 1, ":\n");
	at += strcspn(at, "\n");
	while (*at == '\n') {
		const char *end = take_statement(state, at + 1, counts);

		if (!end)
			break;
		at = take_continuation(state, at + 1, end);
	}
	return at;
}
