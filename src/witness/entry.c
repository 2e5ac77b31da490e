/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/ledger.h"
#include "witness/entry.h"

void wp_entry_begin(struct wp_put *put, enum wp_entry_type type, const uint8_t *run)
{
	wp_put_number(put, type, 1);
	wp_put_bytes(put, run, WP_RUN_ID_BYTES);
}

void wp_entry_run(struct wp_put *put, const struct wp_manifest *manifest)
{
	wp_entry_begin(put, WP_ENTRY_RUN, manifest->run);
	wp_put_number(put, manifest->page_bytes, 4);
	wp_put_number(put, manifest->slots, 4);
	wp_put_number(put, manifest->batch, 2);
	wp_put_number(put, manifest->cold_slots, 4);
	wp_put_number(put, manifest->writers, 2);
	wp_put_bytes(put, manifest->workloads, manifest->writers);
	wp_put_text(put, manifest->method);
	wp_put_text(put, manifest->machine);
	wp_put_text(put, manifest->product);
	wp_put_text(put, manifest->host);
	wp_put_text(put, manifest->path);
	wp_put_text(put, manifest->mount_point);
	wp_put_text(put, manifest->fstype);
	wp_put_text(put, manifest->stack);
	wp_put_text(put, manifest->started);
}

static bool is_sound(const struct wp_manifest *manifest)
{
	if (!manifest->writers || !manifest->slots || manifest->slots > 1 << 24 ||
		manifest->cold_slots > 1 << 24)
		return false;
	if (!manifest->batch || manifest->slots % manifest->batch)
		return false;
	if (manifest->page_bytes % WP_SECTOR_BYTES || !manifest->page_bytes ||
		manifest->page_bytes > WP_RECORD_SECTORS_MAXIMUM * WP_SECTOR_BYTES)
		return false;
	for (size_t i = 0; i < manifest->writers; i++)
		if (manifest->workloads[i] >= WP_WORKLOAD_COUNT)
			return false;
	return true;
}

bool wp_manifest_get(struct wp_get *get, const uint8_t *run, struct wp_manifest *out)
{
	memset(out, 0, sizeof(*out));
	memcpy(out->run, run, WP_RUN_ID_BYTES);
	out->page_bytes = (uint32_t)wp_get_number(get, 4);
	out->slots = (uint32_t)wp_get_number(get, 4);
	out->batch = (uint16_t)wp_get_number(get, 2);
	out->cold_slots = (uint32_t)wp_get_number(get, 4);
	out->writers = (uint16_t)wp_get_number(get, 2);
	if (out->writers > WP_WRITERS_MAXIMUM)
		return false;
	wp_get_bytes(get, out->workloads, out->writers);
	wp_get_text(get, out->method, sizeof(out->method));
	wp_get_text(get, out->machine, sizeof(out->machine));
	wp_get_text(get, out->product, sizeof(out->product));
	wp_get_text(get, out->host, sizeof(out->host));
	wp_get_text(get, out->path, sizeof(out->path));
	wp_get_text(get, out->mount_point, sizeof(out->mount_point));
	wp_get_text(get, out->fstype, sizeof(out->fstype));
	wp_get_text(get, out->stack, sizeof(out->stack));
	wp_get_text(get, out->started, sizeof(out->started));
	return wp_get_is_done(get) && is_sound(out);
}

void wp_entry_cycle(struct wp_put *put, const uint8_t *run, const struct wp_cycle_start *start,
	uint16_t writers)
{
	wp_entry_begin(put, WP_ENTRY_CYCLE, run);
	wp_put_number(put, start->cycle, 2);
	wp_put_bytes(put, start->instance, sizeof(start->instance));
	wp_put_text(put, start->boot_id);
	wp_put_number(put, (uint64_t)start->power_cycles, 8);
	wp_put_number(put, (uint64_t)start->unsafe_shutdowns, 8);
	for (size_t i = 0; i < writers; i++)
		wp_put_number(put, start->bases[i], 8);
}

bool wp_cycle_get(struct wp_get *get, uint16_t writers, struct wp_cycle_start *out)
{
	memset(out, 0, sizeof(*out));
	out->cycle = (uint16_t)wp_get_number(get, 2);
	wp_get_bytes(get, out->instance, sizeof(out->instance));
	wp_get_text(get, out->boot_id, sizeof(out->boot_id));
	out->power_cycles = (int64_t)wp_get_number(get, 8);
	out->unsafe_shutdowns = (int64_t)wp_get_number(get, 8);
	for (size_t i = 0; i < writers; i++)
		out->bases[i] = wp_get_number(get, 8);
	return wp_get_is_done(get) && out->cycle;
}

void wp_entry_segment(
	struct wp_put *put, const uint8_t *run, const struct wp_ledger_segment *segment)
{
	wp_entry_begin(put, WP_ENTRY_SEGMENT, run);
	wp_put_number(put, segment->writer, 2);
	wp_put_number(put, segment->segno, 4);
	wp_put_number(put, segment->physical, 4);
	wp_put_number(put, segment->generation, 4);
	wp_put_number(put, segment->first_seq, 8);
	wp_put_number(put, segment->slots, 4);
	wp_put_number(put, segment->cycle, 2);
}

bool wp_segment_get(struct wp_get *get, struct wp_ledger_segment *out)
{
	memset(out, 0, sizeof(*out));
	out->writer = (uint16_t)wp_get_number(get, 2);
	out->segno = (uint32_t)wp_get_number(get, 4);
	out->physical = (uint32_t)wp_get_number(get, 4);
	out->generation = (uint32_t)wp_get_number(get, 4);
	out->first_seq = wp_get_number(get, 8);
	out->slots = (uint32_t)wp_get_number(get, 4);
	out->cycle = (uint16_t)wp_get_number(get, 2);
	return wp_get_is_done(get) && out->slots && out->slots <= 1 << 24;
}

void wp_entry_drop(struct wp_put *put, const uint8_t *run, uint16_t writer, uint32_t segno)
{
	wp_entry_begin(put, WP_ENTRY_DROP, run);
	wp_put_number(put, writer, 2);
	wp_put_number(put, segno, 4);
}

static void put_exposures(struct wp_put *put, const int64_t exposures[WP_EXPOSURES])
{
	for (size_t i = 0; i < WP_EXPOSURES; i++)
		wp_put_number(put, (uint64_t)exposures[i], 8);
}

void wp_exposures_get(struct wp_get *get, int64_t out[WP_EXPOSURES])
{
	for (size_t i = 0; i < WP_EXPOSURES; i++)
		out[i] = (int64_t)wp_get_number(get, 8);
}

void wp_entry_acked(struct wp_put *put, const uint8_t *run, const uint64_t *acked, uint16_t writers,
	const int64_t exposures[WP_EXPOSURES], int64_t wall_ns)
{
	wp_entry_begin(put, WP_ENTRY_ACKED, run);
	wp_put_number(put, writers, 2);
	for (size_t i = 0; i < writers; i++)
		wp_put_number(put, acked[i], 8);
	put_exposures(put, exposures);
	wp_put_number(put, (uint64_t)wall_ns, 8);
}

void wp_entry_failed(struct wp_put *put, const uint8_t *run, int sys_errno)
{
	wp_entry_begin(put, WP_ENTRY_FAILED, run);
	wp_put_number(put, (uint64_t)sys_errno, 4);
}

void wp_entry_cut(struct wp_put *put, const uint8_t *run, const int64_t exposures[WP_EXPOSURES],
	bool was_closed)
{
	wp_entry_begin(put, WP_ENTRY_CUT, run);
	put_exposures(put, exposures);
	wp_put_number(put, was_closed, 1);
}

void wp_entry_result(struct wp_put *put, const uint8_t *run, const struct wp_cycle_result *result)
{
	int64_t numbers[WP_FAULT_COUNTS];

	memcpy(numbers, &result->counts, sizeof(numbers));
	wp_entry_begin(put, WP_ENTRY_RESULT, run);
	wp_put_number(put, result->cycle, 2);
	wp_put_number(put, result->verdict, 1);
	wp_put_number(put, result->cut, 1);
	for (size_t i = 0; i < WP_FAULT_COUNTS; i++)
		wp_put_number(put, (uint64_t)numbers[i], 8);
}

bool wp_result_get(struct wp_get *get, struct wp_cycle_result *out)
{
	int64_t numbers[WP_FAULT_COUNTS];

	memset(out, 0, sizeof(*out));
	out->cycle = (uint16_t)wp_get_number(get, 2);
	out->verdict = (uint8_t)wp_get_number(get, 1);
	out->cut = (uint8_t)wp_get_number(get, 1);
	for (size_t i = 0; i < WP_FAULT_COUNTS; i++)
		numbers[i] = (int64_t)wp_get_number(get, 8);
	memcpy(&out->counts, numbers, sizeof(numbers));
	return wp_get_is_done(get) && out->verdict <= WP_SURVIVAL_LIES;
}

const char *wp_workload_name(enum wp_workload workload)
{
	static const char *const names[] = { "append", "prealloc", "recycle", "create" };

	return names[workload];
}

const char *wp_survival_name(enum wp_survival verdict)
{
	static const char *const names[] = { "cannot tell", "no loss", "lies" };

	return names[verdict];
}

const char *wp_run_id_text(const uint8_t run[WP_RUN_ID_BYTES], char out[2 * WP_RUN_ID_BYTES + 1])
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < WP_RUN_ID_BYTES; i++) {
		out[2 * i] = digits[run[i] >> 4];
		out[2 * i + 1] = digits[run[i] & 15];
	}
	out[2 * (size_t)WP_RUN_ID_BYTES] = '\0';
	return out;
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool wp_run_id_parse(const char *text, uint8_t run[WP_RUN_ID_BYTES])
{
	if (strlen(text) != 2 * (size_t)WP_RUN_ID_BYTES)
		return false;
	for (size_t i = 0; i < WP_RUN_ID_BYTES; i++) {
		int high = digit_of(text[2 * i]);
		int low = digit_of(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		run[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

uint64_t wp_run_id_number(const uint8_t run[WP_RUN_ID_BYTES])
{
	struct wp_get get = { .bytes = run, .size = WP_RUN_ID_BYTES };

	return wp_get_number(&get, 8);
}
