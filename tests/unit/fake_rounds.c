/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"

#include "fake_rounds.h"
#include "walprobe/stop.h"

#include <signal.h>

struct fake_machine machine;
struct fake_plan plan;

static const char *const paths[] = { "/proc/stat", "/proc/self/stat", "/sys/block/vda/stat",
	"/target" };

static int fake_open(void *ctx, const char *path, int flags, unsigned mode)
{
	(void)ctx;
	(void)flags;
	(void)mode;
	for (size_t i = 0; i < WP_COUNT(paths); i++) {
		if (strcmp(path, paths[i]) != 0)
			continue;
		machine.open_count++;
		return (int)i;
	}
	return -ENOENT;
}

static int fake_close(void *ctx, int fd)
{
	(void)ctx;
	(void)fd;
	machine.open_count--;
	return 0;
}

static int64_t fake_pread(void *ctx, int fd, void *buffer, size_t length, int64_t offset)
{
	char text[512];
	size_t size;
	long long ticks = machine.now_ns / (10 * WP_NS_PER_MS);

	(void)ctx;
	if (fd == 0)
		(void)snprintf(text, sizeof(text),
			"cpu  %lld 0 0 %lld 0 0 0 0 0 0\ncpu0 0\ncpu1 0\n",
			(long long)machine.user_ticks, 2 * ticks - (long long)machine.user_ticks);
	else if (fd == 1)
		(void)snprintf(text, sizeof(text), "1 (x) R 1 1 1 0 -1 0 0 0 0 0 %lld 0 0 0 20",
			(long long)machine.own_ticks);
	else
		(void)snprintf(text, sizeof(text), "0 0 0 0 %lld 0 0 0 0 0 0",
			(long long)machine.disk_requests);
	size = strlen(text);
	if (offset >= (int64_t)size)
		return 0;
	if (length > size - (size_t)offset)
		length = size - (size_t)offset;
	memcpy(buffer, text + offset, length);
	return (int64_t)length;
}

int fake_syncfs(void *ctx, int fd)
{
	(void)ctx;
	(void)fd;
	(void)atomic_fetch_add(&machine.syncfs_calls, 1);
	return atomic_load(&machine.syncfs_rc);
}

static int64_t fake_now_ns(void *ctx)
{
	(void)ctx;
	return machine.now_ns;
}

static int fake_sleep_ns(void *ctx, int64_t duration_ns)
{
	(void)ctx;
	machine.now_ns += duration_ns;
	machine.disk_requests += machine.disk_requests_per_sleep;
	return 0;
}

static void hear(void *ctx, const char *kind, const char *text)
{
	size_t used = strlen(machine.told);

	(void)ctx;
	(void)snprintf(machine.told + used, sizeof(machine.told) - used, "%s: %s\n", kind, text);
}

static void watch(void *ctx, const char *label, int64_t done_ns, int64_t total_ns)
{
	(void)ctx;
	machine.progress_calls++;
	if (done_ns < 0 || total_ns < done_ns || !strstr(label, "fdatasync"))
		machine.has_bad_progress = true;
}

static int run_script(struct wp_measure *measure, int64_t least_ns, struct wp_hist *hist,
	struct wp_block *block, struct wp_err *err)
{
	struct script *script = measure->self;
	int run = ++script->runs;

	assert_int_equal(hist->count, 0);
	assert_true(machine.log_count < LOG_SIZE);
	machine.log[machine.log_count++] = script->id;
	machine.now_ns += least_ns;
	machine.own_ticks += 5;
	machine.user_ticks += 5 + (run < 16 ? script->foreign_ticks[run] : 0);
	machine.disk_requests += 100;
	machine.flushes += 2 * script->samples;
	if (run == script->stop_at) {
		wp_stop_raise(SIGINT);
		return wp_stop_fail(err);
	}
	if (run == script->fail_at)
		return wp_fail(err, (enum wp_code)script->fail_code, EIO, "could not sync \"f\"");
	for (int64_t i = 0; i < script->samples; i++)
		wp_hist_record(hist, 1000 * run);
	*block = (struct wp_block){ .value = 100 * (script->id + 1) + run,
		.operations = script->samples,
		.syncs = script->samples,
		.elapsed_ns = least_ns };
	return 0;
}

static void release_script(struct wp_measure *measure)
{
	((struct script *)measure->self)->is_released = true;
}

static int layer_below[1];
static char layer_name[] = "vda";
struct wp_layer disk_layer = { .name = layer_name, .below = layer_below, .is_leaf = true };
char target_dir[] = "/target";

struct wp_measure *add_measure(struct wp_target *target, struct script *script, int id)
{
	struct wp_measure *measure = wp_measures_add(&plan.measures);

	script->id = id;
	script->samples = 10;
	measure->table = "sync";
	measure->metric = "ops_per_s";
	measure->method = "fdatasync";
	measure->variant = id % 2 ? "two-writes" : "overwrite";
	measure->target = target;
	measure->run = run_script;
	measure->release = release_script;
	measure->self = script;
	measure->os = &machine.os;
	return measure;
}

int set_up(void **state)
{
	(void)state;
	memset(&machine, 0, sizeof(machine));
	memset(&plan, 0, sizeof(plan));
	machine.now_ns = WP_NS_PER_S;
	machine.ops.open = fake_open;
	machine.ops.close = fake_close;
	machine.ops.pread = fake_pread;
	machine.ops.syncfs = fake_syncfs;
	machine.ops.now_ns = fake_now_ns;
	machine.ops.sleep_ns = fake_sleep_ns;
	machine.os.ops = &machine.ops;
	plan.targets[0].label = "a";
	plan.targets[1].label = "b";
	for (int i = 0; i < 4; i++)
		(void)add_measure(&plan.targets[i / 2], &plan.scripts[i], i);
	plan.run = (struct wp_run){ .os = &machine.os,
		.result = wp_result_new("sync"),
		.seed = 1,
		.rounds = 10,
		.time_ns = BLOCK_NS,
		.tell = hear,
		.progress = watch };
	return 0;
}

int tear_down(void **state)
{
	(void)state;
	wp_stop_reset();
	wp_measures_release(&plan.measures);
	wp_result_free(plan.run.result);
	return machine.open_count == 0 ? 0 : -1;
}

struct wp_measure *item(size_t i)
{
	return plan.measures.items[i];
}

void fake_flush_read(const struct wp_stack *stack, struct wp_flush_counts *out)
{
	memset(out, 0, sizeof(*out));
	out->is_known = stack->layer_count > 0;
	out->unknown_reason = "no block device";
	out->flushes = machine.flushes;
}
