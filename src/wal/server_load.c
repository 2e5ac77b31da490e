/* SPDX-License-Identifier: PostgreSQL */
#include "load_internal.h"
#include "server_internal.h"

#include "walprobe/forked.h"
#include "walprobe/mem.h"
#include "walprobe/socket_pair.h"
#include "walprobe/stop.h"

#define STACK_BYTES ((size_t)256 << 10)
#define START_LIMIT_NS (10 * WP_NS_PER_S)
#define END_LIMIT_NS (5 * WP_NS_PER_S)
#define LOOK_NS (20 * WP_NS_PER_MS) /* how often the main thread looks for a signal */

/* Shares: what each statement takes beyond an empty round trip, PostgreSQL 15, prepared. */
static const struct wp_tx_shape shapes[] = {
	{ "tpcb-like", 7, { 0.03, 0.29, 0.11, 0.19, 0.15, 0.12, 0.11 }, 1, 3, 4, 480, 0.5 },
	{ "simple-update", 5, { 0.05, 0.44, 0.17, 0.18, 0.16 }, 1, -1, -1, 320, 0.5 },
	{ "commit-only", 1, { 1.0 }, 0, -1, -1, 120, 0.7 },
};

const struct wp_tx_shape *wp_tx_shape_find(const char *name)
{
	for (size_t i = 0; i < WP_COUNT(shapes); i++)
		if (strcmp(shapes[i].name, name) == 0)
			return &shapes[i];
	return NULL;
}

void wp_server_figures_add(struct wp_server_figures *sum, const struct wp_server_figures *more)
{
	wp_wal_figures_add(&sum->wal, &more->wal);
	sum->server_cpu_ns += more->server_cpu_ns;
	sum->client_cpu_ns += more->client_cpu_ns;
	sum->row_waits += more->row_waits;
}

/* ---- life ------------------------------------------------------------------------------------ */

static void init_run(struct server_run *run, struct wp_wal *wal, const struct wp_server_load *load)
{
	run->wal = wal;
	run->os = wp_wal_segments(wal)->os;
	run->load = load;
	wp_sem_init_shared(&run->ready, 0);
	wp_sem_init(&run->go, 0);
	wp_sem_init(&run->over, 0);
	wp_row_table_init(&run->branches, load->scale);
	wp_row_table_init(&run->tellers, load->scale * 10);
	wp_work_init(&run->common, WP_TX_COMMON_BYTES, load->seed + 2000003);
}

static void release_run(struct server_run *run)
{
	wp_work_release(&run->common);
	wp_row_table_release(&run->tellers);
	wp_row_table_release(&run->branches);
	wp_sem_release(&run->over);
	wp_sem_release(&run->go);
	wp_sem_release(&run->ready);
}

static struct server_backend *new_backends(
	struct server_run *run, const struct server_clients *clients)
{
	const struct wp_server_load *load = run->load;
	int64_t most = load->record_bytes + SERVER_IMAGES_MAXIMUM * load->images.bytes;
	struct server_backend *backends =
		wp_shared_alloc((size_t)load->clients * sizeof(*backends));

	for (int64_t i = 0; i < load->clients; i++) {
		struct server_backend *backend = &backends[i];

		backend->run = run;
		backend->clients = clients;
		backend->end = -1;
		backend->poller.fd = -1;
		wp_wal_backend_init(&backend->wal, run->wal, (int)i + 1, most);
		wp_row_waiter_init(&backend->waiter);
		backend->common = run->common;
		wp_work_init(&backend->work, WP_TX_BACKEND_BYTES, load->seed + (uint64_t)i);
	}
	return backends;
}

static void free_backends(struct server_run *run, struct server_backend *backends)
{
	for (int64_t i = 0; i < run->load->clients; i++) {
		/* A process had descriptors of its own, with numbers that mean others here. */
		if (backends[i].pid)
			backends[i].wal.fd = -1;
		else
			wp_socket_pair_close(backends[i].end);
		wp_work_release(&backends[i].work);
		wp_row_waiter_release(&backends[i].waiter);
		wp_wal_backend_release(&backends[i].wal, run->wal);
	}
	wp_shared_free(backends, (size_t)run->load->clients * sizeof(*backends));
}

static void init_clients(struct server_clients *clients, struct server_run *run)
{
	const struct wp_server_load *load = run->load;

	memset(clients, 0, sizeof(*clients));
	clients->run = run;
	clients->poller.fd = -1;
	clients->items = wp_xcalloc((size_t)load->clients, sizeof(*clients->items));
	for (int64_t i = 0; i < load->clients; i++)
		clients->items[i].end = -1;
	wp_work_init(&clients->work, WP_TX_CLIENT_BYTES, load->seed + 1000003);
	wp_random_init(&clients->random, load->seed);
	wp_hist_init(&clients->hist);
}

static void close_clients(struct server_clients *clients)
{
	for (int64_t i = 0; i < clients->run->load->clients; i++) {
		wp_socket_pair_close(clients->items[i].end);
		clients->items[i].end = -1;
	}
}

static void release_clients(struct server_clients *clients)
{
	close_clients(clients);
	wp_poller_close(&clients->poller);
	wp_hist_release(&clients->hist);
	wp_work_release(&clients->work);
	free(clients->items);
}

/* ---- start ----------------------------------------------------------------------------------- */

int server_watch(struct wp_poller *poller, int end, void *owner, struct wp_err *err)
{
	int rc = wp_poller_add(poller, end, WP_POLL_READ, owner);

	return rc < 0 ? wp_fail(err, WP_E_SYS, -rc, "could not watch a socket") : 0;
}

static int start_process(struct server_backend *backend, struct wp_err *err)
{
	int rc = wp_forked_start(server_backend_process, backend, &backend->pid, err);

	if (!rc)
		wp_socket_pair_close(backend->end);
	return rc;
}

static int start_backend(
	struct server_backend *backend, struct server_client *client, struct wp_err *err)
{
	int ends[2];
	int rc = wp_socket_pair_open(ends, err);

	if (rc)
		return rc;
	client->end = ends[0];
	backend->end = ends[1];
	if (wp_wal_config_of(backend->run->wal)->is_shared)
		return start_process(backend, err);
	return wp_thread_start(&backend->thread, server_backend_main, backend, STACK_BYTES, err);
}

static int start_backends(struct server_run *run, struct server_backend *backends,
	struct server_clients *clients, struct wp_err *err)
{
	int rc = 0;

	for (int64_t i = 0; !rc && i < run->load->clients; i++) {
		rc = start_backend(&backends[i], &clients->items[i], err);
		if (rc)
			wp_err_detail(err, "%" PRId64 " of %" PRId64 " backends were started.", i,
				run->load->clients);
		else if (!wp_sem_wait_for(&run->ready, START_LIMIT_NS))
			rc = wp_fail(err, WP_E_SYS, 0, "a backend did not start");
	}
	return rc;
}

static int start_clients(struct server_run *run, struct server_clients *clients, struct wp_err *err)
{
	int rc = wp_poller_open(&clients->poller, err);

	for (int64_t i = 0; !rc && i < run->load->clients; i++)
		rc = server_watch(&clients->poller, clients->items[i].end, &clients->items[i], err);
	if (!rc)
		rc = wp_thread_start(
			&clients->thread, server_clients_main, clients, STACK_BYTES, err);
	if (!rc)
		wp_sem_wait(&run->ready);
	return rc;
}

/* ---- run ------------------------------------------------------------------------------------- */

static void wait_for_end(struct server_run *run, struct server_clients *clients, int64_t least_ns)
{
	int64_t start_ns = wp_os_now_ns(run->os);
	bool is_over = false;

	wp_sem_post(&run->go);
	while (!is_over && !wp_stop_requested()) {
		int64_t left_ns = start_ns + least_ns - wp_os_now_ns(run->os);

		/* A block without a single commit would have no rate. */
		if (left_ns <= 0 &&
			atomic_load_explicit(&clients->commits, memory_order_relaxed) > 0)
			break;
		if (left_ns <= 0 || left_ns > LOOK_NS)
			left_ns = LOOK_NS;
		is_over = wp_sem_wait_for(&run->over, left_ns);
	}
	atomic_store_explicit(&run->is_stopping, 1, memory_order_relaxed);
}

/* The client thread ends first; a backend whose client is gone ends as well. */
static int join_all(struct server_run *run, struct server_backend *backends,
	struct server_clients *clients, struct wp_err *err)
{
	bool is_well = true;

	wp_thread_join(&clients->thread);
	close_clients(clients);
	for (int64_t i = 0; i < run->load->clients; i++) {
		if (backends[i].pid)
			is_well = wp_forked_wait(backends[i].pid, END_LIMIT_NS) && is_well;
		else
			wp_thread_join(&backends[i].thread);
	}
	return is_well ? 0
		       : wp_fail(err, WP_E_SYS, 0, "a backend of the model ended before its time");
}

static int first_error(struct server_run *run, struct server_clients *clients, struct wp_err *err)
{
	if (wp_wal_has_failed(run->wal, err))
		return err ? -(int)err->code : -WP_E_SYS;
	if (clients->rc && err)
		*err = clients->err;
	return clients->rc;
}

static void collect(struct server_run *run, struct server_backend *backends,
	struct server_clients *clients, struct wp_hist *hist, struct wp_server_figures *figures)
{
	wp_hist_merge(hist, &clients->hist);
	figures->wal.commits = atomic_load(&clients->commits);
	figures->wal.elapsed_ns = clients->end_ns - clients->start_ns;
	figures->client_cpu_ns = clients->cpu_ns;
	for (int64_t i = 0; i < run->load->clients; i++) {
		figures->server_cpu_ns += backends[i].cpu_ns;
		figures->row_waits += backends[i].waiter.waits;
	}
}

/* Everything that is started ends here, whatever happens. */
static int run_all(struct server_run *run, struct server_backend *backends,
	struct server_clients *clients, int64_t least_ns, struct wp_err *err)
{
	struct wp_err own = { 0 };
	int rc = start_backends(run, backends, clients, &own);
	int failed;

	if (!rc)
		rc = start_clients(run, clients, &own);
	if (!rc)
		wait_for_end(run, clients, least_ns);
	if (rc && err)
		*err = own;
	failed = join_all(run, backends, clients, &own);
	if (!rc)
		rc = first_error(run, clients, err);
	if (!rc && failed && err)
		*err = own;
	return rc ? rc : failed;
}

int wp_server_run(struct wp_wal *wal, const struct wp_server_load *load, int64_t least_ns,
	struct wp_hist *hist, struct wp_server_figures *figures, struct wp_err *err)
{
	struct server_run *run = NULL;
	struct wp_wal_figures before;
	struct server_clients clients;
	struct server_backend *backends;
	int rc;

	memset(figures, 0, sizeof(*figures));
	if (wp_wal_has_failed(wal, err))
		return err ? -(int)err->code : -WP_E_SYS;
	wp_wal_set_method(wal, load->method, load->commit_delay_ns, load->commit_siblings);
	run = wp_shared_alloc(sizeof(*run));
	init_run(run, wal, load);
	init_clients(&clients, run);
	backends = new_backends(run, &clients);
	rc = wal_prepare_segment(wal, &backends[0].wal, err);
	wal_figures_take(wal, &before);
	if (!rc)
		rc = run_all(run, backends, &clients, least_ns, err);
	wal_figures_take(wal, &figures->wal);
	wal_figures_combine(&figures->wal, &before, -1);
	collect(run, backends, &clients, hist, figures);
	release_clients(&clients);
	free_backends(run, backends);
	release_run(run);
	wp_shared_free(run, sizeof(*run));
	return rc ? rc : wp_stop_fail(err);
}
