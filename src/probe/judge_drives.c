/* SPDX-License-Identifier: PostgreSQL */
/*
 * Judgement on drives that were asked themselves: hdparm, sdparm, smartctl, nvme, the kernel's log.
 * A volatile cache that is on is no fault as long as the kernel knows of it and the drive obeys
 * FLUSH; a kernel that was told otherwise is one.
 */
#include "judge.h"

/* all that was said about one drive */
struct votes {
	const char *device; /* NULL: unsaid */
	const struct wp_layer *layer;
	char on[120]; /* sources, "hdparm, smartctl" */
	char off[120];
	enum wp_answer kernel; /* does the kernel flush? */
	size_t sources;
	bool is_flush_failing;
	bool is_refused;
};

/* How much of a name tells drives apart: an NVMe cache is its controller's, "nvme0" of "nvme0n1". */
static size_t drive_length(const char *name)
{
	if (strncmp(name, "nvme", 4) != 0)
		return strlen(name);
	return 4 + strspn(name + 4, "0123456789");
}

static bool is_same(const char *a, const char *b)
{
	if (!a || !b)
		return a == b;
	return drive_length(a) == drive_length(b) && strncmp(a, b, drive_length(a)) == 0;
}

static const struct wp_layer *find_layer(const struct wp_stack *stack, const char *device)
{
	if (!device)
		return NULL;
	for (size_t i = 0; i < stack->layer_count; i++)
		if (wp_drive_is_layer(device, &stack->layers[i]))
			return &stack->layers[i];
	return NULL;
}

/* Statements about a RAID volume are its controller's, and judged there. */
static bool is_relevant(const struct wp_facts *facts, const struct wp_drive_statement *statement,
	bool is_any_matched)
{
	const struct wp_layer *layer = find_layer(facts->stack, statement->device);

	if (layer)
		return wp_raid_family_of(layer) == WP_RAID_NONE;
	return !is_any_matched && facts->cache->is_saved;
}

static void count_vote(struct votes *votes, const struct wp_drive_statement *statement)
{
	char *list = statement->is_cache_on == WP_YES ? votes->on : votes->off;

	votes->is_flush_failing = votes->is_flush_failing || statement->is_flush_failing;
	votes->is_refused = votes->is_refused || statement->is_refused;
	if (statement->is_cache_on == WP_UNSAID)
		return;
	if (statement->is_kernel_view) {
		votes->kernel = statement->is_cache_on;
		return;
	}
	append_text(list, sizeof(votes->on), "%s%s", list[0] ? ", " : "", statement->source);
	votes->sources++;
	/* The kernel takes its view from this report. */
	if (strcmp(statement->source, "cache_type") == 0 && votes->kernel == WP_UNSAID)
		votes->kernel = statement->is_cache_on;
}

static void collect(const struct wp_facts *facts, const char *device, struct votes *votes)
{
	const struct wp_cache_facts *cache = facts->cache;

	memset(votes, 0, sizeof(*votes));
	votes->device = device;
	votes->layer = find_layer(facts->stack, device);
	for (size_t i = 0; i < cache->statement_count; i++)
		if (is_same(cache->statements[i].device, device))
			count_vote(votes, &cache->statements[i]);
	if (votes->layer && votes->layer->write_cache)
		votes->kernel = cache_is(votes->layer->write_cache, "write back") ? WP_YES : WP_NO;
}

static void judge_on(const struct votes *votes, const char *name, struct wp_judgement *out)
{
	if (votes->is_flush_failing)
		judge(out, WP_CHECK_FAIL,
			"%s: its volatile cache is on (%s)%s and it fails the FLUSH CACHE command: "
			"no sync can be honoured here, replace the drive",
			name, votes->on, votes->is_refused ? ", cannot be switched off," : "");
	else if (votes->kernel == WP_NO)
		judge(out, WP_CHECK_FAIL,
			"%s: the drive's volatile cache is on (%s), but the kernel believes that "
			"it "
			"has none and sends no flushes; write \"write back\" into "
			"/sys/block/%s/queue/write_cache, or switch the drive's cache off",
			name, votes->on, votes->layer ? votes->layer->name : name);
	else if (votes->kernel == WP_YES)
		judge(out, WP_CHECK_PASS,
			"%s: a volatile cache is on (%s say%s so), and the kernel sends it flushes",
			name, votes->on, votes->sources == 1 ? "s" : "");
	else
		judge(out, WP_CHECK_INFO,
			"%s: a volatile cache is on (%s): safe only as long as flushes are sent",
			name, votes->on);
	if (votes->is_refused && out->status != WP_CHECK_FAIL)
		judge(out, WP_CHECK_INFO,
			"%s: it was told to switch its cache off, and the cache is still on (%s)",
			name, votes->on);
}

static void judge_votes(const struct votes *votes, struct wp_judgement *out)
{
	const char *name = votes->device ? votes->device : "the drive";
	/* a conflict is no excuse for a setting that is wrong by one of the two */
	bool is_conflict = votes->on[0] && votes->off[0];

	append_text(out->observed, sizeof(out->observed), "%s%s%s%s%s%s%s", name,
		votes->on[0] ? " cache on: " : "", votes->on, votes->off[0] ? " cache off: " : "",
		votes->off, votes->is_flush_failing ? ", FLUSH CACHE fails" : "",
		votes->kernel == WP_NO    ? ", kernel: write through"
		: votes->kernel == WP_YES ? ", kernel: write back"
					  : "");
	if (votes->on[0])
		judge_on(votes, name, out);
	if (is_conflict && out->status != WP_CHECK_FAIL)
		judge(out, WP_CHECK_INFO,
			"%s: the sources contradict each other, cache on says %s, off says %s; ask "
			"again, and set it once with hdparm -W or sdparm",
			name, votes->on, votes->off);
	else if (strcmp(votes->off, "kernel log") == 0 && !votes->on[0])
		judge(out, WP_CHECK_INFO,
			"%s presents itself without a volatile cache, so the kernel sends it no "
			"flushes; behind a RAID controller all rests on its battery and on the "
			"disks' caches being off",
			name);
	else if (votes->off[0] && !votes->on[0])
		judge(out, WP_CHECK_PASS, "%s has no volatile cache that is on (%s say%s so)", name,
			votes->off, votes->sources == 1 ? "s" : "");
	else if (!votes->on[0] && votes->is_flush_failing)
		judge(out, WP_CHECK_UNKNOWN,
			"%s fails the FLUSH CACHE command, and whether its cache is on is not "
			"shown",
			name);
	else if (!votes->on[0] && votes->kernel == WP_YES)
		judge(out, WP_CHECK_INFO,
			"%s: write back, a volatile cache: safe only as long as flushes are sent",
			name);
	else if (!votes->on[0])
		judge(out, WP_CHECK_INFO,
			"%s: write through: no volatile cache, if the kernel was not told so by "
			"hand",
			name);
}

static int rank(enum wp_check_status status)
{
	static const int ranks[] = { [WP_CHECK_PASS] = 0,
		[WP_CHECK_INFO] = 1,
		[WP_CHECK_UNKNOWN] = 2,
		[WP_CHECK_FAIL] = 3 };

	return ranks[status];
}

static bool is_first_about(const struct wp_cache_facts *cache, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (is_same(cache->statements[i].device, cache->statements[index].device))
			return false;
	return true;
}

static bool is_any_matched(const struct wp_facts *facts)
{
	for (size_t i = 0; i < facts->cache->statement_count; i++)
		if (find_layer(facts->stack, facts->cache->statements[i].device))
			return true;
	return false;
}

bool judge_drives(const struct wp_facts *facts, struct wp_judgement *out)
{
	bool is_matched = facts->cache && is_any_matched(facts);
	size_t judged = 0;

	for (size_t i = 0; facts->cache && i < facts->cache->statement_count; i++) {
		const struct wp_drive_statement *statement = &facts->cache->statements[i];
		struct wp_judgement next = { 0 };
		struct votes votes;

		if (!is_relevant(facts, statement, is_matched) || !is_first_about(facts->cache, i))
			continue;
		collect(facts, statement->device, &votes);
		judge_votes(&votes, &next);
		append_text(out->observed, sizeof(out->observed), "%s%s", judged ? "; " : "",
			next.observed);
		if (judged++ == 0 || rank(next.status) > rank(out->status)) {
			out->status = next.status;
			(void)snprintf(out->text, sizeof(out->text), "%s", next.text);
		} else if (next.status == out->status &&
			   strlen(out->text) + strlen(next.text) + 3 < sizeof(out->text)) {
			append_text(out->text, sizeof(out->text), "; %s", next.text);
		}
	}
	if (judged > 0 && !is_matched && facts->stack->layer_count > 0)
		append_text(out->text, sizeof(out->text),
			" (none of these drives is seen under this place)");
	return judged > 0;
}

bool is_drive_cache_off(const struct wp_facts *facts, const struct wp_layer *layer)
{
	const struct wp_cache_facts *cache = facts->cache;
	bool is_off = false;

	for (size_t i = 0; cache && i < cache->statement_count; i++) {
		const struct wp_drive_statement *statement = &cache->statements[i];

		if (!wp_drive_is_layer(statement->device, layer) || statement->is_kernel_view ||
			strcmp(statement->source, "kernel log") == 0)
			continue;
		if (statement->is_cache_on == WP_YES)
			return false;
		is_off = is_off || statement->is_cache_on == WP_NO;
	}
	return is_off;
}
