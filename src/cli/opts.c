/* SPDX-License-Identifier: PostgreSQL */
#include "cli/opts_iter.h"
#include "walprobe/mem.h"
#include "walprobe/units.h"

static void *field_of(void *params, const struct wp_opt *opt)
{
	return (char *)params + opt->offset;
}

static int64_t bare_unit_ns(enum wp_opt_type type)
{
	switch (type) {
	case WP_OPT_DURATION_S:
		return WP_NS_PER_S;
	case WP_OPT_DURATION_MS:
		return WP_NS_PER_MS;
	case WP_OPT_DURATION_US:
		return WP_NS_PER_US;
	default:
		return 0;
	}
}

static bool is_number(enum wp_opt_type type)
{
	return type == WP_OPT_INT || type == WP_OPT_SIZE || wp_opt_is_duration(type);
}

static int parse_number(
	const struct wp_opt *opt, const char *text, int64_t *value, struct wp_err *err)
{
	if (opt->type == WP_OPT_INT)
		return wp_parse_int(text, value, err);
	if (opt->type == WP_OPT_SIZE)
		return wp_parse_size_bytes(text, value, err);
	return wp_parse_duration_ns(text, bare_unit_ns(opt->type), value, err);
}

static int range_error(const struct wp_opt *opt, const char *text, struct wp_err *err)
{
	char low[64];
	char high[64];

	wp_opt_number_text(opt, opt->minimum, low, sizeof(low));
	wp_opt_number_text(opt, opt->maximum, high, sizeof(high));
	return wp_fail(err, WP_E_USAGE, 0, "\"%s\" is out of range: %s to %s are allowed", text,
		low, high);
}

static int set_number(const struct wp_opt *opt, const char *text, void *field, struct wp_err *err)
{
	int64_t value;
	int rc = parse_number(opt, text, &value, err);

	if (rc)
		return rc;
	if (value < opt->minimum || value > opt->maximum)
		return range_error(opt, text, err);
	memcpy(field, &value, sizeof(value));
	return 0;
}

static int set_choice(const char *const *choices, const char *text, void *field, struct wp_err *err)
{
	char list[256] = "";

	for (size_t i = 0; choices[i]; i++) {
		size_t used = strlen(list);

		if (strcmp(choices[i], text) == 0) {
			memcpy(field, &choices[i], sizeof(choices[i]));
			return 0;
		}
		(void)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "", choices[i]);
	}
	(void)wp_fail(err, WP_E_USAGE, 0, "\"%s\" is not one of its values", text);
	wp_err_hint(err, "Values are %s.", list);
	return -WP_E_USAGE;
}

static void add_text(struct wp_texts *texts, const char *text)
{
	texts->values = wp_xreallocarray(texts->values, texts->count + 1, sizeof(*texts->values));
	texts->values[texts->count++] = text;
}

/* Every field gets its value here, defaults included. */
static int set_value(const struct wp_command *command, const struct wp_opt *opt, const char *text,
	void *params, struct wp_err *err)
{
	void *field = field_of(params, opt);
	bool is_set = true;
	int rc = 0;

	switch (opt->type) {
	case WP_OPT_FLAG:
		memcpy(field, &is_set, sizeof(is_set));
		break;
	case WP_OPT_TEXT:
		memcpy(field, &text, sizeof(text));
		break;
	case WP_OPT_TEXTS:
		add_text(field, text);
		break;
	case WP_OPT_CHOICE:
		rc = set_choice(wp_opt_choices(command, opt), text, field, err);
		break;
	default:
		rc = set_number(opt, text, field, err);
		break;
	}
	if (rc)
		wp_err_prefix(err, "option --%s: ", opt->name);
	return rc;
}

static int set_defaults(const struct wp_command *command, void *params, struct wp_err *err)
{
	int rc = 0;

	memset(params, 0, command->params_size);
	for (struct wp_opt_iter it = wp_opt_first(command); !rc && it.opt; wp_opt_next(&it)) {
		const char *standard = wp_opt_standard(command, it.opt);

		if (standard)
			rc = set_value(command, it.opt, standard, params, err);
	}
	return rc;
}

static const struct wp_opt *find_long(
	const struct wp_command *command, const char *word, size_t length)
{
	for (struct wp_opt_iter it = wp_opt_first(command); it.opt; wp_opt_next(&it))
		if (strlen(it.opt->name) == length && strncmp(it.opt->name, word, length) == 0)
			return it.opt;
	return NULL;
}

static const struct wp_opt *find_letter(const struct wp_command *command, char letter)
{
	for (struct wp_opt_iter it = wp_opt_first(command); it.opt; wp_opt_next(&it))
		if (it.opt->letter == letter)
			return it.opt;
	return NULL;
}

static int unknown_option(const char *word, struct wp_err *err)
{
	return wp_fail(err, WP_E_USAGE, 0, "unknown option \"%s\"", word);
}

/* where in the words the parser stands */
struct cursor {
	const struct wp_command *command;
	const char *const *words;
	size_t count;
	size_t next;
	void *params;
	struct wp_err *err;
};

static int take_argument(struct cursor *at, const struct wp_opt *opt)
{
	if (at->next == at->count)
		return wp_fail(at->err, WP_E_USAGE, 0, "option --%s needs a value (%s)", opt->name,
			opt->argument);
	return set_value(at->command, opt, at->words[at->next++], at->params, at->err);
}

static int parse_long(struct cursor *at, const char *word)
{
	const char *name = word + 2;
	const char *equals = strchr(name, '=');
	size_t length = equals ? (size_t)(equals - name) : strlen(name);
	const struct wp_opt *opt = find_long(at->command, name, length);

	if (!opt)
		return unknown_option(word, at->err);
	if (opt->type == WP_OPT_FLAG) {
		if (equals)
			return wp_fail(
				at->err, WP_E_USAGE, 0, "option --%s takes no value", opt->name);
		return set_value(at->command, opt, NULL, at->params, at->err);
	}
	if (equals)
		return set_value(at->command, opt, equals + 1, at->params, at->err);
	return take_argument(at, opt);
}

static int parse_letters(struct cursor *at, const char *word)
{
	for (const char *letter = word + 1; *letter; letter++) {
		const struct wp_opt *opt = find_letter(at->command, *letter);
		int rc;

		if (!opt)
			return unknown_option(word, at->err);
		if (opt->type != WP_OPT_FLAG)
			return letter[1] ? set_value(at->command, opt, letter + 1, at->params,
						   at->err)
					 : take_argument(at, opt);
		rc = set_value(at->command, opt, NULL, at->params, at->err);
		if (rc)
			return rc;
	}
	return 0;
}

static int check_operands(const struct wp_command *command, size_t count, struct wp_err *err)
{
	if (count >= command->operands_minimum && count <= command->operands_maximum)
		return 0;
	if (count < command->operands_minimum)
		return wp_fail(err, WP_E_USAGE, 0, "walprobe %s needs %s", command->name,
			command->operands);
	return wp_fail(err, WP_E_USAGE, 0, "too many arguments for walprobe %s", command->name);
}

int wp_opts_parse(const struct wp_command *command, const char *const *words, size_t count,
	void *params, const char **operands, size_t *operand_count, struct wp_err *err)
{
	struct cursor at = { command, words, count, 0, params, err };
	bool is_options_end = false;
	int rc = set_defaults(command, params, err);

	*operand_count = 0;
	while (!rc && at.next < count) {
		const char *word = words[at.next++];

		if (is_options_end || word[0] != '-' || !word[1])
			operands[(*operand_count)++] = word;
		else if (strcmp(word, "--") == 0)
			is_options_end = true;
		else if (word[1] == '-')
			rc = parse_long(&at, word);
		else
			rc = parse_letters(&at, word);
	}
	if (!rc)
		rc = check_operands(command, *operand_count, err);
	if (rc && err && !err->hint[0])
		wp_err_hint(err, "Try \"walprobe %s --help\".", command->name);
	return rc;
}

void wp_opts_release(const struct wp_command *command, void *params)
{
	for (struct wp_opt_iter it = wp_opt_first(command); it.opt; wp_opt_next(&it)) {
		struct wp_texts *texts = field_of(params, it.opt);

		if (it.opt->type != WP_OPT_TEXTS)
			continue;
		free(texts->values);
		memset(texts, 0, sizeof(*texts));
	}
}

static const char *joined(const struct wp_texts *texts, char *out, size_t size)
{
	out[0] = '\0';
	for (size_t i = 0; i < texts->count; i++) {
		size_t used = strlen(out);

		(void)snprintf(out + used, size - used, "%s%s", i ? "," : "", texts->values[i]);
	}
	return texts->count ? out : NULL;
}

/* The value in force, as a user would type it; NULL when there is none. */
static const char *value_text(const struct wp_opt *opt, const void *params, char *out, size_t size)
{
	const void *field = (const char *)params + opt->offset;
	int64_t number;
	const char *text;
	bool is_set;

	if (is_number(opt->type)) {
		memcpy(&number, field, sizeof(number));
		wp_opt_number_text(opt, number, out, size);
		return out;
	}
	switch (opt->type) {
	case WP_OPT_FLAG:
		memcpy(&is_set, field, sizeof(is_set));
		return is_set ? "on" : "off";
	case WP_OPT_TEXTS:
		return joined(field, out, size);
	default:
		memcpy(&text, field, sizeof(text));
		return text;
	}
}

/* Options that say where the report goes and not how it was measured. */
static bool is_about_output(const struct wp_opt *opt)
{
	for (size_t i = 0; wp_output_opts[i].name; i++)
		if (wp_output_opts[i].name == opt->name)
			return true;
	return false;
}

void wp_opts_record(const struct wp_command *command, const void *params, struct wp_result *result)
{
	char text[1024];

	for (struct wp_opt_iter it = wp_opt_first(command); it.opt; wp_opt_next(&it)) {
		const char *value = value_text(it.opt, params, text, sizeof(text));
		const char *standard = wp_opt_standard(command, it.opt);
		bool is_standard = !standard ? !value || strcmp(value, "off") == 0
					     : value && strcmp(value, standard) == 0;

		if (!value || is_about_output(it.opt))
			continue;
		wp_result_add_parameter(result, it.opt->name, value,
			it.opt->type == WP_OPT_INT ? WP_KIND_INT : WP_KIND_TEXT,
			is_standard ? "default" : "option");
	}
}

static bool breach(char *problem, size_t size, const char *name, const char *what)
{
	(void)snprintf(problem, size, "%s: %s", name, what);
	return false;
}

static bool is_unique(const struct wp_command *command, const struct wp_opt *opt)
{
	for (struct wp_opt_iter it = wp_opt_first(command); it.opt; wp_opt_next(&it)) {
		if (it.opt == opt)
			continue;
		if (strcmp(it.opt->name, opt->name) == 0)
			return false;
		if (opt->letter && it.opt->letter == opt->letter)
			return false;
	}
	return true;
}

bool wp_opts_check(const struct wp_command *command, char *problem, size_t size)
{
	void *params = wp_xcalloc(1, command->params_size);
	bool is_good = true;

	if (set_defaults(command, params, NULL) != 0)
		is_good = breach(problem, size, command->name, "a default is refused");
	for (struct wp_opt_iter it = wp_opt_first(command); is_good && it.opt; wp_opt_next(&it)) {
		const char *help = it.opt->help;

		if (!is_unique(command, it.opt))
			is_good = breach(problem, size, it.opt->name, "name or letter twice");
		else if (!help || !help[0] || help[strlen(help) - 1] == '.')
			is_good = breach(problem, size, it.opt->name, "help is not a clause");
		else if ((it.opt->type == WP_OPT_FLAG) != !it.opt->argument)
			is_good = breach(problem, size, it.opt->name, "argument word");
		else if (it.opt->offset >= command->params_size)
			is_good = breach(problem, size, it.opt->name, "offset");
	}
	wp_opts_release(command, params);
	free(params);
	return is_good;
}
