/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/ledger.h"
#include "walprobe/mem.h"
#include "witness/entry.h"

static bool refuse(const char **problem, const char *text)
{
	*problem = text;
	return false;
}

static void free_run(struct wp_ledger_run *run)
{
	free(run->acked);
	free(run->segments);
	free(run->results);
	for (size_t i = 0; i < run->mark_count; i++)
		free(run->marks[i]);
	free(run);
}

void wp_ledger_release(struct wp_ledger *ledger)
{
	for (size_t i = 0; i < ledger->count; i++)
		free_run(ledger->runs[i]);
	free(ledger->runs);
	memset(ledger, 0, sizeof(*ledger));
}

struct wp_ledger_run *wp_ledger_find(
	const struct wp_ledger *ledger, const uint8_t run[WP_RUN_ID_BYTES])
{
	for (size_t i = 0; i < ledger->count; i++)
		if (memcmp(ledger->runs[i]->manifest.run, run, WP_RUN_ID_BYTES) == 0)
			return ledger->runs[i];
	return NULL;
}

const struct wp_cycle_result *wp_ledger_result(const struct wp_ledger_run *run, uint16_t cycle)
{
	for (size_t i = 0; i < run->result_count; i++)
		if (run->results[i].cycle == cycle)
			return &run->results[i];
	return NULL;
}

struct wp_ledger_run *wp_ledger_newest(
	const struct wp_ledger *ledger, const char *machine, const char *path)
{
	struct wp_ledger_run *newest = NULL;

	for (size_t i = ledger->count; i > 0; i--) {
		struct wp_ledger_run *run = ledger->runs[i - 1];

		if (strcmp(run->manifest.machine, machine) != 0 ||
			strcmp(run->manifest.path, path) != 0)
			continue;
		if (!wp_ledger_result(run, run->start.cycle))
			return run;
		newest = newest ? newest : run;
	}
	return newest;
}

uint64_t wp_ledger_total(const struct wp_ledger_run *run)
{
	uint64_t total = 0;

	for (size_t i = 0; i < run->manifest.writers; i++)
		total += run->acked[i] - run->start.bases[i];
	return total;
}

static bool is_same_manifest(const struct wp_manifest *a, const struct wp_manifest *b)
{
	uint8_t one[WP_ENTRY_MAXIMUM];
	uint8_t other[WP_ENTRY_MAXIMUM];
	struct wp_put put_one = { .bytes = one, .size = sizeof(one) };
	struct wp_put put_other = { .bytes = other, .size = sizeof(other) };

	wp_entry_run(&put_one, a);
	wp_entry_run(&put_other, b);
	return put_one.used == put_other.used && memcmp(one, other, put_one.used) == 0;
}

static bool apply_run(struct wp_ledger *ledger, struct wp_ledger_run **run, const uint8_t *id,
	struct wp_get *get, const char **problem)
{
	struct wp_manifest manifest;
	struct wp_ledger_run *added;

	if (!wp_manifest_get(get, id, &manifest))
		return refuse(problem, "a malformed manifest");
	if (*run)
		return is_same_manifest(&(*run)->manifest, &manifest) ||
		       refuse(problem, "another manifest for a run that is known");
	if (ledger->count >= WP_RUNS_MAXIMUM)
		return refuse(problem, "too many runs");
	added = wp_xcalloc(1, sizeof(*added));
	added->manifest = manifest;
	added->acked = wp_xcalloc(manifest.writers, sizeof(*added->acked));
	for (size_t i = 0; i < WP_EXPOSURES; i++)
		added->exposures[i] = -1;
	ledger->runs =
		wp_xreallocarray((void *)ledger->runs, ledger->count + 1, sizeof(*ledger->runs));
	ledger->runs[ledger->count++] = added;
	*run = added;
	return true;
}

/* What was written in earlier cycles is gone from the target, apart from the cold area. */
static void keep_cold(struct wp_ledger_run *run)
{
	size_t kept = 0;

	for (size_t i = 0; i < run->segment_count; i++)
		if (run->segments[i].writer == WP_WRITER_COLD)
			run->segments[kept++] = run->segments[i];
	run->segment_count = kept;
}

static bool apply_cycle(struct wp_ledger_run *run, struct wp_get *get, const char **problem)
{
	struct wp_cycle_start start;

	if (!wp_cycle_get(get, run->manifest.writers, &start))
		return refuse(problem, "a malformed beginning of a cycle");
	if (start.cycle == run->start.cycle)
		return memcmp(start.instance, run->start.instance, sizeof(start.instance)) == 0 ||
		       refuse(problem, "a cycle that another process has begun");
	if (start.cycle < run->start.cycle)
		return refuse(problem, "a cycle that is over");
	run->start = start;
	keep_cold(run);
	for (size_t i = 0; i < run->manifest.writers; i++)
		run->acked[i] = start.bases[i];
	while (run->mark_count)
		free(run->marks[--run->mark_count]);
	run->is_stopped = false;
	run->is_cut = false;
	run->failed_errno = 0;
	for (size_t i = 0; i < WP_EXPOSURES; i++)
		run->exposures[i] = -1;
	return true;
}

static struct wp_ledger_segment *find_segment(
	struct wp_ledger_run *run, uint16_t writer, uint32_t segno)
{
	/* The newest are asked for most. */
	for (size_t i = run->segment_count; i > 0; i--)
		if (run->segments[i - 1].writer == writer && run->segments[i - 1].segno == segno)
			return &run->segments[i - 1];
	return NULL;
}

static bool apply_segment(struct wp_ledger_run *run, struct wp_get *get, const char **problem)
{
	struct wp_ledger_segment segment;

	if (!wp_segment_get(get, &segment) ||
		(segment.writer >= run->manifest.writers && segment.writer != WP_WRITER_COLD))
		return refuse(problem, "a malformed segment");
	if (find_segment(run, segment.writer, segment.segno))
		return true;
	if (run->segment_count >= WP_SEGMENTS_MAXIMUM)
		return refuse(problem, "too many segments");
	if (run->segment_count == run->segment_capacity) {
		run->segment_capacity = run->segment_capacity ? 2 * run->segment_capacity : 16;
		run->segments = wp_xreallocarray(
			run->segments, run->segment_capacity, sizeof(*run->segments));
	}
	run->segments[run->segment_count++] = segment;
	return true;
}

static bool apply_drop(struct wp_ledger_run *run, struct wp_get *get, const char **problem)
{
	uint16_t writer = (uint16_t)wp_get_number(get, 2);
	uint32_t segno = (uint32_t)wp_get_number(get, 4);
	struct wp_ledger_segment *segment;

	if (!wp_get_is_done(get))
		return refuse(problem, "a malformed end of a segment");
	segment = find_segment(run, writer, segno);
	if (segment)
		*segment = run->segments[--run->segment_count];
	return true;
}

static bool apply_acked(struct wp_ledger_run *run, struct wp_get *get, const char **problem)
{
	uint16_t count = (uint16_t)wp_get_number(get, 2);
	uint64_t acked[WP_WRITERS_MAXIMUM];
	int64_t exposures[WP_EXPOSURES];
	int64_t wall_ns;

	if (count != run->manifest.writers)
		return refuse(problem, "acknowledgements of another number of writers");
	for (size_t i = 0; i < count; i++)
		acked[i] = wp_get_number(get, 8);
	wp_exposures_get(get, exposures);
	wall_ns = (int64_t)wp_get_number(get, 8);
	if (!wp_get_is_done(get))
		return refuse(problem, "malformed acknowledgements");
	for (size_t i = 0; i < count; i++)
		if (acked[i] > run->acked[i])
			run->acked[i] = acked[i];
	if (wall_ns > 0) {
		run->heard_wall_ns = wall_ns;
		memcpy(run->exposures, exposures, sizeof(exposures));
		wp_ledger_mark(run, wall_ns);
	}
	run->is_cut = false;
	return true;
}

static bool apply_cut(struct wp_ledger_run *run, struct wp_get *get, const char **problem)
{
	int64_t exposures[WP_EXPOSURES];
	bool was_closed;

	wp_exposures_get(get, exposures);
	was_closed = wp_get_number(get, 1) != 0;
	if (!wp_get_is_done(get))
		return refuse(problem, "a malformed cut");
	memcpy(run->exposures, exposures, sizeof(exposures));
	run->is_cut = true;
	run->was_closed = was_closed;
	return true;
}

static bool apply_failed(struct wp_ledger_run *run, struct wp_get *get, const char **problem)
{
	int sys_errno = (int)wp_get_number(get, 4);

	if (!wp_get_is_done(get) || sys_errno <= 0)
		return refuse(problem, "a malformed failure");
	if (!run->failed_errno)
		run->failed_errno = sys_errno;
	return true;
}

static bool apply_result(struct wp_ledger_run *run, struct wp_get *get, const char **problem)
{
	struct wp_cycle_result result;

	if (!wp_result_get(get, &result) || !result.cycle || result.cycle > run->start.cycle)
		return refuse(problem, "a malformed result");
	for (size_t i = 0; i < run->result_count; i++)
		if (run->results[i].cycle == result.cycle) {
			/* Looked at again by a stricter rule, what was decided stays decided. */
			if (result.verdict != WP_SURVIVAL_CANNOT_TELL ||
				run->results[i].verdict == WP_SURVIVAL_CANNOT_TELL)
				run->results[i] = result;
			return true;
		}
	run->results = wp_xreallocarray(run->results, run->result_count + 1, sizeof(result));
	run->results[run->result_count++] = result;
	return true;
}

static bool set_flag(bool *flag, struct wp_get *get, const char **problem)
{
	if (!wp_get_is_done(get))
		return refuse(problem, "an entry that is too long");
	*flag = true;
	return true;
}

static bool apply_known(
	struct wp_ledger_run *run, uint64_t type, struct wp_get *get, const char **problem)
{
	if (!run->start.cycle && type != WP_ENTRY_CYCLE && type != WP_ENTRY_MARKER &&
		type != WP_ENTRY_DAMAGED)
		return refuse(problem, "an entry before the beginning of a cycle");
	switch (type) {
	case WP_ENTRY_MARKER:
		return set_flag(&run->has_marker, get, problem);
	case WP_ENTRY_CYCLE:
		return apply_cycle(run, get, problem);
	case WP_ENTRY_SEGMENT:
		return apply_segment(run, get, problem);
	case WP_ENTRY_DROP:
		return apply_drop(run, get, problem);
	case WP_ENTRY_ACKED:
		return apply_acked(run, get, problem);
	case WP_ENTRY_FAILED:
		return apply_failed(run, get, problem);
	case WP_ENTRY_STOPPED:
		return set_flag(&run->is_stopped, get, problem);
	case WP_ENTRY_CUT:
		return apply_cut(run, get, problem);
	case WP_ENTRY_RESULT:
		return apply_result(run, get, problem);
	case WP_ENTRY_DAMAGED:
		return set_flag(&run->is_damaged, get, problem);
	default:
		return refuse(problem, "an unknown entry");
	}
}

bool wp_ledger_apply(struct wp_ledger *ledger, const uint8_t *entry, size_t length,
	struct wp_ledger_run **run, const char **problem)
{
	struct wp_get get = { .bytes = entry, .size = length };
	uint64_t type = wp_get_number(&get, 1);
	uint8_t id[WP_RUN_ID_BYTES];
	struct wp_ledger_run *found;
	bool is_taken;

	wp_get_bytes(&get, id, sizeof(id));
	if (get.is_short)
		return refuse(problem, "a short entry");
	found = wp_ledger_find(ledger, id);
	if (type == WP_ENTRY_RUN)
		is_taken = apply_run(ledger, &found, id, &get, problem);
	else if (!found)
		is_taken = refuse(problem, "an entry of a run that is not known");
	else
		is_taken = apply_known(found, type, &get, problem);
	if (is_taken && run)
		*run = found;
	return is_taken;
}

/* one run on its way out */
struct writer {
	const struct wp_ledger_run *run;
	wp_entry_fn *write;
	void *ctx;
	uint8_t bytes[WP_ENTRY_MAXIMUM];
	struct wp_put put;
};

static void begin(struct writer *w)
{
	w->put = (struct wp_put){ .bytes = w->bytes, .size = sizeof(w->bytes) };
}

static int emit(struct writer *w)
{
	assert(!w->put.is_full);
	return w->write(w->ctx, w->bytes, w->put.used);
}

static int emit_flag(struct writer *w, bool is_set, enum wp_entry_type type)
{
	if (!is_set)
		return 0;
	begin(w);
	wp_entry_begin(&w->put, type, w->run->manifest.run);
	return emit(w);
}

static int emit_cycle(struct writer *w)
{
	const struct wp_ledger_run *run = w->run;
	const uint8_t *id = run->manifest.run;
	int rc;

	begin(w);
	wp_entry_cycle(&w->put, id, &run->start, run->manifest.writers);
	rc = emit(w);
	for (size_t i = 0; !rc && i < run->segment_count; i++) {
		begin(w);
		wp_entry_segment(&w->put, id, &run->segments[i]);
		rc = emit(w);
	}
	for (size_t i = 0; !rc && i < run->mark_count; i++) {
		begin(w);
		wp_entry_acked(&w->put, id, run->marks[i]->acked, run->manifest.writers,
			run->exposures, run->marks[i]->wall_ns);
		rc = emit(w);
	}
	if (rc)
		return rc;
	begin(w);
	wp_entry_acked(
		&w->put, id, run->acked, run->manifest.writers, run->exposures, run->heard_wall_ns);
	rc = emit(w);
	if (!rc && run->failed_errno) {
		begin(w);
		wp_entry_failed(&w->put, id, run->failed_errno);
		rc = emit(w);
	}
	if (!rc)
		rc = emit_flag(w, run->is_stopped, WP_ENTRY_STOPPED);
	if (!rc && run->is_cut) {
		begin(w);
		wp_entry_cut(&w->put, id, run->exposures, run->was_closed);
		rc = emit(w);
	}
	for (size_t i = 0; !rc && i < run->result_count; i++) {
		begin(w);
		wp_entry_result(&w->put, id, &run->results[i]);
		rc = emit(w);
	}
	return rc;
}

int wp_ledger_write(const struct wp_ledger_run *run, wp_entry_fn *write, void *ctx)
{
	struct writer w = { .run = run, .write = write, .ctx = ctx };
	int rc;

	begin(&w);
	wp_entry_run(&w.put, &run->manifest);
	rc = emit(&w);
	if (!rc)
		rc = emit_flag(&w, run->has_marker, WP_ENTRY_MARKER);
	if (!rc && run->start.cycle)
		rc = emit_cycle(&w);
	if (!rc)
		rc = emit_flag(&w, run->is_damaged, WP_ENTRY_DAMAGED);
	return rc;
}
