/* SPDX-License-Identifier: PostgreSQL */
/*
 * judge.h - what the two files of judgements share.
 */
#ifndef WALPROBE_PROBE_JUDGE_H
#define WALPROBE_PROBE_JUDGE_H

#include "walprobe/judge.h"

/* judge - status and text in one step; expected and observed are set apart. */
void judge(struct wp_judgement *out, enum wp_check_status status, const char *format, ...)
	WP_PRINTF(3, 4);

/* judge_expect, judge_observe - the other two sentences. */
void judge_expect(struct wp_judgement *out, const char *format, ...) WP_PRINTF(2, 3);
void judge_observe(struct wp_judgement *out, const char *format, ...) WP_PRINTF(2, 3);

/* append_text - add to what is in buffer; cut off at its end. */
void append_text(char *buffer, size_t size, const char *format, ...) WP_PRINTF(3, 4);

/* cache_is - true when a write cache is known to read like this ("write back, no read" is back). */
bool cache_is(const char *cache, const char *words);

/* lossy_options - the mount options on the way down that drop flushes, "nobarrier on /mnt, ...";
 * "" when there are none. */
void lossy_options(const struct wp_stack *stack, char *out, size_t size);

/* has_far_side - requests end at something that is no disk as such: a loop device's file, a
 * hypervisor; what is the words for it. */
bool has_far_side(const struct wp_stack *stack, const char **what);

/* judge_drives - what the drives' own tools say, against the kernel's view; false when nobody
 * said anything about a drive of this place. */
bool judge_drives(const struct wp_facts *facts, struct wp_judgement *out);

/* is_drive_cache_off - the drive's own tools agree that this layer has no volatile cache on. */
bool is_drive_cache_off(const struct wp_facts *facts, const struct wp_layer *layer);

#endif
