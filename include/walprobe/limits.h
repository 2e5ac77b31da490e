/* SPDX-License-Identifier: PostgreSQL */
/*
 * limits.h - limits that the system sets to this process.
 *
 * Floor: os (may include base).
 * Threads: main thread only.
 */
#ifndef WALPROBE_LIMITS_H
#define WALPROBE_LIMITS_H

#include "walprobe/err.h"

/*
 * wp_limit_open_files - make sure that wanted descriptors can be open at once, raising the soft
 * limit up to the hard one.
 *
 * Returns: 0, or -WP_E_SYS with the hard limit and a hint.
 */
int wp_limit_open_files(int64_t wanted, struct wp_err *err);

#endif
