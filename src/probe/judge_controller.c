/* SPDX-License-Identifier: PostgreSQL */
/*
 * Judgement on RAID controllers. A volume keeps what was acknowledged when it writes through, or
 * writes back only while a good battery is there, and when the caches of its disks are off as well:
 * the battery protects the controller's memory, not theirs. Both what is done now and what is done
 * once the battery fails count. What was not said is unknown, never safe.
 */
#include "judge.h"

#include "walprobe/mem.h"

/* a volume with all that its controller says, from every output */
struct view {
	char name[160];
	enum wp_write_policy now;
	enum wp_write_policy standard;
	enum wp_answer is_back_without_battery;
	enum wp_disk_cache disk_cache;
	enum wp_backup backup;
	const char *backup_words;
	const char *cache_words;
	bool is_learning;
	bool is_whole;        /* volumes' output seen to its end */
	bool is_backup_whole; /* battery's */
};

static const char *policy_words(enum wp_write_policy policy)
{
	static const char *const words[] = { "not said", "write through", "write back",
		"always write back" };

	return words[policy];
}

static const char *disk_words(enum wp_disk_cache cache)
{
	static const char *const words[] = { "not said", "off", "the disk's default", "on" };

	return words[cache];
}

static const char *backup_words(const struct view *view)
{
	static const char *const words[] = { "not said", "good", "unclear", "charging or learning",
		"worn", "failed", "missing" };

	return words[view->backup];
}

static const char *backup_clause(const struct view *view)
{
	static const char *const words[] = { "is not known", "is good", "says something unknown",
		"charges or learns", "is worn", "has failed", "is missing" };

	return words[view->backup];
}

/* Outputs that do not say which controller they are of are taken to be of this one as well. */
static bool is_about(const struct wp_controller *controller, const struct wp_controller *other)
{
	return controller->family == other->family &&
	       (!controller->id || !other->id || strcmp(controller->id, other->id) == 0);
}

static void merge(const struct wp_cache_facts *facts, size_t index, struct view *view)
{
	const struct wp_controller *own = &facts->controllers[index];
	bool is_backup_cut = false;

	for (size_t i = 0; i < facts->controller_count; i++) {
		const struct wp_controller *at = &facts->controllers[i];

		if (!is_about(own, at))
			continue;
		if (at->backup > view->backup) {
			view->backup = at->backup;
			view->backup_words = at->backup_words;
		}
		if (at->cache_words)
			view->cache_words = at->cache_words;
		if (view->now == WP_POLICY_UNSAID)
			view->now = at->cache;
		if (at->is_back_without_battery > view->is_back_without_battery)
			view->is_back_without_battery = at->is_back_without_battery;
		if (at->disk_cache > view->disk_cache)
			view->disk_cache = at->disk_cache;
		view->is_learning = view->is_learning || at->is_learning == WP_YES;
		is_backup_cut = is_backup_cut || at->is_backup_whole == WP_NO;
		if (at->is_backup_whole == WP_YES)
			view->is_backup_whole = true;
	}
	view->is_backup_whole = view->is_backup_whole && !is_backup_cut && !facts->is_cut;
	view->is_whole = own->is_volumes_whole == WP_YES && !facts->is_cut;
}

static void view_volume(
	const struct wp_cache_facts *facts, const struct wp_volume *volume, struct view *view)
{
	const struct wp_controller *controller = &facts->controllers[volume->controller];

	memset(view, 0, sizeof(*view));
	append_text(view->name, sizeof(view->name), "%s%s%s%s%s",
		wp_raid_family_name(controller->family), volume->name ? " volume " : "",
		volume->name ? volume->name : "", volume->device ? ", " : "",
		volume->device ? volume->device : "");
	view->now = volume->current_policy;
	view->standard = volume->default_policy;
	view->is_back_without_battery = volume->is_back_without_battery;
	view->disk_cache = volume->disk_cache;
	if (view->standard == WP_POLICY_ALWAYS_BACK)
		view->is_back_without_battery = WP_YES;
	merge(facts, volume->controller, view);
}

static void view_controller(const struct wp_cache_facts *facts, size_t index, struct view *view)
{
	const struct wp_controller *controller = &facts->controllers[index];

	memset(view, 0, sizeof(*view));
	append_text(view->name, sizeof(view->name), "%s",
		controller->model ? controller->model : wp_raid_family_name(controller->family));
	merge(facts, index, view);
}

static void observe(const struct view *view, char *out, size_t size)
{
	append_text(out, size, "%s: ", view->name);
	if (view->standard != WP_POLICY_UNSAID)
		append_text(out, size, "default %s, ", policy_words(view->standard));
	append_text(out, size, "now %s", policy_words(view->now));
	if (view->cache_words)
		append_text(out, size, " (cache: %s)", view->cache_words);
	if (view->is_back_without_battery != WP_UNSAID)
		append_text(out, size, ", %s without a good battery",
			view->is_back_without_battery == WP_YES ? "write back also"
								: "no write back");
	append_text(out, size, "; battery or capacitor %s", backup_words(view));
	if (view->backup_words)
		append_text(out, size, " (%s)", view->backup_words);
	append_text(out, size, "; disk caches %s", disk_words(view->disk_cache));
}

static bool is_back(const struct view *view)
{
	return view->now == WP_POLICY_BACK || view->now == WP_POLICY_ALWAYS_BACK;
}

/* What makes acknowledged data depend on luck; false when nothing does. */
static bool find_fault(const struct view *view, struct wp_judgement *out)
{
	if (view->now == WP_POLICY_ALWAYS_BACK ||
		(is_back(view) && view->is_back_without_battery == WP_YES)) {
		judge(out, WP_CHECK_FAIL,
			"%s caches writes even without a good battery (battery now: %s): what was "
			"committed is lost at a power failure then; set it to write back only with "
			"a good battery",
			view->name, backup_words(view));
		return true;
	}
	if (is_back(view) && view->backup >= WP_BACKUP_WORN) {
		judge(out, WP_CHECK_FAIL,
			"%s caches writes although its battery or capacitor %s (%s): set it to "
			"write through until that is replaced, or committed transactions are lost "
			"at a power failure",
			view->name, backup_clause(view),
			view->backup_words ? view->backup_words : "no details");
		return true;
	}
	if (view->disk_cache == WP_DISK_CACHE_ON) {
		judge(out, WP_CHECK_FAIL,
			"%s: the write caches of the disks behind the controller are on, and its "
			"battery does not protect them: switch them off in the controller, unless "
			"every disk has power-loss protection",
			view->name);
		return true;
	}
	return false;
}

static const char *disks_hint(const struct view *view)
{
	return view->disk_cache == WP_DISK_CACHE_OFF
		       ? ""
		       : "; the caches of its disks are not known: ask them (hdparm -W or smartctl "
			 "-g wcache, with -d for disks behind the controller) before calling it "
			 "safe";
}

/* Write through where write back is wanted, or with a battery that is no good. */
static void judge_through(const struct view *view, struct wp_judgement *out)
{
	bool is_fallen = view->standard == WP_POLICY_BACK ||
			 view->standard == WP_POLICY_ALWAYS_BACK ||
			 (view->cache_words && strcasestr(view->cache_words, "Disabled"));
	bool is_known = view->disk_cache == WP_DISK_CACHE_OFF && view->is_whole &&
			view->is_back_without_battery != WP_YES;
	enum wp_check_status status = is_known ? WP_CHECK_PASS : WP_CHECK_UNKNOWN;

	if (view->is_back_without_battery == WP_YES)
		judge(out, WP_CHECK_UNKNOWN,
			"%s writes through now, but is set to cache writes even without a good "
			"battery: forbid that, or it starts again unnoticed%s",
			view->name, disks_hint(view));
	else if (view->is_learning || view->backup == WP_BACKUP_LEARNING)
		judge(out, status,
			"%s writes through while its battery charges or learns: slow, still safe "
			"in the controller, and over in hours; see that write back returns%s",
			view->name, disks_hint(view));
	else if (view->backup >= WP_BACKUP_WORN)
		judge(out, status,
			"%s writes through because its battery or capacitor %s: performance "
			"loss, still safe in the controller; replace the battery, let it learn, "
			"and "
			"see that write back returns; forcing write back meanwhile would give up "
			"safety at a power cut%s",
			view->name, backup_clause(view), disks_hint(view));
	else if (is_fallen)
		judge(out, status,
			"%s is set to write back but writes through: its battery is absent, bad, "
			"charging or in a learn cycle; performance loss, still safe in the "
			"controller%s",
			view->name, disks_hint(view));
	else
		judge(out, status, "%s writes through%s%s", view->name,
			is_known ? ", and its disks' caches are off" : "", disks_hint(view));
	if (status == WP_CHECK_UNKNOWN && view->disk_cache == WP_DISK_CACHE_OFF && !view->is_whole)
		append_text(out->text, sizeof(out->text),
			"; the output stops before its end, so what follows is not known");
}

static void judge_back(const struct view *view, struct wp_judgement *out)
{
	const char *missing = NULL;

	if (view->is_back_without_battery == WP_UNSAID)
		missing = "what it does when its battery fails is not shown";
	else if (view->backup == WP_BACKUP_UNSAID)
		missing = "the state of its battery is not shown";
	else if (view->backup == WP_BACKUP_LEARNING)
		missing = "its battery charges or learns just now: look again when that is over";
	else if (view->backup != WP_BACKUP_GOOD)
		missing = "its battery says something unknown";
	else if (!view->is_backup_whole || !view->is_whole)
		missing = "the output stops before its end";
	else if (view->disk_cache != WP_DISK_CACHE_OFF)
		missing = "its battery is good, but the caches of its disks are not known (ask "
			  "them: hdparm -W, smartctl -g wcache)";
	if (missing)
		judge(out, WP_CHECK_UNKNOWN, "%s caches writes, and %s", view->name, missing);
	else
		judge(out, WP_CHECK_PASS,
			"%s caches writes with a good battery, stops doing so without one, and the "
			"disks' own caches are off",
			view->name);
}

static void judge_view(const struct view *view, struct wp_judgement *out)
{
	memset(out, 0, sizeof(*out));
	observe(view, out->observed, sizeof(out->observed));
	if (find_fault(view, out))
		return;
	if (view->now == WP_POLICY_THROUGH) {
		judge_through(view, out);
	} else if (is_back(view)) {
		judge_back(view, out);
	} else {
		judge(out, WP_CHECK_UNKNOWN,
			"%s: whether it caches writes is not shown (battery: %s)%s", view->name,
			backup_words(view), disks_hint(view));
	}
}

/* Fail before unknown before pass. */
static int rank(enum wp_check_status status)
{
	return status == WP_CHECK_FAIL ? 2 : status == WP_CHECK_UNKNOWN ? 1 : 0;
}

static void take_worse(struct wp_judgement *worst, const struct wp_judgement *next, bool *is_first)
{
	if (*is_first || rank(next->status) > rank(worst->status)) {
		worst->status = next->status;
		(void)snprintf(worst->text, sizeof(worst->text), "%s", next->text);
		(void)snprintf(worst->observed, sizeof(worst->observed), "%s", next->observed);
	}
	*is_first = false;
}

static bool is_ours(const struct wp_facts *facts, const struct wp_volume *volume)
{
	for (size_t i = 0; i < facts->stack->layer_count; i++)
		if (wp_volume_is_layer(facts->cache, volume, &facts->stack->layers[i]))
			return true;
	return false;
}

static bool has_volume(const struct wp_cache_facts *facts, size_t controller)
{
	for (size_t i = 0; i < facts->volume_count; i++)
		if (is_about(&facts->controllers[controller],
			    &facts->controllers[facts->volumes[i].controller]))
			return true;
	return false;
}

/* A RAID volume under the place that no output speaks of. */
static const struct wp_layer *find_unjudged(const struct wp_facts *facts)
{
	for (size_t i = 0; i < facts->stack->layer_count; i++) {
		const struct wp_layer *layer = &facts->stack->layers[i];
		bool is_found = wp_raid_family_of(layer) == WP_RAID_NONE ||
				!wp_stack_is_end(facts->stack, i);

		for (size_t j = 0; facts->cache && j < facts->cache->volume_count && !is_found; j++)
			is_found =
				wp_volume_is_layer(facts->cache, &facts->cache->volumes[j], layer);
		if (!is_found)
			return layer;
	}
	return NULL;
}

static void judge_outputs(const struct wp_facts *facts, struct wp_judgement *out)
{
	const struct wp_cache_facts *cache = facts->cache;
	const struct wp_layer *unjudged = find_unjudged(facts);
	struct wp_judgement next;
	struct view view;
	bool is_first = true;
	size_t judged = 0;
	size_t ours = 0;

	for (size_t i = 0; i < cache->volume_count; i++)
		ours += is_ours(facts, &cache->volumes[i]);
	for (size_t i = 0; i < cache->volume_count; i++) {
		if (ours > 0 && !is_ours(facts, &cache->volumes[i]))
			continue;
		view_volume(cache, &cache->volumes[i], &view);
		/* A volume found by its name is not made worse by others that are cut off. */
		judge_view(&view, &next);
		take_worse(out, &next, &is_first);
		judged++;
	}
	for (size_t i = 0; ours == 0 && i < cache->controller_count; i++) {
		if (has_volume(cache, i))
			continue;
		view_controller(cache, i, &view);
		judge_view(&view, &next);
		take_worse(out, &next, &is_first);
	}
	if (out->status == WP_CHECK_PASS && judged > 1)
		append_text(out->text, sizeof(out->text), "; the other volumes (%zu) are no worse",
			judged - 1);
	if (ours > 0 && unjudged && out->status == WP_CHECK_PASS)
		judge(out, WP_CHECK_UNKNOWN, "no output speaks of %s, which is a RAID volume too",
			unjudged->name);
	else if (ours == 0 && facts->stack->layer_count > 0)
		append_text(out->text, sizeof(out->text),
			" (which volume lies under this place is not shown; the worst of %zu is "
			"told)",
			cache->volume_count > 0 ? cache->volume_count : (size_t)1);
}

/* No output was read: is there a controller at all? */
static void judge_without(const struct wp_facts *facts, struct wp_judgement *out)
{
	const struct wp_stack *stack = facts->stack;
	const struct wp_layer *volume = find_unjudged(facts);
	const char *far_side = NULL;

	if (volume) {
		judge_observe(out, "%s: %s", volume->name,
			volume->model ? volume->model
				      : wp_raid_family_name(wp_raid_family_of(volume)));
		if (facts->cache && facts->cache->unasked)
			judge(out, WP_CHECK_UNKNOWN, "%s", facts->cache->unasked);
		else
			judge(out, WP_CHECK_UNKNOWN,
				"%s is a volume of a %s controller: cache, battery and disk caches "
				"are known to its tool alone; give the tool's output with "
				"--controller-output",
				volume->name, wp_raid_family_name(wp_raid_family_of(volume)));
		return;
	}
	for (size_t i = 0; i < stack->layer_count; i++)
		if (stack->layers[i].is_virtual)
			far_side = stack->layers[i].name;
	if (stack->layer_count == 0 || stack->unseen_below || far_side) {
		const char *why = stack->layer_count == 0
					  ? (stack->unseen ? stack->unseen : "no disk is seen")
				  : far_side ? "the disk is a virtual one"
					     : stack->unseen_below;

		judge_observe(out, "%s", why);
		judge(out, WP_CHECK_UNKNOWN,
			"whether a controller stands before the disks cannot be seen from here "
			"(%s): ask on the host that has them",
			why);
		return;
	}
	judge_observe(out, "no RAID controller");
	judge(out, WP_CHECK_PASS, "no RAID controller stands between this place and its disks");
}

void wp_judge_controller(const struct wp_facts *facts, struct wp_judgement *out)
{
	if (facts->cache && facts->cache->controller_count > 0)
		judge_outputs(facts, out);
	else
		judge_without(facts, out);
	judge_expect(out,
		"write through, or write back with a good battery and not without one; the "
		"caches of the disks behind it off");
}
