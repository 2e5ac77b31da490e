/* SPDX-License-Identifier: PostgreSQL */
#include "cli/commands.h"
#include "walprobe/import.h"
#include "walprobe/mem.h"
#include "walprobe/run.h"
#include "walprobe/stop.h"

#define STANDARD_INPUT 0
#define BLOCK_BYTES ((size_t)256 << 10)

struct import_params {
	struct wp_common common;
	struct wp_import_words words;
};

#define F(field) offsetof(struct import_params, field)

static const struct wp_opt import_opts[] = {
	{ "as", 0, WP_OPT_CHOICE, "FORMAT", F(words.format), NULL, 0, 0, wp_importer_names,
		"what the input is, where it is not recognised or taken for something else" },
	{ "label", 0, WP_OPT_TEXT, "TEXT", F(words.label), NULL, 0, 0, NULL,
		"name of what was measured, instead of the heading or machine in the input" },
	{ "host", 0, WP_OPT_TEXT, "NAME", F(words.host), NULL, 0, 0, NULL,
		"machine that it ran on, where the input does not say" },
	{ "fstype", 0, WP_OPT_TEXT, "TYPE", F(words.fstype), NULL, 0, 0, NULL,
		"file system, where the input does not say" },
	{ "options", 0, WP_OPT_TEXT, "LIST", F(words.mount_options), NULL, 0, 0, NULL,
		"mount options, where the input does not say" },
	{ .name = NULL },
};

/* A read that a signal of ours interrupted ends the import; others go on. */
static int read_block(const struct wp_os *os, int fd, const char *name, char *block, size_t *length,
	struct wp_err *err)
{
	int64_t got;

	do {
		int rc = wp_stop_fail(err);

		if (rc)
			return rc;
		got = wp_os_read(os, fd, block, BLOCK_BYTES);
	} while (got == -EINTR);
	if (got < 0)
		return wp_fail(err, WP_E_SYS, (int)-got, "could not read \"%s\"", name);
	*length = (size_t)got;
	return 0;
}

static int feed_all(const struct wp_os *os, int fd, const char *name,
	struct wp_import_reader *reader, struct wp_err *err)
{
	char *block = wp_xcalloc(BLOCK_BYTES, 1);
	size_t length = 0;
	int rc;

	do {
		rc = read_block(os, fd, name, block, &length, err);
		if (!rc && length)
			rc = wp_import_feed(reader, block, length, err);
	} while (!rc && length);
	free(block);
	return rc;
}

static int import_file(struct wp_run *run, const char *path, const struct wp_import_words *words,
	struct wp_err *err)
{
	bool is_standard_input = strcmp(path, "-") == 0;
	const char *name = is_standard_input ? "standard input" : path;
	struct wp_import_reader *reader;
	int closed;
	int fd;
	int rc;

	fd = is_standard_input ? STANDARD_INPUT : wp_os_open(run->os, path, O_RDONLY, 0);
	if (fd < 0)
		return wp_fail(err, WP_E_SYS, -fd, "could not open \"%s\"", path);
	reader = wp_import_open(run->result, name, words);
	rc = feed_all(run->os, fd, name, reader, err);
	closed = wp_import_close(reader, rc == 0, rc ? NULL : err);
	if (!is_standard_input)
		(void)wp_os_close(run->os, fd); /* read only: nothing can be lost */
	return rc ? rc : closed;
}

/* The document says nothing about the machine that walprobe imports on. */
static void forget_machine(struct wp_run *run)
{
	struct wp_result *old = run->result;
	struct wp_result *result = wp_result_new(old->command);

	for (size_t i = 0; i < old->argc; i++)
		wp_result_add_argument(result, old->argv[i]);
	for (size_t i = 0; i < old->parameter_count; i++)
		wp_result_add_parameter(result, old->parameters[i].key, old->parameters[i].value,
			old->parameters[i].kind, old->parameters[i].source);
	free(result->started);
	result->started = wp_xstrdup(old->started);
	wp_result_free(old);
	run->result = result;
}

static int execute(struct wp_run *run, const void *params, const char *const *operands,
	size_t operand_count, struct wp_err *err)
{
	static const char *const standard[] = { "-" };
	const struct import_params *import = params;
	size_t failed = 0;

	if (!operand_count) {
		operands = standard;
		operand_count = 1;
	}
	forget_machine(run);
	for (size_t i = 0; i < operand_count; i++) {
		struct wp_err one = { 0 };
		int rc = import_file(run, operands[i], &import->words, &one);

		if (!rc)
			continue;
		if (rc == -WP_E_STOPPED || operand_count == 1) {
			*err = one;
			return rc;
		}
		wp_run_problem(run, &one);
		failed++;
	}
	if (failed < operand_count)
		return 0;
	return wp_fail(err, WP_E_DATA, 0, "none of the %zu files was imported", operand_count);
}

static const struct wp_opt *const tables[] = { import_opts, wp_output_opts, NULL };

static const char *const formats[] = { "text", "json", "csv", "html", "pgbench", "bonnie-csv",
	"bonnie-csv-1.03", "iozone", NULL };

const struct wp_command wp_cmd_import = {
	.name = "import",
	.operands = "[FILE]...",
	.summary = "read published output of bonnie++, iozone, pgbench, pg_test_fsync, fio and "
		   "diskchecker.pl",
	.epilogue =
		"Without FILE, or where FILE is -, the standard input is read. Mail quotes, line\n"
		"breaks of mail, quoted-printable, prompts and pdsh's prefixes are undone. What\n"
		"was not understood is listed with its line number. Checks speak of machines\n"
		"elsewhere: the exit status does not follow them, and is 3 where nothing was\n"
		"understood.\n"
		"\n"
		"Examples:\n"
		"  walprobe import mail.txt\n"
		"  walprobe import --save mail.json --fstype xfs --options nobarrier mail.txt\n"
		"  bonnie++ -q -d /mnt/a -u postgres | walprobe import --as bonnie-csv -\n",
	.tables = tables,
	.formats = formats,
	.params_size = sizeof(struct import_params),
	.operands_minimum = 0,
	.operands_maximum = SIZE_MAX,
	.execute = execute,
	.is_reprint = true,
};
