/* SPDX-License-Identifier: PostgreSQL */
/* sample_io.h - a result of walprobe io with every test that bonnie++'s and iozone's layouts have. */
#ifndef WALPROBE_TEST_SAMPLE_IO_H
#define WALPROBE_TEST_SAMPLE_IO_H

#include "walprobe/result.h"

/* sample_io - targets "ext4" and "xfs, new" with records of 8 and 16 kB, and "f2fs" without a
 * figure. The caller frees. */
struct wp_result *sample_io(void);

#endif
