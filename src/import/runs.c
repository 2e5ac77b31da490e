/* SPDX-License-Identifier: PostgreSQL */
/*
 * Where runs come from: targets, table "runs", and what people wrote above a run.
 */
#include "import/judge.h"
#include "walprobe/mem.h"

#include <ctype.h>
#include <strings.h>

#define LABEL_LIMIT 24   /* a longer heading is no label where there is another */
#define HEADING_LIMIT 48 /* a longer one is none at all */
#define HEADING_REACH 12 /* lines above a run in which its heading may be */
#define FULL_LINE 50     /* what follows a line of this length may be the rest of it */

/* ---- file systems ------------------------------------------------------------------------------ */

static const char *const fstypes[] = { "ext2", "ext3", "ext4", "xfs", "jfs", "btrfs", "zfs",
	"reiserfs", "reiser4", "f2fs", "nfs", "pohmelfs", "ufs", "vfat", "fat", "tmpfs", "ntfs",
	"hfs", "apfs", "ocfs2", "gfs2", "bcachefs", "nilfs2", "glusterfs", "cifs" };

char *wp_import_fstype(const char *text)
{
	while (*text) {
		size_t length = 0;

		while (isalnum((unsigned char)text[length]))
			length++;
		for (size_t i = 0; length && i < WP_COUNT(fstypes); i++) {
			size_t own = strlen(fstypes[i]);

			/* "ReiserFS3" is a reiserfs. */
			if (length >= own && strncasecmp(text, fstypes[i], own) == 0 &&
				own + strspn(text + own, "0123456789") == length)
				return wp_xstrdup(fstypes[i]);
		}
		text += length ? length : 1;
	}
	return NULL;
}

/* What stands behind "mount -o " or "mount options: "; the caller frees. */
static char *mount_options(const char *text)
{
	static const char *const marks[] = { "mount -o ", "mount options: ", "mount options " };

	for (size_t i = 0; i < WP_COUNT(marks); i++) {
		const char *at = strstr(text, marks[i]);
		size_t length;

		if (!at)
			continue;
		at += strlen(marks[i]);
		length = strcspn(at, " );:");
		if (length)
			return wp_xstrndup(at, length);
	}
	return NULL;
}

/* ---- targets ----------------------------------------------------------------------------------- */

static const char *first(const char *a, const char *b)
{
	return a && *a ? a : b && *b ? b : NULL;
}

static bool is_label(const struct wp_result *result, const char *label)
{
	for (size_t i = 0; i < result->target_count; i++)
		if (strcmp(result->targets[i]->label, label) == 0)
			return true;
	return false;
}

/* The caller frees. */
static char *free_label(const struct wp_result *result, const char *wanted)
{
	char *label = wp_xstrdup(wanted);

	for (unsigned i = 2; is_label(result, label); i++) {
		free(label);
		label = wp_xasprintf("%s#%u", wanted, i);
	}
	return label;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* "xfs cache on" of "xfs (with write cache enabled on disks)"; the caller frees. */
static char *short_label(const char *fstype, const char *title)
{
	static const struct {
		const char *words;
		const char *label;
	} marks[] = {
		{ "writeback", " writeback" },
		{ "ordered", " ordered" },
		{ "nobarrier", " nobarrier" },
		{ "cache enabled", " cache on" },
		{ "cache on", " cache on" },
		{ "cache disabled", " cache off" },
		{ "cache off", " cache off" },
	};
	char *label = wp_xstrdup(fstype);

	for (size_t i = 0; title && i < WP_COUNT(marks); i++) {
		char *longer;

		if (!strcasestr(title, marks[i].words))
			continue;
		longer = wp_xasprintf("%s%s", label, marks[i].label);
		free(label);
		label = longer;
	}
	return label;
}

static bool is_short(const char *title, size_t limit)
{
	return title && *title && strlen(title) <= limit && !strstr(title, "mount -o");
}

/* The caller frees. */
static char *wanted_label(const struct wp_import *in, const struct wp_import_run *run)
{
	if (in->words && in->words->label)
		return wp_xstrdup(in->words->label);
	if (is_short(run->title, LABEL_LIMIT))
		return wp_xstrdup(run->title);
	if (run->fstype && run->title)
		return short_label(run->fstype, run->title);
	if (run->machine && *run->machine)
		return wp_xstrdup(run->machine);
	if (is_short(run->title, HEADING_LIMIT))
		return wp_xstrdup(run->title);
	return wp_xstrdup(first(run->fstype, base_name(in->name)));
}

static const struct wp_column run_columns[] = {
	{ "target", "target", "", WP_KIND_TEXT, "Label that the run got." },
	{ "tool", "tool", "", WP_KIND_TEXT, "Program that printed it." },
	{ "version", "version", "", WP_KIND_TEXT, "Its version, as printed." },
	{ "machine", "machine", "", WP_KIND_TEXT, "Machine that it ran on." },
	{ "input", "input", "", WP_KIND_TEXT, "File that the run is in." },
	{ "line", "line", "", WP_KIND_INT, "Number of its first line." },
	{ "lines", "lines", "", WP_KIND_INT, "Lines that it takes." },
	{ "title", "title", "", WP_KIND_TEXT, "Heading above it." },
	{ "command", "command", "", WP_KIND_TEXT, "Command line of the program." },
	{ "started", "started", "", WP_KIND_TEXT, "When it began, as printed." },
	{ "settings", "settings", "", WP_KIND_TEXT,
		"What decides whether its figures may be compared with others." },
};

static void put(struct wp_row *row, const char *key, const char *value)
{
	if (value && *value)
		wp_row_text(row, key, value);
	else
		wp_row_absent(row, key, "the input does not say");
}

const char *wp_import_add_run(struct wp_import *in, const struct wp_import_run *run)
{
	static const struct wp_import_words none;
	const struct wp_import_words *words = in->words ? in->words : &none;
	struct wp_table *table = wp_result_table(in->result, "runs", "Where the figures come from",
		run_columns, WP_COUNT(run_columns));
	struct wp_row *row = wp_table_add_row(table);
	const char *fstype = first(run->fstype, words->fstype);
	char *wanted = wanted_label(in, run);
	char *label = free_label(in->result, wanted);
	struct wp_target_info *target = wp_result_add_target(in->result, label);

	free(wanted);
	free(label);
	wp_target_info_set(target, NULL, fstype, first(run->mount_options, words->mount_options));
	wp_row_text(row, "target", target->label);
	put(row, "tool", run->tool);
	put(row, "version", run->version);
	put(row, "machine", first(run->machine, words->host));
	put(row, "input", in->name);
	wp_row_int(row, "line", (int64_t)run->line);
	wp_row_int(row, "lines", (int64_t)run->line_count);
	put(row, "title", run->title);
	put(row, "command", run->command);
	put(row, "started", run->started);
	put(row, "settings", run->settings);
	wp_judge_words(in, target->label, run->title, target->mount_options);
	in->runs++;
	return target->label;
}

const char *wp_import_target(
	struct wp_import *in, const char *machine, const char *fstype, const char *options)
{
	const struct wp_import_run run = {
		.machine = machine, .fstype = fstype, .mount_options = options
	};

	return wp_import_add_run(in, &run);
}

void wp_import_check(struct wp_import *in, const char *id, const char *target,
	enum wp_check_status status, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = wp_xvasprintf(format, args);
	va_end(args);
	wp_result_add_check(in->result, id, target, status, NULL, NULL, text);
	free(text);
}

/* ---- headings ---------------------------------------------------------------------------------- */

static bool is_command_of(const char *text, const char *tool)
{
	const char *command = wp_import_command(text);
	size_t length = strcspn(command, " ");
	const char *at = tool ? memmem(command, length, tool, strlen(tool)) : NULL;

	return command != text || at;
}

static bool is_free(const struct wp_import *in, size_t at)
{
	return !in->lines[at].is_taken && !wp_import_is_blank(in, at);
}

/* The line with the colon; in->line_count when there is none. */
static size_t find_heading(const struct wp_import *in, size_t at, const char *tool, size_t *command)
{
	*command = in->line_count;
	for (size_t i = at; i > 0 && at - i < HEADING_REACH; i--) {
		const char *text = in->lines[i - 1].text;
		size_t length = strlen(text);

		if (in->lines[i - 1].is_taken && length)
			break;
		if (!length || strspn(text, ". ") == length)
			continue;
		if (is_command_of(text, tool)) {
			if (*command == in->line_count)
				*command = i - 1;
			continue;
		}
		return text[length - 1] == ':' ? i - 1 : in->line_count;
	}
	return in->line_count;
}

/* The heading with the lines above it in the same paragraph; the caller frees. */
static char *paragraph(const struct wp_import *in, size_t at)
{
	char *text = wp_xstrdup(in->lines[at].text);

	for (size_t i = at; i > 0 && at - i < 2 && is_free(in, i - 1); i--) {
		char *longer = wp_xasprintf("%s %s", in->lines[i - 1].text, text);

		free(text);
		text = longer;
	}
	return text;
}

/* A heading that mail broke has its beginning on the line above. */
static char *title(const struct wp_import *in, size_t at)
{
	const char *text = in->lines[at].text;
	bool is_rest = strchr(text, ')') && !strchr(text, '(');
	char *out;

	text += strspn(text, " ");
	if (at && is_rest && is_free(in, at - 1))
		out = wp_xasprintf("%s %s", in->lines[at - 1].text, text);
	else
		out = wp_xstrdup(text);
	out[strlen(out) - 1] = '\0';
	return out;
}

static void find_names(struct wp_import *in, size_t at, struct wp_import_heading *out)
{
	char *around = paragraph(in, at);

	out->title = title(in, at);
	out->fstype = wp_import_fstype(out->title);
	out->mount_options = mount_options(out->title);
	if (!out->fstype && (strstr(around, "mkfs") || strstr(around, "mount")))
		out->fstype = wp_import_fstype(around);
	if (!out->mount_options)
		out->mount_options = mount_options(around);
	/* The lines above are understood when something was taken from them. */
	if (strncmp(around, out->title, strlen(out->title)) != 0 &&
		((out->fstype && !wp_import_is_blank(in, at - 1) && strstr(around, "mkfs")) ||
			(strchr(in->lines[at].text, ')') && !strchr(in->lines[at].text, '('))))
		wp_import_mark(in, at - 1, 1);
	free(around);
}

bool wp_import_heading(
	struct wp_import *in, size_t at, const char *tool, struct wp_import_heading *out)
{
	size_t command;
	size_t heading = find_heading(in, at, tool, &command);

	memset(out, 0, sizeof(*out));
	if (command < in->line_count) {
		out->command = wp_xstrdup(wp_import_command(in->lines[command].text));
		wp_import_mark(in, command, 1);
	}
	if (heading == in->line_count)
		return false;
	find_names(in, heading, out);
	wp_import_mark(in, heading, 1);
	return true;
}

void wp_import_heading_release(struct wp_import_heading *heading)
{
	free(heading->title);
	free(heading->fstype);
	free(heading->mount_options);
	free(heading->command);
	memset(heading, 0, sizeof(*heading));
}
