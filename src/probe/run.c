/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/mem.h"
#include "walprobe/run.h"

void wp_run_tell(struct wp_run *run, const char *kind, const char *format, ...)
{
	va_list args;
	char *text;

	if (!run->tell)
		return;
	va_start(args, format);
	text = wp_xvasprintf(format, args);
	va_end(args);
	run->tell(run->ctx, kind, text);
	free(text);
}

void wp_run_problem(struct wp_run *run, const struct wp_err *err)
{
	run->problem_count++;
	if (err->detail[0])
		wp_run_tell(run, "error", "%s (%s)", err->message, err->detail);
	else
		wp_run_tell(run, "error", "%s", err->message);
	if (err->hint[0])
		wp_run_tell(run, "hint", "%s", err->hint);
}
