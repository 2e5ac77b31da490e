/* SPDX-License-Identifier: PostgreSQL */
/*
 * Request counters of block devices. The kernel counts a flush once per FLUSH command, at the
 * device that takes requests: partitions, dm and md show 0 for ever.
 */
#include "device.h"

#include <inttypes.h>

#define STAT_FIELDS 17
#define SECTOR_BYTES 512

/* Depth first from one layer to the devices that count; false when a branch has none. */
static bool mark_counted(const struct wp_stack *stack, int index, bool *is_counted, bool *is_seen)
{
	const struct wp_layer *layer = &stack->layers[index];
	bool is_complete = true;

	if (is_seen[index])
		return true;
	is_seen[index] = true;
	if (layer->is_leaf) {
		is_counted[index] = true;
		return true;
	}
	for (size_t i = 0; i < layer->below_count; i++)
		is_complete =
			mark_counted(stack, layer->below[i], is_counted, is_seen) && is_complete;
	return is_complete && layer->below_count > 0;
}

size_t wp_stack_counted(const struct wp_stack *stack, int *indexes, const char **reason)
{
	bool is_counted[LAYERS_MAX] = { false };
	bool is_seen[LAYERS_MAX] = { false };
	size_t count = 0;

	*reason = NULL;
	if (stack->layer_count == 0) {
		*reason = "no block device can be seen";
		return 0;
	}
	for (size_t i = 0; i < stack->top_count; i++)
		if (!mark_counted(stack, (int)i, is_counted, is_seen))
			*reason = "a device under the file system counts no requests";
	if (*reason)
		return 0;
	for (size_t i = 0; i < stack->layer_count; i++)
		if (is_counted[i])
			indexes[count++] = (int)i;
	return count;
}

static size_t parse_fields(const char *text, int64_t *fields, size_t limit)
{
	size_t count = 0;

	while (count < limit) {
		char *end = NULL;
		int64_t value;

		errno = 0;
		value = strtoll(text, &end, 10);
		if (end == text || errno)
			break;
		fields[count++] = value;
		text = end;
	}
	return count;
}

static void set_unknown(struct wp_flush_counts *out, const char *reason)
{
	*out = (struct wp_flush_counts){ .is_known = false, .unknown_reason = reason };
}

void wp_flush_read_layer(const struct wp_os *os, const struct wp_stack_roots *roots,
	const struct wp_layer *layer, struct wp_flush_counts *out)
{
	const struct walk walk = { .os = os, .sys = roots && roots->sys ? roots->sys : "/sys" };
	char *text = walk_attribute(&walk, layer->name, "stat");
	int64_t fields[STAT_FIELDS];
	size_t count = text ? parse_fields(text, fields, WP_COUNT(fields)) : 0;

	free(text);
	if (count == 0) {
		set_unknown(out, "the device's counters cannot be read");
		return;
	}
	if (count < STAT_FIELDS) {
		set_unknown(out, "a kernel before 5.5 has no flush counters");
		return;
	}
	*out = (struct wp_flush_counts){
		.is_known = true,
		.reads = fields[0],
		.read_bytes = fields[2] * SECTOR_BYTES,
		.writes = fields[4],
		.written_bytes = fields[6] * SECTOR_BYTES,
		.flushes = fields[15],
	};
}

void wp_flush_read(const struct wp_os *os, const struct wp_stack_roots *roots,
	const struct wp_stack *stack, struct wp_flush_counts *out)
{
	struct wp_flush_counts sum = { .is_known = true };
	int indexes[LAYERS_MAX];
	const char *reason;
	size_t count = wp_stack_counted(stack, indexes, &reason);

	if (reason) {
		set_unknown(out, reason);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		struct wp_flush_counts one;

		wp_flush_read_layer(os, roots, &stack->layers[indexes[i]], &one);
		if (!one.is_known) {
			*out = one;
			return;
		}
		sum.flushes += one.flushes;
		sum.writes += one.writes;
		sum.written_bytes += one.written_bytes;
		sum.reads += one.reads;
		sum.read_bytes += one.read_bytes;
	}
	*out = sum;
}
