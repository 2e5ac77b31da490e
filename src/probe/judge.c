/* SPDX-License-Identifier: PostgreSQL */
/* Judgements on what a place is made of: mounts, layers, what the file system can do. */
#include "judge.h"

#include "walprobe/mem.h"

const struct wp_judge wp_judges[] = {
	{ "flush-sent", wp_judge_flush_sent },
	{ "barriers", wp_judge_barriers },
	{ "write-cache", wp_judge_write_cache },
	{ "controller", wp_judge_controller },
	{ "rate-plausible", wp_judge_rate_plausible },
	{ "volatile", wp_judge_volatile },
	{ "links", wp_judge_links },
	{ "recycle-cow", wp_judge_recycle_cow },
	{ "direct-io", wp_judge_direct_io },
	{ NULL, NULL },
};

void judge(struct wp_judgement *out, enum wp_check_status status, const char *format, ...)
{
	va_list args;

	out->status = status;
	va_start(args, format);
	(void)vsnprintf(out->text, sizeof(out->text), format, args);
	va_end(args);
}

void judge_expect(struct wp_judgement *out, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(out->expected, sizeof(out->expected), format, args);
	va_end(args);
}

void judge_observe(struct wp_judgement *out, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(out->observed, sizeof(out->observed), format, args);
	va_end(args);
}

void append_text(char *buffer, size_t size, const char *format, ...)
{
	size_t used = strlen(buffer);
	va_list args;

	va_start(args, format);
	(void)vsnprintf(buffer + used, size - used, format, args);
	va_end(args);
}

bool cache_is(const char *cache, const char *words)
{
	return cache && strncmp(cache, words, strlen(words)) == 0;
}

static bool is_type(const struct wp_mount *mount, const char *fstype)
{
	return mount->fstype && strcmp(mount->fstype, fstype) == 0;
}

/* Name and value of every option that tells a file system not to flush its device. */
static const struct {
	const char *name;
	const char *value; /* NULL: a bare word */
} flush_droppers[] = {
	{ "nobarrier", NULL }, { "barrier", "0" }, { "barrier", "none" }, { "barrier", "off" },
	{ "fsync_mode", "nobarrier" }, /* f2fs */
	{ "volatile", NULL },          /* overlay */
	{ "fsync", "volatile" },       /* overlay, as the mount table shows it */
};

void lossy_options(const struct wp_stack *stack, char *out, size_t size)
{
	out[0] = '\0';
	for (size_t i = 0; i < stack->mount_count; i++)
		for (size_t j = 0; j < WP_COUNT(flush_droppers); j++) {
			const char *wanted = flush_droppers[j].value;
			char *value =
				wp_mount_option(stack->mounts[i].options, flush_droppers[j].name);

			if (value && strcmp(value, wanted ? wanted : "") == 0)
				append_text(out, size, "%s%s%s%s on %s", out[0] ? ", " : "",
					flush_droppers[j].name, wanted ? "=" : "",
					wanted ? wanted : "", stack->mounts[i].mount_point);
			free(value);
		}
}

/* Settings above the device that make syncs vanish, whatever the mount options say. */
static bool judge_evidence(
	const struct wp_facts *facts, const char *lossy, struct wp_judgement *out)
{
	if (facts->evidence && facts->evidence->dropped) {
		judge_observe(out, "%s%s%s", facts->evidence->dropped, lossy[0] ? "; " : "", lossy);
		judge(out, WP_CHECK_FAIL,
			"%s: committed transactions are lost at a power failure; undo that before "
			"any data matters",
			facts->evidence->dropped);
		return true;
	}
	if (facts->has_nfs && facts->flush && facts->nfs.writes == 0 && facts->nfs.commits <= 0) {
		judge_observe(out, "no WRITE and no COMMIT request during the measurement");
		judge(out, WP_CHECK_FAIL,
			"nothing was sent to the NFS server although files were synced: committed "
			"transactions are lost when this host fails");
		return true;
	}
	return false;
}

static void append_far_side(const struct wp_facts *facts, struct wp_judgement *out)
{
	if (facts->has_nfs)
		append_text(out->observed, sizeof(out->observed),
			"; NFS requests during the measurement: WRITE %" PRId64 ", COMMIT %" PRId64,
			facts->nfs.writes, facts->nfs.commits);
	if (facts->evidence && facts->evidence->source)
		append_text(out->text, sizeof(out->text), "; %s", facts->evidence->source);
}

void wp_judge_barriers(const struct wp_facts *facts, struct wp_judgement *out)
{
	const struct wp_stack *stack = facts->stack;
	char lossy[400];

	judge_expect(out,
		"no mount option that drops flushes (nobarrier, barrier=0, volatile), nothing "
		"above it that drops syncs");
	lossy_options(stack, lossy, sizeof(lossy));
	if (judge_evidence(facts, lossy, out))
		return;
	if (lossy[0]) {
		judge_observe(out, "%s", lossy);
		judge(out, WP_CHECK_FAIL,
			"%s: committed transactions can be lost and the file system damaged at a "
			"power failure; mount without it, unless every cache below is protected",
			lossy);
		return;
	}
	if (stack->unseen || stack->unseen_below) {
		const char *why = stack->unseen ? stack->unseen : stack->unseen_below;

		judge_observe(out, "%s", why);
		judge(out, WP_CHECK_UNKNOWN,
			"what lies below may drop flushes without showing it here: %s", why);
		append_far_side(facts, out);
		return;
	}
	judge_observe(out, "%s: %s", stack->fstype, stack->mount_options);
	judge(out, WP_CHECK_PASS, "no mount option on the way to the device drops flushes");
}

/* Something below says that it has a volatile cache. */
static bool is_back_below(const struct wp_stack *stack, size_t layer, int depth, const char **name)
{
	const struct wp_layer *above = &stack->layers[layer];

	/* The file of a loop device is another file system's business. */
	if (depth == 0 || above->backing_file)
		return false;
	for (size_t i = 0; i < above->below_count; i++) {
		size_t below = (size_t)above->below[i];

		if (cache_is(stack->layers[below].write_cache, "write back")) {
			*name = stack->layers[below].name;
			return true;
		}
		if (is_back_below(stack, below, depth - 1, name))
			return true;
	}
	return false;
}

bool wp_layer_drops_flushes(const struct wp_stack *stack, size_t layer, char *why, size_t why_size)
{
	const struct wp_layer *at = &stack->layers[layer];
	const char *below;

	if (!cache_is(at->write_cache, "write through"))
		return false;
	if (cache_is(at->device_cache, "write back")) {
		(void)snprintf(why, why_size,
			"%s: the device reports \"%s\", the kernel was set to \"write through\"",
			at->name, at->device_cache);
		return true;
	}
	if (is_back_below(stack, layer, 8, &below)) {
		(void)snprintf(why, why_size, "%s says \"write through\" above %s, \"write back\"",
			at->name, below);
		return true;
	}
	/* The driver starts every writable loop device as write back; the setting outlives the
	 * device that it was made for. */
	if (strcmp(at->kind, "loop") == 0 && !stack->is_read_only) {
		(void)snprintf(why, why_size,
			"%s is a loop device set to \"write through\": nothing is flushed into its "
			"file",
			at->name);
		return true;
	}
	return false;
}

static void describe_caches(const struct wp_stack *stack, char *out, size_t size)
{
	out[0] = '\0';
	for (size_t i = 0; i < stack->layer_count; i++) {
		const struct wp_layer *layer = &stack->layers[i];

		if (!layer->write_cache)
			continue;
		append_text(
			out, size, "%s%s %s", out[0] ? ", " : "", layer->name, layer->write_cache);
		if (layer->device_cache && strcmp(layer->device_cache, layer->write_cache) != 0)
			append_text(out, size, " (device: %s)", layer->device_cache);
	}
}

/* Disks whose "write through" nothing but the kernel's own setting vouches for. */
static const char *unconfirmed_through(const struct wp_facts *facts)
{
	const struct wp_stack *stack = facts->stack;

	for (size_t i = 0; i < stack->layer_count; i++) {
		const struct wp_layer *layer = &stack->layers[i];

		if (layer->is_leaf && !layer->backing_file && !layer->device_cache &&
			cache_is(layer->write_cache, "write through") &&
			!is_drive_cache_off(facts, layer))
			return layer->name;
	}
	return NULL;
}

void wp_judge_write_cache(const struct wp_facts *facts, struct wp_judgement *out)
{
	const struct wp_stack *stack = facts->stack;
	struct wp_judgement drives = { 0 };
	bool has_drives = judge_drives(facts, &drives);
	char why[200];
	const char *name;

	judge_expect(out, "queue/write_cache of each layer agrees with what the device reports");
	describe_caches(stack, out->observed, sizeof(out->observed));
	if (has_drives)
		append_text(out->observed, sizeof(out->observed), "%s%s",
			out->observed[0] ? "; " : "", drives.observed);
	if (!out->observed[0]) {
		judge_observe(out, "%s", stack->unseen ? stack->unseen : "no layer says");
		judge(out, WP_CHECK_UNKNOWN, "no write cache can be seen from here: %s",
			out->observed);
		return;
	}
	for (size_t i = 0; i < stack->layer_count; i++)
		if (wp_layer_drops_flushes(stack, i, why, sizeof(why))) {
			judge(out, WP_CHECK_FAIL,
				"%s; flushes are dropped: write \"write back\" into "
				"/sys/block/%s/queue/write_cache, or switch the device's own cache "
				"off",
				why, stack->layers[i].name);
			return;
		}
	name = unconfirmed_through(facts);
	if (has_drives && (drives.status == WP_CHECK_FAIL || !name)) {
		judge(out, drives.status, "%s", drives.text);
		return;
	}
	if (name) {
		judge(out, WP_CHECK_INFO,
			"%s claims to have no volatile cache and the kernel sends it no flushes; "
			"confirm with the device's own tool (nvme id-ctrl: vwc, sdparm, the RAID "
			"controller's)",
			name);
		return;
	}
	judge(out, WP_CHECK_PASS,
		"the kernel's view and the devices' reports do not contradict "
		"each other");
}

/* Memory on the way down: "tmpfs on /dev/shm", "zram0". */
static bool find_memory(const struct wp_stack *stack, char *out, size_t size)
{
	for (size_t i = 0; i < stack->mount_count; i++)
		if (is_type(&stack->mounts[i], "tmpfs") || is_type(&stack->mounts[i], "ramfs") ||
			is_type(&stack->mounts[i], "devtmpfs")) {
			(void)snprintf(out, size, "%s on %s", stack->mounts[i].fstype,
				stack->mounts[i].mount_point);
			return true;
		}
	for (size_t i = 0; i < stack->layer_count; i++)
		if (strcmp(stack->layers[i].kind, "zram") == 0 ||
			strcmp(stack->layers[i].kind, "ram") == 0) {
			(void)snprintf(out, size, "%s", stack->layers[i].name);
			return true;
		}
	return false;
}

void wp_judge_volatile(const struct wp_facts *facts, struct wp_judgement *out)
{
	char memory[200];

	judge_expect(out, "files are kept on something that outlives a power failure");
	if (find_memory(facts->stack, memory, sizeof(memory))) {
		judge_observe(out, "%s", memory);
		judge(out, WP_CHECK_INFO,
			"everything here is in memory (%s) and gone at the next boot: good for "
			"comparison, never for a database that matters",
			memory);
		return;
	}
	judge_observe(out, "%s on %s", facts->stack->fstype ? facts->stack->fstype : "unknown",
		facts->stack->source ? facts->stack->source : "unknown");
	judge(out, WP_CHECK_PASS, "not a memory file system");
}

void wp_judge_links(const struct wp_facts *facts, struct wp_judgement *out)
{
	int result = facts->link_result;

	judge_expect(out, "link() works");
	if (result == WP_NOT_TRIED) {
		judge_observe(out, "not tried");
		judge(out, WP_CHECK_UNKNOWN, "hard links were not tried: %s",
			facts->untried ? facts->untried : "nothing was written");
		return;
	}
	if (result == 0) {
		judge_observe(out, "works");
		judge(out, WP_CHECK_PASS,
			"hard links work: PostgreSQL before 15 recycled WAL segments through them, "
			"pg_upgrade --link and backup tools still use them");
		return;
	}
	judge_observe(out, "%s", wp_errno_name(-result));
	judge(out, WP_CHECK_INFO,
		"no hard links here (%s): WAL segments are recycled by renaming all the same, but "
		"pg_upgrade --link and some backup tools will not work",
		wp_errno_name(-result));
}

void wp_judge_recycle_cow(const struct wp_facts *facts, struct wp_judgement *out)
{
	static const char *const types[] = { "btrfs", "zfs", "bcachefs" };
	const struct wp_mount *cow = NULL;
	char memory[200];

	judge_expect(out, "a recycled WAL segment is overwritten in place");
	for (size_t i = 0; i < facts->stack->mount_count; i++)
		for (size_t j = 0; j < WP_COUNT(types); j++)
			if (!cow && is_type(&facts->stack->mounts[i], types[j]))
				cow = &facts->stack->mounts[i];
	if (!cow && facts->stack->unseen && !find_memory(facts->stack, memory, sizeof(memory))) {
		judge_observe(out, "%s", facts->stack->unseen);
		judge(out, WP_CHECK_UNKNOWN,
			"whether blocks are overwritten in place is decided where it cannot be "
			"seen: %s",
			facts->stack->unseen);
		return;
	}
	if (!cow) {
		judge_observe(out, "%s", facts->stack->fstype ? facts->stack->fstype : "unknown");
		judge(out, WP_CHECK_PASS,
			"the file system overwrites in place: wal_recycle and "
			"wal_init_zero may stay on");
		return;
	}
	if (facts->is_no_cow == 1 && is_type(cow, "btrfs")) {
		judge_observe(out, "btrfs, new files are nodatacow");
		judge(out, WP_CHECK_PASS,
			"copy on write is off for new files here (nodatacow), "
			"which also takes their checksums off");
		return;
	}
	judge_observe(out, "%s copies on write", cow->fstype);
	judge(out, WP_CHECK_INFO,
		"%s writes every block to a new place, so recycling and zero-filling segments only "
		"costs: set wal_recycle = off and wal_init_zero = off",
		cow->fstype);
}

static void judge_direct_works(const struct wp_facts *facts, struct wp_judgement *out)
{
	char memory[200];

	judge_observe(out, "works, aligned to %" PRId64 " bytes", facts->direct_alignment_bytes);
	if (find_memory(facts->stack, memory, sizeof(memory)))
		judge(out, WP_CHECK_INFO,
			"O_DIRECT is accepted, but there is no disk under it (%s)", memory);
	else
		judge(out, WP_CHECK_PASS,
			"O_DIRECT works here; without O_DSYNC or a sync it is "
			"still not durable");
}

void wp_judge_direct_io(const struct wp_facts *facts, struct wp_judgement *out)
{
	int opened = facts->direct_open_result;
	int written = facts->direct_write_result;

	judge_expect(out, "a file opened with O_DIRECT takes an aligned write");
	if (opened == WP_NOT_TRIED) {
		judge_observe(out, "not tried");
		judge(out, WP_CHECK_UNKNOWN, "O_DIRECT was not tried: %s",
			facts->untried ? facts->untried : "nothing was written");
	} else if (opened < 0) {
		judge_observe(out, "open: %s", wp_errno_name(-opened));
		judge(out, WP_CHECK_INFO,
			"this file system refuses O_DIRECT (%s): the direct variants are not "
			"measured here, nothing else suffers",
			wp_errno_name(-opened));
	} else if (written < 0) {
		judge_observe(out, "write aligned to %" PRId64 " bytes: %s",
			facts->direct_alignment_bytes, wp_errno_name(-written));
		judge(out, WP_CHECK_INFO,
			"O_DIRECT can be opened, but a write aligned to %" PRId64 " bytes fails "
			"(%s): the device wants a larger alignment",
			facts->direct_alignment_bytes, wp_errno_name(-written));
	} else {
		judge_direct_works(facts, out);
	}
}
