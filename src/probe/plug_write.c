/* SPDX-License-Identifier: PostgreSQL */
#include "plug_internal.h"
#include "walprobe/host.h"
#include "walprobe/mem.h"
#include "walprobe/registry.h"
#include "walprobe/stop.h"
#include "walprobe/target.h"

#include <math.h>

#define LOOK_NS (20 * WP_NS_PER_MS)
#define HANG_NS (2500 * WP_NS_PER_MS) /* a dead device may never answer; exit within 5 s */
#define END_NS (30 * WP_NS_PER_S)
#define FAREWELL_NS (2 * WP_NS_PER_S)
#define SPACE_MAXIMUM_BYTES (INT64_C(4) << 30)
#define COLD_MAXIMUM_BYTES (INT64_C(64) << 20)
#define LIVE_MINIMUM 4
/* Sequences of a new cycle begin so far above what was acknowledged that none is ever used twice. */
#define SEQ_GAP (UINT64_C(1) << 24)

static const struct wp_column columns[] = {
	{ "target", "target", "", WP_KIND_TEXT, "Where the records were written." },
	{ "run", "run", "", WP_KIND_TEXT, "Number of the run, for plug verify." },
	{ "cycle", "cycle", "", WP_KIND_INT, "Cycle of the run, from 1." },
	{ "method", "method", "", WP_KIND_TEXT, "wal_sync_method of the writers." },
	{ "workload", "workload", "", WP_KIND_TEXT, "How the writers' files come to be." },
	{ "writers", "writers", "", WP_KIND_INT, "Writers at once." },
	{ "acknowledged", "acknowledged", "", WP_KIND_INT,
		"Records that were written and synced without an error." },
	{ "records_per_s", "records/s", "1/s", WP_KIND_REAL,
		"Acknowledged records per second, of all writers together." },
	{ "p50_ns", "median", "ns", WP_KIND_INT, "Half of the records took at most so long." },
	{ "p99_ns", "p99", "ns", WP_KIND_INT, "99 % of the records took at most so long." },
	{ "max_ns", "max", "ns", WP_KIND_INT, "The record that took longest." },
	{ "blind_ns", "blind", "ns", WP_KIND_INT,
		"How long the writers paused because the witness did not answer." },
	{ "ended", "ended", "", WP_KIND_TEXT, "What ended the writing." },
};

int wp_plug_parse_workloads(const char *text, struct wp_plug_options *options, struct wp_err *err)
{
	char *copy = wp_xstrdup(strcmp(text, "all") == 0 ? "append,prealloc,recycle,create" : text);
	char *rest = copy;
	char *word;
	int rc = 0;

	options->workload_count = 0;
	while (!rc && (word = strsep(&rest, ",")) != NULL) {
		int found = -1;

		for (int i = 0; i < WP_WORKLOAD_COUNT; i++)
			if (strcmp(word, wp_workload_name((enum wp_workload)i)) == 0)
				found = i;
		if (found < 0 || options->workload_count == WP_WORKLOAD_COUNT) {
			rc = wp_fail(err, WP_E_USAGE, 0, "\"%s\" is no list of workloads", text);
			wp_err_hint(err, "Known are append, prealloc, recycle, create, each once, "
					 "and all.");
			break;
		}
		options->workloads[options->workload_count++] = (uint8_t)found;
	}
	free(copy);
	return rc;
}

/* What a measuring run would look at (a live pg_wal, space); nothing of it stays. */
static int check_target(struct plug *plug, int64_t *free_bytes, struct wp_err *err)
{
	const struct wp_os *os = plug->dir.os;
	const char *const words[] = { plug->options->path };
	const struct wp_target_options options = { .is_forced = plug->run->is_forced };
	struct wp_target_specs specs = { NULL, 0 };
	struct wp_target target = { 0 };
	struct statvfs space;
	uint64_t mark = wp_registry_mark(plug->run->registry);
	int rc = wp_targets_parse(words, 1, &specs, err);

	if (rc)
		return rc;
	rc = wp_target_open(os, plug->run->registry, &specs.items[0], &options, &target, err);
	if (!rc)
		rc = wp_registry_undo_since(plug->run->registry, mark, err);
	wp_target_release(&target);
	wp_targets_release(&specs);
	if (rc)
		return rc;
	rc = wp_os_statvfs(os, plug->options->path, &space);
	if (rc < 0)
		return wp_fail(err, WP_E_SYS, -rc, "could not look for space in \"%s\"",
			plug->options->path);
	*free_bytes = (int64_t)((uint64_t)space.f_bavail * space.f_frsize);
	return 0;
}

static int64_t space_of(const struct wp_plug_options *options, int64_t free_bytes)
{
	int64_t space = options->space_bytes ? options->space_bytes : free_bytes / 4;

	if (!options->space_bytes && space > SPACE_MAXIMUM_BYTES)
		space = SPACE_MAXIMUM_BYTES;
	return space;
}

/* Segments as large as wanted, or so much smaller that each writer can have a few. */
static int plan_space(struct plug *plug, int64_t free_bytes, struct wp_err *err)
{
	const struct wp_plug_options *options = plug->options;
	int64_t each_bytes = space_of(options, free_bytes) / options->writers;
	int64_t segment_bytes = options->segment_bytes;

	while (segment_bytes > 8 * options->page_bytes && each_bytes / segment_bytes < LIVE_MINIMUM)
		segment_bytes /= 2;
	segment_bytes -= segment_bytes % options->page_bytes;
	if (each_bytes / segment_bytes < LIVE_MINIMUM) {
		(void)wp_fail(err, WP_E_SYS, ENOSPC, "too little space in \"%s\"", options->path);
		wp_err_detail(err,
			"%" PRId64 " bytes are needed, %" PRId64 " may be used of %" PRId64
			" that are free.",
			LIVE_MINIMUM * segment_bytes * options->writers,
			space_of(options, free_bytes), free_bytes);
		wp_err_hint(err, "Use fewer --writers, or another place.");
		return -WP_E_NOSPACE;
	}
	plug->manifest.slots = (uint32_t)(segment_bytes / options->page_bytes);
	while (plug->manifest.batch > plug->manifest.slots)
		plug->manifest.batch /= 2;
	plug->manifest.slots -= plug->manifest.slots % plug->manifest.batch;
	return 0;
}

static void plan_live(struct plug *plug, int64_t free_bytes)
{
	int64_t segment_bytes = (int64_t)plug->manifest.slots * plug->manifest.page_bytes;
	int64_t live = space_of(plug->options, free_bytes) / plug->manifest.writers / segment_bytes;

	plug->live_maximum = live > PLUG_LIVE_MAXIMUM ? PLUG_LIVE_MAXIMUM
			     : live < LIVE_MINIMUM    ? LIVE_MINIMUM
						      : (size_t)live;
}

static void copy_host(struct plug *plug)
{
	struct wp_manifest *m = &plug->manifest;
	const struct plug_host *host = &plug->host;

	memcpy(m->machine, host->machine, sizeof(m->machine));
	memcpy(m->product, host->product, sizeof(m->product));
	memcpy(m->host, host->host, sizeof(m->host));
	memcpy(m->path, host->path, sizeof(m->path));
	memcpy(m->mount_point, host->mount_point, sizeof(m->mount_point));
	memcpy(m->fstype, host->fstype, sizeof(m->fstype));
	memcpy(m->stack, host->stack, sizeof(m->stack));
}

static int plan_new(struct plug *plug, int64_t free_bytes, struct wp_err *err)
{
	const struct wp_plug_options *options = plug->options;
	struct wp_manifest *m = &plug->manifest;
	int64_t cold_bytes = free_bytes / 20;

	wp_secret_fill(m->run, sizeof(m->run));
	m->page_bytes = (uint32_t)options->page_bytes;
	m->writers = (uint16_t)options->writers;
	m->batch = (uint16_t)options->batch;
	for (size_t i = 0; i < m->writers; i++)
		m->workloads[i] = options->workloads[i % options->workload_count];
	cold_bytes = cold_bytes < COLD_MAXIMUM_BYTES ? cold_bytes : COLD_MAXIMUM_BYTES;
	m->cold_slots = (uint32_t)(cold_bytes / options->page_bytes);
	(void)snprintf(m->method, sizeof(m->method), "%s", wp_method_name(options->method));
	copy_host(plug);
	wp_host_utc(m->started, sizeof(m->started));
	plug->start.cycle = 1;
	return plan_space(plug, free_bytes, err);
}

/* The next cycle of a run that the witness knows; everything but the directory is as it was. */
static int plan_again(struct plug *plug, struct wp_err *err)
{
	const struct wp_plug_options *options = plug->options;
	struct wp_testimony known = { 0 };
	const struct wp_ledger_run *run;
	int rc = wp_client_ask(plug->dir.os, &options->witness, options->run, "", "", &known, err);

	if (rc)
		return rc;
	run = known.ledger.count ? known.ledger.runs[0] : NULL;
	if (!run) {
		rc = wp_fail(err, WP_E_USAGE, 0, "the witness knows no such run");
	} else if (!wp_ledger_result(run, run->start.cycle)) {
		rc = wp_fail(err, WP_E_USAGE, 0, "the last cycle of that run was not judged yet");
		wp_err_hint(err, "Run \"walprobe plug verify\" first: writing on would remove what "
				 "it looks at.");
	} else {
		struct wp_method_set set;

		plug->manifest = run->manifest;
		rc = wp_method_parse_list(run->manifest.method, &set, err);
		plug->method = rc ? plug->method : set.items[0];
		plug->start.cycle = (uint16_t)(run->start.cycle + 1);
		for (size_t i = 0; i < run->manifest.writers; i++)
			plug->start.bases[i] = run->acked[i] + SEQ_GAP;
	}
	wp_testimony_release(&known);
	return rc;
}

static int plan(struct plug *plug, struct wp_err *err)
{
	int64_t free_bytes = 0;
	int rc = check_target(plug, &free_bytes, err);

	if (rc)
		return rc;
	plug_host_describe(plug->dir.os, plug->options->path, &plug->host);
	rc = plug->options->run ? plan_again(plug, err) : plan_new(plug, free_bytes, err);
	if (rc)
		return rc;
	plan_live(plug, free_bytes);
	wp_secret_fill(plug->start.instance, sizeof(plug->start.instance));
	memcpy(plug->start.boot_id, plug->host.boot_id, sizeof(plug->start.boot_id));
	plug->start.power_cycles = plug->host.power_cycles;
	plug->start.unsafe_shutdowns = plug->host.unsafe_shutdowns;
	plug->dir.page_bytes = plug->manifest.page_bytes;
	plug->dir.slots = plug->manifest.slots;
	plug->dir.run = wp_run_id_number(plug->manifest.run);
	plug->dir.cycle = plug->start.cycle;
	plug->dir.path = plug_dir_path(plug->host.path, plug->manifest.run);
	if (plug->options->witness.key) {
		uint8_t seed[WP_MAC_BYTES];

		wp_secret_derive(plug->options->witness.key, "walprobe payload", plug->manifest.run,
			WP_RUN_ID_BYTES, NULL, 0, seed);
		memcpy(plug->seed, seed, sizeof(plug->seed));
	}
	return 0;
}

static int make_directory(struct plug *plug, struct wp_err *err)
{
	const struct wp_os *os = plug->dir.os;
	int rc = wp_os_mkdir(os, plug->dir.path, 0700);
	int sys_errno = 0;
	char *owner;

	if (rc < 0)
		return wp_fail(
			err, WP_E_SYS, -rc, "could not create directory \"%s\"", plug->dir.path);
	owner = wp_marker_text(os, &sys_errno);
	if (!owner)
		return wp_fail(
			err, WP_E_SYS, sys_errno, "could not read about this process in /proc");
	rc = plug_file_write(&plug->dir, WP_MARKER_NAME, owner, err);
	free(owner);
	if (!rc)
		rc = plug_sync_dir(os, plug->host.path, err);
	return rc;
}

/* What earlier cycles wrote was judged; the cold area stays. */
static int clear_directory(struct plug *plug, struct wp_err *err)
{
	const struct wp_os *os = plug->dir.os;
	struct wp_names names = { NULL, 0 };
	int rc = wp_os_list(os, plug->dir.path, &names);

	if (rc < 0)
		return wp_fail(
			err, WP_E_SYS, -rc, "could not read directory \"%s\"", plug->dir.path);
	for (size_t i = 0; i < names.count && rc >= 0; i++) {
		char *path = wp_xasprintf("%s/%s", plug->dir.path, names.names[i]);

		if (strncmp(names.names[i], "wp.0", 4) == 0 ||
			strncmp(names.names[i], "wtemp.", 6) == 0 ||
			strcmp(names.names[i], PLUG_BLIND) == 0)
			rc = wp_os_unlink(os, path);
		if (rc < 0)
			rc = wp_fail(err, WP_E_SYS, -rc, "could not unlink \"%s\"", path);
		free(path);
	}
	wp_names_release(&names);
	return rc < 0 ? rc : plug_sync_dir(os, plug->dir.path, err);
}

static void say(struct plug *plug, const struct wp_put *put)
{
	if (plug->client)
		(void)wp_client_say(plug->client, put);
}

static int make_marker(struct plug *plug, struct wp_err *err)
{
	uint8_t bytes[64];
	struct wp_put put = { .bytes = bytes, .size = sizeof(bytes) };
	char id[2 * WP_RUN_ID_BYTES + 1];
	char *text = wp_xasprintf("run %s\n", wp_run_id_text(plug->manifest.run, id));
	int rc = plug_file_write(&plug->dir, PLUG_MARKER, text, err);

	free(text);
	if (rc)
		return rc;
	wp_entry_begin(&put, WP_ENTRY_MARKER, plug->manifest.run);
	say(plug, &put);
	return 0;
}

static int make_cold(struct plug *plug, struct wp_err *err)
{
	const struct wp_ledger_segment segment = { .writer = WP_WRITER_COLD,
		.segno = 1,
		.physical = 1,
		.generation = 1,
		.first_seq = 1,
		.slots = plug->manifest.cold_slots,
		.cycle = 1 };
	struct wp_payload *payload;
	uint8_t bytes[128];
	struct wp_put put = { .bytes = bytes, .size = sizeof(bytes) };
	int rc;

	if (!segment.slots)
		return 0;
	payload = wp_payload_new(plug->seed);
	rc = plug_cold_make(&plug->dir, payload, &plug->manifest, &segment, err);
	wp_payload_free(payload);
	if (rc)
		return rc;
	wp_entry_segment(&put, plug->manifest.run, &segment);
	say(plug, &put);
	return 0;
}

static void log_client(void *ctx, const char *kind, const char *text)
{
	/* Of the client's thread; a line of stderr is written as one. */
	struct plug *plug = ctx;

	wp_run_tell(plug->run, kind, "%s", text);
}

static void warn_same_host(struct plug *plug)
{
	const char *theirs = wp_client_witness_machine(plug->client);

	if (theirs[0] && strcmp(theirs, plug->host.machine) == 0)
		wp_run_tell(plug->run, "warning",
			"the witness runs on this machine: it must keep its power when the target "
			"loses it");
}

static int connect_witness(struct plug *plug, struct wp_err *err)
{
	const struct wp_client_options options = {
		.access = plug->options->witness,
		.manifest = &plug->manifest,
		.start = &plug->start,
		.log = log_client,
		.ctx = plug,
	};
	int rc;

	if (strcmp(plug->options->witness.where, "none") == 0)
		return 0;
	rc = wp_client_start(&plug->client, plug->dir.os, &options, err);
	if (!rc)
		warn_same_host(plug);
	return rc;
}

static int prepare_files(struct plug *plug, struct wp_err *err)
{
	bool is_new = plug->start.cycle == 1;
	int rc = is_new ? make_directory(plug, err) : clear_directory(plug, err);

	if (!rc && is_new)
		rc = make_marker(plug, err);
	if (!rc && is_new)
		rc = make_cold(plug, err);
	return rc;
}

/* Until something ends it. Returns what. */
static const char *wait_for_end(struct plug *plug, int64_t begin_ns)
{
	bool was_armed = false;

	for (;;) {
		int64_t spent_ns = wp_os_now_ns(plug->dir.os) - begin_ns;

		if (wp_stop_requested())
			return "signal";
		if (atomic_load(&plug->is_stopping))
			return "error";
		if (plug->options->duration_ns && spent_ns >= plug->options->duration_ns)
			return "duration";
		if (!was_armed && plug->client && wp_client_is_armed(plug->client)) {
			was_armed = true;
			wp_run_tell(plug->run, "note",
				"armed: every writer has been acknowledged; cut the power when you "
				"like");
		}
		if (plug->options->duration_ns && plug->run->progress)
			plug->run->progress(plug->run->ctx, plug->options->label, spent_ns,
				plug->options->duration_ns);
		(void)wp_os_sleep_ns(plug->dir.os, LOOK_NS);
	}
}

static void add_row(struct plug *plug, int64_t spent_ns, const char *ended)
{
	struct wp_table *table = wp_result_table(plug->run->result, "plug",
		"Records written for the power-cut test", columns, WP_COUNT(columns));
	struct wp_row *row = wp_table_add_row(table);
	char id[2 * WP_RUN_ID_BYTES + 1];
	char workloads[64] = "";
	struct wp_hist all;
	uint64_t total = 0;

	wp_hist_init(&all);
	for (uint16_t i = 0; i < plug->manifest.writers; i++) {
		const char *name = wp_workload_name((enum wp_workload)plug->manifest.workloads[i]);
		size_t used = strlen(workloads);

		total += atomic_load(&plug->writers[i].acked) - plug->writers[i].base;
		wp_hist_merge(&all, &plug->writers[i].latency);
		if (!strstr(workloads, name))
			(void)snprintf(workloads + used, sizeof(workloads) - used, "%s%s",
				used ? "," : "", name);
	}
	wp_row_text(row, "target", plug->options->label);
	wp_row_text(row, "run", wp_run_id_text(plug->manifest.run, id));
	wp_row_int(row, "cycle", plug->start.cycle);
	wp_row_text(row, "method", plug->manifest.method);
	wp_row_text(row, "workload", workloads);
	wp_row_int(row, "writers", plug->manifest.writers);
	wp_row_int(row, "acknowledged", (int64_t)total);
	wp_row_real(row, "records_per_s", (double)total * 1e9 / (double)spent_ns);
	if (all.count) {
		wp_row_int(row, "p50_ns", wp_hist_quantile_ns(&all, 0.5));
		wp_row_int(row, "max_ns", all.max_ns);
	}
	if (all.count >= 100)
		wp_row_int(row, "p99_ns", wp_hist_quantile_ns(&all, 0.99));
	else
		wp_row_absent(row, "p99_ns", "fewer than 100 samples");
	if (plug->client)
		wp_row_int(row, "blind_ns", wp_client_blind_ns(plug->client));
	else
		wp_row_absent(row, "blind_ns", "no witness");
	wp_row_text(row, "ended", ended);
	wp_hist_release(&all);
}

/* The last words: a failure is the candidate for a cut, a stop in good order voids the cycle. */
static bool take_leave(struct plug *plug, const struct wp_err *failure, bool is_whole)
{
	uint8_t bytes[64];
	struct wp_put put = { .bytes = bytes, .size = sizeof(bytes) };
	int64_t until_ns = wp_os_now_ns(plug->dir.os) + FAREWELL_NS;
	uint64_t ticket;
	bool is_told;

	if (!plug->client)
		return true;
	if (failure)
		wp_entry_failed(
			&put, plug->manifest.run, failure->sys_errno ? failure->sys_errno : EIO);
	else
		wp_entry_begin(&put, WP_ENTRY_STOPPED, plug->manifest.run);
	ticket = wp_client_say(plug->client, &put);
	while (!is_whole && !wp_client_is_durable(plug->client, ticket) &&
		wp_os_now_ns(plug->dir.os) < until_ns)
		(void)wp_os_sleep_ns(plug->dir.os, LOOK_NS);
	if (!is_whole) /* writers that hang may still come back to it */
		return wp_client_is_durable(plug->client, ticket);
	is_told = wp_client_end(plug->client, FAREWELL_NS);
	plug->client = NULL;
	return is_told;
}

static int write_cycle(struct plug *plug, struct wp_err *err)
{
	char id[2 * WP_RUN_ID_BYTES + 1];
	int64_t begin_ns = wp_os_now_ns(plug->dir.os);
	int rc = plug_writers_start(plug, err);
	const char *ended;
	int64_t spent_ns;
	bool has_failed;
	bool is_whole;

	wp_run_tell(plug->run, "note", "run %s, cycle %d, in \"%s\"",
		wp_run_id_text(plug->manifest.run, id), plug->start.cycle, plug->dir.path);
	ended = rc ? "error" : wait_for_end(plug, begin_ns);
	spent_ns = wp_os_now_ns(plug->dir.os) - begin_ns;
	has_failed = rc || plug_has_failed(plug, err);
	is_whole = plug_writers_stop(plug, has_failed ? HANG_NS : END_NS);
	has_failed = has_failed || plug_has_failed(plug, err);
	if (is_whole && !rc)
		add_row(plug, spent_ns, ended);
	if (!take_leave(plug, has_failed ? err : NULL, is_whole) && !has_failed)
		wp_run_tell(plug->run, "warning",
			"the witness was not told of the end: to it this will look like a cut");
	if (!is_whole && !has_failed)
		rc = wp_fail(err, WP_E_SYS, 0, "writers in \"%s\" do not end: the device hangs",
			plug->dir.path);
	if (has_failed)
		wp_err_hint(err, "If this was the power cut, run \"walprobe plug verify\" when the "
				 "power is back.");
	if (!is_whole)
		/* Threads that hang in the device still use all of it. */
		return has_failed ? -(int)err->code : rc;
	plug_writers_release(plug);
	if (has_failed)
		return -(int)err->code;
	return wp_stop_requested() ? -WP_E_STOPPED : 0;
}

int wp_plug_write(struct wp_run *run, const struct wp_plug_options *options, struct wp_err *err)
{
	/* Not on the stack: threads that hang in a dead device outlive this function. */
	struct plug *plug = wp_xcalloc(1, sizeof(*plug));
	int rc;

	plug->run = run;
	plug->options = options;
	plug->dir.os = run->os;
	plug->method = options->method;
	wp_mutex_init(&plug->mutex);
	rc = plan(plug, err);
	if (!rc)
		rc = connect_witness(plug, err);
	if (!rc) {
		rc = prepare_files(plug, err);
		if (rc)
			(void)take_leave(plug, err, true);
	}
	if (!rc)
		rc = write_cycle(plug, err);
	if (!plug->writers) {
		wp_mutex_release(&plug->mutex);
		free(plug->dir.path);
		free(plug);
	}
	return rc;
}
