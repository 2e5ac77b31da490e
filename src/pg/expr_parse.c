/* SPDX-License-Identifier: PostgreSQL */
/*
 * Precedence climbing over pgbench's grammar. A level binds tighter than those above it:
 *
 *	OR, AND, NOT, IS ISNULL NOTNULL, comparisons (which do not chain), | # & << >> ~,
 *	+ -, * / %, and the signs.
 *
 * As in the original, ~ binds as loosely as the bit operators: ~ 1 + 2 is ~ (1 + 2). A prefix
 * operator may stand wherever an operand may, and takes what its own level allows.
 */
#include "expr_internal.h"
#include "walprobe/mem.h"

#include <strings.h>

enum level {
	LEVEL_NONE, /* not a binary operator */
	LEVEL_OR,
	LEVEL_AND,
	LEVEL_NOT,
	LEVEL_IS,
	LEVEL_COMPARE,
	LEVEL_BIT,
	LEVEL_ADD,
	LEVEL_MUL,
	LEVEL_SIGN,
};

struct parser {
	struct expr_scanner scanner;
	struct wp_symbols *symbols;
	struct wp_expr *expr;
	struct wp_expr_fault *fault;
	int depth;
	size_t height; /* values on the stack when the code so far has run */
};

static const struct {
	const char *name;
	int32_t fewest;
	int32_t most;
} functions[FN_COUNT] = {
#define X(id, name, fewest, most) [id] = { name, fewest, most },
	EXPR_FUNCTIONS(X)
#undef X
};

static int parse_level(struct parser *parser, enum level lowest);

/* ---- errors ---------------------------------------------------------------------------------- */

static int fail_about(struct parser *parser, const char *message, const char *word)
{
	wp_expr_fault_set(
		parser->fault, message, word, word ? strlen(word) : 0, parser->scanner.next);
	return -WP_E_USAGE;
}

/* The token does not fit here. */
static int fail_here(struct parser *parser)
{
	if (parser->scanner.kind != TOKEN_ERROR)
		return fail_about(parser, "syntax error", NULL);
	*parser->fault = parser->scanner.fault;
	return -WP_E_USAGE;
}

static int expect(struct parser *parser, int kind)
{
	if (parser->scanner.kind != kind)
		return fail_here(parser);
	wp_expr_scan(&parser->scanner);
	return 0;
}

/* ---- code ------------------------------------------------------------------------------------ */

static struct wp_expr_step *emit(struct parser *parser, enum expr_op op)
{
	struct wp_expr *expr = parser->expr;
	struct wp_expr_step *step;

	if (expr->count == expr->capacity) {
		expr->capacity = expr->capacity ? expr->capacity * 2 : 8;
		expr->steps = wp_xreallocarray(expr->steps, expr->capacity, sizeof(*expr->steps));
	}
	step = &expr->steps[expr->count++];
	memset(step, 0, sizeof(*step));
	step->op = op;
	return step;
}

static int push_room(struct parser *parser)
{
	if (++parser->height > WP_EXPR_STACK_MAX)
		return fail_about(parser, "expression is nested too deeply", NULL);
	return 0;
}

static int emit_constant(struct parser *parser, struct wp_value value)
{
	emit(parser, OP_CONSTANT)->constant = value;
	return push_room(parser);
}

static int emit_int(struct parser *parser, int64_t integer)
{
	return emit_constant(parser, (struct wp_value){ .type = WP_VALUE_INT, .integer = integer });
}

static int emit_variable(struct parser *parser, const char *name, size_t length)
{
	emit(parser, OP_VARIABLE)->operand = wp_symbols_add(parser->symbols, name, length);
	return push_room(parser);
}

static void emit_call(struct parser *parser, enum expr_function function, int32_t args)
{
	struct wp_expr_step *step = emit(parser, OP_CALL);

	step->function = function;
	step->args = args;
	parser->height = parser->height + 1 - (size_t)args;
}

/* Emit a jump whose target is not known yet, and return its number. */
static size_t emit_jump(struct parser *parser, enum expr_op op)
{
	emit(parser, op);
	return parser->expr->count - 1;
}

static void land(struct parser *parser, size_t jump)
{
	parser->expr->steps[jump].operand = (int32_t)parser->expr->count;
}

/* ---- operands -------------------------------------------------------------------------------- */

static int find_function(struct parser *parser, enum expr_function *out)
{
	const char *word = parser->scanner.word;
	size_t length = parser->scanner.word_length;

	for (int i = 0; i < FN_COUNT; i++) {
		if (functions[i].name && strlen(functions[i].name) == length &&
			strncasecmp(functions[i].name, word, length) == 0) {
			*out = (enum expr_function)i;
			return 0;
		}
	}
	wp_expr_fault_set(
		parser->fault, "unexpected function name", word, length, parser->scanner.next);
	return -WP_E_USAGE;
}

/* The grammar lets the list begin with a comma: least(,1) is least(1). */
static int parse_arguments(struct parser *parser, int32_t *count)
{
	int result = expect(parser, '(');

	*count = 0;
	if (result < 0 || parser->scanner.kind == ')')
		return result;
	if (parser->scanner.kind == ',')
		wp_expr_scan(&parser->scanner);
	for (;;) {
		result = parse_level(parser, LEVEL_OR);
		if (result < 0)
			return result;
		++*count;
		if (parser->scanner.kind != ',')
			return parser->scanner.kind == ')' ? 0 : fail_here(parser);
		wp_expr_scan(&parser->scanner);
	}
}

/* hash and permute take the automatic variable default_seed when the last argument is missing. */
static bool has_optional_seed(enum expr_function function)
{
	return function == FN_HASH || function == FN_HASH_FNV1A || function == FN_HASH_MURMUR2 ||
	       function == FN_PERMUTE;
}

static int check_count(struct parser *parser, enum expr_function function, int32_t count)
{
	const char *name = functions[function].name;
	bool any_number = functions[function].most == WP_EXPR_ARGS_MAX;

	if (any_number && count > WP_EXPR_ARGS_MAX)
		return fail_about(parser, "too many function arguments, maximum is 16", name);
	if (any_number && count == 0)
		return fail_about(parser, "at least one argument expected", name);
	if (count < functions[function].fewest || count > functions[function].most)
		return fail_about(parser, "unexpected number of arguments", name);
	return 0;
}

static int parse_function(struct parser *parser)
{
	static const char seed[] = "default_seed";
	enum expr_function function = FN_PI;
	int32_t count;
	int result = find_function(parser, &function);

	if (result < 0)
		return result;
	wp_expr_scan(&parser->scanner);
	result = parse_arguments(parser, &count);
	if (result < 0)
		return result;
	if (has_optional_seed(function) && count == functions[function].most - 1) {
		result = emit_variable(parser, seed, strlen(seed));
		if (result < 0)
			return result;
		count++;
	}
	result = check_count(parser, function, count);
	if (result < 0)
		return result;
	if (count == 0) {
		result = push_room(parser);
		parser->height--; /* the call counts it */
		if (result < 0)
			return result;
	}
	emit_call(parser, function, count);
	return expect(parser, ')');
}

/* "WHEN condition THEN value"; *chain is the jump to the end, linked with those before it. */
static int parse_when(struct parser *parser, int32_t *chain)
{
	size_t skip;
	size_t done;
	int result = expect(parser, TOKEN_WHEN);

	if (result == 0)
		result = parse_level(parser, LEVEL_OR);
	if (result < 0)
		return result;
	skip = emit_jump(parser, OP_UNLESS);
	parser->height--;
	result = expect(parser, TOKEN_THEN);
	if (result == 0)
		result = parse_level(parser, LEVEL_OR);
	if (result < 0)
		return result;
	done = emit_jump(parser, OP_JUMP);
	/* until the end is known, the jumps to it are a list through their operands */
	parser->expr->steps[done].operand = *chain;
	*chain = (int32_t)done;
	parser->height--; /* either this branch or a later one leaves its value */
	land(parser, skip);
	return 0;
}

static int parse_case(struct parser *parser)
{
	int32_t chain = -1;
	int result;

	wp_expr_scan(&parser->scanner);
	do {
		result = parse_when(parser, &chain);
		if (result < 0)
			return result;
	} while (parser->scanner.kind == TOKEN_WHEN);
	if (parser->scanner.kind == TOKEN_ELSE) {
		wp_expr_scan(&parser->scanner);
		result = parse_level(parser, LEVEL_OR);
	} else {
		result = emit_constant(parser, (struct wp_value){ .type = WP_VALUE_NULL });
	}
	if (result < 0)
		return result;
	while (chain >= 0) {
		int32_t before = parser->expr->steps[chain].operand;

		land(parser, (size_t)chain);
		chain = before;
	}
	return expect(parser, TOKEN_END_WORD);
}

static int parse_minus(struct parser *parser)
{
	int result;

	wp_expr_scan(&parser->scanner);
	if (parser->scanner.kind == TOKEN_MIN_INT) {
		result = emit_int(parser, INT64_MIN);
		wp_expr_scan(&parser->scanner);
		return result;
	}
	result = emit_int(parser, 0);
	if (result == 0)
		result = parse_level(parser, LEVEL_SIGN);
	if (result == 0)
		emit_call(parser, FN_SUB, 2);
	return result;
}

static int parse_complement(struct parser *parser)
{
	int result;

	wp_expr_scan(&parser->scanner);
	result = emit_int(parser, -1);
	if (result == 0)
		result = parse_level(parser, LEVEL_BIT + 1);
	if (result == 0)
		emit_call(parser, FN_BIT_XOR, 2);
	return result;
}

static int parse_not(struct parser *parser)
{
	int result;

	wp_expr_scan(&parser->scanner);
	result = parse_level(parser, LEVEL_NOT);
	if (result == 0)
		emit_call(parser, FN_NOT, 1);
	return result;
}

static int parse_parentheses(struct parser *parser)
{
	int result;

	wp_expr_scan(&parser->scanner);
	result = parse_level(parser, LEVEL_OR);
	return result < 0 ? result : expect(parser, ')');
}

static int parse_leaf(struct parser *parser)
{
	int result;

	if (parser->scanner.kind == TOKEN_VARIABLE)
		result = emit_variable(parser, parser->scanner.word, parser->scanner.word_length);
	else
		result = emit_constant(parser, parser->scanner.value);
	wp_expr_scan(&parser->scanner);
	return result;
}

static int parse_operand(struct parser *parser)
{
	switch (parser->scanner.kind) {
	case TOKEN_INT:
	case TOKEN_DOUBLE:
	case TOKEN_BOOLEAN:
	case TOKEN_NULL:
	case TOKEN_VARIABLE:
		return parse_leaf(parser);
	case TOKEN_WORD:
		return parse_function(parser);
	case TOKEN_CASE:
		return parse_case(parser);
	case TOKEN_NOT:
		return parse_not(parser);
	case '(':
		return parse_parentheses(parser);
	case '-':
		return parse_minus(parser);
	case '~':
		return parse_complement(parser);
	case '+':
		wp_expr_scan(&parser->scanner);
		return parse_level(parser, LEVEL_SIGN);
	default:
		return fail_here(parser);
	}
}

/* ---- operators ------------------------------------------------------------------------------- */

static enum level binary_operator(int kind, enum expr_function *function)
{
	static const struct {
		int kind;
		enum level level;
		enum expr_function function;
	} operators[] = {
		{ TOKEN_OR, LEVEL_OR, FN_COUNT },
		{ TOKEN_AND, LEVEL_AND, FN_COUNT },
		{ TOKEN_IS, LEVEL_IS, FN_IS },
		{ TOKEN_ISNULL, LEVEL_IS, FN_IS },
		{ TOKEN_NOTNULL, LEVEL_IS, FN_IS },
		{ '<', LEVEL_COMPARE, FN_LT },
		{ '>', LEVEL_COMPARE, FN_GT },
		{ '=', LEVEL_COMPARE, FN_EQ },
		{ TOKEN_NE, LEVEL_COMPARE, FN_NE },
		{ TOKEN_LE, LEVEL_COMPARE, FN_LE },
		{ TOKEN_GE, LEVEL_COMPARE, FN_GE },
		{ '|', LEVEL_BIT, FN_BIT_OR },
		{ '#', LEVEL_BIT, FN_BIT_XOR },
		{ '&', LEVEL_BIT, FN_BIT_AND },
		{ TOKEN_SHIFT_LEFT, LEVEL_BIT, FN_SHIFT_LEFT },
		{ TOKEN_SHIFT_RIGHT, LEVEL_BIT, FN_SHIFT_RIGHT },
		{ '+', LEVEL_ADD, FN_ADD },
		{ '-', LEVEL_ADD, FN_SUB },
		{ '*', LEVEL_MUL, FN_MUL },
		{ '/', LEVEL_MUL, FN_DIV },
		{ '%', LEVEL_MUL, FN_MOD },
	};

	for (size_t i = 0; i < WP_COUNT(operators); i++) {
		if (operators[i].kind == kind) {
			*function = operators[i].function;
			return operators[i].level;
		}
	}
	return LEVEL_NONE;
}

/* IS [NOT] NULL, TRUE or FALSE; ISNULL; NOTNULL */
static int parse_is(struct parser *parser)
{
	struct wp_value wanted = { .type = WP_VALUE_NULL };
	bool negate = parser->scanner.kind == TOKEN_NOTNULL;
	bool spelled_out = parser->scanner.kind == TOKEN_IS;
	int result;

	wp_expr_scan(&parser->scanner);
	if (spelled_out && parser->scanner.kind == TOKEN_NOT) {
		negate = true;
		wp_expr_scan(&parser->scanner);
	}
	if (spelled_out) {
		if (parser->scanner.kind != TOKEN_NULL && parser->scanner.kind != TOKEN_BOOLEAN)
			return fail_here(parser);
		wanted = parser->scanner.value;
		wp_expr_scan(&parser->scanner);
	}
	result = emit_constant(parser, wanted);
	if (result < 0)
		return result;
	emit_call(parser, FN_IS, 2);
	if (negate)
		emit_call(parser, FN_NOT, 1);
	return 0;
}

static int parse_logical(struct parser *parser, enum level level)
{
	size_t jump = emit_jump(parser, level == LEVEL_AND ? OP_AND : OP_OR);
	int result;

	parser->height--; /* the left side is popped where the right one is evaluated */
	result = parse_level(parser, level + 1);
	if (result < 0)
		return result;
	emit(parser, OP_BOOLEAN);
	land(parser, jump);
	return 0;
}

/* Everything behind the operator of a level. */
static int parse_right(struct parser *parser, enum level level, enum expr_function function)
{
	enum expr_function unused;
	int result;

	if (level == LEVEL_IS)
		return parse_is(parser);
	wp_expr_scan(&parser->scanner);
	if (level == LEVEL_AND || level == LEVEL_OR)
		return parse_logical(parser, level);
	result = parse_level(parser, level + 1);
	if (result < 0)
		return result;
	emit_call(parser, function, 2);
	if (level == LEVEL_COMPARE && binary_operator(parser->scanner.kind, &unused) == level)
		return fail_here(parser);
	return 0;
}

static int parse_level(struct parser *parser, enum level lowest)
{
	int result;

	if (++parser->depth > WP_EXPR_DEPTH_MAX)
		return fail_about(parser, "expression is nested too deeply", NULL);
	result = parse_operand(parser);
	while (result == 0) {
		enum expr_function function = FN_COUNT;
		enum level level = binary_operator(parser->scanner.kind, &function);

		if (level == LEVEL_NONE || level < lowest)
			break;
		result = parse_right(parser, level, function);
	}
	parser->depth--;
	return result;
}

int wp_expr_compile(const char *text, size_t length, struct wp_symbols *symbols,
	struct wp_expr *expr, size_t *used, struct wp_expr_fault *fault)
{
	struct wp_expr_fault ignored;
	struct parser parser = {
		.scanner = { .text = text, .length = length },
		.symbols = symbols,
		.expr = expr,
		.fault = fault ? fault : &ignored,
	};
	int result;

	wp_expr_scan(&parser.scanner);
	result = parse_level(&parser, LEVEL_OR);
	if (result == 0 && parser.scanner.kind != TOKEN_END)
		result = fail_here(&parser);
	if (result < 0)
		wp_expr_release(expr);
	if (used)
		*used = parser.scanner.next;
	return result;
}

void wp_expr_release(struct wp_expr *expr)
{
	free(expr->steps);
	memset(expr, 0, sizeof(*expr));
}
