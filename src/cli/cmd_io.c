/* SPDX-License-Identifier: PostgreSQL */
#include "cli/commands.h"
#include "cli/io_options.h"
#include "walprobe/opts.h"
#include "walprobe/limits.h"

#define QUICK_ROUNDS 6
#define QUICK_FILES 1024
#define QUICK_BUDGET_NS (10 * WP_NS_PER_S) /* of measured time, over everything */
#define QUICK_LEAST_NS (5 * WP_NS_PER_MS)
#define QUICK_MOST_NS (200 * WP_NS_PER_MS)
#define QUICK_SIZE_BYTES (INT64_C(128) << 20)
#define OWN_FILES 64 /* open beside those that are measured */

struct io_params {
	struct wp_common common;
	struct wp_io_words words;
	bool is_quick;
};

#define F(field) offsetof(struct io_params, field)

static const struct wp_opt io_opts[] = {
	{ "tests", 0, WP_OPT_TEXT, "LIST", F(words.tests), "all", 0, 0, NULL,
		"names of the test column, or the groups bonnie, iozone, wal, files, all" },
	{ "record-sizes", 0, WP_OPT_TEXT, "LIST", F(words.record_sizes), "8kB", 0, 0, NULL,
		"bytes of one read or write, as in 8kB-1MB (doubling) or 4kB,8kB,16MB" },
	{ "size", 0, WP_OPT_TEXT, "LIST", F(words.sizes), "auto", 0, 0, NULL,
		"bytes of the big files, all jobs together, as for --record-sizes; auto is twice "
		"the memory where half of the free space holds that, else at most 1GB" },
	{ "files", 0, WP_OPT_TEXT, "N[:MAX:MIN:DIRS]", F(words.files), "4", 0, 0, NULL,
		"thousands (1024) of small files, their largest and smallest size, directories" },
	{ "seekers", 0, WP_OPT_INT, "NUM", F(words.seekers), "5", 1, WP_IO_JOBS_MAXIMUM, NULL,
		"readers that seek at the same time in the test seeks" },
	{ "jobs", 'j', WP_OPT_INT, "NUM", F(words.jobs), "1", 1, WP_IO_JOBS_MAXIMUM, NULL,
		"threads that read or write at the same time, each its own file" },
	{ "sync", 0, WP_OPT_CHOICE, "HOW", F(words.sync), "fsync", 0, 0, wp_io_syncs,
		"how written data is made durable; fsync is once, at the end" },
	{ "timed", 0, WP_OPT_CHOICE, "LIST", F(words.timed), "fsync,close", 0, 0, wp_io_timeds,
		"whether that fsync and closing the file belong to the measured time" },
	{ "direct", 0, WP_OPT_FLAG, NULL, F(words.is_direct), NULL, 0, 0, NULL,
		"O_DIRECT for all reads and writes of big files" },
	{ "cached", 0, WP_OPT_FLAG, NULL, F(words.is_cached), NULL, 0, 0, NULL,
		"measure the page cache on purpose: nothing is dropped, files fit in memory" },
	{ "quick", 0, WP_OPT_FLAG, NULL, F(is_quick), NULL, 0, 0, NULL,
		"all within a minute: 6 short rounds and small files" },
	{ .name = NULL },
};

/* everything of one run */
struct io {
	struct wp_run *run;
	const struct io_params *params;
	struct wp_io_options options;
	struct wp_measure_targets targets;
	struct wp_io_study *study;
	struct wp_measures measures;
};

static int read_options(struct io *io, struct wp_err *err)
{
	int rc = wp_io_options_read(&io->params->words, &io->options, err);
	int64_t threads = io->options.jobs + io->options.seekers;

	return rc ? rc : wp_limit_open_files(2 * threads + OWN_FILES, err);
}

static void set_parameter(const struct io *io, const char *key, int64_t value, bool is_time)
{
	char text[32];

	(void)snprintf(text, sizeof(text), is_time ? "%" PRId64 "us" : "%" PRId64,
		is_time ? value / WP_NS_PER_US : value);
	wp_result_set_parameter(
		io->run->result, key, text, is_time ? WP_KIND_TEXT : WP_KIND_INT, "--quick");
}

static void set_quick(struct io *io)
{
	int64_t count = (int64_t)io->measures.count;
	int64_t each_ns = QUICK_BUDGET_NS / ((QUICK_ROUNDS + 1) * (count ? count : 1));

	each_ns = each_ns < QUICK_LEAST_NS ? QUICK_LEAST_NS : each_ns;
	each_ns = each_ns > QUICK_MOST_NS ? QUICK_MOST_NS : each_ns;
	io->run->rounds = QUICK_ROUNDS;
	io->run->time_ns = each_ns;
	io->run->warmup_ns = each_ns;
	set_parameter(io, "rounds", QUICK_ROUNDS, false);
	set_parameter(io, "time", each_ns, true);
	set_parameter(io, "warmup", each_ns, true);
}

/* The small files of a quick run are a thousand, whatever sizes they were to have. */
static void set_quick_files(struct io *io)
{
	const char *rest = strchr(io->params->words.files, ':');
	char text[96];

	if (io->options.small_count <= QUICK_FILES)
		return;
	io->options.small_count = QUICK_FILES;
	(void)snprintf(text, sizeof(text), "1%s", rest ? rest : "");
	wp_result_set_parameter(io->run->result, "files", text, WP_KIND_TEXT, "--quick");
}

static int choose_size(struct io *io, struct wp_err *err)
{
	char text[48];
	int rc = wp_io_choose_size(io->run, io->targets.items, io->targets.count,
		io->params->is_quick ? QUICK_SIZE_BYTES : 0, &io->options, err);

	if (rc || io->options.files.count == 0)
		return rc;
	(void)snprintf(text, sizeof(text), "%" PRId64 "B", io->options.files.bytes[0]);
	wp_result_set_parameter(io->run->result, "size", text, WP_KIND_TEXT,
		io->options.beats_cache ? "twice the memory" : "free space");
	return 0;
}

static int plan(struct io *io, struct wp_err *err)
{
	int rc = 0;

	if (io->params->is_quick)
		set_quick_files(io);
	if (io->options.files.count == 0)
		rc = choose_size(io, err);
	if (rc)
		return rc;
	io->study = wp_io_study_new(io->run, &io->options);
	for (size_t i = 0; i < io->targets.count; i++)
		wp_io_plan(io->study, &io->targets.items[i], &io->measures);
	if (io->measures.count <= WP_IO_ROWS_MAXIMUM)
		return 0;
	(void)wp_fail(err, WP_E_USAGE, 0, "these are %zu measurements, more than %d",
		io->measures.count, WP_IO_ROWS_MAXIMUM);
	wp_err_hint(err, "Name fewer --tests, --record-sizes or sizes, or measure in two runs.");
	return -WP_E_USAGE;
}

static int measure(struct io *io, struct wp_err *err)
{
	int rc = plan(io, err);

	if (!rc && io->params->is_quick)
		set_quick(io);
	if (!rc)
		rc = wp_io_make_all(
			io->run, io->study, &io->options, &io->targets, &io->measures, err);
	if (!rc)
		rc = wp_measure_targets_none(io->run, &io->targets, err);
	if (rc)
		return rc;
	wp_measure_targets_tell_duration(io->run, &io->measures);
	return wp_rounds_run(io->run, &io->measures, err);
}

static void fill(struct io *io, int rc)
{
	if (rc == -WP_E_STOPPED)
		io->run->result->is_complete = false;
	if (!io->measures.count || rc == -WP_E_USAGE)
		return;
	wp_io_fill(io->run, &io->measures);
	wp_rounds_fill(io->run, &io->measures);
}

static int execute(struct wp_run *run, const void *params, const char *const *operands,
	size_t operand_count, struct wp_err *err)
{
	struct io io = { .run = run, .params = params };
	int rc = read_options(&io, err);

	if (!rc)
		rc = wp_measure_targets_open(run, operands, operand_count,
			wp_io_needed_bytes(&io.options), &io.targets, err);
	if (!rc)
		rc = measure(&io, err);
	fill(&io, rc);
	wp_measures_release(&io.measures);
	wp_io_study_free(io.study);
	wp_measure_targets_release(&io.targets);
	return rc;
}

static const struct wp_opt *const tables[] = { io_opts, wp_common_opts, wp_output_opts, NULL };

static const char *const formats[] = { "text", "json", "csv", "html", "bonnie-csv",
	"bonnie-csv-1.03", "iozone", NULL };

const struct wp_command wp_cmd_io = {
	.name = "io",
	.operands = "TARGET...",
	.summary = "measure reads and writes of big and small files, as bonnie++ and iozone do",
	.epilogue = "A row that the page cache served is marked by what was really read from the\n"
		    "device meanwhile (cached: yes).\n"
		    "\n"
		    "Examples:\n"
		    "  walprobe io --quick /mnt/a /mnt/b\n"
		    "  walprobe io --tests=bonnie --format=bonnie-csv /mnt/a\n"
		    "  walprobe io --tests=iozone --record-sizes=8kB-1MB --format=iozone "
		    "image:ext4 image:xfs\n",
	.tables = tables,
	.formats = formats,
	.params_size = sizeof(struct io_params),
	.operands_minimum = 1,
	.operands_maximum = 1000,
	.execute = execute,
};
