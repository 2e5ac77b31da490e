/* SPDX-License-Identifier: PostgreSQL */
/*
 * Reading what a power cut left: sectors that cannot be read, files that are shorter, devices that
 * do not answer any more.
 */
#include "fake_os.h"
#include "harness.h"
#include "probe/plug_read.h"
#include "walprobe/mem.h"
#include "walprobe/record.h"
#include "walprobe/thread.h"

#include <stdatomic.h>
#include <unistd.h>

#define PAGE_BYTES 8192
#define SECTORS (PAGE_BYTES / WP_SECTOR_BYTES)
#define BAD_SECTOR 5
#define SHORT_NS WP_NS_PER_MS
#define LONG_NS (20 * WP_NS_PER_S)

static atomic_bool has_bad_sector;
static atomic_bool hangs;
static struct wp_sem release;

static int64_t failing_pread(void *ctx, int fd, void *buffer, size_t length, int64_t offset)
{
	const int64_t bad = BAD_SECTOR * WP_SECTOR_BYTES;

	(void)ctx;
	if (atomic_load(&hangs))
		wp_sem_wait(&release);
	if (atomic_load(&has_bad_sector) && offset < bad + WP_SECTOR_BYTES &&
		offset + (int64_t)length > bad)
		return -EIO;
	return wp_os_pread(wp_os_linux(), fd, buffer, length, offset);
}

static const struct wp_os *failing_os(void)
{
	static struct wp_os_ops ops;
	static struct wp_os os;

	ops = *wp_os_linux()->ops;
	ops.pread = failing_pread;
	os = (struct wp_os){ .ops = &ops };
	atomic_store(&has_bad_sector, false);
	atomic_store(&hangs, false);
	return &os;
}

struct place {
	const char *dir;
	char *path;
	struct plug_reader *reader;
	int fd;
	int64_t size_bytes;
};

/* A file of one page and a half, each byte the number of its sector. */
static void open_place(struct place *place, int64_t timeout_ns)
{
	uint8_t bytes[PAGE_BYTES + PAGE_BYTES / 2];
	FILE *file;

	place->dir = scratch_dir();
	place->path = wp_xasprintf("%s/file", place->dir);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i / WP_SECTOR_BYTES);
	file = fopen(place->path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, sizeof(bytes), file), sizeof(bytes));
	assert_int_equal(fclose(file), 0);
	assert_int_equal(
		plug_reader_new(&place->reader, failing_os(), PAGE_BYTES, timeout_ns, NULL), 0);
	place->fd = plug_reader_open(place->reader, place->path, &place->size_bytes);
	assert_true(place->fd >= 0);
	assert_int_equal(place->size_bytes, sizeof(bytes));
}

static void close_place(struct place *place)
{
	plug_reader_close(place->reader, place->fd);
	plug_reader_free(place->reader);
	free(place->path);
	scratch_dir_remove(place->dir);
}

static void a_page_is_read_and_a_shorter_file_told(void **state)
{
	struct place place;
	const uint8_t *bytes;
	const bool *unreadable;

	(void)state;
	open_place(&place, LONG_NS);
	assert_int_equal(
		plug_reader_read(place.reader, place.fd, 0, PAGE_BYTES, &bytes, &unreadable),
		PAGE_BYTES);
	for (size_t i = 0; i < SECTORS; i++) {
		assert_int_equal(bytes[i * WP_SECTOR_BYTES], i);
		assert_false(unreadable[i]);
	}
	assert_int_equal(plug_reader_read(place.reader, place.fd, PAGE_BYTES, PAGE_BYTES, &bytes,
				 &unreadable),
		PAGE_BYTES / 2);
	assert_int_equal(bytes[0], SECTORS);
	assert_int_equal(bytes[PAGE_BYTES - 1], 0);
	close_place(&place);
}

static void only_the_sector_that_cannot_be_read_is_given_up(void **state)
{
	struct place place;
	const uint8_t *bytes;
	const bool *unreadable;

	(void)state;
	open_place(&place, LONG_NS);
	atomic_store(&has_bad_sector, true);
	assert_int_equal(
		plug_reader_read(place.reader, place.fd, 0, PAGE_BYTES, &bytes, &unreadable),
		PAGE_BYTES);
	for (size_t i = 0; i < SECTORS; i++) {
		assert_int_equal(unreadable[i], i == BAD_SECTOR);
		if (i != BAD_SECTOR)
			assert_int_equal(bytes[i * WP_SECTOR_BYTES], i);
	}
	close_place(&place);
}

static void a_device_that_does_not_answer_is_not_waited_for(void **state)
{
	struct place place;
	const uint8_t *bytes;
	const bool *unreadable;
	int64_t size_bytes;

	(void)state;
	open_place(&place, SHORT_NS);
	atomic_store(&hangs, true);
	for (int turn = 0; turn < 2; turn++) {
		assert_int_equal(plug_reader_read(place.reader, place.fd, 0, PAGE_BYTES, &bytes,
					 &unreadable),
			PAGE_BYTES);
		for (size_t i = 0; i < SECTORS; i++)
			assert_true(unreadable[i]);
	}
	assert_int_equal(plug_reader_open(place.reader, place.path, &size_bytes), -ETIMEDOUT);
	assert_true(plug_reader_is_hung(place.reader));
	/* The thread that hangs keeps what it uses: this must come back, and free nothing of it. */
	plug_reader_close(place.reader, place.fd);
	plug_reader_free(place.reader);
	free(place.path);
	scratch_dir_remove(place.dir);
}

static void what_is_no_file_is_told_from_what_is_missing(void **state)
{
	struct place place;
	int64_t size_bytes;
	char *path;

	(void)state;
	open_place(&place, LONG_NS);
	path = wp_xasprintf("%s/other", place.dir);
	assert_int_equal(plug_reader_open(place.reader, path, &size_bytes), -ENOENT);
	assert_int_equal(plug_reader_open(place.reader, place.dir, &size_bytes), -EINVAL);
	assert_int_equal(symlink(place.path, path), 0);
	assert_int_equal(plug_reader_open(place.reader, path, &size_bytes), -ELOOP);
	assert_int_equal(remove(path), 0);
	free(path);
	close_place(&place);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_page_is_read_and_a_shorter_file_told),
		cmocka_unit_test(only_the_sector_that_cannot_be_read_is_given_up),
		cmocka_unit_test(a_device_that_does_not_answer_is_not_waited_for),
		cmocka_unit_test(what_is_no_file_is_told_from_what_is_missing),
	};

	wp_sem_init(&release, 0);
	return cmocka_run_group_tests_name("plug_read", tests, NULL, NULL);
}
