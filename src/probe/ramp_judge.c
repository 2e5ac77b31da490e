/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/ramp.h"
#include "walprobe/units.h"

#include <math.h>

#define KNEE_GAIN 1.05
#define KNEE_WIDTH 0.25 /* of an interval, as a share of the rate: above it a knee is chance */
#define BUSY_CLIENT 0.70
#define CONNECT_SHARE 0.20
#define SPREAD_LIMIT 0.20
#define SHORT_NS (2 * WP_NS_PER_S)

int64_t wp_ramp_knee(const struct wp_ramp_step *steps, size_t count)
{
	for (size_t i = 0; i + 1 < count; i++) {
		bool is_exceeded = !isfinite(steps[i].tps);

		for (size_t j = 0; j < count; j++)
			if (steps[j].clients > steps[i].clients &&
				steps[j].tps > steps[i].tps * KNEE_GAIN)
				is_exceeded = true;
		if (!is_exceeded)
			return (int64_t)i;
	}
	return -1;
}

/* "1, 2 and 8 clients" for the steps that one finding is about */
struct about {
	char text[200];
	size_t count;
};

static void mention(struct about *about, int64_t clients)
{
	size_t used = strlen(about->text);

	(void)snprintf(about->text + used, sizeof(about->text) - used, "%s%" PRId64,
		about->count ? ", " : "", clients);
	about->count++;
}

static void add(struct wp_result *result, const char *id, const char *target,
	const struct about *about, const char *expected, const char *text)
{
	char observed[256];

	if (!about->count)
		return;
	(void)snprintf(observed, sizeof(observed), "at %s client%s", about->text,
		about->count == 1 && strcmp(about->text, "1") == 0 ? "" : "s");
	wp_result_add_check(result, id, target, WP_CHECK_INFO, expected, observed, text);
}

static void judge_scale(struct wp_result *result, const char *target, int64_t scale,
	const struct wp_ramp_step *steps, size_t count)
{
	struct about about = { .count = 0 };
	char text[256];

	for (size_t i = 0; i < count; i++)
		if (steps[i].clients > scale)
			mention(&about, steps[i].clients);
	(void)snprintf(text, sizeof(text),
		"scale %" PRId64 " is below the number of clients: they wait for each other's rows "
		"and not for the log; make the tables with a scale of the largest step",
		scale);
	add(result, "ramp-scale", target, &about, "a scale of at least the clients", text);
}

static void judge_client(struct wp_result *result, const char *target,
	const struct wp_ramp_step *steps, size_t count)
{
	struct about about = { .count = 0 };

	for (size_t i = 0; i < count; i++)
		if (steps[i].client_cpu > BUSY_CLIENT)
			mention(&about, steps[i].clients);
	add(result, "ramp-client-cpu", target, &about, "client threads busy at most 70 % of a core",
		"walprobe's own threads were busy: the figures may show the client and not the "
		"server; use more threads (-j), another host or --pipeline");
}

static void judge_checkpoints(struct wp_result *result, const char *target,
	const struct wp_ramp_step *steps, size_t count)
{
	struct about about = { .count = 0 };

	for (size_t i = 0; i < count; i++)
		if (isfinite(steps[i].checkpoints) && steps[i].checkpoints > 0)
			mention(&about, steps[i].clients);
	add(result, "ramp-checkpoint", target, &about, "no checkpoint within a step",
		"a checkpoint ran within a step: its writes and the page images after it are in "
		"the figures; raise max_wal_size and checkpoint_timeout, or use shorter steps");
}

static void judge_connecting(struct wp_result *result, const char *target,
	const struct wp_ramp_step *steps, size_t count)
{
	struct about about = { .count = 0 };

	for (size_t i = 0; i < count; i++)
		if (steps[i].connect_ns > 0 &&
			(double)steps[i].connect_ns >
				CONNECT_SHARE * (double)(steps[i].elapsed_ns + steps[i].connect_ns))
			mention(&about, steps[i].clients);
	add(result, "ramp-connect", target, &about, "connecting takes little of a step",
		"connecting took more than a fifth of the step: tps including connections says "
		"little about the log; use longer steps (-t, -T)");
}

static void judge_starved(struct wp_result *result, const char *target,
	const struct wp_ramp_step *steps, size_t count)
{
	struct about about = { .count = 0 };

	for (size_t i = 0; i < count; i++)
		if (steps[i].idle_clients > 0)
			mention(&about, steps[i].clients);
	add(result, "ramp-starved", target, &about, "every client finishes transactions",
		"some clients did not finish a single transaction, so fewer than the step says "
		"did the work; look at locks, or use longer steps");
}

static void judge_length(struct wp_result *result, const char *target,
	const struct wp_ramp_step *steps, size_t count)
{
	struct about about = { .count = 0 };

	for (size_t i = 0; i < count; i++)
		if (isfinite(steps[i].spread) && steps[i].spread > SPREAD_LIMIT &&
			steps[i].elapsed_ns < SHORT_NS)
			mention(&about, steps[i].clients);
	add(result, "ramp-short", target, &about, "rounds within 20 % of each other",
		"rounds of less than 2 s differ by more than a fifth: the steps are too short for "
		"the spread seen; use longer ones (-t, -T) or more rounds");
}

static bool is_vague(const struct wp_ramp_step *step)
{
	return isfinite(step->tps_low) && isfinite(step->tps_high) &&
	       step->tps_high - step->tps_low > KNEE_WIDTH * step->tps;
}

static void judge_knee(struct wp_result *result, const char *target,
	const struct wp_ramp_step *steps, size_t count)
{
	int64_t knee = wp_ramp_knee(steps, count);
	char observed[96];
	char text[200];
	char rate[32];

	if (knee < 0 || is_vague(&steps[knee]))
		return;
	(void)snprintf(observed, sizeof(observed), "%s transactions/s at %" PRId64 " client%s",
		wp_format_3(steps[knee].tps, rate, sizeof(rate)), steps[knee].clients,
		steps[knee].clients == 1 ? "" : "s");
	(void)snprintf(text, sizeof(text),
		"beyond %" PRId64 " client%s more bring nothing (5 %% at most)",
		steps[knee].clients, steps[knee].clients == 1 ? "" : "s");
	wp_result_add_check(result, "ramp-knee", target, WP_CHECK_INFO, NULL, observed, text);
}

void wp_ramp_judge(struct wp_result *result, const char *target, int64_t scale, bool needs_scale,
	const struct wp_ramp_step *steps, size_t count)
{
	if (needs_scale)
		judge_scale(result, target, scale, steps, count);
	judge_client(result, target, steps, count);
	judge_checkpoints(result, target, steps, count);
	judge_connecting(result, target, steps, count);
	judge_starved(result, target, steps, count);
	judge_length(result, target, steps, count);
	judge_knee(result, target, steps, count);
}
