/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/io_tree.h"

#include "walprobe/mem.h"
#include "walprobe/stop.h"

#define LETTERS_MAXIMUM 12
#define FIRST_DELETES 256 /* of a pass whose rate is not known yet */
#define MARGIN 1.25

void wp_io_tree_init(struct wp_io_tree *tree, const struct wp_io_tree_plan *plan,
	const struct wp_os *os, const char *parent, const char *name, struct wp_io_pool *pool,
	uint64_t seed)
{
	assert(plan->count > 0 && plan->directories > 0);
	assert((size_t)plan->most_bytes <= pool->buffer_bytes);
	memset(tree, 0, sizeof(*tree));
	tree->plan = *plan;
	tree->os = os;
	tree->pool = pool;
	tree->seed = seed;
	tree->dir = wp_xasprintf("%s/%s", parent, name);
	wp_io_shuffle_init(&tree->order, (uint64_t)plan->count, seed);
}

void wp_io_tree_release(struct wp_io_tree *tree)
{
	free(tree->dir);
	tree->dir = NULL;
}

static uint64_t hash_of(const struct wp_io_tree *tree, uint64_t index)
{
	uint64_t value = (index + tree->seed + 1) * UINT64_C(0x9e3779b97f4a7c15);

	value ^= value >> 31;
	value *= UINT64_C(0xbf58476d1ce4e5b9);
	return value ^ (value >> 29);
}

static int64_t size_of(const struct wp_io_tree *tree, uint64_t index)
{
	uint64_t range = (uint64_t)(tree->plan.most_bytes - tree->plan.least_bytes) + 1;

	return tree->plan.least_bytes + (int64_t)(hash_of(tree, index ^ 0x5555) % range);
}

/* The file at a place of the order into tree->path; returns its number. */
static uint64_t name_file(struct wp_io_tree *tree, int64_t place)
{
	uint64_t index = tree->plan.is_random ? wp_io_shuffle_at(&tree->order, (uint64_t)place)
					      : (uint64_t)place;
	uint64_t hash = hash_of(tree, index);
	size_t length = hash % (LETTERS_MAXIMUM + 1);
	char letters[LETTERS_MAXIMUM + 1];

	for (size_t i = 0; i < length; i++)
		letters[i] = (char)('a' + (hash >> (4 + 4 * i)) % 26);
	letters[length] = '\0';
	(void)snprintf(tree->path, sizeof(tree->path), "%s/%05" PRIu64 "/%s%07" PRIx64 "%s",
		tree->dir, index % (uint64_t)tree->plan.directories,
		tree->plan.is_random ? letters : "", index, tree->plan.is_random ? "" : letters);
	return index;
}

static int fail_at(struct wp_io_tree *tree, const char *call, int rc, struct wp_err *err)
{
	if (rc == -EINTR && wp_stop_requested())
		return wp_stop_fail(err);
	return wp_io_file_fail(tree->os, tree->dir, tree->path, call, -rc,
		tree->plan.count * (tree->plan.most_bytes + 1), err);
}

static int failed(struct wp_io_tree *tree, const char *call, int rc)
{
	tree->failed_call = call;
	return rc;
}

/* The directory of tree->path, as PostgreSQL's fsync_fname() syncs it. */
static int sync_directory(struct wp_io_tree *tree)
{
	char *slash = strrchr(tree->path, '/');
	int fd;
	int rc;

	*slash = '\0';
	fd = wp_os_open(tree->os, tree->path, O_RDONLY | O_DIRECTORY, 0);
	*slash = '/';
	if (fd < 0)
		return failed(tree, "open the directory of", fd);
	rc = wp_os_fsync(tree->os, fd);
	(void)wp_os_close(tree->os, fd); /* read only: nothing can be lost */
	/* Some file systems have no fsync of directories, which PostgreSQL lets pass as well. */
	if (rc && rc != -EBADF && rc != -EINVAL)
		return failed(tree, "fsync the directory of", rc);
	return 0;
}

static int fill_file(struct wp_io_tree *tree, int fd, uint64_t index, int64_t *bytes)
{
	int64_t size = size_of(tree, index);
	unsigned char *buffer = tree->pool->buffers[0];
	int rc;

	if (!size)
		return 0;
	memcpy(buffer, &index, (size_t)size < sizeof(index) ? (size_t)size : sizeof(index));
	rc = wp_os_write_all(tree->os, fd, buffer, (size_t)size, 0);
	if (rc)
		return failed(tree, "write to", rc);
	*bytes += size;
	return 0;
}

static int create_one(struct wp_io_tree *tree, uint64_t index, bool is_synced, int64_t *bytes)
{
	int fd = wp_os_open(tree->os, tree->path, O_RDWR | O_CREAT | O_EXCL, 0600);
	int close_rc;
	int rc;

	if (fd < 0)
		return failed(tree, "create", fd);
	rc = fill_file(tree, fd, index, bytes);
	if (!rc && is_synced) {
		rc = wp_os_fsync(tree->os, fd);
		if (rc)
			(void)failed(tree, "fsync", rc);
	}
	close_rc = wp_os_close(tree->os, fd);
	if (!rc && close_rc)
		rc = failed(tree, "close", close_rc);
	return !rc && is_synced ? sync_directory(tree) : rc;
}

static int read_file(struct wp_io_tree *tree, int64_t size, int64_t *bytes)
{
	int fd = wp_os_open(tree->os, tree->path, O_RDONLY, 0);
	int64_t done;

	if (fd < 0)
		return failed(tree, "open", fd);
	done = wp_os_pread(tree->os, fd, tree->pool->buffers[0], (size_t)size, 0);
	(void)wp_os_close(tree->os, fd); /* read only: nothing can be lost */
	if (done < 0)
		return failed(tree, "read", (int)done);
	*bytes += done;
	return 0;
}

static int stat_one(struct wp_io_tree *tree, int64_t *bytes)
{
	struct stat info;
	int rc = wp_os_stat(tree->os, tree->path, &info);

	if (rc)
		return failed(tree, "stat", rc);
	return info.st_size > 0 ? read_file(tree, info.st_size, bytes) : 0;
}

static int delete_one(struct wp_io_tree *tree, bool is_synced)
{
	int rc = wp_os_unlink(tree->os, tree->path);

	if (rc)
		return failed(tree, "remove", rc);
	return is_synced ? sync_directory(tree) : 0;
}

static int make_directories(struct wp_io_tree *tree, struct wp_err *err)
{
	int rc;

	if (tree->has_directories)
		return 0;
	(void)snprintf(tree->path, sizeof(tree->path), "%s", tree->dir);
	rc = wp_os_mkdir(tree->os, tree->path, 0700);
	for (int64_t i = 0; !rc && i < tree->plan.directories; i++) {
		(void)snprintf(tree->path, sizeof(tree->path), "%s/%05" PRId64, tree->dir, i);
		rc = wp_os_mkdir(tree->os, tree->path, 0700);
	}
	if (rc)
		return fail_at(tree, "create directory", rc, err);
	tree->has_directories = true;
	return 0;
}

/* Create files up to this place of the order. */
static int make_files(struct wp_io_tree *tree, int64_t count, struct wp_err *err)
{
	int64_t bytes = 0;
	int rc = 0;

	while (!rc && tree->to < count) {
		uint64_t index = name_file(tree, tree->to);

		rc = create_one(tree, index, false, &bytes);
		if (rc)
			return fail_at(tree, tree->failed_call, rc, err);
		tree->to++;
		rc = wp_stop_fail(err);
	}
	return rc;
}

static int remove_files(struct wp_io_tree *tree, struct wp_err *err)
{
	for (; tree->from < tree->to; tree->from++) {
		int rc;

		(void)name_file(tree, tree->from);
		rc = delete_one(tree, false);
		if (rc)
			return fail_at(tree, tree->failed_call, rc, err);
	}
	tree->from = tree->to = 0;
	return 0;
}

/* Files to be deleted are settled on disk first, or deleting only takes back what is in memory. */
static int settle(struct wp_io_tree *tree, struct wp_err *err)
{
	int fd;
	int rc;

	(void)snprintf(tree->path, sizeof(tree->path), "%s", tree->dir);
	fd = wp_os_open(tree->os, tree->path, O_RDONLY | O_DIRECTORY, 0);
	if (fd < 0)
		return fail_at(tree, "open directory", fd, err);
	rc = wp_os_syncfs(tree->os, fd);
	(void)wp_os_close(tree->os, fd); /* read only: nothing can be lost */
	return rc ? fail_at(tree, "write back the file system of", rc, err) : 0;
}

static int64_t deletes_wanted(const struct wp_io_tree *tree, int64_t left_ns)
{
	double wanted = MARGIN * tree->per_s * (double)left_ns / (double)WP_NS_PER_S;

	if (!(tree->per_s > 0))
		wanted = FIRST_DELETES;
	return wanted < (double)tree->plan.count ? (int64_t)wanted + 1 : tree->plan.count;
}

int wp_io_tree_prepare(struct wp_io_tree *tree, int64_t left_ns, struct wp_err *err)
{
	int rc = wp_stop_fail(err);

	if (!rc)
		rc = make_directories(tree, err);
	if (!rc && tree->plan.work != WP_IO_STAT)
		rc = remove_files(tree, err);
	if (rc)
		return rc;
	switch (tree->plan.work) {
	case WP_IO_STAT:
		return make_files(tree, tree->plan.count, err);
	case WP_IO_DELETE:
		rc = make_files(tree, deletes_wanted(tree, left_ns), err);
		return rc ? rc : settle(tree, err);
	default:
		return 0;
	}
}

static int operate(struct wp_io_tree *tree, struct wp_io_counts *counts)
{
	const struct wp_io_tree_plan *plan = &tree->plan;
	int rc;

	switch (plan->work) {
	case WP_IO_CREATE: {
		uint64_t index = name_file(tree, tree->to);

		tree->to++; /* also when only half of it was made: it is to be removed */
		rc = create_one(tree, index, plan->is_synced, &counts->written_bytes);
		counts->syncs += plan->is_synced ? 2 : 0;
		break;
	}
	case WP_IO_STAT:
		(void)name_file(tree, tree->place);
		tree->place = (tree->place + 1) % plan->count;
		rc = stat_one(tree, &counts->read_bytes);
		break;
	default:
		(void)name_file(tree, tree->from);
		rc = delete_one(tree, plan->is_synced);
		tree->from++;
		counts->syncs += plan->is_synced ? 1 : 0;
		break;
	}
	return rc;
}

/* How many files this pass may work on. */
static int64_t files_left(const struct wp_io_tree *tree)
{
	return tree->plan.work == WP_IO_DELETE ? tree->to - tree->from : tree->plan.count;
}

int wp_io_tree_pass(struct wp_io_tree *tree, int64_t left_ns, struct wp_hist *hist,
	struct wp_io_counts *counts, struct wp_err *err)
{
	const atomic_int *stop = wp_stop_flag();
	struct wp_tick *tick = &tree->pool->ticks[0];
	int64_t cpu_ns = wp_os_cpu_ns(tree->os);
	int64_t left = files_left(tree);
	int64_t done = 0;
	int64_t start_ns;
	int64_t then_ns;
	int rc = 0;

	wp_tick_start(tick);
	start_ns = then_ns = wp_tick_now(tick);
	while (done < left && (rc = operate(tree, counts)) == 0) {
		int64_t now_ns = wp_tick_now(tick);

		wp_hist_record(hist, now_ns - then_ns);
		then_ns = now_ns;
		done++;
		if (now_ns - start_ns >= left_ns ||
			atomic_load_explicit(stop, memory_order_relaxed))
			break;
	}
	wp_tick_stop(tick);
	counts->cpu_ns += wp_os_cpu_ns(tree->os) - cpu_ns;
	counts->operations += done;
	counts->elapsed_ns += then_ns - start_ns;
	if (done > 0 && then_ns > start_ns)
		tree->per_s = (double)done * (double)WP_NS_PER_S / (double)(then_ns - start_ns);
	return rc ? fail_at(tree, tree->failed_call, rc, err) : wp_stop_fail(err);
}

int wp_io_tree_finish(struct wp_io_tree *tree, struct wp_err *err)
{
	return tree->plan.work == WP_IO_STAT ? 0 : remove_files(tree, err);
}
