/* SPDX-License-Identifier: PostgreSQL */
#include "probe/io_internal.h"

const struct wp_column wp_io_columns[] = {
	{ "target", "target", "", WP_KIND_TEXT, "Label of the target." },
	{ "test", "test", "", WP_KIND_TEXT,
		"What is done: write to a new file, overwrite what was written, rewrite (read, "
		"change, "
		"write back), read, reread from a filled cache, random-read, random-write, "
		"backward-read, stride-read (every 17th record), seeks (several readers, one "
		"record "
		"in ten written back); putc and getc byte by byte through a buffer of 4 kB, write1 "
		"and read1 with a system call for each byte; recovery and archive as PostgreSQL "
		"reads WAL; create, stat and delete of small files in sequential and random order, "
		"synced with fsync of file and directory." },
	{ "record_bytes", "record", "bytes", WP_KIND_INT, "Bytes of one operation." },
	{ "file_bytes", "file", "bytes", WP_KIND_INT, "Size of the files of all jobs together." },
	{ "jobs", "jobs", "", WP_KIND_INT, "Threads that work at the same time." },
	{ "bytes_per_s", "MB/s", "bytes/s", WP_KIND_REAL,
		"Bytes per second that our calls read and wrote, all jobs, over the time that all "
		"of "
		"them ran; middle of the rounds. Rewriting counts a record once." },
	{ "ops_per_s", "ops/s", "1/s", WP_KIND_REAL,
		"Operations (records, bytes or files) per second, middle of the rounds "
		"(Hodges-Lehmann)." },
	{ "ci_low", "low", "1/s", WP_KIND_REAL, "Lower end of the 95 % interval of ops_per_s." },
	{ "ci_high", "high", "1/s", WP_KIND_REAL, "Upper end of the 95 % interval of ops_per_s." },
	{ "mean_ns", "mean", "ns", WP_KIND_INT,
		"Mean time of one operation; of a buffer of 4 kB for putc and getc, of 64 calls "
		"for "
		"write1 and read1, as the other times are." },
	{ "p50_ns", "p50", "ns", WP_KIND_INT, "Half of the operations took no longer." },
	{ "p90_ns", "p90", "ns", WP_KIND_INT, "90 % of the operations took no longer." },
	{ "p99_ns", "p99", "ns", WP_KIND_INT, "99 % of the operations took no longer." },
	{ "p999_ns", "p99.9", "ns", WP_KIND_INT, "99.9 % of the operations took no longer." },
	{ "max_ns", "max", "ns", WP_KIND_INT, "Longest operation." },
	{ "ops", "ops", "", WP_KIND_INT, "Operations over all rounds that count." },
	{ "cpu_percent", "CPU %", "", WP_KIND_REAL,
		"Processor time of our threads in per cent of the measured time: 100 is one whole "
		"core." },
	{ "cache", "cache", "", WP_KIND_TEXT,
		"How the page cache was kept out: dropped (written back and given up before every "
		"measurement), size (dropped, and the files are twice the memory), direct "
		"(O_DIRECT); filled or kept where it is measured on purpose." },
	{ "cached", "cached", "", WP_KIND_TEXT,
		"yes: more than 5 % of the bytes read did not come from the device, or of the "
		"bytes "
		"written did not reach it in the measured time, so that this is no figure of the "
		"disk; for small files: they were neither synced nor read from the device." },
	{ "read_bytes", "read", "bytes", WP_KIND_INT, "Bytes that our calls read." },
	{ "written_bytes", "written", "bytes", WP_KIND_INT, "Bytes that our calls wrote." },
	{ "fetched_bytes", "fetched", "bytes", WP_KIND_INT,
		"Bytes that our reads brought in from the device: the smaller of what the kernel "
		"counts for this process and at the device." },
	{ "device_read_bytes", "device read", "bytes", WP_KIND_INT,
		"Bytes read from the device in the measured time, by whomever." },
	{ "device_written_bytes", "device written", "bytes", WP_KIND_INT,
		"Bytes written to the device in the measured time, by whomever." },
	{ "device_flushes", "flushes", "", WP_KIND_INT,
		"FLUSH requests at the device in the measured time." },
	{ "rounds", "rounds", "", WP_KIND_INT, "Rounds that count." },
	{ "steady", "steady", "", WP_KIND_TEXT,
		"Whether the last five rounds lie within 20 % and without a trend of 10 %." },
};

const size_t wp_io_column_count = WP_COUNT(wp_io_columns);
