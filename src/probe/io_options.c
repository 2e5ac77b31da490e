/* SPDX-License-Identifier: PostgreSQL */
#include "probe/io_internal.h"
#include "walprobe/mem.h"
#include "walprobe/units.h"

#define SLACK_BYTES (INT64_C(4) << 20)
#define FALLBACK_BYTES (INT64_C(1) << 30)
#define RESERVE_BYTES (INT64_C(1) << 30) /* at most what a target keeps free */
#define NAME_BYTES 4096                  /* of disk for an empty file: inode and name */

#define BI (WP_IO_GROUP_BONNIE | WP_IO_GROUP_IOZONE)
#define BF (WP_IO_GROUP_BONNIE | WP_IO_GROUP_FILES)

#define BIG(name_, groups_, work_, order_, ...)                                                    \
	{                                                                                          \
		.name = name_, .groups = groups_, .work = work_, .order = order_, __VA_ARGS__      \
	}
#define SMALL(name_, work_, ...)                                                                   \
	{                                                                                          \
		.name = name_, .groups = BF, .is_tree = true, .tree_work = work_, __VA_ARGS__      \
	}

const struct wp_io_test_row wp_io_tests[WP_IO_TEST_COUNT] = {
	[WP_IO_TEST_PUTC] = BIG("putc", WP_IO_GROUP_BONNIE, WP_IO_PUTC, WP_IO_FORWARD,
		.record_bytes = 1, .is_new = true),
	[WP_IO_TEST_WRITE1] = BIG("write1", WP_IO_GROUP_BONNIE, WP_IO_WRITE_ONE, WP_IO_FORWARD,
		.record_bytes = 1, .is_new = true),
	[WP_IO_TEST_WRITE] = BIG("write", BI, WP_IO_WRITE, WP_IO_FORWARD, .is_new = true),
	[WP_IO_TEST_REWRITE] = BIG("rewrite", WP_IO_GROUP_BONNIE, WP_IO_REWRITE, WP_IO_FORWARD),
	[WP_IO_TEST_OVERWRITE] = BIG("overwrite", WP_IO_GROUP_IOZONE, WP_IO_WRITE, WP_IO_FORWARD),
	[WP_IO_TEST_GETC] =
		BIG("getc", WP_IO_GROUP_BONNIE, WP_IO_GETC, WP_IO_FORWARD, .record_bytes = 1),
	[WP_IO_TEST_READ1] =
		BIG("read1", WP_IO_GROUP_BONNIE, WP_IO_READ_ONE, WP_IO_FORWARD, .record_bytes = 1),
	[WP_IO_TEST_READ] = BIG("read", BI, WP_IO_READ, WP_IO_FORWARD),
	[WP_IO_TEST_REREAD] =
		BIG("reread", WP_IO_GROUP_IOZONE, WP_IO_READ, WP_IO_FORWARD, .is_fill = true),
	[WP_IO_TEST_RANDOM_READ] = BIG("random-read", WP_IO_GROUP_IOZONE, WP_IO_READ, WP_IO_RANDOM),
	[WP_IO_TEST_RANDOM_WRITE] =
		BIG("random-write", WP_IO_GROUP_IOZONE, WP_IO_WRITE, WP_IO_RANDOM),
	[WP_IO_TEST_BACKWARD_READ] =
		BIG("backward-read", WP_IO_GROUP_IOZONE, WP_IO_READ, WP_IO_BACKWARD),
	[WP_IO_TEST_STRIDE_READ] = BIG("stride-read", WP_IO_GROUP_IOZONE, WP_IO_READ, WP_IO_STRIDE),
	[WP_IO_TEST_SEEKS] =
		BIG("seeks", WP_IO_GROUP_BONNIE, WP_IO_SEEK, WP_IO_RANDOM, .is_seekers = true),
	[WP_IO_TEST_RECOVERY] =
		BIG("recovery", WP_IO_GROUP_WAL, WP_IO_READ, WP_IO_FORWARD, .record_bytes = 8192),
	[WP_IO_TEST_ARCHIVE] = BIG("archive", WP_IO_GROUP_WAL, WP_IO_SEGMENT, WP_IO_FORWARD,
		.record_bytes = WP_IO_SEGMENT_BYTES),
	[WP_IO_TEST_CREATE_SEQ] = SMALL("create-seq", WP_IO_CREATE, .is_random = false),
	[WP_IO_TEST_STAT_SEQ] = SMALL("stat-seq", WP_IO_STAT, .is_random = false),
	[WP_IO_TEST_DELETE_SEQ] = SMALL("delete-seq", WP_IO_DELETE, .is_random = false),
	[WP_IO_TEST_CREATE_RANDOM] = SMALL("create-random", WP_IO_CREATE, .is_random = true),
	[WP_IO_TEST_STAT_RANDOM] = SMALL("stat-random", WP_IO_STAT, .is_random = true),
	[WP_IO_TEST_DELETE_RANDOM] = SMALL("delete-random", WP_IO_DELETE, .is_random = true),
	[WP_IO_TEST_CREATE_SEQ_SYNCED] =
		SMALL("create-seq-synced", WP_IO_CREATE, .is_synced = true),
	[WP_IO_TEST_DELETE_SEQ_SYNCED] =
		SMALL("delete-seq-synced", WP_IO_DELETE, .is_synced = true),
	[WP_IO_TEST_CREATE_RANDOM_SYNCED] =
		SMALL("create-random-synced", WP_IO_CREATE, .is_random = true, .is_synced = true),
	[WP_IO_TEST_DELETE_RANDOM_SYNCED] =
		SMALL("delete-random-synced", WP_IO_DELETE, .is_random = true, .is_synced = true),
};

const char *wp_io_test_name(enum wp_io_test test)
{
	return wp_io_tests[test].name;
}

static uint32_t bits_of_word(const char *word)
{
	static const struct {
		const char *name;
		unsigned groups;
	} groups[] = {
		{ "bonnie", WP_IO_GROUP_BONNIE },
		{ "iozone", WP_IO_GROUP_IOZONE },
		{ "wal", WP_IO_GROUP_WAL },
		{ "files", WP_IO_GROUP_FILES },
		{ "all", ~0u },
	};
	uint32_t bits = 0;

	for (size_t i = 0; i < WP_IO_TEST_COUNT; i++) {
		if (strcmp(wp_io_tests[i].name, word) == 0)
			return UINT32_C(1) << i;
		for (size_t g = 0; g < WP_COUNT(groups); g++)
			if (strcmp(groups[g].name, word) == 0 &&
				(wp_io_tests[i].groups & groups[g].groups))
				bits |= UINT32_C(1) << i;
	}
	return bits;
}

int wp_io_parse_tests(const char *text, uint32_t *out, struct wp_err *err)
{
	char *copy = wp_xstrdup(text);
	char *rest = copy;
	uint32_t bits = 0;
	const char *word;
	int rc = 0;

	while (!rc && (word = strsep(&rest, ",")) != NULL) {
		uint32_t more = bits_of_word(word);

		if (!more) {
			rc = wp_fail(err, WP_E_USAGE, 0, "unknown test \"%s\"", word);
			wp_err_hint(err,
				"Known are the groups bonnie, iozone, wal, files and all, and the "
				"names of the test column, as in write,read,random-read.");
		}
		bits |= more;
	}
	free(copy);
	if (!rc)
		*out = bits;
	return rc;
}

static int add_size(struct wp_io_sizes *out, int64_t bytes, int64_t least, int64_t most,
	const char *word, struct wp_err *err)
{
	char low[32];
	char high[32];

	if (bytes < least || bytes > most)
		return wp_fail(err, WP_E_USAGE, 0,
			"size \"%s\" is out of range: %s to %s are allowed", word,
			wp_format_size(least, low, sizeof(low)),
			wp_format_size(most, high, sizeof(high)));
	for (size_t i = 0; i < out->count; i++)
		if (out->bytes[i] == bytes)
			return wp_fail(err, WP_E_USAGE, 0, "size \"%s\" appears twice", word);
	if (out->count == WP_IO_SIZES_MAXIMUM)
		return wp_fail(err, WP_E_USAGE, 0, "more than %d sizes", WP_IO_SIZES_MAXIMUM);
	out->bytes[out->count++] = bytes;
	return 0;
}

static int add_range(struct wp_io_sizes *out, char *word, char *dash, int64_t least, int64_t most,
	struct wp_err *err)
{
	int64_t from;
	int64_t to;
	int rc;

	*dash = '\0';
	rc = wp_parse_size_bytes(word, &from, err);
	if (!rc)
		rc = wp_parse_size_bytes(dash + 1, &to, err);
	*dash = '-';
	if (!rc && (from < 1 || from > to))
		rc = wp_fail(err, WP_E_USAGE, 0, "\"%s\" is not a range that rises", word);
	for (int64_t bytes = from; !rc && bytes <= to; bytes *= 2) {
		rc = add_size(out, bytes, least, most, word, err);
		if (bytes > most)
			break;
	}
	return rc;
}

int wp_io_parse_sizes(
	const char *text, int64_t least, int64_t most, struct wp_io_sizes *out, struct wp_err *err)
{
	char *copy = wp_xstrdup(text);
	char *rest = copy;
	char *word;
	int rc = 0;

	memset(out, 0, sizeof(*out));
	while (!rc && (word = strsep(&rest, ",")) != NULL) {
		char *dash = strchr(word, '-');
		int64_t bytes = 0;

		if (dash && dash != word) {
			rc = add_range(out, word, dash, least, most, err);
			continue;
		}
		rc = wp_parse_size_bytes(word, &bytes, err);
		if (!rc)
			rc = add_size(out, bytes, least, most, word, err);
	}
	free(copy);
	return rc;
}

int wp_io_parse_files(const char *text, struct wp_io_options *options, struct wp_err *err)
{
	static const int64_t most[] = { 1024, WP_IO_TREE_FILE_MAXIMUM, WP_IO_TREE_FILE_MAXIMUM,
		1024 };
	int64_t values[] = { 0, 0, 0, 1 };
	char *copy = wp_xstrdup(text);
	char *rest = copy;
	size_t count = 0;
	char *word;
	int rc = 0;

	while (!rc && (word = strsep(&rest, ":")) != NULL) {
		if (count == WP_COUNT(values))
			rc = wp_fail(err, WP_E_USAGE, 0, "\"%s\" has more than four parts", text);
		else
			rc = wp_parse_int(word, &values[count], err);
		if (!rc && (values[count] < 0 || values[count] > most[count]))
			rc = wp_fail(err, WP_E_USAGE, 0,
				"\"%s\" is out of range: 0 to %" PRId64 " are allowed", word,
				most[count]);
		count++;
	}
	free(copy);
	if (!rc && (values[0] < 1 || values[3] < 1 || values[2] > values[1]))
		rc = wp_fail(err, WP_E_USAGE, 0, "\"%s\" is not N[:max:min:dirs]", text);
	if (rc) {
		wp_err_prefix(err, "option --files: ");
		wp_err_hint(err, "As in 16, or 16:4096:0:10: thousands of files, largest and "
				 "smallest size in bytes, directories.");
		return rc;
	}
	options->small_count = values[0] * 1024;
	options->small_most_bytes = values[1];
	options->small_least_bytes = values[2];
	options->small_directories = values[3];
	return 0;
}

int wp_io_check(const struct wp_io_options *options, struct wp_err *err)
{
	int64_t threads = options->jobs > options->seekers ? options->jobs : options->seekers;
	int64_t buffers =
		threads * wp_int_list_most(options->records.bytes, options->records.count);
	char limit[32];

	if (options->is_cached && options->is_direct)
		return wp_fail(err, WP_E_USAGE, 0,
			"--cached and --direct contradict each other: O_DIRECT goes past the "
			"cache");
	if (buffers <= WP_IO_POOL_LIMIT_BYTES)
		return 0;
	(void)wp_fail(err, WP_E_USAGE, 0,
		"%" PRId64 " threads with the largest record size need more than %s of buffers",
		threads, wp_format_size(WP_IO_POOL_LIMIT_BYTES, limit, sizeof(limit)));
	wp_err_hint(err, "Use fewer --jobs and --seekers, or smaller --record-sizes.");
	return -WP_E_USAGE;
}

static int64_t small_bytes(const struct wp_io_options *options)
{
	int64_t sets = 0;

	for (size_t i = 0; i < WP_IO_TEST_COUNT; i++)
		if ((options->tests & (UINT32_C(1) << i)) && wp_io_tests[i].is_tree)
			/* Files to look at stay; of those that are made and go there is one set. */
			sets = wp_io_tests[i].tree_work == WP_IO_STAT ? sets + 1
								      : (sets ? sets : 1);
	return sets * options->small_count * (options->small_most_bytes + NAME_BYTES);
}

static bool has_test(const struct wp_io_options *options, bool is_new)
{
	for (size_t i = 0; i < WP_IO_TEST_COUNT; i++)
		if ((options->tests & (UINT32_C(1) << i)) && !wp_io_tests[i].is_tree &&
			wp_io_tests[i].is_new == is_new)
			return true;
	return false;
}

bool wp_io_needs_files(const struct wp_io_options *options)
{
	return has_test(options, false);
}

int64_t wp_io_needed_bytes(const struct wp_io_options *options)
{
	int64_t sets = has_test(options, false) + has_test(options, true);

	return sets * wp_int_list_most(options->files.bytes, options->files.count) +
	       small_bytes(options) + SLACK_BYTES;
}

static int64_t memory_bytes(const struct wp_os *os)
{
	int sys_errno;
	char *text = wp_os_read_text(os, "/proc/meminfo", 65536, &sys_errno);
	const char *found = text ? strstr(text, "MemTotal:") : NULL;
	int64_t bytes = found ? strtoll(found + strlen("MemTotal:"), NULL, 10) * 1024 : 0;

	free(text);
	return bytes;
}

/* What a target leaves us, its reserve taken off. */
static int64_t free_bytes(const struct wp_os *os, const struct wp_target *target)
{
	struct statvfs space;
	int64_t available;
	int64_t reserve;

	if (wp_os_statvfs(os, target->dir, &space) < 0)
		return 0;
	available = (int64_t)space.f_bavail * (int64_t)space.f_frsize;
	reserve = (int64_t)space.f_blocks * (int64_t)space.f_frsize / 20;
	if (reserve > RESERVE_BYTES)
		reserve = RESERVE_BYTES;
	/* The whole of a scratch image is there to be used. */
	return target->spec && target->spec->is_image ? available : available - reserve;
}

int wp_io_choose_size(struct wp_run *run, const struct wp_target *targets, size_t count,
	int64_t most_bytes, struct wp_io_options *options, struct wp_err *err)
{
	int64_t twice = (2 * memory_bytes(run->os) + WP_IO_SEGMENT_BYTES - 1) /
			WP_IO_SEGMENT_BYTES * WP_IO_SEGMENT_BYTES;
	int64_t least = INT64_MAX;
	int64_t size;

	for (size_t i = 0; i < count; i++) {
		int64_t available;

		if (!targets[i].is_open)
			continue;
		available = free_bytes(run->os, &targets[i]) - small_bytes(options) - SLACK_BYTES;
		least = available < least ? available : least;
	}
	if (least == INT64_MAX)
		return 0;
	options->beats_cache =
		!options->is_cached && !most_bytes && twice > 0 && twice <= least / 2;
	size = least / 4 < FALLBACK_BYTES ? least / 4 : FALLBACK_BYTES;
	if (options->is_cached && size > twice / 16)
		size = twice / 16; /* an eighth of the memory: surely held by the cache */
	if (most_bytes && size > most_bytes)
		size = most_bytes;
	if (options->beats_cache)
		size = twice;
	if (size > WP_IO_SEGMENT_BYTES)
		size -= size % WP_IO_SEGMENT_BYTES;
	if (size < (INT64_C(1) << 20))
		return wp_fail(err, WP_E_NOSPACE, ENOSPC,
			"a file of 4 MB and %" PRId64 " bytes of small files do not fit: %" PRId64
			" bytes are free",
			small_bytes(options), least + small_bytes(options));
	options->files.bytes[0] = size;
	options->files.count = 1;
	return 0;
}
