/* SPDX-License-Identifier: PostgreSQL */
/*
 * environment.h - the facts about the machine that every report carries.
 *
 * Floor: probe. Each fact is added with where it was read; what cannot be read is left out.
 * Threads: main thread only.
 */
#ifndef WALPROBE_ENVIRONMENT_H
#define WALPROBE_ENVIRONMENT_H

#include "walprobe/os.h"
#include "walprobe/result.h"

/* wp_environment_describe - kernel, processors, memory, clock source, pressure, limits. */
void wp_environment_describe(const struct wp_os *os, struct wp_result *result);

#endif
