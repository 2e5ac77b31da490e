/* SPDX-License-Identifier: PostgreSQL */
#include "tree.h"

#include "fake_os.h"
#include "harness.h"

#include "walprobe/mem.h"

#include <unistd.h>

static void make_parents(const char *path)
{
	char *copy = wp_xstrdup(path);

	for (char *at = strchr(copy + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		(void)wp_os_mkdir(wp_os_linux(), copy, 0755); /* mostly there already */
		*at = '/';
	}
	free(copy);
}

static void write_bytes(const char *path, const char *bytes, size_t length)
{
	const struct wp_os *os = wp_os_linux();
	int fd;

	make_parents(path);
	fd = wp_os_open(os, path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(wp_os_write_all(os, fd, bytes, length, 0), 0);
	assert_int_equal(wp_os_close(os, fd), 0);
}

/* Decodes in place; returns the length. */
static size_t decode(char *text)
{
	size_t used = 0;

	for (const char *at = text; *at;) {
		unsigned byte;

		if (at[0] == '\\' && at[1] == 'n') {
			text[used++] = '\n';
			at += 2;
		} else if (at[0] == '\\' && sscanf(at, "\\x%2x", &byte) == 1) {
			text[used++] = (char)byte;
			at += 4;
		} else {
			text[used++] = *at++;
		}
	}
	return used;
}

static void add_entry(const char *prefix, char *line)
{
	char *text = strstr(line, " = ");
	char *target = strstr(line, " -> ");
	char *path;

	if (text)
		*text = '\0';
	else if (target)
		*target = '\0';
	path = wp_xasprintf("%s/%s", prefix, line);
	make_parents(path);
	if (text) {
		char *bytes = wp_xasprintf("%s\n", text + 3);

		write_bytes(path, bytes, decode(bytes));
		free(bytes);
	} else if (target) {
		assert_int_equal(symlink(target + 4, path), 0);
	} else {
		assert_int_equal(line[strlen(line) - 1], '/');
	}
	free(path);
}

static void read_lines(const struct tree *tree, FILE *in)
{
	char *prefix = NULL;
	char *mounts = wp_xstrdup("");
	char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, in) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (!line[0] || line[0] == '#')
			continue;
		if (line[0] == '[') {
			free(prefix);
			prefix = strcmp(line, "[mountinfo]") == 0
					 ? NULL
					 : wp_xasprintf("%s/%.*s", tree->base,
						   (int)strlen(line) - 2, line + 1);
		} else if (prefix) {
			add_entry(prefix, line);
		} else {
			char *longer = wp_xasprintf("%s%s\n", mounts, line);

			free(mounts);
			mounts = longer;
		}
	}
	write_bytes(tree->mountinfo, mounts, strlen(mounts));
	free(mounts);
	free(prefix);
	free(line);
}

void tree_unpack(struct tree *tree, const char *name)
{
	char *path = wp_xasprintf("tests/data/stacks/%s.tree", name);
	FILE *in = fopen(path, "r");

	if (!in)
		fail_msg("cannot open %s (run from the root of the sources)", path);
	free(path);
	memset(tree, 0, sizeof(*tree));
	(void)snprintf(tree->base, sizeof(tree->base), "%s", scratch_dir());
	(void)snprintf(tree->sys, sizeof(tree->sys), "%s/sys", tree->base);
	(void)snprintf(tree->mountinfo, sizeof(tree->mountinfo), "%s/mountinfo", tree->base);
	tree->roots.sys = tree->sys;
	tree->roots.mountinfo = tree->mountinfo;
	read_lines(tree, in);
	(void)fclose(in); /* read only */
}

void tree_write(const struct tree *tree, const char *path, const char *text)
{
	char *full = wp_xasprintf("%s/%s", tree->base, path);

	write_bytes(full, text, strlen(text));
	free(full);
}

void tree_remove(const struct tree *tree)
{
	scratch_dir_remove(tree->base);
}

void tree_find(const struct tree *tree, const char *path, struct wp_stack *out)
{
	struct wp_err err = { 0 };
	int rc = wp_stack_find(wp_os_linux(), &tree->roots, path, out, &err);

	if (rc)
		fail_msg("%s: %s", path, err.message);
}
