/* SPDX-License-Identifier: PostgreSQL */
/*
 * What was really read. The device's counters see everybody's reads, the process's own
 * (/proc/self/io, read_bytes) only its own: the smaller of the two is what reads of ours can have
 * brought in. Neither believes what a call to drop the cache returned.
 */
#include "probe/io_internal.h"

#define INODE_BYTES 128   /* the least that is read of a file to look at it */
#define SERVED_LIMIT 0.05 /* of the bytes may come from the cache by chance */

static int64_t read_own(const struct wp_os *os)
{
	int sys_errno;
	char *text = wp_os_read_text(os, "/proc/self/io", 4096, &sys_errno);
	const char *found = text ? strstr(text, "\nread_bytes: ") : NULL;
	int64_t value = found ? strtoll(found + strlen("\nread_bytes: "), NULL, 10) : -1;

	free(text);
	return value;
}

void wp_io_look(const struct wp_os *os, const struct wp_target *target, struct wp_io_seen *out)
{
	memset(out, 0, sizeof(*out));
	wp_flush_read(os, NULL, &target->stack, &out->device);
	out->own_bytes = read_own(os);
}

void wp_io_count(
	const struct wp_io_seen *before, const struct wp_io_seen *after, struct wp_block_io *block)
{
	int64_t fetched;

	if (!before->device.is_known || !after->device.is_known) {
		const char *reason = before->device.is_known ? after->device.unknown_reason
							     : before->device.unknown_reason;

		block->device_unknown = reason ? reason : "requests cannot be counted here";
		return;
	}
	fetched = after->device.read_bytes - before->device.read_bytes;
	block->device_read_bytes += fetched;
	block->device_written_bytes += after->device.written_bytes - before->device.written_bytes;
	block->device_flushes += after->device.flushes - before->device.flushes;
	if (before->own_bytes >= 0 && after->own_bytes >= 0 &&
		after->own_bytes - before->own_bytes < fetched)
		fetched = after->own_bytes - before->own_bytes;
	block->fetched_bytes += fetched;
}

static bool is_memory(const char *fstype)
{
	return fstype && (strcmp(fstype, "tmpfs") == 0 || strcmp(fstype, "ramfs") == 0);
}

static bool is_short(int64_t reached, int64_t wanted)
{
	return (double)reached < (1 - SERVED_LIMIT) * (double)wanted;
}

/*
 * Names and inodes are read in whole blocks, so little is read for many files, and what is created
 * or deleted reaches the disk when the journal is written: without a sync that is not in the time.
 */
static bool is_small_cached(
	const struct wp_io_test_row *test, const struct wp_block_io *block, int64_t operations)
{
	if (test->is_synced)
		return false;
	return is_short(block->fetched_bytes, block->read_bytes + operations * INODE_BYTES);
}

const char *wp_io_cached(const struct wp_io_test_row *test, const char *fstype,
	const struct wp_block_io *block, int64_t operations)
{
	if (is_memory(fstype))
		return "yes";
	if (block->device_unknown)
		return "unknown";
	if (test->is_tree)
		return is_small_cached(test, block, operations) ? "yes" : "no";
	if (is_short(block->fetched_bytes, block->read_bytes))
		return "yes";
	/* Seeks write one record in ten, as bonnie++ does, and leave it to the kernel. */
	if (test->work != WP_IO_SEEK && is_short(block->device_written_bytes, block->written_bytes))
		return "yes";
	return "no";
}
