/* SPDX-License-Identifier: PostgreSQL */
/*
 * fake_os.h - the real system with the n-th call failing, for tests.
 *
 * The standard test of anything that uses wp_os: run it with call 1 failing, then 2, ... until
 * nothing failed any more; each time expect an error that names the file, no open descriptor and
 * no leftover file. close(), unlink(), rmdir(), umount() and now_ns() are done even when they are
 * told to fail, so that a failing clean-up does not leave the test's own litter.
 */
#ifndef WALPROBE_FAKE_OS_H
#define WALPROBE_FAKE_OS_H

#include "walprobe/os.h"

#include <stdatomic.h>

struct fake_os {
	struct wp_os os; /* hand &fake.os to the code under test */
	const struct wp_os *real;
	const char *only;    /* fail only this operation ("fsync"); NULL: any but now_ns */
	int64_t fail_at;     /* 1: the first call that counts; 0: never */
	bool is_sticky;      /* all later calls that count fail too */
	int fail_errno;      /* positive */
	bool is_short_write; /* pwrite and pwritev write half instead of failing */
	atomic_llong calls;  /* calls that counted */
	atomic_int failures;
	atomic_int open_count; /* descriptors open now */
	atomic_llong now_ns;   /* 0: the real clock; else a clock that only sleep_ns moves */
	int64_t euid;          /* -1: the real one; else what geteuid tells */
	char last_failed[32];  /* name of the operation that failed */
};

/* fake_os_init - over the real system, nothing failing. */
void fake_os_init(struct fake_os *fake);

/* fake_os_arm - fail the n-th call of operation only (NULL: any) with this errno from now on. */
void fake_os_arm(struct fake_os *fake, const char *only, int64_t n, int fail_errno);

/* scratch_dir - a fresh directory below TMPDIR, in static storage; scratch_dir_remove - with all
 * in it; scratch_dir_count - entries left in it. */
const char *scratch_dir(void);
void scratch_dir_remove(const char *path);
size_t scratch_dir_count(const char *path);

#endif
