/* SPDX-License-Identifier: PostgreSQL */
/*
 * rig_plugin.c - an nbdkit plugin: a disk in memory (or in a file) that is as slow as it is told.
 *
 *   nbdkit nbdkit-walprobe-rig-plugin.so size=256M flush-delay=2ms
 *
 *   size=SIZE          of the disk (256M)
 *   file=PATH          keep the disk in this file instead of memory (made, and sized, if need be)
 *   flush-delay=TIME   time that every flush takes at least, and every write with FUA (0)
 *   write-delay=TIME   time that every write takes at least (0)
 *   fua=on|off         announce FUA to the client (on)
 *   lie=KIND           lie about some writes (none); with map=PATH lie-rate=N lie-percent=N, see
 *                      rig_lie.h; needs file=
 *   counts=PATH        flushes and writes so far, as two native 64-bit numbers in a file; it is
 *                      mapped, so that it is right even after SIGKILL
 *
 * TIME is a number with us, ms or s. An honest disk: what is written is in the store at once, and a
 * store in a file survives the death of nbdkit. Requests run in parallel, as on a real device.
 */
#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#include "rig_lie.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define THREAD_MODEL NBDKIT_THREAD_MODEL_PARALLEL

struct counts {
	_Atomic int64_t flushes;
	_Atomic int64_t writes;
};

static struct {
	int64_t size_bytes;
	char *file;
	char *counts_file;
	int64_t flush_delay_ns;
	int64_t write_delay_ns;
	bool has_fua;
	unsigned char *bytes; /* the store as clients see it, mapped */
	unsigned char *kept;  /* what is left of it after the end, where that is something else */
	struct rig_place *map;
	struct counts *counts;
} rig = { .size_bytes = INT64_C(256) << 20, .has_fua = true };

static struct counts own_counts;

static int parse_time_ns(const char *key, const char *text, int64_t *out)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	char *end;
	double value = strtod(text, &end);

	for (size_t i = 0; end != text && i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].name) != 0 || !(value >= 0 && value * units[i].ns < 1e12))
			continue;
		*out = (int64_t)(value * units[i].ns);
		return 0;
	}
	nbdkit_error("%s=%s: expected a time as in 500us, 2ms or 1s", key, text);
	return -1;
}

static int rig_config(const char *key, const char *value)
{
	int is_lie;

	if (strcmp(key, "size") == 0) {
		rig.size_bytes = nbdkit_parse_size(value);
		return rig.size_bytes > 0 ? 0 : -1;
	}
	if (strcmp(key, "file") == 0) {
		rig.file = nbdkit_absolute_path(value);
		return rig.file ? 0 : -1;
	}
	if (strcmp(key, "counts") == 0) {
		rig.counts_file = nbdkit_absolute_path(value);
		return rig.counts_file ? 0 : -1;
	}
	if (strcmp(key, "flush-delay") == 0)
		return parse_time_ns(key, value, &rig.flush_delay_ns);
	if (strcmp(key, "write-delay") == 0)
		return parse_time_ns(key, value, &rig.write_delay_ns);
	if (strcmp(key, "fua") == 0) {
		int is_on = nbdkit_parse_bool(value);

		rig.has_fua = is_on == 1;
		return is_on < 0 ? -1 : 0;
	}
	is_lie = rig_lie_config(key, value);
	if (is_lie)
		return is_lie < 0 ? -1 : 0;
	nbdkit_error("unknown parameter \"%s\"", key);
	return -1;
}

/* A mapping of size bytes of a file that is made if need be; NULL after an error message. */
static void *map_file(const char *path, int64_t size, int sharing)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *map = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, size) == 0)
		map = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, sharing, fd, 0);
	if (map == MAP_FAILED)
		nbdkit_error("could not map file \"%s\": %m", path);
	if (fd >= 0)
		(void)close(fd); /* the mapping stays */
	return map == MAP_FAILED ? NULL : map;
}

/* Clients see the store through a mapping of their own, so that no lie shows before the end. */
static int map_for_lies(void)
{
	const char *path = rig_lie_map_file();
	int64_t places = rig.size_bytes / RIG_SECTOR_BYTES;

	if (!rig.file || !path) {
		nbdkit_error("a disk that lies needs file= and map=");
		return -1;
	}
	rig.kept = map_file(rig.file, rig.size_bytes, MAP_SHARED);
	rig.map = map_file(path, places * (int64_t)sizeof(*rig.map), MAP_SHARED);
	return rig.kept && rig.map ? 0 : -1;
}

static int rig_get_ready(void)
{
	if (rig.file) {
		rig.bytes = map_file(
			rig.file, rig.size_bytes, rig_lie_is_on() ? MAP_PRIVATE : MAP_SHARED);
	} else {
		void *map = mmap(NULL, (size_t)rig.size_bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		rig.bytes = map == MAP_FAILED ? NULL : map;
		if (!rig.bytes)
			nbdkit_error(
				"could not get %" PRIi64 " bytes of memory: %m", rig.size_bytes);
	}
	rig.counts = &own_counts;
	if (rig.counts_file)
		rig.counts = map_file(rig.counts_file, (int64_t)sizeof(*rig.counts), MAP_SHARED);
	if (!rig.bytes || !rig.counts)
		return -1;
	return rig_lie_is_on() ? map_for_lies() : 0;
}

static int rig_after_fork(void)
{
	return rig.kept ? rig_lie_start(rig.kept, rig.map) : 0;
}

static void rig_unload(void)
{
	rig_lie_stop();
	if (rig.bytes)
		(void)munmap(rig.bytes, (size_t)rig.size_bytes);
	free(rig.file);
	free(rig.counts_file);
}

/* Returns 0, or -1 when nbdkit is ending. */
static int wait_ns(int64_t ns)
{
	if (ns == 0)
		return 0;
	return nbdkit_nanosleep((unsigned)(ns / 1000000000), (unsigned)(ns % 1000000000));
}

static void *rig_open(int readonly)
{
	(void)readonly;
	return NBDKIT_HANDLE_NOT_NEEDED;
}

static int64_t rig_get_size(void *handle)
{
	(void)handle;
	return rig.size_bytes;
}

static int rig_can_fua(void *handle)
{
	(void)handle;
	return rig.has_fua ? NBDKIT_FUA_NATIVE : NBDKIT_FUA_NONE;
}

/* A flush on one connection covers the writes of all: there is one store. */
static int rig_can_multi_conn(void *handle)
{
	(void)handle;
	return 1;
}

static int rig_pread(void *handle, void *buffer, uint32_t count, uint64_t offset, uint32_t flags)
{
	(void)handle;
	(void)flags;
	memcpy(buffer, rig.bytes + offset, count);
	return 0;
}

static int rig_flush(void *handle, uint32_t flags)
{
	(void)handle;
	(void)flags;
	rig.counts->flushes++;
	return wait_ns(rig.flush_delay_ns);
}

/* The only way in which data gets into the store: a lie about writes begins here. */
static int store(const void *buffer, uint32_t count, uint64_t offset, uint32_t flags)
{
	int64_t delay_ns = rig.write_delay_ns;

	rig.counts->writes++;
	if (buffer)
		memcpy(rig.bytes + offset, buffer, count);
	else
		memset(rig.bytes + offset, 0, count);
	if (rig.kept)
		rig_lie_write(buffer, count, offset);
	if (flags & NBDKIT_FLAG_FUA)
		delay_ns += rig.flush_delay_ns;
	return wait_ns(delay_ns);
}

static int rig_pwrite(
	void *handle, const void *buffer, uint32_t count, uint64_t offset, uint32_t flags)
{
	(void)handle;
	return store(buffer, count, offset, flags);
}

static int rig_zero(void *handle, uint32_t count, uint64_t offset, uint32_t flags)
{
	(void)handle;
	return store(NULL, count, offset, flags);
}

static int rig_trim(void *handle, uint32_t count, uint64_t offset, uint32_t flags)
{
	(void)handle;
	return store(NULL, count, offset, flags);
}

static struct nbdkit_plugin plugin = {
	.name = "walprobe-rig",
	.longname = "walprobe's test disk",
	.config = rig_config,
	.config_help = "size= file= flush-delay= write-delay= fua= counts= lie= map=",
	.get_ready = rig_get_ready,
	.after_fork = rig_after_fork,
	.unload = rig_unload,
	.open = rig_open,
	.get_size = rig_get_size,
	.can_fua = rig_can_fua,
	.can_multi_conn = rig_can_multi_conn,
	.pread = rig_pread,
	.pwrite = rig_pwrite,
	.flush = rig_flush,
	.zero = rig_zero,
	.trim = rig_trim,
	.errno_is_preserved = 0,
};

NBDKIT_REGISTER_PLUGIN(plugin)
