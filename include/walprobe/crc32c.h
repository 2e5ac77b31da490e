/* SPDX-License-Identifier: PostgreSQL */
/*
 * crc32c.h - the Castagnoli checksum of WAL records.
 *
 * Floor: base. The processor's instruction where there is one (SSE4.2, found at run time), a table
 * elsewhere. Source: PostgreSQL port/pg_crc32c.h; RFC 3720, appendix B.4.
 * Threads: yes, no state.
 */
#ifndef WALPROBE_CRC32C_H
#define WALPROBE_CRC32C_H

#include "walprobe/base.h"

#define WP_CRC32C_START UINT32_C(0xffffffff)

/* wp_crc32c_extend - state after length more bytes; a checksum starts from WP_CRC32C_START. */
uint32_t wp_crc32c_extend(uint32_t state, const void *data, size_t length);

/* wp_crc32c_extend_table - the same without the processor's instruction. */
uint32_t wp_crc32c_extend_table(uint32_t state, const void *data, size_t length);

/* wp_crc32c_finish - the checksum that a state stands for. */
static inline uint32_t wp_crc32c_finish(uint32_t state)
{
	return state ^ UINT32_C(0xffffffff);
}

/* wp_crc32c - checksum of one piece of memory; of "123456789" it is 0xe3069283. */
uint32_t wp_crc32c(const void *data, size_t length);

#endif
