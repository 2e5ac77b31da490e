/* SPDX-License-Identifier: PostgreSQL */
/*
 * base.h - what every file of walprobe starts with.
 *
 * Floor: base (libc only). No state.
 */
#ifndef WALPROBE_BASE_H
#define WALPROBE_BASE_H

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WP_VERSION "0.1.0"

#define WP_PRINTF(format_arg, first_arg) __attribute__((format(printf, format_arg, first_arg)))
#define WP_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define WP_NS_PER_S INT64_C(1000000000)
#define WP_NS_PER_MS INT64_C(1000000)
#define WP_NS_PER_US INT64_C(1000)

/* Calls that lose their bounds or their errors. */
#pragma GCC poison sprintf vsprintf strcpy strcat strncpy strncat atoi atol atof gets

#endif
