/* SPDX-License-Identifier: PostgreSQL */
#include "inspect_tables.h"

#include "walprobe/inspect.h"
#include "walprobe/judge.h"
#include "walprobe/mem.h"
#include "walprobe/stop.h"

#include <linux/fs.h>

#define SERIES_LIMIT_NS (2 * WP_NS_PER_S)
#define NEEDED_BYTES (INT64_C(8) << 20)
#define ALIGNMENT_LEAST 4096
#define TOOL_LIMIT_NS (20 * WP_NS_PER_S)
#define MOUNTSTATS_BYTES ((size_t)4 << 20)

/* where the measurement writes */
struct workplace {
	struct wp_target other; /* made beside the user's directory; zeroed when not */
	uint64_t ticket;        /* of a directory made inside a private one; 0: none */
	char *inside;
	const char *dir;
};

/* A directory that this run made carries its marker; so does an image's, which nobody else uses. */
static bool is_private(const struct wp_run *run, const struct wp_target *target)
{
	char *marker = wp_xasprintf("%s/%s", target->dir, WP_MARKER_NAME);
	bool is_ours = target->spec->is_image || wp_os_access(run->os, marker, F_OK) == 0;

	free(marker);
	return is_ours;
}

static int open_beside(struct wp_run *run, const struct wp_target *target, struct workplace *place,
	struct wp_err *err)
{
	const struct wp_target_options options = {
		.needed_bytes = NEEDED_BYTES,
		.is_forced = run->is_forced,
		.is_kept = run->is_kept,
	};
	int rc = wp_target_open(run->os, run->registry, target->spec, &options, &place->other, err);

	if (rc)
		return rc;
	place->dir = place->other.dir;
	/* Beside a live pg_wal may be another file system, of which nothing follows here. */
	if (strcmp(place->other.stack.mount_point ? place->other.stack.mount_point : "",
		    target->stack.mount_point ? target->stack.mount_point : "") != 0)
		return wp_fail(err, WP_E_UNSUPPORTED, 0,
			"nothing can be written beside \"%s\" on the same file system",
			target->dir);
	return 0;
}

static int open_workplace(struct wp_run *run, const struct wp_target *target,
	struct workplace *place, struct wp_err *err)
{
	int rc;

	if (!is_private(run, target))
		return open_beside(run, target, place, err);
	rc = wp_workdir_create(run->registry, target->dir, &place->inside, &place->ticket, err);
	place->dir = place->inside;
	return rc;
}

static void close_workplace(struct wp_run *run, struct workplace *place)
{
	struct wp_err err = { 0 };

	if (place->ticket && wp_registry_undo(run->registry, place->ticket, &err) < 0)
		wp_run_problem(run, &err);
	free(place->inside);
	wp_target_release(&place->other);
}

static void try_link(const struct wp_os *os, const char *path, struct wp_facts *facts)
{
	char *second = wp_xasprintf("%s.link", path);

	facts->link_result = wp_os_link(os, path, second);
	if (facts->link_result == 0)
		(void)wp_os_unlink(os, second); /* goes with the directory otherwise */
	free(second);
}

/* The largest block of all layers: what O_DIRECT has to be aligned to at most. */
static int64_t find_alignment(const struct wp_stack *stack)
{
	int64_t alignment = ALIGNMENT_LEAST;

	for (size_t i = 0; i < stack->layer_count; i++)
		if (stack->layers[i].logical_block_bytes > alignment &&
			stack->layers[i].logical_block_bytes <= 1 << 20)
			alignment = stack->layers[i].logical_block_bytes;
	return alignment;
}

static void try_direct(const struct wp_os *os, const char *path, struct wp_facts *facts)
{
	size_t length;
	void *block;
	int fd;

	facts->direct_alignment_bytes = find_alignment(facts->stack);
	fd = wp_os_open(os, path, O_RDWR | O_DIRECT, 0);
	facts->direct_open_result = fd < 0 ? fd : 0;
	if (fd < 0)
		return;
	length = (size_t)facts->direct_alignment_bytes;
	block = wp_xaligned(length, length);
	facts->direct_write_result = wp_os_write_all(os, fd, block, length, 0);
	free(block);
	(void)wp_os_close(os, fd); /* nothing that was written is wanted */
}

/* Is a new file exempt from copy on write (chattr +C, btrfs nodatacow)? */
static int read_no_cow(const struct wp_os *os, int fd)
{
	long flags = 0;

	if (wp_os_ioctl(os, fd, FS_IOC_GETFLAGS, &flags) < 0)
		return -1;
	return (flags & FS_NOCOW_FL) != 0;
}

static int try_features(
	const struct wp_os *os, const char *dir, struct wp_facts *facts, struct wp_err *err)
{
	char *path = wp_xasprintf("%s/features", dir);
	int fd = wp_os_open(os, path, O_RDWR | O_CREAT | O_EXCL, 0600);
	int rc = 0;

	if (fd < 0) {
		rc = wp_fail(err, WP_E_SYS, -fd, "could not create \"%s\"", path);
		goto out;
	}
	facts->is_no_cow = read_no_cow(os, fd);
	(void)wp_os_close(os, fd); /* empty */
	try_link(os, path, facts);
	try_direct(os, path, facts);
	(void)wp_os_unlink(os, path); /* goes with the directory otherwise */
out:
	free(path);
	return rc;
}

static int measure(struct wp_run *run, const struct wp_target *target,
	const struct wp_inspect_options *options, struct wp_facts *facts,
	struct wp_flush_report *report, struct wp_err *err)
{
	const struct wp_flush_options flush_options = {
		.control_ns = options->control_ns,
		.operations = options->operations,
		.limit_ns = SERIES_LIMIT_NS,
	};
	struct workplace place = { 0 };
	int rc = open_workplace(run, target, &place, err);

	if (!rc)
		rc = try_features(run->os, place.dir, facts, err);
	if (!rc)
		rc = wp_flush_probe(
			run->os, NULL, &target->stack, place.dir, &flush_options, report, err);
	if (!rc)
		facts->flush = report;
	close_workplace(run, &place);
	return rc;
}

static struct wp_target_info *find_info(struct wp_result *result, const char *label)
{
	for (size_t i = 0; i < result->target_count; i++)
		if (strcmp(result->targets[i]->label, label) == 0)
			return result->targets[i];
	return wp_result_add_target(result, label);
}

static void describe(struct wp_result *result, const struct wp_target *target)
{
	struct wp_target_info *info = find_info(result, target->label);

	if (!info->fstype && info->device_count == 0)
		wp_stack_describe(&target->stack, target->place, info);
}

static void add_checks(struct wp_result *result, const char *label, const struct wp_facts *facts)
{
	for (const struct wp_judge *judge = wp_judges; judge->id; judge++) {
		struct wp_judgement out = { 0 };

		judge->judge(facts, &out);
		wp_result_add_check(
			result, judge->id, label, out.status, out.expected, out.observed, out.text);
	}
}

static int measure_or_tell(struct wp_run *run, const struct wp_target *target,
	const struct wp_inspect_options *options, struct wp_facts *facts,
	struct wp_flush_report *report, struct wp_err *err, char **untried)
{
	struct wp_err own = { 0 };
	int rc;

	if (options->is_no_write) {
		*untried = wp_xstrdup("only looking was asked for (--no-write)");
		return 0;
	}
	rc = measure(run, target, options, facts, report, &own);
	if (rc == -WP_E_STOPPED) {
		*untried = wp_xstrdup("the run was stopped");
		if (err)
			*err = own;
		return rc;
	}
	if (rc) {
		*untried = wp_xstrdup(own.message);
		wp_run_problem(run, &own);
	}
	return 0;
}

void wp_inspect_absent(struct wp_run *run, const char *label, const char *reason)
{
	(void)find_info(run->result, label);
	inspect_fill_absent(run->result, label, reason);
}

void wp_inspect_saved(struct wp_run *run, const char *label, const struct wp_cache_facts *saved)
{
	char unseen[] = "no target was named";
	const struct wp_stack stack = { .unseen = unseen };
	const struct wp_facts facts = { .stack = &stack, .cache = saved };

	inspect_fill_caches(run->result, label, saved);
	for (const struct wp_judge *judge = wp_judges; judge->id; judge++) {
		struct wp_judgement out = { 0 };
		bool is_about = strcmp(judge->id, "controller") == 0
					? saved->controller_count > 0
					: strcmp(judge->id, "write-cache") == 0 &&
						  saved->statement_count > 0;

		if (!is_about)
			continue;
		judge->judge(&facts, &out);
		wp_result_add_check(run->result, judge->id, label, out.status, out.expected,
			out.observed, out.text);
	}
}

static bool count_nfs(
	const struct wp_os *os, const struct wp_stack *stack, struct wp_nfs_counts *out)
{
	char *text;
	bool is_counted;
	int sys_errno;

	if (!stack->fstype || strncmp(stack->fstype, "nfs", 3) != 0 || !stack->mount_point)
		return false;
	text = wp_os_read_text(os, "/proc/self/mountstats", MOUNTSTATS_BYTES, &sys_errno);
	is_counted = text && wp_nfs_counts_parse(text, stack->mount_point, out);
	free(text);
	return is_counted;
}

/* Measure; on NFS, count what was sent to the server meanwhile. */
static int measure_counted(struct wp_run *run, const struct wp_target *target,
	const struct wp_inspect_options *options, struct wp_facts *facts,
	struct wp_flush_report *report, struct wp_err *err, char **untried)
{
	struct wp_nfs_counts before = { 0 };
	bool has_nfs = count_nfs(run->os, &target->stack, &before);
	int rc = measure_or_tell(run, target, options, facts, report, err, untried);

	facts->has_nfs = has_nfs && count_nfs(run->os, &target->stack, &facts->nfs);
	facts->nfs.writes -= before.writes;
	facts->nfs.commits -= before.commits;
	return rc;
}

/* What the tools of controllers and drives say, unless it was saved elsewhere. */
static int ask_tools(struct wp_run *run, const struct wp_target *target,
	const struct wp_inspect_options *options, struct wp_cache_facts *asked,
	struct wp_facts *facts, struct wp_err *err)
{
	facts->cache = options->saved ? options->saved : asked;
	if (options->saved)
		return 0;
	return wp_cache_ask(run->os, &target->stack, TOOL_LIMIT_NS, asked, err);
}

int wp_inspect_target_with(struct wp_run *run, struct wp_target *target,
	const struct wp_inspect_options *options, struct wp_err *err)
{
	struct wp_flush_report report = { 0 };
	struct wp_sync_evidence evidence = { 0 };
	struct wp_cache_facts asked = { 0 };
	struct wp_facts facts = {
		.stack = &target->stack,
		.link_result = WP_NOT_TRIED,
		.direct_open_result = WP_NOT_TRIED,
		.is_no_cow = -1,
		.preload = getenv("LD_PRELOAD"),
		.evidence = &evidence,
	};
	char *untried = NULL;
	int rc;

	if (!target->is_open) {
		wp_inspect_absent(run, target->label,
			target->absent ? target->absent : "it could not be opened");
		return 0;
	}
	describe(run->result, target);
	wp_sync_evidence_find(run->os, NULL, &target->stack, &evidence);
	rc = ask_tools(run, target, options, &asked, &facts, err);
	if (!rc)
		rc = measure_counted(run, target, options, &facts, &report, err, &untried);
	else
		untried = wp_xstrdup("the run was stopped");
	facts.untried = untried;
	inspect_fill_layers(run->result, target->label, &target->stack);
	if (facts.flush)
		inspect_fill_flush(run->result, target->label, &target->stack, &report);
	inspect_fill_caches(run->result, target->label, facts.cache);
	add_checks(run->result, target->label, &facts);
	wp_flush_report_release(&report);
	wp_sync_evidence_release(&evidence);
	wp_cache_facts_release(&asked);
	free(untried);
	return rc;
}

int wp_inspect_target(
	struct wp_run *run, struct wp_target *target, bool is_quick, struct wp_err *err)
{
	const struct wp_inspect_options options = {
		.control_ns = is_quick ? 300 * WP_NS_PER_MS : WP_NS_PER_S,
		.operations = is_quick ? 40 : 100,
	};

	return wp_inspect_target_with(run, target, &options, err);
}
