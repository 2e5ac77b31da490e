/* SPDX-License-Identifier: PostgreSQL */
#include "plug_internal.h"
#include "plug_read.h"
#include "walprobe/mem.h"
#include "walprobe/registry.h"
#include "walprobe/stop.h"

#include <math.h>

#define CHUNK_BYTES ((size_t)256 << 10)

static const struct wp_column columns[] = {
	{ "target", "target", "", WP_KIND_TEXT, "Where the records were written." },
	{ "run", "run", "", WP_KIND_TEXT, "Number of the run." },
	{ "cycle", "cycle", "", WP_KIND_INT, "Cycle of the run that ended with this cut." },
	{ "verdict", "verdict", "", WP_KIND_TEXT, "lies, no loss, or cannot tell." },
	{ "kinds", "faults", "", WP_KIND_TEXT, "What became of acknowledged data." },
	{ "acknowledged", "acknowledged", "", WP_KIND_INT,
		"Records of this cycle that the witness knows to have been acknowledged." },
	{ "judged", "judged", "", WP_KIND_INT,
		"Acknowledged records whose fate is known; given-up segments are not looked at." },
	{ "lost", "lost", "", WP_KIND_INT,
		"Acknowledged records that are not there, for whatever reason." },
	{ "torn", "torn", "", WP_KIND_INT, "Acknowledged records of which a part is there." },
	{ "flipped", "flipped", "", WP_KIND_INT, "Acknowledged records with wrong bits in them." },
	{ "misdirected", "misdirected", "", WP_KIND_INT,
		"Acknowledged records that went elsewhere, or were overwritten by such ones." },
	{ "reordered", "reordered", "", WP_KIND_INT,
		"Lost records that were acknowledged before one that survived was issued." },
	{ "stale", "stale", "", WP_KIND_INT, "Lost records in whose place older content is." },
	{ "shortened", "shortened", "", WP_KIND_INT, "Lost records beyond the end of their file." },
	{ "missing_names", "missing names", "", WP_KIND_INT,
		"Files whose names had been synced, and are not there." },
	{ "unreadable", "unreadable", "", WP_KIND_INT,
		"Acknowledged records that could not be read in the time allowed." },
	{ "cold", "cold", "", WP_KIND_INT,
		"Damaged pages of the cold area, written in the first cycle." },
	{ "in_flight", "in flight", "", WP_KIND_INT,
		"Records that are there without having been acknowledged; never counted." },
	{ "last_10ms", "last 10 ms", "", WP_KIND_INT,
		"Records acknowledged in the last 10 ms before the cut." },
	{ "last_100ms", "last 100 ms", "", WP_KIND_INT,
		"Records acknowledged in the last 100 ms before the cut." },
	{ "last_1s", "last 1 s", "", WP_KIND_INT,
		"Records acknowledged in the last second before the cut." },
	{ "age_ns", "age of the loss", "ns", WP_KIND_INT,
		"How long before the last word the oldest lost or damaged record had been "
		"acknowledged, at least." },
	{ "cut", "cut", "", WP_KIND_TEXT, "What counts as a cut: boot, device, asserted." },
	{ "cuts", "cuts", "", WP_KIND_INT, "Effective cuts of this run without a loss." },
	{ "p_upper_95", "p at most", "", WP_KIND_REAL,
		"The chance of a loss per cut is at most this, at 95 % confidence." },
};

/* one verification */
struct verify {
	struct wp_run *run;
	const struct wp_plug_verify_options *options;
	struct plug_host host;
	struct wp_testimony known;
	struct wp_ledger_run *ledger_run; /* NULL: the witness knows none */
	char *dir;                        /* of the run; NULL: not known */
	uint8_t id[WP_RUN_ID_BYTES];
	bool has_id;
	struct plug_reader *reader;
	struct wp_classifier *classifier;
	struct wp_cut_facts facts;
	struct plug_seen *seen;
};

static bool is_run_name(const char *name, uint8_t id[WP_RUN_ID_BYTES])
{
	return strncmp(name, WP_PLUG_PREFIX, sizeof(WP_PLUG_PREFIX) - 1) == 0 &&
	       wp_run_id_parse(name + sizeof(WP_PLUG_PREFIX) - 1, id);
}

/* The run's own directory was given: the target is the one that holds it. */
static void split_path(const char *path, char *parent, size_t size, uint8_t *id, bool *has_id)
{
	size_t length;
	char *slash;

	(void)snprintf(parent, size, "%s", path);
	for (length = strlen(parent); length > 1 && parent[length - 1] == '/';)
		parent[--length] = '\0';
	slash = strrchr(parent, '/');
	*has_id = is_run_name(slash ? slash + 1 : parent, id);
	if (*has_id)
		(void)snprintf(slash ? (slash == parent ? slash + 1 : slash) : parent, 2, "%s",
			slash ? "" : ".");
}

/* Of the directories of runs that are there. */
static int find_on_disk(struct verify *v, const char *parent, struct wp_err *err)
{
	struct wp_names names = { NULL, 0 };
	int found = 0;
	int rc = wp_os_list(v->run->os, parent, &names);

	if (rc < 0)
		return 0; /* gone: the witness knows which run it was */
	for (size_t i = 0; i < names.count; i++) {
		uint8_t id[WP_RUN_ID_BYTES];

		if (!is_run_name(names.names[i], id))
			continue;
		memcpy(v->id, id, sizeof(id));
		found++;
	}
	wp_names_release(&names);
	v->has_id = found == 1;
	if (found < 2)
		return 0;
	(void)wp_fail(err, WP_E_USAGE, 0, "there are %d runs in \"%s\"", found, parent);
	wp_err_hint(err, "Say which one is meant: --run ID, the part of its directory's name after "
			 "\"" WP_PLUG_PREFIX "\".");
	return -WP_E_USAGE;
}

static int find_run(struct verify *v, struct wp_err *err)
{
	const struct wp_plug_verify_options *options = v->options;
	char parent[WP_WIRE_TEXT_BYTES];
	int rc = 0;

	split_path(options->path, parent, sizeof(parent), v->id, &v->has_id);
	if (options->run) {
		memcpy(v->id, options->run, sizeof(v->id));
		v->has_id = true;
	}
	if (!v->has_id)
		rc = find_on_disk(v, parent, err);
	if (rc)
		return rc;
	plug_host_describe(v->run->os, parent, &v->host);
	rc = wp_client_ask(v->run->os, &options->witness, v->has_id ? v->id : NULL, v->host.machine,
		v->host.path, &v->known, err);
	if (rc)
		return rc;
	if (v->known.ledger.count) {
		v->ledger_run = v->known.ledger.runs[0];
		memcpy(v->id, v->ledger_run->manifest.run, sizeof(v->id));
		v->has_id = true;
	}
	if (v->has_id)
		v->dir = plug_dir_path(v->host.path, v->id);
	return 0;
}

static bool has_file(const struct verify *v, const char *name)
{
	char *path = wp_xasprintf("%s/%s", v->dir, name);
	struct stat info;
	bool is_there = wp_os_lstat(v->run->os, path, &info) == 0;

	free(path);
	return is_there;
}

/* The marker names this run. */
static bool has_marker(const struct verify *v)
{
	char *path = wp_xasprintf("%s/" PLUG_MARKER, v->dir);
	char id[2 * WP_RUN_ID_BYTES + 1];
	int sys_errno;
	char *text = wp_os_read_text(v->run->os, path, 255, &sys_errno);
	bool is_right = text && strncmp(text, "run ", 4) == 0 &&
			strcmp(text + 4, wp_run_id_text(v->id, id)) == 0;

	free(text);
	free(path);
	return is_right;
}

static void gather_facts(struct verify *v)
{
	struct wp_cut_facts *facts = &v->facts;
	const struct wp_manifest *manifest = &v->ledger_run->manifest;
	struct stat info;

	facts->rule = v->options->cut;
	memcpy(facts->boot_id, v->host.boot_id, sizeof(facts->boot_id));
	facts->power_cycles = v->host.power_cycles;
	facts->unsafe_shutdowns = v->host.unsafe_shutdowns;
	facts->is_live = v->known.is_live;
	facts->has_directory = wp_os_stat(v->run->os, v->dir, &info) == 0;
	/* Device names change over a restart; where it was mounted, and as what, does not. */
	facts->is_mounted =
		facts->has_directory || (strcmp(v->host.mount_point, manifest->mount_point) == 0 &&
						strcmp(v->host.fstype, manifest->fstype) == 0);
	facts->has_marker = has_marker(v);
	facts->was_blind = has_file(v, PLUG_BLIND);
	facts->is_same_host = v->known.machine[0] &&
			      strcmp(v->known.machine, v->ledger_run->manifest.machine) == 0;
}

static void show_pages(
	struct verify *v, size_t index, uint32_t first, uint32_t count, int fd, int64_t size_bytes)
{
	uint32_t page_bytes = v->ledger_run->manifest.page_bytes;
	size_t chunk = CHUNK_BYTES / page_bytes;
	int64_t pages = (size_bytes + page_bytes - 1) / page_bytes;

	for (uint32_t slot = 0; slot < count && slot < pages && !wp_stop_requested();) {
		size_t wanted = count - slot < chunk ? count - slot : chunk;
		const uint8_t *bytes;
		const bool *unreadable;
		size_t got = plug_reader_read(v->reader, fd, (int64_t)slot * page_bytes,
			wanted * page_bytes, &bytes, &unreadable);

		/* A page of which the file holds a part is shown with zeros after it. */
		for (size_t i = 0; i * page_bytes < got; i++)
			wp_classify_page(v->classifier, index, first + slot + (uint32_t)i,
				bytes + i * page_bytes,
				unreadable + i * page_bytes / WP_SECTOR_BYTES);
		if (got < wanted * page_bytes)
			break;
		slot += (uint32_t)wanted;
	}
}

/* Every sector of what cannot even be opened is unreadable, which is not the same as missing. */
static void show_unreadable(struct verify *v, size_t index, uint32_t first, uint32_t count)
{
	static const uint8_t zeros[WP_RECORD_SECTORS_MAXIMUM * WP_SECTOR_BYTES] = { 0 };
	bool unreadable[WP_RECORD_SECTORS_MAXIMUM];

	memset(unreadable, 1, sizeof(unreadable));
	for (uint32_t slot = 0; slot < count; slot++)
		wp_classify_page(v->classifier, index, first + slot, zeros, unreadable);
}

/* False when the file is not there. */
static bool show_file(
	struct verify *v, size_t index, uint32_t first, uint32_t count, const char *path)
{
	int64_t size_bytes;
	int fd = plug_reader_open(v->reader, path, &size_bytes);

	if (fd == -ENOENT || fd == -ENOTDIR)
		return false;
	wp_classify_found(v->classifier, index, first);
	if (fd < 0) {
		show_unreadable(v, index, first, count);
		return true;
	}
	show_pages(v, index, first, count, fd, size_bytes);
	plug_reader_close(v->reader, fd);
	return true;
}

static void show_records(struct verify *v, size_t index)
{
	const struct wp_ledger_segment *segment = &v->ledger_run->segments[index];
	uint64_t acked = v->ledger_run->acked[segment->writer];
	int absent = 0;

	for (uint32_t slot = 0; slot < segment->slots && !wp_stop_requested(); slot++) {
		char *path = plug_record_path(v->dir, segment->writer, segment->segno, slot);
		bool is_there = show_file(v, index, slot, 1, path);

		free(path);
		absent = is_there || segment->first_seq + slot <= acked ? 0 : absent + 1;
		if (absent > v->ledger_run->manifest.batch)
			break;
	}
}

static void show_segment(struct verify *v, size_t index)
{
	const struct wp_ledger_segment *segment = &v->ledger_run->segments[index];
	const struct wp_manifest *manifest = &v->ledger_run->manifest;
	char *path;

	if (segment->writer != WP_WRITER_COLD &&
		manifest->workloads[segment->writer] == WP_WORKLOAD_CREATE) {
		show_records(v, index);
		return;
	}
	path = segment->writer == WP_WRITER_COLD
		       ? plug_cold_path(v->dir)
		       : plug_segment_path(v->dir, segment->writer, segment->segno);
	(void)show_file(v, index, 0, segment->slots, path);
	free(path);
}

static void look_at_disk(struct verify *v)
{
	for (size_t i = 0; i < v->ledger_run->segment_count && !wp_stop_requested(); i++) {
		show_segment(v, i);
		if (v->run->progress)
			v->run->progress(v->run->ctx, "reading", (int64_t)i,
				(int64_t)v->ledger_run->segment_count);
	}
}

static void set_known(struct wp_row *row, const char *key, int64_t value)
{
	if (value >= 0)
		wp_row_int(row, key, value);
	else
		wp_row_absent(row, key, "the witness does not know");
}

static void set_counts(struct wp_row *row, const struct wp_judgement *judgement)
{
	const struct wp_fault_counts *n = &judgement->counts;

	wp_row_int(row, "acknowledged", n->acknowledged);
	wp_row_int(row, "judged", n->judged);
	wp_row_int(row, "lost", n->lost);
	wp_row_int(row, "torn", n->torn);
	wp_row_int(row, "flipped", n->flipped);
	wp_row_int(row, "misdirected", n->misdirected);
	wp_row_int(row, "reordered", n->reordered);
	wp_row_int(row, "stale", n->stale);
	wp_row_int(row, "shortened", n->shortened);
	wp_row_int(row, "missing_names", n->missing_names);
	wp_row_int(row, "unreadable", n->unreadable);
	wp_row_int(row, "cold", n->cold);
	wp_row_int(row, "in_flight", n->in_flight);
	set_known(row, "last_10ms", judgement->exposures[0]);
	set_known(row, "last_100ms", judgement->exposures[1]);
	set_known(row, "last_1s", judgement->exposures[2]);
}

/* The verdict in a few words stands over the table, whatever is shown of the checks. */
static struct wp_row *add_row(struct verify *v, enum wp_survival verdict, const char *words)
{
	char id[2 * WP_RUN_ID_BYTES + 1];
	char title[160];
	struct wp_table *table;
	struct wp_row *row;

	(void)snprintf(title, sizeof(title), "What the power cut left: %s", words);
	table = wp_result_table(v->run->result, "verdict", title, columns, WP_COUNT(columns));
	row = wp_table_add_row(table);
	wp_row_text(row, "target", v->options->label);
	if (v->has_id)
		wp_row_text(row, "run", wp_run_id_text(v->id, id));
	else
		wp_row_absent(row, "run", "not known");
	wp_row_text(row, "verdict", wp_survival_name(verdict));
	wp_row_text(row, "cut", wp_cut_rule_name(v->options->cut));
	return row;
}

static void add_check(struct verify *v, const struct wp_judgement *judgement, const char *text)
{
	static const enum wp_check_status statuses[] = { WP_CHECK_UNKNOWN, WP_CHECK_PASS,
		WP_CHECK_FAIL };

	wp_result_add_check(v->run->result, "data-survived", v->options->label,
		statuses[judgement->verdict], "all that was acknowledged",
		wp_survival_name(judgement->verdict), text);
}

/* Nothing to judge, and no reason to pass. */
static void tell_nothing(struct verify *v, const char *reason)
{
	const struct wp_judgement judgement = { .verdict = WP_SURVIVAL_CANNOT_TELL };
	struct wp_row *row = add_row(v, WP_SURVIVAL_CANNOT_TELL, "CANNOT TELL");
	char *text = wp_xasprintf("CANNOT TELL: %s.", reason);

	for (size_t i = 0; i < WP_COUNT(columns); i++)
		if (columns[i].kind != WP_KIND_TEXT)
			wp_row_absent(row, columns[i].key, reason);
	add_check(v, &judgement, text);
	free(text);
}

/* A cut leaves the connection as it is; whoever was killed first has it closed by the system. */
static bool is_doubtful(const struct verify *v, const struct wp_judgement *j)
{
	return j->verdict == WP_SURVIVAL_NO_LOSS && v->ledger_run->was_closed &&
	       !v->ledger_run->failed_errno && v->options->cut != WP_CUT_ASSERTED;
}

static char *sentence(const struct verify *v, const struct wp_judgement *j)
{
	static const char *const words[] = { "CANNOT TELL", "NO LOSS", "LIES" };
	char exposure[160] = "";
	char first[160] = "";
	char age[120] = "";

	if (j->verdict == WP_SURVIVAL_LIES && j->first_lost)
		(void)snprintf(first, sizeof(first),
			" %" PRId64 " of %" PRId64
			" records are lost, of writer %u those from %" PRIu64 " to %" PRIu64 ".",
			j->counts.lost, j->counts.judged, j->first_writer, j->first_lost,
			j->last_lost);
	if (j->verdict == WP_SURVIVAL_LIES && j->age_ns > 0)
		(void)snprintf(age, sizeof(age),
			" The oldest of it had been acknowledged %.3g s before the last word from "
			"the writers, or longer.",
			(double)j->age_ns / 1e9);
	if (j->exposures[0] >= 0 && j->exposures[1] >= 0)
		(void)snprintf(exposure, sizeof(exposure),
			" Acknowledged in the last 10 ms: %" PRId64 ", 100 ms: %" PRId64
			", 1 s: %" PRId64 ".",
			j->exposures[0], j->exposures[1], j->exposures[2]);
	return wp_xasprintf("%s: %s.%s%s%s%s%s%s%s", words[j->verdict], j->reason, first, age,
		exposure,
		v->options->cut == WP_CUT_ASSERTED ? " That there was a cut is your own assertion."
						   : "",
		is_doubtful(v, j)
			? " The connection to the witness was closed, which takes a machine "
			  "that still runs: if the writers were killed before the power went, "
			  "this was no test."
			: "",
		v->facts.is_same_host ? " The witness ran on the same machine." : "",
		j->verdict == WP_SURVIVAL_LIES
			? " \"walprobe inspect\" shows which layer may be to blame."
			: "");
}

static const char *verdict_words(const struct wp_judgement *j, char *out, size_t size)
{
	if (j->verdict == WP_SURVIVAL_NO_LOSS && isnan(j->p_upper_95))
		(void)snprintf(out, size, "NO LOSS in this cut, but in an earlier one");
	else if (j->verdict == WP_SURVIVAL_NO_LOSS)
		(void)snprintf(out, size,
			"NO LOSS in %" PRId64 " effective cut%s, p <= %.3g %% at 95 %%", j->cuts,
			j->cuts == 1 ? "" : "s", 100 * j->p_upper_95);
	else
		(void)snprintf(out, size, "%s",
			j->verdict == WP_SURVIVAL_LIES ? "LIES, with proof" : "CANNOT TELL");
	return out;
}

static int tell_judgement(
	struct verify *v, const struct wp_judgement *judgement, struct wp_err *err)
{
	struct wp_cycle_result result = { .cycle = v->ledger_run->start.cycle,
		.verdict = (uint8_t)judgement->verdict,
		.cut = (uint8_t)v->options->cut,
		.counts = judgement->counts };
	char words[96];
	struct wp_row *row =
		add_row(v, judgement->verdict, verdict_words(judgement, words, sizeof(words)));
	char *text = sentence(v, judgement);
	uint8_t bytes[256];
	struct wp_put put = { .bytes = bytes, .size = sizeof(bytes) };

	wp_row_int(row, "cycle", v->ledger_run->start.cycle);
	set_counts(row, judgement);
	if (judgement->kinds[0])
		wp_row_text(row, "kinds", judgement->kinds);
	if (judgement->verdict == WP_SURVIVAL_NO_LOSS)
		wp_row_int(row, "cuts", judgement->cuts);
	else
		wp_row_absent(row, "cuts", judgement->reason);
	if (!isnan(judgement->p_upper_95))
		wp_row_real(row, "p_upper_95", judgement->p_upper_95);
	else
		wp_row_absent(row, "p_upper_95", judgement->reason);
	if (judgement->age_ns >= 0)
		wp_row_int(row, "age_ns", judgement->age_ns);
	else
		wp_row_absent(row, "age_ns", "nothing was lost, or it is not known");
	add_check(v, judgement, text);
	free(text);
	if (!v->ledger_run->start.cycle)
		return 0;
	wp_entry_result(&put, v->id, &result);
	return wp_client_tell(v->run->os, &v->options->witness, &put, err);
}

static int judge(struct verify *v, struct wp_err *err)
{
	uint8_t seed[WP_MAC_BYTES];
	struct wp_payload *payload;
	struct wp_judgement judgement;
	int rc;

	wp_secret_derive(
		v->options->witness.key, "walprobe payload", v->id, WP_RUN_ID_BYTES, NULL, 0, seed);
	payload = wp_payload_new(seed);
	v->classifier = wp_classify_new(v->ledger_run, payload);
	rc = plug_reader_new(&v->reader, v->run->os, CHUNK_BYTES, v->options->read_timeout_ns, err);
	if (!rc) {
		gather_facts(v);
		look_at_disk(v);
		rc = wp_stop_fail(err);
	}
	if (!rc) {
		v->facts.is_hung = plug_reader_is_hung(v->reader);
		wp_classify_judge(v->classifier, &v->facts, &judgement);
		v->seen->verdict = judgement.verdict;
		v->seen->has_directory = v->facts.has_directory;
		v->seen->cuts = judgement.cuts;
		rc = tell_judgement(v, &judgement, err);
	}
	plug_reader_free(v->reader);
	wp_classify_free(v->classifier);
	wp_payload_free(payload);
	return rc;
}

static int discard(struct verify *v, struct wp_err *err)
{
	int rc;

	if (!v->options->is_discarded || !v->dir || v->known.is_live)
		return 0;
	rc = wp_remove_tree(v->run->os, v->dir);
	if (rc < 0 && rc != -ENOENT)
		return wp_fail(err, WP_E_SYS, -rc, "could not remove \"%s\"", v->dir);
	return 0;
}

static const char *reason_for_nothing(const struct verify *v)
{
	if (v->known.is_live)
		return "its writers are still at work: cut the power first";
	return v->has_id ? "the witness knows nothing of this run"
			 : "there is no run here, and the witness knows none of this machine and "
			   "directory";
}

int plug_verify_look(struct wp_run *run, const struct wp_plug_verify_options *options,
	struct plug_seen *seen, struct wp_err *err)
{
	struct verify v = { .run = run, .options = options, .seen = seen };
	int rc = find_run(&v, err);

	memset(seen, 0, sizeof(*seen));
	run->is_strict = true;
	if (!rc && v.ledger_run && !v.known.is_live)
		rc = judge(&v, err);
	else if (!rc)
		tell_nothing(&v, reason_for_nothing(&v));
	if (!rc)
		rc = discard(&v, err);
	wp_testimony_release(&v.known);
	free(v.dir);
	return rc;
}

int wp_plug_verify(
	struct wp_run *run, const struct wp_plug_verify_options *options, struct wp_err *err)
{
	struct plug_seen seen;

	return plug_verify_look(run, options, &seen, err);
}
