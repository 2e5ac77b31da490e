/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/compare_stats.h"
#include "walprobe/units.h"

#include <math.h>

/* Two decimals where that is at most three digits, as in 0.71 and 1.18. */
static const char *format_ratio(double ratio, char *out, size_t size)
{
	if (ratio >= 0.095 && ratio < 9.995)
		(void)snprintf(out, size, "%.2f", ratio);
	else
		(void)wp_format_3(ratio, out, size);
	return out;
}

/* "1.12-1.24" */
static const char *format_interval(const struct wp_pair *pair, char *out, size_t size)
{
	char low[32];
	char high[32];

	(void)snprintf(out, size, "%s-%s", format_ratio(pair->low, low, sizeof(low)),
		format_ratio(pair->high, high, sizeof(high)));
	return out;
}

/* "about 34 more rounds", n x (half width / margin)^2; past a thousand the figure says nothing. */
static const char *more_rounds(const struct wp_pair *pair, double margin, char *out, size_t size)
{
	double half_width = (pair->high - pair->low) / 2;
	double needed = ceil((double)pair->rounds * pow(half_width / (margin - 1), 2) - 1e-9);

	if (needed > 1000)
		(void)snprintf(out, size, "more than 1000 more rounds");
	else
		(void)snprintf(out, size, "about %d more rounds", needed < 1 ? 1 : (int)needed);
	return out;
}

static void describe_claim(
	const struct wp_pair *pair, const char *a, const char *b, char *out, size_t size)
{
	char ratio[32];
	char interval[72];

	(void)format_ratio(pair->ratio, ratio, sizeof(ratio));
	(void)format_interval(pair, interval, sizeof(interval));
	if (pair->is_lower_better)
		(void)snprintf(out, size, "%s %sx (95%% CI %s, lower is better)",
			pair->metric ? pair->metric : "latency", ratio, interval);
	else
		(void)snprintf(out, size, "%s %s %sx as fast as %s (95%% CI %s, %zu rounds)", a,
			pair->verb ? pair->verb : "commits", ratio, b, interval, pair->rounds);
}

static void describe_no_difference(
	const struct wp_pair *pair, double margin, char *out, size_t size)
{
	char ratio[32];
	char interval[72];
	char percent[32];
	char holm[48] = "";
	char more[48];

	(void)snprintf(percent, sizeof(percent), "%.3g%%", (margin - 1) * 100);
	(void)format_ratio(pair->ratio, ratio, sizeof(ratio));
	(void)format_interval(pair, interval, sizeof(interval));
	/* The interval of one pair alone would claim a difference; all pairs together do not. */
	if (pair->low > 1 || pair->high < 1)
		(void)snprintf(holm, sizeof(holm), ", p %.3g after Holm", pair->p_holm);
	if (pair->verdict == WP_VERDICT_NO_PRACTICAL_DIFFERENCE)
		(void)snprintf(out, size,
			"no practical difference (ratio %s, 95%% CI %s, margin %s)", ratio,
			interval, percent);
	else
		(void)snprintf(out, size,
			"no difference shown (ratio %s, 95%% CI %s%s); %s would be needed for +-%s",
			ratio, interval, holm, more_rounds(pair, margin, more, sizeof(more)),
			percent);
}

static void describe_not_quiet(const struct wp_pair *twin, char *out, size_t size)
{
	char interval[72];

	if (!twin)
		(void)snprintf(out, size, "no verdict: this machine was not quiet");
	else if (twin->rounds < WP_ROUNDS_MINIMUM)
		(void)snprintf(out, size,
			"no verdict: this machine was not shown to be quiet (A/A has %zu of %d "
			"rounds)",
			twin->rounds, WP_ROUNDS_MINIMUM);
	else
		(void)snprintf(out, size, "no verdict: this machine was not quiet (A/A %s)",
			format_interval(twin, interval, sizeof(interval)));
}

const char *wp_verdict_sentence(const struct wp_pair *pair, const struct wp_pair *twin,
	double margin, const char *a, const char *b, char *out, size_t size)
{
	char ratio[32];

	switch (pair->verdict) {
	case WP_VERDICT_FASTER:
	case WP_VERDICT_SLOWER:
		describe_claim(pair, a, b, out, size);
		break;
	case WP_VERDICT_NO_PRACTICAL_DIFFERENCE:
	case WP_VERDICT_NO_DIFFERENCE_SHOWN:
		describe_no_difference(pair, margin, out, size);
		break;
	case WP_VERDICT_TOO_FEW_ROUNDS:
		(void)snprintf(out, size, "too few rounds for a verdict (%zu of %d)", pair->rounds,
			WP_ROUNDS_MINIMUM);
		break;
	case WP_VERDICT_NOT_QUIET:
		describe_not_quiet(twin, out, size);
		break;
	case WP_VERDICT_NO_INTERVAL:
		(void)snprintf(out, size,
			"ratio %s, published single runs: no interval can be given",
			format_ratio(pair->ratio, ratio, sizeof(ratio)));
		break;
	case WP_VERDICT_NOT_COMPARABLE:
		(void)snprintf(out, size, "%s", wp_verdict_name(pair->verdict));
		break;
	}
	return out;
}
