/* SPDX-License-Identifier: PostgreSQL */
/*
 * Judgements on what was measured. A FLUSH that is counted proves that it was sent, not that the
 * device obeys; a FLUSH that is missing at a device with a volatile cache proves that acknowledged
 * data can be lost.
 */
#include "judge.h"

#define SENT_PER_OP 0.9
#define ZERO_PER_OP 0.1
#define STACK_LIMIT 256

/* the devices that were counted, by what they claim */
struct claims {
	int indexes[STACK_LIMIT];
	size_t count;
	size_t back;    /* write back */
	size_t through; /* write through */
	size_t fua;
};

static void read_claims(const struct wp_stack *stack, struct claims *out, const char **reason)
{
	memset(out, 0, sizeof(*out));
	out->count = wp_stack_counted(stack, out->indexes, reason);
	for (size_t i = 0; i < out->count; i++) {
		const struct wp_layer *layer = &stack->layers[out->indexes[i]];

		out->back += cache_is(layer->write_cache, "write back");
		out->through += cache_is(layer->write_cache, "write through");
		out->fua += layer->is_fua == 1;
	}
}

bool has_far_side(const struct wp_stack *stack, const char **what)
{
	for (size_t i = 0; i < stack->layer_count; i++)
		if (stack->layers[i].is_virtual) {
			*what = "the hypervisor, which may obey it or not";
			return true;
		}
	for (size_t i = 0; i < stack->layer_count; i++)
		if (stack->layers[i].backing_file) {
			*what = "the loop device's file, that is, the next file system";
			return true;
		}
	for (size_t i = 0; i < stack->layer_count; i++)
		if (strcmp(stack->layers[i].kind, "nbd") == 0 ||
			strcmp(stack->layers[i].kind, "rbd") == 0 ||
			strcmp(stack->layers[i].kind, "drbd") == 0) {
			*what = "a block device server, which may obey it or not";
			return true;
		}
	return false;
}

static void describe_samples(const struct wp_flush_report *report, char *out, size_t size)
{
	for (int workload = 0; workload <= WP_FLUSH_OVERWRITE_DIRECT; workload++) {
		bool is_first = true;

		for (size_t i = 0; i < report->sample_count; i++) {
			const struct wp_flush_sample *sample = &report->samples[i];

			if ((int)sample->workload != workload || sample->absent)
				continue;
			if (is_first)
				append_text(out, size, "%s%s", out[0] ? "; " : "",
					wp_flush_workload_name(sample->workload));
			append_text(out, size, "%s %s %.2f", is_first ? "" : ",",
				wp_method_name(sample->method), sample->flushes_per_op);
			is_first = false;
		}
	}
}

/* FUA writes may replace flushes only where every device takes them and the write itself is
 * synchronous: data written before an fdatasync needs a flush all the same. */
static bool may_use_fua(const struct claims *claims, const struct wp_flush_sample *sample)
{
	return claims->count > 0 && claims->fua == claims->count &&
	       sample->method == WP_METHOD_OPEN_DATASYNC;
}

static const struct wp_flush_sample *find_missing(
	const struct wp_flush_report *report, const struct claims *claims)
{
	for (size_t i = 0; i < report->sample_count; i++) {
		const struct wp_flush_sample *sample = &report->samples[i];

		if (!sample->absent && sample->is_conclusive &&
			sample->flushes_per_op < ZERO_PER_OP && !may_use_fua(claims, sample))
			return sample;
	}
	return NULL;
}

/* The first series that says too little, or whose figure is neither none nor one. */
static const struct wp_flush_sample *find_doubtful(
	const struct wp_flush_report *report, const struct claims *claims)
{
	for (size_t i = 0; i < report->sample_count; i++) {
		const struct wp_flush_sample *sample = &report->samples[i];

		if (sample->absent || (may_use_fua(claims, sample) && sample->is_conclusive))
			continue;
		if (!sample->is_conclusive || sample->flushes_per_op < SENT_PER_OP)
			return sample;
	}
	return NULL;
}

/* A disk with a volatile cache that stayed without a flush while others of the same array got
 * theirs. Paths of one disk and external logs are no such array. */
static const char *find_left_out(const struct wp_facts *facts)
{
	const struct wp_stack *stack = facts->stack;
	const struct wp_flush_sample *sample =
		wp_flush_report_find(facts->flush, WP_FLUSH_OVERWRITE, WP_METHOD_FDATASYNC);

	if (!sample || stack->top_count != 1 || facts->flush->device_count < 2)
		return NULL;
	for (size_t i = 0; i < stack->layer_count; i++)
		if (strcmp(stack->layers[i].kind, "path") == 0 ||
			strcmp(stack->layers[i].kind, "mpath") == 0)
			return NULL;
	for (size_t i = 0; i < facts->flush->device_count; i++) {
		const struct wp_layer *layer = &stack->layers[facts->flush->devices[i]];

		if (cache_is(layer->write_cache, "write back") &&
			(double)sample->device_flushes[i] <
				ZERO_PER_OP * (double)sample->operations)
			return layer->name;
	}
	return NULL;
}

/* Why flushes may be missing, as far as anything shows it. */
static void describe_cause(const struct wp_facts *facts, char *out, size_t size)
{
	char lossy[300];
	char why[200];

	out[0] = '\0';
	lossy_options(facts->stack, lossy, sizeof(lossy));
	if (lossy[0])
		append_text(out, size, "mounted with %s", lossy);
	for (size_t i = 0; i < facts->stack->layer_count; i++)
		if (wp_layer_drops_flushes(facts->stack, i, why, sizeof(why)))
			append_text(out, size, "%s%s", out[0] ? "; " : "", why);
	if (facts->preload)
		append_text(
			out, size, "%sLD_PRELOAD is \"%s\"", out[0] ? "; " : "", facts->preload);
	if (!out[0])
		append_text(out, size,
			"look for barrier=0 or nobarrier, an overlay mounted "
			"volatile, a library such as libeatmydata, a layer that "
			"drops flushes");
}

static void judge_missing(
	const struct wp_facts *facts, const char *method, struct wp_judgement *out)
{
	char cause[400];

	describe_cause(facts, cause, sizeof(cause));
	judge(out, WP_CHECK_FAIL,
		"%s returns without a flush reaching the device, whose cache is volatile: what was "
		"committed can be lost at a power failure; %s",
		method, cause);
}

/* No counting device claims a volatile cache, so the kernel rightly sends no flushes. */
static void judge_write_through(const struct wp_facts *facts, struct wp_judgement *out)
{
	char why[200];

	for (size_t i = 0; i < facts->stack->layer_count; i++)
		if (wp_layer_drops_flushes(facts->stack, i, why, sizeof(why))) {
			judge(out, WP_CHECK_FAIL,
				"no flush is sent although one is needed: %s; what was committed "
				"can be lost at a power failure",
				why);
			return;
		}
	judge(out, WP_CHECK_PASS,
		"no flush is needed if the device tells the truth: it claims to have no volatile "
		"cache (a drive with power-loss protection, its cache off, or a controller with a "
		"battery: see to that)");
}

static void judge_write_back(
	const struct wp_facts *facts, const struct claims *claims, struct wp_judgement *out)
{
	const struct wp_flush_sample *missing = find_missing(facts->flush, claims);
	const struct wp_flush_sample *doubtful = find_doubtful(facts->flush, claims);
	const char *left_out = find_left_out(facts);
	const char *far_side;

	if (missing && claims->back > 0) {
		judge_missing(facts, wp_method_name(missing->method), out);
	} else if (missing) {
		judge(out, WP_CHECK_UNKNOWN,
			"no flush was counted, but whether the device has a "
			"volatile cache cannot be seen");
	} else if (doubtful && !doubtful->is_conclusive) {
		judge(out, WP_CHECK_UNKNOWN,
			"other programs flush the same device %.1f times a second, too often to "
			"tell whose flushes were counted: measure again when it is quiet",
			facts->flush->background_flushes_per_s);
	} else if (doubtful) {
		judge(out, WP_CHECK_UNKNOWN,
			"only %.2f flushes were counted for each %s with %s: neither none nor one",
			doubtful->flushes_per_op, wp_flush_workload_name(doubtful->workload),
			wp_method_name(doubtful->method));
	} else if (left_out) {
		judge(out, WP_CHECK_UNKNOWN,
			"%s took no flush while other devices under the same file system did: see "
			"whether it is a spare or has failed",
			left_out);
	} else if (has_far_side(facts->stack, &far_side)) {
		judge(out, WP_CHECK_PASS, "every sync sends its flush; it goes to %s", far_side);
	} else {
		judge(out, WP_CHECK_PASS,
			"every sync sends its flush to the device; whether the "
			"device obeys only a power cut can show");
	}
}

void wp_judge_flush_sent(const struct wp_facts *facts, struct wp_judgement *out)
{
	const struct wp_stack *stack = facts->stack;
	const struct wp_flush_report *flush = facts->flush;
	struct claims claims;
	const char *reason;

	judge_expect(out, "at least one FLUSH (or FUA write) for each synchronous write where the "
			  "device has a volatile cache");
	read_claims(stack, &claims, &reason);
	if (reason)
		reason = stack->unseen ? stack->unseen : reason;
	else if (!flush)
		reason = facts->untried ? facts->untried : "nothing was written";
	else if (!flush->has_counters)
		reason = flush->unknown_reason;
	if (reason) {
		judge_observe(out, "%s", reason);
		judge(out, WP_CHECK_UNKNOWN, "whether flushes are sent cannot be seen here: %s",
			reason);
		return;
	}
	describe_samples(flush, out->observed, sizeof(out->observed));
	if (claims.through == claims.count)
		judge_write_through(facts, out);
	else
		judge_write_back(facts, &claims, out);
}

/* ---- rates ----------------------------------------------------------------------------------- */

#define RPM_HIGHEST 15000
#define ROTATION_SLACK 1.5
#define NO_DEVICE_NS 5000
#define QUICK_FLUSH_NS 50000

/* what the disks at the end of the stack are, as far as it can be believed */
struct disks {
	const char *rotating; /* name of the slowest that turns; NULL: none known */
	int rpm;              /* its speed */
	bool is_rpm_known;
	size_t solid;  /* bare disks that do not turn */
	size_t hidden; /* what stands behind them cannot be seen */
	bool is_back;  /* one of the solid ones has a volatile cache */
};

static void classify(const struct wp_stack *stack, struct disks *out)
{
	*out = (struct disks){ .rpm = RPM_HIGHEST };
	for (size_t i = 0; i < stack->layer_count; i++) {
		const struct wp_layer *layer = &stack->layers[i];

		if (!wp_stack_is_end(stack, i))
			continue;
		if (layer->is_virtual || !layer->is_leaf || layer->is_rotational < 0 ||
			(strcmp(layer->kind, "disk") != 0 && strcmp(layer->kind, "path") != 0)) {
			out->hidden++;
		} else if (layer->is_rotational == 1) {
			int rpm = layer->rotation_rpm ? layer->rotation_rpm : RPM_HIGHEST;

			if (!out->rotating || rpm < out->rpm) {
				out->rotating = layer->name;
				out->rpm = rpm;
				out->is_rpm_known = layer->rotation_rpm > 0;
			}
		} else {
			out->solid++;
			out->is_back = out->is_back || cache_is(layer->write_cache, "write back");
		}
	}
}

static void judge_rotation(
	const struct disks *disks, double per_s, int64_t writers, struct wp_judgement *out)
{
	double limit = (double)disks->rpm / 60;

	judge_expect(out, "at most %.0f synchronous writes/s for each writer on a disk of %s%d rpm",
		limit, disks->is_rpm_known ? "" : "at most ", disks->rpm);
	if (per_s / (double)writers > ROTATION_SLACK * limit)
		judge(out, WP_CHECK_INFO,
			"%.0f/s for each of %" PRId64 " writers is more than %s can write in its "
			"turns: either a non-volatile cache answers (see to its battery) or the "
			"disk's own cache does, and that is lost at a power failure",
			per_s / (double)writers, writers, disks->rotating);
	else
		judge(out, WP_CHECK_PASS, "within what the rotation of %s allows", disks->rotating);
}

void wp_judge_rate(const struct wp_stack *stack, double per_s, int64_t writers, int64_t p50_ns,
	bool is_flush_counted, struct wp_judgement *out)
{
	struct disks disks;

	classify(stack, &disks);
	judge_expect(out, "a rate that the disks below can reach");
	judge_observe(out, "%.0f synchronous writes/s, median %.1f us", per_s,
		(double)p50_ns / (double)WP_NS_PER_US);
	if (stack->layer_count == 0)
		judge(out, WP_CHECK_UNKNOWN, "there is no device to compare the rate with: %s",
			stack->unseen ? stack->unseen : "none can be seen");
	else if (p50_ns > 0 && p50_ns < NO_DEVICE_NS)
		judge(out, WP_CHECK_INFO,
			"half of the synchronous writes took less than 5 us: no device was "
			"reached, whatever the sync said");
	else if (disks.rotating)
		judge_rotation(&disks, per_s, writers, out);
	else if (disks.hidden > 0 || disks.solid == 0)
		judge(out, WP_CHECK_UNKNOWN,
			"what kind of disk stands at the end cannot be seen (virtual, loop or "
			"network device), so no rate can be ruled out");
	else if (disks.is_back && is_flush_counted && p50_ns > 0 && p50_ns < QUICK_FLUSH_NS)
		judge(out, WP_CHECK_INFO,
			"a flush in less than 50 us is quick for a drive with a volatile cache: "
			"power-loss protection, a RAID controller's cache, or a flush that is "
			"ignored; only a power cut can tell");
	else
		judge(out, WP_CHECK_PASS, "a rate that a solid-state drive can reach");
}

void wp_judge_rate_plausible(const struct wp_facts *facts, struct wp_judgement *out)
{
	const struct wp_flush_sample *sample =
		facts->flush ? wp_flush_report_find(
				       facts->flush, WP_FLUSH_OVERWRITE, WP_METHOD_FDATASYNC)
			     : NULL;

	if (!sample || sample->elapsed_ns <= 0) {
		judge_expect(out, "a rate that the disks below can reach");
		judge_observe(out, "not measured");
		judge(out, WP_CHECK_UNKNOWN, "no rate was measured: %s",
			facts->untried ? facts->untried : "nothing was written");
		return;
	}
	wp_judge_rate(facts->stack,
		(double)sample->operations * (double)WP_NS_PER_S / (double)sample->elapsed_ns, 1,
		sample->p50_ns, sample->flushes_per_op >= SENT_PER_OP, out);
}
