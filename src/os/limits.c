/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/limits.h"

#include <sys/resource.h>

int wp_limit_open_files(int64_t wanted, struct wp_err *err)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return wp_fail(err, WP_E_SYS, errno, "could not read the limit of open files");
	if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= (rlim_t)wanted)
		return 0;
	if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < (rlim_t)wanted) {
		(void)wp_fail(err, WP_E_SYS, 0,
			"%" PRId64 " files must be open at once, but the limit is %" PRIu64, wanted,
			(uint64_t)limit.rlim_max);
		wp_err_hint(err, "Use fewer clients, or raise the limit (ulimit -Hn).");
		return -WP_E_SYS;
	}
	limit.rlim_cur = (rlim_t)wanted;
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		return wp_fail(err, WP_E_SYS, errno, "could not raise the limit of open files");
	return 0;
}
