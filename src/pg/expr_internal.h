/* SPDX-License-Identifier: PostgreSQL */
/* expr_internal.h - what the parser of expressions and their evaluation share. */
#ifndef WALPROBE_EXPR_INTERNAL_H
#define WALPROBE_EXPR_INTERNAL_H

#include "walprobe/expr.h"

/*
 * Functions and operators: constant, name in scripts (NULL for operators without one), fewest and
 * most arguments.
 */
#define EXPR_FUNCTIONS(X)                                                                          \
	X(FN_ADD, NULL, 2, 2)                                                                      \
	X(FN_SUB, NULL, 2, 2)                                                                      \
	X(FN_MUL, NULL, 2, 2)                                                                      \
	X(FN_DIV, NULL, 2, 2)                                                                      \
	X(FN_EQ, NULL, 2, 2)                                                                       \
	X(FN_NE, NULL, 2, 2)                                                                       \
	X(FN_LT, NULL, 2, 2)                                                                       \
	X(FN_LE, NULL, 2, 2)                                                                       \
	X(FN_GT, NULL, 2, 2)                                                                       \
	X(FN_GE, NULL, 2, 2)                                                                       \
	X(FN_MOD, "mod", 2, 2)                                                                     \
	X(FN_BIT_AND, NULL, 2, 2)                                                                  \
	X(FN_BIT_OR, NULL, 2, 2)                                                                   \
	X(FN_BIT_XOR, NULL, 2, 2)                                                                  \
	X(FN_SHIFT_LEFT, NULL, 2, 2)                                                               \
	X(FN_SHIFT_RIGHT, NULL, 2, 2)                                                              \
	X(FN_NOT, NULL, 1, 1)                                                                      \
	X(FN_IS, NULL, 2, 2)                                                                       \
	X(FN_ABS, "abs", 1, 1)                                                                     \
	X(FN_DEBUG, "debug", 1, 1)                                                                 \
	X(FN_DOUBLE, "double", 1, 1)                                                               \
	X(FN_EXP, "exp", 1, 1)                                                                     \
	X(FN_GREATEST, "greatest", 1, WP_EXPR_ARGS_MAX)                                            \
	X(FN_HASH, "hash", 2, 2)                                                                   \
	X(FN_HASH_FNV1A, "hash_fnv1a", 2, 2)                                                       \
	X(FN_HASH_MURMUR2, "hash_murmur2", 2, 2)                                                   \
	X(FN_INT, "int", 1, 1)                                                                     \
	X(FN_LEAST, "least", 1, WP_EXPR_ARGS_MAX)                                                  \
	X(FN_LN, "ln", 1, 1)                                                                       \
	X(FN_PERMUTE, "permute", 3, 3)                                                             \
	X(FN_PI, "pi", 0, 0)                                                                       \
	X(FN_POW, "pow", 2, 2)                                                                     \
	X(FN_POWER, "power", 2, 2)                                                                 \
	X(FN_RANDOM, "random", 2, 2)                                                               \
	X(FN_RANDOM_EXPONENTIAL, "random_exponential", 3, 3)                                       \
	X(FN_RANDOM_GAUSSIAN, "random_gaussian", 3, 3)                                             \
	X(FN_RANDOM_ZIPFIAN, "random_zipfian", 3, 3)                                               \
	X(FN_SQRT, "sqrt", 1, 1)

enum expr_function {
#define X(id, name, fewest, most) id,
	EXPR_FUNCTIONS(X)
#undef X
	FN_COUNT
};

enum expr_op {
	OP_CONSTANT, /* push constant */
	OP_VARIABLE, /* push the variable at operand */
	OP_CALL,     /* replace args values by the function's result */
	OP_JUMP,     /* go on at operand */
	OP_UNLESS,   /* pop; go on at operand unless it is true */
	OP_AND,      /* keep null or false and go on at operand; pop true */
	OP_OR,       /* keep null or true and go on at operand; pop false */
	OP_BOOLEAN,  /* the value must be a boolean or null */
};

struct wp_expr_step {
	enum expr_op op;
	enum expr_function function;
	int32_t args;
	int32_t operand; /* slot or step */
	struct wp_value constant;
};

/*
 * wp_expr_call - result of a function.
 *
 * args     as many values as the function takes
 * out      may be args
 * Returns: 0, or -WP_E_DATA with pgbench's message.
 */
int wp_expr_call(enum expr_function function, const struct wp_value *args, int32_t count,
	const struct wp_expr_env *env, struct wp_value *out, struct wp_err *err);

/*
 * wp_expr_random_call - the four random functions; the arguments are not null.
 *
 * Distributions as in pgbench.c (getrand, getExponentialRand, getGaussianRand, getZipfianRand).
 */
int wp_expr_random_call(enum expr_function function, const struct wp_value *args,
	struct wp_random *random, struct wp_value *out, struct wp_err *err);

/* wp_expr_hash_fnv1a, wp_expr_hash_murmur2, wp_expr_permute - exactly pgbench's values. */
int64_t wp_expr_hash_fnv1a(int64_t value, uint64_t seed);
int64_t wp_expr_hash_murmur2(int64_t value, uint64_t seed);
int64_t wp_expr_permute(int64_t value, int64_t size, uint64_t seed);

/* wp_expr_to_int, _to_double, _to_boolean - coerce, or fail with pgbench's message. */
int wp_expr_to_int(const struct wp_value *value, int64_t *out, struct wp_err *err);
int wp_expr_to_double(const struct wp_value *value, double *out, struct wp_err *err);
int wp_expr_to_boolean(const struct wp_value *value, bool *out, struct wp_err *err);

/* ---- tokens ---------------------------------------------------------------------------------- */

/* one-character operators are their own character */
enum expr_token_kind {
	TOKEN_END = 0,
	TOKEN_ERROR = 1, /* the scanner has filled the fault */
	TOKEN_INT = 256,
	TOKEN_MIN_INT, /* 9223372036854775808, good only behind a minus */
	TOKEN_DOUBLE,
	TOKEN_BOOLEAN,
	TOKEN_NULL,
	TOKEN_VARIABLE,
	TOKEN_WORD, /* function name */
	TOKEN_AND,
	TOKEN_OR,
	TOKEN_NOT,
	TOKEN_IS,
	TOKEN_ISNULL,
	TOKEN_NOTNULL,
	TOKEN_CASE,
	TOKEN_WHEN,
	TOKEN_THEN,
	TOKEN_ELSE,
	TOKEN_END_WORD,
	TOKEN_NE,
	TOKEN_LE,
	TOKEN_GE,
	TOKEN_SHIFT_LEFT,
	TOKEN_SHIFT_RIGHT,
};

struct expr_scanner {
	const char *text;
	size_t length;
	size_t next; /* behind the token */
	/* the token */
	int kind; /* enum expr_token_kind or a character */
	const char *word;
	size_t word_length; /* a variable's without its colon */
	struct wp_value value;
	struct wp_expr_fault fault; /* when kind is TOKEN_ERROR */
};

/* wp_expr_scan - read the next token into the scanner. */
void wp_expr_scan(struct expr_scanner *scanner);

/* wp_expr_fault_set - fill a fault about word (NULL for none) of length bytes that ends at end. */
void wp_expr_fault_set(struct wp_expr_fault *fault, const char *message, const char *word,
	size_t length, size_t end);

#endif
