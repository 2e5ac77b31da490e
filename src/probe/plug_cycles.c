/* SPDX-License-Identifier: PostgreSQL */
#include "plug_internal.h"
#include "walprobe/stop.h"

#define PATIENCE_NS (300 * WP_NS_PER_S) /* a network may take its time after a start */
#define RETRY_NS (2 * WP_NS_PER_S)

/* What the witness knows of this machine and directory. */
static int ask(struct wp_run *run, const struct wp_plug_options *write, struct wp_testimony *known,
	struct wp_err *err)
{
	int64_t until_ns = wp_os_now_ns(run->os) + PATIENCE_NS;
	bool was_told = false;
	struct plug_host host;
	int rc;

	plug_host_describe(run->os, write->path, &host);
	for (;;) {
		rc = wp_client_ask(
			run->os, &write->witness, NULL, host.machine, host.path, known, err);
		if (rc != -WP_E_SYS || wp_os_now_ns(run->os) > until_ns)
			return rc;
		if (!was_told)
			wp_run_tell(run, "note", "waiting for the witness (%s)",
				err ? err->message : "");
		was_told = true;
		(void)wp_os_sleep_ns(run->os, RETRY_NS); /* a signal ends it early */
		rc = wp_stop_fail(err);
		if (rc)
			return rc;
	}
}

static int64_t cuts_so_far(const struct wp_ledger_run *known)
{
	int64_t cuts = 0;

	for (size_t i = 0; i < known->result_count; i++)
		cuts += known->results[i].verdict == WP_SURVIVAL_NO_LOSS &&
			known->results[i].cycle != known->start.cycle;
	return cuts;
}

/* *goes_on: the next cycle may begin. */
static int look_back(struct wp_run *run, const struct wp_ledger_run *known,
	const struct wp_plug_verify_options *verify, int64_t cycles, bool *goes_on,
	struct wp_err *err)
{
	static const char *const words[] = { "CANNOT TELL", "NO LOSS", "LIES" };
	struct wp_plug_verify_options options = *verify;
	struct plug_seen seen;
	int64_t cuts;
	int rc;

	options.run = known->manifest.run;
	rc = plug_verify_look(run, &options, &seen, err);
	if (rc)
		return rc;
	cuts = seen.cuts ? seen.cuts : cuts_so_far(known);
	wp_run_tell(run, "note",
		"cycle %d: %s; %" PRId64 " of %" PRId64 " effective cuts without a loss",
		known->start.cycle, words[seen.verdict], cuts, cycles);
	*goes_on = seen.verdict != WP_SURVIVAL_LIES && seen.has_directory && cuts < cycles;
	return 0;
}

int wp_plug_cycles(struct wp_run *run, const struct wp_plug_options *write,
	const struct wp_plug_verify_options *verify, int64_t cycles, struct wp_err *err)
{
	/* Not on the stack: threads that hang in a dead device outlive this function. */
	static struct wp_plug_options options;
	static uint8_t id[WP_RUN_ID_BYTES];
	struct wp_testimony known = { 0 };
	bool goes_on = true;
	int rc = ask(run, write, &known, err);

	options = *write;
	if (!rc && known.ledger.count && known.ledger.runs[0]->start.cycle) {
		memcpy(id, known.ledger.runs[0]->manifest.run, sizeof(id));
		options.run = id;
		rc = look_back(run, known.ledger.runs[0], verify, cycles, &goes_on, err);
	}
	wp_testimony_release(&known);
	if (rc || !goes_on)
		return rc;
	return wp_plug_write(run, &options, err);
}
