/* SPDX-License-Identifier: PostgreSQL */
#include "target/mount.h"

#include "walprobe/mem.h"

#include <libmount.h>

#define KERNEL_RECORDS_MOST 64

/* The kernel's log from here on, or -1 where we may not read it. */
static int open_kernel_log(const struct wp_os *os)
{
	int fd = wp_os_open(os, "/dev/kmsg", O_RDONLY | O_NONBLOCK, 0);

	if (fd >= 0 && wp_os_lseek(os, fd, 0, SEEK_END) < 0) {
		(void)wp_os_close(os, fd); /* read only */
		fd = -1;
	}
	return fd < 0 ? -1 : fd;
}

/* ext2 and ext3 are mounted by ext4's code, which signs in its own name. */
static bool concerns(const char *message, const char *fstype, const char *device)
{
	const char *name = strncmp(fstype, "ext", 3) == 0 ? "ext" : fstype;

	return strcasestr(message, name) || strstr(message, strrchr(device, '/') + 1);
}

/* The last record that concerns this mount. Source: Documentation/ABI/testing/dev-kmsg. */
static bool read_kernel_words(const struct wp_os *os, int fd, const char *fstype,
	const char *device, char *words, size_t size)
{
	bool is_found = false;

	for (int i = 0; fd >= 0 && i < KERNEL_RECORDS_MOST; i++) {
		char record[1024];
		int64_t got = wp_os_pread(os, fd, record, sizeof(record) - 1, 0);
		char *message;

		if (got == -EPIPE)
			continue; /* records were overwritten meanwhile; the next read goes on */
		if (got <= 0)
			break;
		record[got] = '\0';
		record[strcspn(record, "\n")] = '\0';
		message = strchr(record, ';');
		if (!message || !concerns(message + 1, fstype, device))
			continue;
		(void)snprintf(words, size, "%s", message + 1);
		is_found = true;
	}
	return is_found;
}

static int prepare(struct libmnt_context *context, const char *device, const char *directory,
	const char *fstype, const char *options)
{
	int rc = mnt_context_set_source(context, device);

	if (!rc)
		rc = mnt_context_set_target(context, directory);
	if (!rc)
		rc = mnt_context_set_fstype(context, fstype);
	if (!rc && options)
		rc = mnt_context_set_options(context, options);
	/* Nothing of ours belongs into files of the system, and no helper may come between. */
	if (!rc)
		rc = mnt_context_disable_mtab(context, 1);
	if (!rc)
		rc = mnt_context_disable_helpers(context, 1);
	return rc;
}

static int report(struct libmnt_context *context, int rc, const char *device, const char *fstype,
	const char *options, struct wp_err *err)
{
	char text[400] = "";
	int sys_errno =
		mnt_context_syscall_called(context) ? mnt_context_get_syscall_errno(context) : 0;

	(void)mnt_context_get_excode(context, rc, text, sizeof(text));
	if (!sys_errno)
		sys_errno = rc < 0 ? -rc : EIO;
	(void)wp_fail(err, WP_E_SYS, sys_errno, "could not mount \"%s\" as %s%s%s", device, fstype,
		options ? " with options " : "", options ? options : "");
	if (text[0])
		wp_err_detail(err, "%s", text);
	if (options)
		wp_err_hint(err, "Check the options in \"mount=%s\".", options);
	return -WP_E_SYS;
}

int wp_mount_device(const struct wp_os *os, const char *device, const char *directory,
	const char *fstype, const char *options, struct wp_err *err)
{
	struct libmnt_context *context = mnt_new_context();
	int log_fd = open_kernel_log(os);
	char words[400];
	int rc;

	if (!context) {
		rc = wp_fail(err, WP_E_SYS, errno, "could not prepare a mount");
		goto out;
	}
	rc = prepare(context, device, directory, fstype, options);
	if (!rc)
		rc = mnt_context_mount(context);
	if (rc) {
		rc = report(context, rc, device, fstype, options, err);
		if (read_kernel_words(os, log_fd, fstype, device, words, sizeof(words)))
			wp_err_detail(err, "The kernel says: %s", words);
	}
out:
	mnt_free_context(context);
	if (log_fd >= 0)
		(void)wp_os_close(os, log_fd); /* read only */
	return rc;
}
