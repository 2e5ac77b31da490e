/* SPDX-License-Identifier: PostgreSQL */
#include "expr_internal.h"

#include <math.h>

bool wp_value_is_true(const struct wp_value *value)
{
	switch (value->type) {
	case WP_VALUE_BOOLEAN:
		return value->boolean;
	case WP_VALUE_INT:
		return value->integer != 0;
	case WP_VALUE_DOUBLE:
		return value->real != 0.0;
	case WP_VALUE_NULL:
		break;
	}
	return false;
}

static int refuse(const struct wp_value *value, const char *type, struct wp_err *err)
{
	return wp_fail(
		err, WP_E_DATA, 0, "cannot coerce %s to %s", wp_value_type_name(value->type), type);
}

int wp_expr_to_int(const struct wp_value *value, int64_t *out, struct wp_err *err)
{
	char text[WP_VALUE_TEXT_SIZE];
	double rounded;

	if (value->type == WP_VALUE_INT) {
		*out = value->integer;
		return 0;
	}
	if (value->type != WP_VALUE_DOUBLE)
		return refuse(value, "int", err);
	rounded = rint(value->real);
	/* 2^63 itself does not fit; NaN fails both */
	if (rounded >= -0x1p63 && rounded < 0x1p63) {
		*out = (int64_t)rounded;
		return 0;
	}
	if (isfinite(rounded))
		return wp_fail(err, WP_E_DATA, 0, "double to int overflow for %f", rounded);
	(void)wp_value_format(value, text);
	return wp_fail(err, WP_E_DATA, 0, "double to int overflow for %s", text);
}

int wp_expr_to_double(const struct wp_value *value, double *out, struct wp_err *err)
{
	if (value->type == WP_VALUE_INT)
		*out = (double)value->integer;
	else if (value->type == WP_VALUE_DOUBLE)
		*out = value->real;
	else
		return refuse(value, "double", err);
	return 0;
}

int wp_expr_to_boolean(const struct wp_value *value, bool *out, struct wp_err *err)
{
	if (value->type != WP_VALUE_BOOLEAN)
		return refuse(value, "boolean", err);
	*out = value->boolean;
	return 0;
}

/*
 * Left side of AND or OR: stop with it when it decides, that is when it is null or equals
 * deciding; pgbench does not look at the right side behind a null either.
 */
static int decide(const struct wp_value *left, bool deciding, bool *decided, struct wp_err *err)
{
	bool value = deciding;
	int result;

	*decided = true;
	if (left->type == WP_VALUE_NULL)
		return 0;
	result = wp_expr_to_boolean(left, &value, err);
	*decided = result == 0 && value == deciding;
	return result;
}

/* One step; *next is the step after it, *top one past the topmost value. */
static int run_step(const struct wp_expr_step *step, const struct wp_expr_env *env,
	struct wp_value *stack, size_t *top, size_t *next, struct wp_err *err)
{
	bool decided = false;
	int result = 0;

	switch (step->op) {
	case OP_CONSTANT:
		stack[(*top)++] = step->constant;
		break;
	case OP_VARIABLE:
		result = wp_vars_value(env->vars, step->operand, &stack[*top], err);
		(*top)++;
		break;
	case OP_CALL:
		*top -= (size_t)step->args;
		result = wp_expr_call(
			step->function, &stack[*top], step->args, env, &stack[*top], err);
		(*top)++;
		break;
	case OP_JUMP:
		*next = (size_t)step->operand;
		break;
	case OP_UNLESS:
		if (!wp_value_is_true(&stack[--*top]))
			*next = (size_t)step->operand;
		break;
	case OP_AND:
	case OP_OR:
		result = decide(&stack[*top - 1], step->op == OP_OR, &decided, err);
		if (decided)
			*next = (size_t)step->operand;
		else
			(*top)--;
		break;
	case OP_BOOLEAN:
		if (stack[*top - 1].type != WP_VALUE_NULL)
			result = wp_expr_to_boolean(&stack[*top - 1], &decided, err);
		break;
	}
	return result;
}

int wp_expr_eval(const struct wp_expr *expr, const struct wp_expr_env *env, struct wp_value *out,
	struct wp_err *err)
{
	struct wp_value stack[WP_EXPR_STACK_MAX];
	size_t top = 0;
	size_t at = 0;

	while (at < expr->count) {
		size_t next = at + 1;
		int result = run_step(&expr->steps[at], env, stack, &top, &next, err);

		if (result < 0)
			return result;
		at = next;
	}
	assert(top == 1);
	*out = stack[0];
	return 0;
}
