/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"
#include "walprobe/expr.h"
#include "walprobe/mem.h"

#include <malloc.h>
#include <math.h>

#define DRAWS 100000
#define BINS 10

struct client {
	struct wp_symbols symbols;
	struct wp_vars vars;
	struct wp_random random;
	struct wp_expr_env env;
	struct wp_value debugged;
};

static void keep_debugged(void *arg, const struct wp_value *value)
{
	*(struct wp_value *)arg = *value;
}

/* Compile text for a client with the given variables, "name=value" up to NULL. */
static int compile(struct client *client, const char *text, struct wp_expr *expr,
	const char *const *definitions, struct wp_expr_fault *fault)
{
	int result;

	memset(client, 0, sizeof(*client));
	memset(expr, 0, sizeof(*expr));
	result = wp_expr_compile(text, strlen(text), &client->symbols, expr, NULL, fault);
	wp_vars_init(&client->vars, &client->symbols);
	wp_random_init(&client->random, 1);
	client->env = (struct wp_expr_env){ .vars = &client->vars,
		.random = &client->random,
		.debug = keep_debugged,
		.debug_arg = &client->debugged };
	for (; definitions && *definitions; definitions++)
		assert_int_equal(wp_vars_define(&client->vars, *definitions, NULL), 0);
	wp_vars_set_default(&client->vars, "default_seed", 42);
	return result;
}

static void release(struct client *client, struct wp_expr *expr)
{
	wp_expr_release(expr);
	wp_vars_release(&client->vars);
	wp_symbols_release(&client->symbols);
}

static const char *const variables[] = { "i=+3", "neg=-10.1", "n=null", "t=t", "y=YE", "f=of",
	"no=N", "on=ON", "d=1.0", "e=1e3", "bad=truely", "o=o", "empty=", "sign=+",
	"big=9223372036854775808", "max=9223372036854775807", "min=-9223372036854775808", NULL };

/* "type text" of an expression, or "error: ..." */
static void evaluate(const char *text, char *out, size_t size)
{
	struct client client;
	struct wp_expr expr;
	struct wp_expr_fault fault;
	struct wp_value value;
	struct wp_err err = { 0 };
	char number[WP_VALUE_TEXT_SIZE];

	if (compile(&client, text, &expr, variables, &fault) < 0) {
		(void)snprintf(
			out, size, "fault: %s (%s) at %zu", fault.message, fault.more, fault.at);
	} else if (wp_expr_eval(&expr, &client.env, &value, &err) < 0) {
		(void)snprintf(out, size, "error: %s", err.message);
	} else {
		(void)wp_value_format(&value, number);
		(void)snprintf(out, size, "%s %s", wp_value_type_name(value.type), number);
	}
	release(&client, &expr);
}

static void check_table(const char *const (*rows)[2], size_t count)
{
	char out[1000];

	for (size_t i = 0; i < count; i++) {
		evaluate(rows[i][0], out, sizeof(out));
		if (strcmp(out, rows[i][1]) != 0)
			print_message("for %s\n", rows[i][0]);
		assert_string_equal(out, rows[i][1]);
	}
}

static void expressions_have_the_values_of_pgbench(void **state)
{
	static const char *const rows[][2] = {
		{ "1 + 2 * 3", "int 7" },
		{ "(1 + 2) * 3", "int 9" },
		{ "1 - 2 - 3", "int -4" },
		{ "-7 / 2", "int -3" },
		{ "-7 % 3", "int -1" },
		{ "7.0 / 2", "double 3.5" },
		{ "1.0 / 0", "double Infinity" },
		{ "0.0 / 0", "double NaN" },
		{ "~ 1 + 2", "int -4" },
		{ "~ 1 | 6", "int -2" },
		{ "2 + 3 << 1", "int 10" },
		{ "not 1 = 2 and true", "boolean true" },
		{ "1 < 2 is true", "boolean true" },
		{ "1 = 2 is null", "boolean false" },
		{ "null is null is null", "boolean false" },
		{ "true or true and false", "boolean true" },
		{ "null and 1/0 = 1", "null NULL" },
		{ "false and 1/0 = 1", "boolean false" },
		{ "true or 1/0 = 1", "boolean true" },
		{ "case when :n then 1 when 0.5 then 2 else 1/0 end", "int 2" },
		{ "case when false then 1 end", "null NULL" },
		{ "1 + case when true then 1 else 2 end * 5", "int 6" },
		{ "-9223372036854775808", "int -9223372036854775808" },
		{ "abs(:min)", "int -9223372036854775808" },
		{ "1 << 65", "int 2" },
		{ "-1 >> 63", "int -1" },
		{ "int(2.5)", "int 2" },
		{ "int(3.5)", "int 4" },
		{ "5.5 % 2", "int 0" },
		{ "least(1, 2.5)", "double 1" },
		{ "least(,4)", "int 4" },
		{ "greatest(-1.0, -2)", "double -1" },
		{ "greatest(1, null)", "null NULL" },
		{ "POW(2, 10)", "double 1024" },
		{ "pi()", "double 3.14159265358979" },
		{ "debug(1.5)", "double 1.5" },
		{ "hash(10, 5432)", "int -5817877081768721676" },
		{ "hash_murmur2(10, 5432)", "int -5817877081768721676" },
		{ "hash_fnv1a(10, 5432)", "int -7793829335365542153" },
		{ "hash(10) = hash(10, 42)", "boolean true" },
		{ "permute(0, 2, 5433)", "int 1" },
		{ "permute(:max - 11, :max - 10, 5432)", "int 520382784483822430" },
		{ "permute(:max - 12, :max - 10, 5432)", "int 1143715004660802862" },
		{ "permute(15, 10) = permute(5, 10)", "boolean true" },
		{ "permute(7, 1)", "int 0" },
		{ "random(5, 5)", "int 5" },
		{ "1 \\\n + \\\r\n 1", "int 2" },
		{ "1\n + ;", "int 1" },
	};

	(void)state;
	check_table(rows, WP_COUNT(rows));
}

static void variables_take_the_type_that_they_look_like(void **state)
{
	static const char *const rows[][2] = {
		{ ":i", "int 3" },
		{ ":neg", "double -10.1" },
		{ ":n", "null NULL" },
		{ ":t", "boolean true" },
		{ ":y", "boolean true" },
		{ ":on", "boolean true" },
		{ ":f", "boolean false" },
		{ ":no", "boolean false" },
		{ ":d", "double 1" },
		{ ":e", "double 1000" },
		{ ":bad", "error: malformed variable \"bad\" value: \"truely\"" },
		{ ":o", "error: malformed variable \"o\" value: \"o\"" },
		{ ":empty", "error: malformed variable \"empty\" value: \"\"" },
		{ ":sign", "error: malformed variable \"sign\" value: \"+\"" },
		{ ":big", "error: value \"9223372036854775808\" is out of range for type bigint" },
		{ ":nosuch", "error: undefined variable \"nosuch\"" },
	};

	(void)state;
	check_table(rows, WP_COUNT(rows));
}

static void evaluation_fails_with_the_words_of_pgbench(void **state)
{
	static const char *const rows[][2] = {
		{ "1/0", "error: division by zero" },
		{ "mod(1, 0)", "error: division by zero" },
		{ ":max + 1", "error: bigint add out of range" },
		{ ":min - 1", "error: bigint sub out of range" },
		{ ":max * 2", "error: bigint mul out of range" },
		{ ":min / -1", "error: bigint div out of range" },
		{ "int(1E32)", "error: double to int overflow for "
			       "100000000000000005366162204393472.000000" },
		{ "int(1.0/0)", "error: double to int overflow for Infinity" },
		{ "int(9223372036854775807.0)",
			"error: double to int overflow for 9223372036854775808.000000" },
		{ "true + 2", "error: cannot coerce boolean to int" },
		{ "true + 2.0", "error: cannot coerce boolean to double" },
		{ "ln(true)", "error: cannot coerce boolean to double" },
		{ "abs(true)", "error: cannot coerce boolean to double" },
		{ "not 0.0", "error: cannot coerce double to boolean" },
		{ "1 or true", "error: cannot coerce int to boolean" },
		{ "false or 1", "error: cannot coerce int to boolean" },
		{ "random(5, 3)", "error: empty range given to random" },
		{ "random(:min, :max)", "error: random range is too large" },
		{ "random(-1, :max)", "error: random range is too large" },
		{ "random_gaussian(0, 10, 1)",
			"error: gaussian parameter must be at least 2.000000 (not 1.000000)" },
		{ "random_exponential(0, 10, 0)",
			"error: exponential parameter must be greater than zero (not 0.000000)" },
		{ "random_zipfian(0, 10, 1)",
			"error: zipfian parameter must be in range [1.001, 1000] (not 1.000000)" },
		{ "permute(0, 0)", "error: permute size parameter must be greater than zero" },
	};

	(void)state;
	check_table(rows, WP_COUNT(rows));
}

static void bad_expressions_are_refused_at_their_place(void **state)
{
	static const char *const rows[][2] = {
		{ "", "fault: syntax error () at 0" },
		{ "1 +", "fault: syntax error () at 2" },
		{ "1 +\n", "fault: syntax error () at 3" },
		{ "1 2", "fault: syntax error () at 2" },
		{ "(1", "fault: syntax error () at 1" },
		{ "1 < 2 < 3", "fault: syntax error () at 6" },
		{ "1 < 2 = 3", "fault: syntax error () at 6" },
		{ "least(1,)", "fault: syntax error () at 8" },
		{ "case end", "fault: syntax error () at 7" },
		{ "case true when 1 then 1 end", "fault: syntax error () at 8" },
		{ "1 is 2", "fault: syntax error () at 5" },
		{ "9223372036854775808", "fault: syntax error () at 18" },
		{ "1 - 9223372036854775808", "fault: syntax error () at 22" },
		{ "9223372036854775809",
			"fault: bigint constant overflow (9223372036854775809) at 18" },
		{ "1e400", "fault: double constant overflow (1e400) at 4" },
		{ "1e-400", "fault: double constant overflow (1e-400) at 5" },
		{ "1 ; 2", "fault: unexpected character (;) at 2" },
		{ "1 \\ 2", "fault: unexpected character (\\) at 2" },
		{ ": x", "fault: unexpected character (:) at 0" },
		{ "nosuch(1)", "fault: unexpected function name (nosuch) at 5" },
		{ "abs", "fault: syntax error () at 2" },
		{ "abs(1, 2)", "fault: unexpected number of arguments (abs) at 8" },
		{ "hash()", "fault: unexpected number of arguments (hash) at 5" },
		{ "permute(1)", "fault: unexpected number of arguments (permute) at 9" },
		{ "permute(1,2,3,4)", "fault: unexpected number of arguments (permute) at 15" },
		{ "greatest()", "fault: at least one argument expected (greatest) at 9" },
		{ "least(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17)",
			"fault: too many function arguments, maximum is 16 (least) at 47" },
	};

	(void)state;
	check_table(rows, WP_COUNT(rows));
}

/* before repeated, then middle, then after repeated */
static char *nest(const char *before, const char *middle, const char *after, size_t times)
{
	size_t room = times * (strlen(before) + strlen(after)) + strlen(middle) + 1;
	char *text = wp_xcalloc(room, 1);
	size_t used = 0;

	for (size_t i = 0; i < times; i++)
		used += (size_t)snprintf(text + used, room - used, "%s", before);
	used += (size_t)snprintf(text + used, room - used, "%s", middle);
	for (size_t i = 0; i < times; i++)
		used += (size_t)snprintf(text + used, room - used, "%s", after);
	return text;
}

static void nesting_ends_in_an_error_and_length_does_not(void **state)
{
	static const struct {
		const char *before;
		const char *after;
	} nestings[] = {
		{ "(", ")" },
		{ "-", "" },
		{ "+", "" },
		{ "~", "" },
		{ "not ", "" },
		{ "abs(", ")" },
		{ "1 + (", ")" },
		{ "least(1,2,", ")" },
		{ "case when true then ", " end" },
		{ "case when ", " then 1 end" },
	};
	char out[1000];

	(void)state;
	for (size_t i = 0; i < WP_COUNT(nestings); i++) {
		char *shallow = nest(nestings[i].before, "null", nestings[i].after, 300);
		char *deep = nest(nestings[i].before, "null", nestings[i].after, 20000);

		evaluate(shallow, out, sizeof(out));
		assert_true(strncmp(out, "null", 4) == 0 || strncmp(out, "int 1", 5) == 0);
		evaluate(deep, out, sizeof(out));
		assert_memory_equal(out, "fault: expression is nested too deeply", 38);
		free(shallow);
		free(deep);
	}
	{
		char *chain = nest("1 + ", "1", "", 100000);
		char *cases = nest("", "case", " when false then 1", 20000);
		char *whole = wp_xasprintf("%s end", cases);

		evaluate(chain, out, sizeof(out));
		assert_string_equal(out, "int 100001");
		evaluate(whole, out, sizeof(out));
		assert_string_equal(out, "null NULL");
		free(chain);
		free(cases);
		free(whole);
	}
}

static void debug_passes_its_value_on(void **state)
{
	struct client client;
	struct wp_expr expr;
	struct wp_value value;

	(void)state;
	assert_int_equal(compile(&client, "1 + debug(4)", &expr, NULL, NULL), 0);
	assert_int_equal(wp_expr_eval(&expr, &client.env, &value, NULL), 0);
	assert_int_equal(value.integer, 5);
	assert_int_equal(client.debugged.integer, 4);
	release(&client, &expr);
}

/* How often each of BINS values comes out of an expression over 1 .. BINS. */
static void draw(const char *text, int64_t counts[BINS + 1])
{
	struct client client;
	struct wp_expr expr;
	struct wp_value value;

	memset(counts, 0, (BINS + 1) * sizeof(*counts));
	assert_int_equal(compile(&client, text, &expr, NULL, NULL), 0);
	for (int i = 0; i < DRAWS; i++) {
		assert_int_equal(wp_expr_eval(&expr, &client.env, &value, NULL), 0);
		assert_in_range(value.integer, 1, BINS);
		counts[value.integer]++;
	}
	release(&client, &expr);
}

/* Every count lies within five standard deviations of what its probability asks for. */
static void check_counts(const int64_t counts[BINS + 1], const double probability[BINS + 1])
{
	double total = 0;

	for (int i = 1; i <= BINS; i++) {
		double expected = DRAWS * probability[i];
		double deviation = sqrt(expected * (1 - probability[i]));

		assert_true(fabs((double)counts[i] - expected) <= 5 * deviation);
		total += probability[i];
	}
	assert_true(fabs(total - 1) < 1e-9);
}

static double normal_below(double x)
{
	return 0.5 * erfc(-x / sqrt(2.0));
}

static void random_functions_follow_their_distributions(void **state)
{
	const double cut = exp(-2.5);
	double probability[BINS + 1] = { 0 };
	int64_t counts[BINS + 1];
	double harmonic = 0;

	(void)state;
	for (int i = 1; i <= BINS; i++)
		probability[i] = 1.0 / BINS;
	draw("random(1, 10)", counts);
	check_counts(counts, probability);

	for (int i = 1; i <= BINS; i++)
		probability[i] = (exp(-2.5 * (i - 1) / BINS) - exp(-2.5 * i / BINS)) / (1 - cut);
	draw("random_exponential(1, 10, 2.5)", counts);
	check_counts(counts, probability);

	for (int i = 1; i <= BINS; i++)
		probability[i] = (normal_below(3.0 * (2.0 * i / BINS - 1)) -
					 normal_below(3.0 * (2.0 * (i - 1) / BINS - 1))) /
				 (normal_below(3.0) - normal_below(-3.0));
	draw("random_gaussian(1, 10, 3.0)", counts);
	check_counts(counts, probability);

	for (int i = 1; i <= BINS; i++)
		harmonic += pow(i, -1.5);
	for (int i = 1; i <= BINS; i++)
		probability[i] = pow(i, -1.5) / harmonic;
	draw("random_zipfian(1, 10, 1.5)", counts);
	check_counts(counts, probability);
}

static void extreme_ranges_and_parameters_stay_in_range(void **state)
{
	static const char *const exprs[] = {
		"random(1, 9223372036854775807)",
		"random_gaussian(1, 9223372036854775807, 2)",
		"random_exponential(1, 9223372036854775807, 1e-17)",
		"random_exponential(1, 9223372036854775807, 1.0/0)",
		"random_gaussian(1, 9223372036854775807, 1.0/0)",
		"random_zipfian(1, 9223372036854775807, 1.001)",
		"random_zipfian(1, 9223372036854775807, 1000)",
		"random(-9223372036854775808, -2) + 9223372036854775807 + 2",
	};
	struct client client;
	struct wp_expr expr;
	struct wp_value value;

	(void)state;
	for (size_t i = 0; i < WP_COUNT(exprs); i++) {
		assert_int_equal(compile(&client, exprs[i], &expr, NULL, NULL), 0);
		for (int draws = 0; draws < 1000; draws++) {
			assert_int_equal(wp_expr_eval(&expr, &client.env, &value, NULL), 0);
			assert_true(value.integer >= 1);
		}
		release(&client, &expr);
	}
}

static void permute_is_a_permutation(void **state)
{
	static const int64_t sizes[] = { 1, 2, 3, 7, 8, 9, 100, 1023, 1024, 1025 };
	struct client client;
	struct wp_expr expr;
	struct wp_value value;

	(void)state;
	assert_int_equal(compile(&client, "permute(:v, :size, 7)", &expr, NULL, NULL), 0);
	for (size_t i = 0; i < WP_COUNT(sizes); i++) {
		bool seen[1025] = { false };

		for (int64_t v = 0; v < sizes[i]; v++) {
			wp_vars_set(&client.vars, wp_symbols_find(&client.symbols, NULL, "v"),
				(struct wp_value){ .type = WP_VALUE_INT, .integer = v });
			wp_vars_set(&client.vars, wp_symbols_find(&client.symbols, NULL, "size"),
				(struct wp_value){ .type = WP_VALUE_INT, .integer = sizes[i] });
			assert_int_equal(wp_expr_eval(&expr, &client.env, &value, NULL), 0);
			assert_in_range(value.integer, 0, sizes[i] - 1);
			assert_false(seen[value.integer]);
			seen[value.integer] = true;
		}
	}
	release(&client, &expr);
}

static void values_become_texts_and_texts_values(void **state)
{
	static const struct {
		struct wp_value value;
		const char *text;
	} rows[] = {
		{ { .type = WP_VALUE_NULL }, "NULL" },
		{ { .type = WP_VALUE_BOOLEAN, .boolean = true }, "true" },
		{ { .type = WP_VALUE_BOOLEAN }, "false" },
		{ { .type = WP_VALUE_INT }, "0" },
		{ { .type = WP_VALUE_INT, .integer = -5 }, "-5" },
		{ { .type = WP_VALUE_INT, .integer = INT64_MIN }, "-9223372036854775808" },
		{ { .type = WP_VALUE_INT, .integer = INT64_MAX }, "9223372036854775807" },
		{ { .type = WP_VALUE_DOUBLE, .real = 0.1 + 0.2 }, "0.3" },
		{ { .type = WP_VALUE_DOUBLE, .real = -1.7976931348623157e308 },
			"-1.79769313486232e+308" },
		{ { .type = WP_VALUE_DOUBLE, .real = -INFINITY }, "-Infinity" },
	};
	struct wp_symbols symbols = { 0 };
	struct wp_vars vars;
	int32_t slot = wp_symbols_add(&symbols, "x", 1);
	size_t length;

	(void)state;
	wp_vars_init(&vars, &symbols);
	assert_null(wp_vars_text(&vars, slot, &length));
	for (size_t i = 0; i < WP_COUNT(rows); i++) {
		wp_vars_set(&vars, slot, rows[i].value);
		assert_string_equal(wp_vars_text(&vars, slot, &length), rows[i].text);
		assert_int_equal(length, strlen(rows[i].text));
	}
	wp_vars_release(&vars);
	wp_symbols_release(&symbols);
}

static void stored_texts_are_kept_whole(void **state)
{
	static const char long_text[] = "a text that is longer than any number could ever become";
	struct wp_symbols symbols = { 0 };
	struct wp_vars vars;
	struct wp_err err = { 0 };
	int32_t slot = wp_symbols_add(&symbols, "p_x", 3);

	(void)state;
	wp_vars_init(&vars, &symbols);
	assert_int_equal(wp_vars_set_text(&vars, "gset", "p_", "x", long_text, &err), 0);
	assert_string_equal(wp_vars_text(&vars, slot, NULL), long_text);
	/* its own text, and a shorter one */
	assert_int_equal(
		wp_vars_set_text(&vars, "gset", NULL, "p_x", wp_vars_text(&vars, slot, NULL), &err),
		0);
	assert_string_equal(wp_vars_text(&vars, slot, NULL), long_text);
	assert_int_equal(wp_vars_set_text(&vars, "gset", "", "p_x", "s", &err), 0);
	assert_string_equal(wp_vars_text(&vars, slot, NULL), "s");
	/* a name that nothing reads is no error, a name that is none is */
	assert_int_equal(wp_vars_set_text(&vars, "gset", "p", "1", "s", &err), 0);
	assert_int_equal(wp_vars_set_text(&vars, "gset", NULL, "?column?", "s", &err), -WP_E_DATA);
	assert_string_equal(err.message, "gset: invalid variable name: \"?column?\"");
	assert_int_equal(wp_vars_set_text(&vars, "aset", "1", "x", "s", &err), -WP_E_DATA);
	assert_int_equal(wp_vars_set_text(&vars, "aset", NULL, "", "s", &err), -WP_E_DATA);
	wp_vars_release(&vars);
	wp_symbols_release(&symbols);
}

static void definitions_are_checked(void **state)
{
	static const char *const bad[][2] = {
		{ "foobla", "invalid variable definition: \"foobla\"" },
		{ "=1", "invalid variable definition: \"=1\"" },
		{ "1x=1", "-D: invalid variable name: \"1x\"" },
		{ "a b=1", "-D: invalid variable name: \"a b\"" },
	};
	struct wp_symbols symbols = { 0 };
	struct wp_vars vars;
	int32_t slot = wp_symbols_define(&symbols, "a", 1);

	(void)state;
	wp_vars_init(&vars, &symbols);
	for (size_t i = 0; i < WP_COUNT(bad); i++) {
		struct wp_err err = { 0 };

		assert_int_equal(wp_vars_define(&vars, bad[i][0], &err), -WP_E_USAGE);
		assert_string_equal(err.message, bad[i][1]);
	}
	assert_int_equal(wp_vars_define(&vars, "a=b=c", NULL), 0);
	assert_string_equal(wp_vars_text(&vars, slot, NULL), "b=c");
	wp_vars_set_default(&vars, "a", 5);
	wp_vars_set_default(&vars, "nobody", 5);
	assert_string_equal(wp_vars_text(&vars, slot, NULL), "b=c");
	wp_vars_release(&vars);
	wp_symbols_release(&symbols);
}

static void many_names_keep_their_slots(void **state)
{
	struct wp_symbols symbols = { 0 };
	char name[16];

	(void)state;
	assert_int_equal(wp_symbols_find(&symbols, NULL, "v1"), -1);
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 5000; i++) {
			int length = snprintf(name, sizeof(name), "v%d", i);

			assert_int_equal(wp_symbols_add(&symbols, name, (size_t)length), i);
		}
	assert_int_equal(wp_symbols_find(&symbols, "v", "4999"), 4999);
	assert_int_equal(wp_symbols_find(&symbols, NULL, "v5000"), -1);
	wp_symbols_release(&symbols);
}

static void evaluation_allocates_nothing(void **state)
{
	struct client client;
	struct wp_expr expr;
	struct wp_value value;
	struct mallinfo2 before;

	(void)state;
	assert_int_equal(
		compile(&client, "case when random(1, 2) = 1 then hash(:i) else permute(3, 9) end",
			&expr, variables, NULL),
		0);
	before = mallinfo2();
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(wp_expr_eval(&expr, &client.env, &value, NULL), 0);
		wp_vars_set(&client.vars, 0, value);
		assert_non_null(wp_vars_text(&client.vars, 0, NULL));
	}
	assert_int_equal(mallinfo2().uordblks, before.uordblks);
	release(&client, &expr);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(expressions_have_the_values_of_pgbench),
		cmocka_unit_test(variables_take_the_type_that_they_look_like),
		cmocka_unit_test(evaluation_fails_with_the_words_of_pgbench),
		cmocka_unit_test(bad_expressions_are_refused_at_their_place),
		cmocka_unit_test(nesting_ends_in_an_error_and_length_does_not),
		cmocka_unit_test(debug_passes_its_value_on),
		cmocka_unit_test(random_functions_follow_their_distributions),
		cmocka_unit_test(extreme_ranges_and_parameters_stay_in_range),
		cmocka_unit_test(permute_is_a_permutation),
		cmocka_unit_test(values_become_texts_and_texts_values),
		cmocka_unit_test(stored_texts_are_kept_whole),
		cmocka_unit_test(definitions_are_checked),
		cmocka_unit_test(many_names_keep_their_slots),
		cmocka_unit_test(evaluation_allocates_nothing),
	};

	return cmocka_run_group_tests_name("expr", tests, NULL, NULL);
}
