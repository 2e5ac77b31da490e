/* SPDX-License-Identifier: PostgreSQL */
#include "inspect_tables.h"

#include "walprobe/mem.h"

#define NOT_SEEN "cannot be seen here"

static const struct wp_column layer_columns[] = {
	{ "target", "target", "", WP_KIND_TEXT, "Label of the target." },
	{ "layer", "layer", "", WP_KIND_TEXT, "Kernel name of the block device." },
	{ "kind", "kind", "", WP_KIND_TEXT, "What sort of device it is." },
	{ "below", "lies on", "", WP_KIND_TEXT, "Layers right under this one." },
	{ "write_cache", "write cache", "", WP_KIND_TEXT,
		"What the kernel believes: it sends flushes only to a device that is write back." },
	{ "device_cache", "device says", "", WP_KIND_TEXT,
		"What the device itself reports, where its driver passes it on." },
	{ "fua", "FUA", "", WP_KIND_INT, "1 when the device takes writes that force unit access." },
	{ "rotational", "rotates", "", WP_KIND_INT,
		"1 when the device claims to rotate; not to be believed of virtual and loop "
		"devices." },
	{ "rotation_rpm", "rpm", "1/min", WP_KIND_INT, "Rotation rate that the disk reports." },
	{ "logical_block_bytes", "block", "bytes", WP_KIND_INT,
		"Logical block size, to which direct I/O is aligned." },
	{ "counted", "counted", "", WP_KIND_INT,
		"1 when flushes for this target are counted at this layer." },
	{ "model", "model", "", WP_KIND_TEXT, "Vendor and model of the disk." },
	{ "alias", "name", "", WP_KIND_TEXT, "Name of a logical volume or mapping." },
	{ "backing_file", "file", "", WP_KIND_TEXT, "File that a loop device lies on." },
	{ "scheduler", "scheduler", "", WP_KIND_TEXT, "I/O scheduler in force." },
};

static const struct wp_column flush_columns[] = {
	{ "target", "target", "", WP_KIND_TEXT, "Label of the target." },
	{ "workload", "workload", "", WP_KIND_TEXT,
		"Overwrite of written blocks, append to a growing file, overwrite with O_DIRECT." },
	{ "method", "method", "", WP_KIND_TEXT, "wal_sync_method." },
	{ "operations", "ops", "", WP_KIND_INT, "Synchronous writes of 8 kB, one after another." },
	{ "flushes", "flushes", "", WP_KIND_INT,
		"FLUSH requests completed by the counted devices meanwhile." },
	{ "flushes_per_op", "flushes/op", "", WP_KIND_REAL,
		"FLUSH requests for each write, those of others taken off." },
	{ "writes_per_op", "writes/op", "", WP_KIND_REAL,
		"Write requests for each write, empty flushes included, those of others taken "
		"off." },
	{ "background_flushes", "by others", "", WP_KIND_REAL,
		"FLUSH requests expected of others in that time, after the pauses before and "
		"after." },
	{ "conclusive", "conclusive", "", WP_KIND_INT,
		"1 when others flushed so little that the figure is ours, or nothing was "
		"counted." },
	{ "p50_ns", "p50", "ns", WP_KIND_INT, "Median time of one write and sync." },
	{ "ops_per_s", "ops/s", "1/s", WP_KIND_REAL, "Writes per second of the one writer." },
	{ "devices", "devices", "", WP_KIND_TEXT,
		"Flushes per operation at each counted device, background included." },
};

/* NULL is absent with a reason. */
static void set_text(struct wp_row *row, const char *key, const char *value, const char *reason)
{
	if (value)
		wp_row_text(row, key, value);
	else
		wp_row_absent(row, key, reason);
}

static void set_seen(struct wp_row *row, const char *key, int64_t value, bool is_seen)
{
	if (is_seen)
		wp_row_int(row, key, value);
	else
		wp_row_absent(row, key, NOT_SEEN);
}

static void set_below(
	struct wp_row *row, const struct wp_stack *stack, const struct wp_layer *layer)
{
	char *text = NULL;

	for (size_t i = 0; i < layer->below_count; i++) {
		char *longer = wp_xasprintf("%s%s%s", text ? text : "", text ? " " : "",
			stack->layers[layer->below[i]].name);

		free(text);
		text = longer;
	}
	set_text(row, "below", text,
		layer->backing_file && stack->unseen_below ? stack->unseen_below : NULL);
	free(text);
}

static bool is_counted(const struct wp_stack *stack, size_t layer)
{
	int *indexes = wp_xcalloc(stack->layer_count + 1, sizeof(*indexes));
	const char *reason;
	size_t count = wp_stack_counted(stack, indexes, &reason);
	bool is_found = false;

	for (size_t i = 0; i < count; i++)
		is_found = is_found || indexes[i] == (int)layer;
	free(indexes);
	return is_found;
}

static void fill_layer(struct wp_row *row, const struct wp_stack *stack, size_t index)
{
	const struct wp_layer *layer = &stack->layers[index];
	const char *no_queue = strcmp(layer->kind, "part") == 0
				       ? "a partition has no queue of its own, see its disk"
				       : NOT_SEEN;

	wp_row_text(row, "layer", layer->name);
	wp_row_text(row, "kind", layer->kind);
	set_below(row, stack, layer);
	set_text(row, "write_cache", layer->write_cache, no_queue);
	set_text(row, "device_cache", layer->device_cache, NOT_SEEN);
	set_seen(row, "fua", layer->is_fua, layer->is_fua >= 0);
	set_seen(row, "rotational", layer->is_rotational, layer->is_rotational >= 0);
	set_seen(row, "rotation_rpm", layer->rotation_rpm, layer->rotation_rpm > 0);
	set_seen(row, "logical_block_bytes", layer->logical_block_bytes,
		layer->logical_block_bytes > 0);
	wp_row_int(row, "counted", is_counted(stack, index));
	set_text(row, "model", layer->model, NULL);
	set_text(row, "alias", layer->alias, NULL);
	set_text(row, "backing_file", layer->backing_file, NULL);
	set_text(row, "scheduler", layer->scheduler, NULL);
}

static struct wp_table *layer_table(struct wp_result *result)
{
	return wp_result_table(result, "inspect",
		"What lies under each target, from the file system down", layer_columns,
		WP_COUNT(layer_columns));
}

void inspect_fill_absent(struct wp_result *result, const char *label, const char *reason)
{
	struct wp_row *row = wp_table_add_row(layer_table(result));

	wp_row_text(row, "target", label);
	for (size_t i = 1; i < WP_COUNT(layer_columns); i++)
		wp_row_absent(row, layer_columns[i].key, reason);
}

void inspect_fill_layers(struct wp_result *result, const char *label, const struct wp_stack *stack)
{
	for (size_t i = 0; i < stack->layer_count; i++) {
		struct wp_row *row = wp_table_add_row(layer_table(result));

		wp_row_text(row, "target", label);
		fill_layer(row, stack, i);
	}
	if (stack->layer_count == 0)
		inspect_fill_absent(result, label, stack->unseen);
}

static void set_devices(struct wp_row *row, const struct wp_stack *stack,
	const struct wp_flush_report *report, const struct wp_flush_sample *sample)
{
	char *text = NULL;

	for (size_t i = 0; i < report->device_count; i++) {
		char *longer = wp_xasprintf("%s%s%s %.2f", text ? text : "", text ? ", " : "",
			stack->layers[report->devices[i]].name,
			(double)sample->device_flushes[i] / (double)sample->operations);

		free(text);
		text = longer;
	}
	set_text(row, "devices", text, report->unknown_reason);
	free(text);
}

static void fill_counts(struct wp_row *row, const struct wp_stack *stack,
	const struct wp_flush_report *report, const struct wp_flush_sample *sample)
{
	static const char *const keys[] = { "flushes", "flushes_per_op", "writes_per_op",
		"background_flushes", "conclusive", "devices" };

	if (!report->has_counters) {
		for (size_t i = 0; i < WP_COUNT(keys); i++)
			wp_row_absent(row, keys[i],
				stack->unseen ? stack->unseen : report->unknown_reason);
		return;
	}
	wp_row_int(row, "flushes", sample->counts.flushes);
	wp_row_real(row, "flushes_per_op", sample->flushes_per_op);
	wp_row_real(row, "writes_per_op", sample->writes_per_op);
	wp_row_real(row, "background_flushes", sample->background_flushes);
	wp_row_int(row, "conclusive", sample->is_conclusive);
	set_devices(row, stack, report, sample);
}

void inspect_fill_flush(struct wp_result *result, const char *label, const struct wp_stack *stack,
	const struct wp_flush_report *report)
{
	struct wp_table *table = wp_result_table(result, "flush",
		"FLUSH requests at the device for each synchronous write of 8 kB", flush_columns,
		WP_COUNT(flush_columns));

	for (size_t i = 0; i < report->sample_count; i++) {
		const struct wp_flush_sample *sample = &report->samples[i];
		struct wp_row *row = wp_table_add_row(table);

		wp_row_text(row, "target", label);
		wp_row_text(row, "workload", wp_flush_workload_name(sample->workload));
		wp_row_text(row, "method", wp_method_name(sample->method));
		if (sample->absent) {
			for (size_t j = 3; j < WP_COUNT(flush_columns); j++)
				wp_row_absent(row, flush_columns[j].key, sample->absent);
			continue;
		}
		wp_row_int(row, "operations", sample->operations);
		wp_row_int(row, "p50_ns", sample->p50_ns);
		wp_row_real(row, "ops_per_s",
			(double)sample->operations * (double)WP_NS_PER_S /
				(double)sample->elapsed_ns);
		fill_counts(row, stack, report, sample);
	}
}
