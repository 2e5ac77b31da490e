/* SPDX-License-Identifier: PostgreSQL */
/*
 * loop.h - a file as a block device; private to src/target.
 *
 * Floor: target. Threads: main thread only.
 */
#ifndef WALPROBE_TARGET_LOOP_H
#define WALPROBE_TARGET_LOOP_H

#include "walprobe/os.h"
#include "walprobe/registry.h"

struct wp_loop {
	char name[32];  /* "loop3" */
	char path[40];  /* "/dev/loop3" */
	bool is_direct; /* I/O on the file below bypasses the page cache */
};

/*
 * wp_loop_attach - attach the image to a free loop device, entered in the registry.
 *
 * The device detaches itself when its last user is gone (we, or the mount): a kill leaves nothing.
 * Its write cache is made sure of: a "write through" that someone set survives a detach, and would
 * keep every flush from reaching the image.
 * Returns: 0, or -code with a hint.
 */
int wp_loop_attach(const struct wp_os *os, struct wp_registry *registry, const char *image,
	struct wp_loop *loop, struct wp_err *err);

#endif
