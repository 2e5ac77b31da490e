/* SPDX-License-Identifier: PostgreSQL */
#include "target/mkfs.h"

#include "walprobe/mem.h"
#include "walprobe/proc.h"

#define MKFS_LIMIT_NS (180 * WP_NS_PER_S)
#define MB (INT64_C(1) << 20)

/*
 * No discard: it would give the space reserved for the image back to the file system below. Nothing
 * put off: ext4 would initialise inode tables in the background while we measure.
 */
#define EXT_FLAGS                                                                                  \
	{                                                                                          \
		"-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard", NULL         \
	}

static const struct wp_mkfs table[] = {
	{ "ext2", "mkfs.ext2", EXT_FLAGS, 8 * MB, "e2fsprogs", "ext4" },
	{ "ext3", "mkfs.ext3", EXT_FLAGS, 8 * MB, "e2fsprogs", "ext4" },
	{ "ext4", "mkfs.ext4", EXT_FLAGS, 8 * MB, "e2fsprogs", "ext4" },
	{ "xfs", "mkfs.xfs", { "-q", "-f", "-K", NULL }, 300 * MB, "xfsprogs", "xfs" },
	{ "btrfs", "mkfs.btrfs", { "-q", "-f", "-K", NULL }, 109 * MB, "btrfs-progs", "btrfs" },
	{ "jfs", "mkfs.jfs", { "-q", NULL }, 16 * MB, "jfsutils", "jfs" },
	{ "reiserfs", "mkfs.reiserfs", { "-q", "-f", "-f", NULL }, 64 * MB, "reiserfsprogs",
		"reiserfs" },
	{ "vfat", "mkfs.vfat", { NULL }, 16 * MB, "dosfstools", "vfat" },
	{ "f2fs", "mkfs.f2fs", { "-q", "-f", "-t", "0", NULL }, 64 * MB, "f2fs-tools", "f2fs" },
	{ "exfat", "mkfs.exfat", { "-q", NULL }, 16 * MB, "exfatprogs", "exfat" },
	{ "nilfs2", "mkfs.nilfs2", { "-q", "-f", "-K", NULL }, 128 * MB, "nilfs-tools", "nilfs2" },
	{ "ntfs3", "mkfs.ntfs", { "-q", "-F", "-Q", NULL }, 16 * MB, "ntfs-3g", "ntfs3" },
	{ "bcachefs", "mkfs.bcachefs", { "-q", "-f", NULL }, 128 * MB, "bcachefs-tools",
		"bcachefs" },
};

const struct wp_mkfs *wp_mkfs_find(const char *fstype)
{
	for (size_t i = 0; i < WP_COUNT(table); i++)
		if (strcmp(table[i].fstype, fstype) == 0)
			return &table[i];
	return NULL;
}

const char *wp_mkfs_names(char *out, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < WP_COUNT(table) && used < size; i++)
		used += (size_t)snprintf(
			out + used, size - used, "%s%s", i ? ", " : "", table[i].fstype);
	return out;
}

char *wp_mkfs_missing(const struct wp_os *os, const struct wp_mkfs *mkfs)
{
	char *path = NULL;

	if (wp_os_has_filesystem(os, mkfs->fstype) == -ENODEV)
		return wp_xasprintf("this kernel lacks %s (module %s)", mkfs->fstype, mkfs->module);
	if (wp_proc_find(os, mkfs->program, mkfs->package, &path, NULL) < 0)
		return wp_xasprintf("program \"%s\" not found (Debian package %s)", mkfs->program,
			mkfs->package);
	free(path);
	return NULL;
}

/* The program's words: flags of ours, options of the user's, device. The caller frees the list
 * and *storage, where the user's words lie. */
static const char **make_words(
	const struct wp_mkfs *mkfs, const char *options, const char *device, char **storage)
{
	char *copy = wp_xstrdup(options ? options : "");
	const char **words = wp_xcalloc(WP_COUNT(mkfs->flags) + strlen(copy) + 3, sizeof(*words));
	char *rest = NULL;
	size_t count = 0;

	words[count++] = mkfs->program;
	for (size_t i = 0; mkfs->flags[i]; i++)
		words[count++] = mkfs->flags[i];
	for (char *word = strtok_r(copy, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest))
		words[count++] = word;
	words[count++] = device;
	*storage = copy;
	return words;
}

int wp_mkfs_run(const struct wp_os *os, const struct wp_mkfs *mkfs, const char *options,
	const char *device, struct wp_err *err)
{
	struct wp_proc_options how = { .limit_ns = MKFS_LIMIT_NS, .package = mkfs->package };
	struct wp_proc_output output = { .out = NULL };
	char *storage;
	const char **words = make_words(mkfs, options, device, &storage);
	int rc = wp_proc_run(os, words, &how, &output, err);

	if (!rc)
		rc = wp_proc_check(mkfs->program, &output, err);
	if (rc && rc != -WP_E_STOPPED && options)
		wp_err_hint(err, "Check the options in \"mkfs=%s\".", options);
	wp_proc_output_release(&output);
	free(storage);
	free(words);
	return rc;
}
