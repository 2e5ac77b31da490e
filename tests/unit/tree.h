/* SPDX-License-Identifier: PostgreSQL */
/*
 * tree.h - a recorded system (sysfs and mount table) unpacked from one file, for tests.
 *
 * tests/data/stacks/NAME.tree: "[mountinfo]" is followed by the lines of the mount table; any other
 * "[directory]" by entries below it: "path = text" (a file; \n and \xHH in text are decoded),
 * "path -> target" (a symbolic link) or "path/" (an empty directory). "#" starts a comment line.
 */
#ifndef WALPROBE_TEST_TREE_H
#define WALPROBE_TEST_TREE_H

#include "walprobe/stack.h"

struct tree {
	char base[256];
	char sys[300];
	char mountinfo[300];
	struct wp_stack_roots roots;
};

/* tree_unpack - into a fresh scratch directory; aborts when the file is missing or malformed. */
void tree_unpack(struct tree *tree, const char *name);

/* tree_write - replace the text of one file of the tree, given below its base. */
void tree_write(const struct tree *tree, const char *path, const char *text);

/* tree_remove - with all in it. */
void tree_remove(const struct tree *tree);

/* tree_find - the stack of path in the tree; fails the test when there is none. */
void tree_find(const struct tree *tree, const char *path, struct wp_stack *out);

#endif
