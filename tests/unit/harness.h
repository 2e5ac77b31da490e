/* SPDX-License-Identifier: PostgreSQL */
/* harness.h - the includes that cmocka 1.1.5 needs, in this order. */
#ifndef WALPROBE_TEST_HARNESS_H
#define WALPROBE_TEST_HARNESS_H

/* clang-format off */
#include "walprobe/base.h"
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */

#endif
