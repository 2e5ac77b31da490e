/* SPDX-License-Identifier: PostgreSQL */
/*
 * server_backend.c - a backend: wait for a statement, do its work, answer.
 */
#include "server_internal.h"

#include "walprobe/socket_pair.h"

void server_work(struct wp_work *work, double units, double *owed)
{
	double wanted = units + *owed;
	int64_t whole = (int64_t)wanted;

	*owed = wanted - (double)whole;
	wp_work_do(work, whole);
}

static void work(struct server_backend *backend, double units)
{
	double owed = 0; /* what is cut off here is done below */
	double common = (double)(int64_t)(units * WP_TX_COMMON_SHARE);

	server_work(&backend->common, common, &owed);
	server_work(&backend->work, units - common, &backend->owed);
}

/* As secure_read(): first an attempt, then a wait, then another attempt. */
static bool receive(struct server_backend *backend, struct server_request *request)
{
	struct wp_poll_event events[WP_POLLER_BATCH];

	for (;;) {
		int64_t got = wp_socket_pair_receive(backend->end, request, sizeof(*request));

		if (got == (int64_t)sizeof(*request))
			return true;
		if (got != -EAGAIN)
			return false; /* closed: the run is over */
		if (wp_poller_wait(&backend->poller, -1, events) < 0)
			return false;
	}
}

/* Whoever waits for a row is no sibling that may commit soon. */
static void lock_row(struct server_backend *backend, struct wp_row_table *table, int64_t row)
{
	if (wp_row_try(table, row))
		return;
	wp_wal_end(backend->run->wal);
	wp_row_wait(table, row, &backend->waiter);
	wp_wal_enter(backend->run->wal);
}

static void unlock_rows(struct server_backend *backend, const struct server_request *request)
{
	if (backend->has_teller)
		wp_row_release(&backend->run->tellers, request->teller);
	if (backend->has_branch)
		wp_row_release(&backend->run->branches, request->branch);
	backend->has_teller = backend->has_branch = false;
}

static int commit(struct server_backend *backend, const struct server_request *request)
{
	const struct wp_server_load *load = backend->run->load;
	int64_t bytes = load->record_bytes + request->images * load->images.bytes;
	uint64_t lsn;
	int rc = wp_wal_insert(backend->run->wal, &backend->wal, bytes, &lsn);

	if (!rc)
		rc = wp_wal_flush(backend->run->wal, &backend->wal, lsn);
	wp_wal_end(backend->run->wal);
	return rc;
}

static int execute(struct server_backend *backend, const struct server_request *request)
{
	const struct wp_tx_shape *shape = backend->run->load->shape;
	double units = backend->run->load->server_units * shape->shares[request->statement];
	double later = 0;
	int rc = 0;

	if (request->statement == shape->xid_statement)
		wp_wal_enter(backend->run->wal);
	if (request->statement == shape->statements - 1) {
		later = units * (1 - shape->commit_share);
		units -= later;
	}
	work(backend, units);
	if (request->statement == shape->teller_statement) {
		lock_row(backend, &backend->run->tellers, request->teller);
		backend->has_teller = true;
	}
	if (request->statement == shape->branch_statement) {
		lock_row(backend, &backend->run->branches, request->branch);
		backend->has_branch = true;
	}
	if (request->statement < shape->statements - 1)
		return 0;
	rc = commit(backend, request);
	unlock_rows(backend, request);
	work(backend, later);
	return rc;
}

static int prepare(struct server_backend *backend)
{
	struct server_run *run = backend->run;
	int rc = wp_poller_open(&backend->poller, &backend->wal.err);

	if (!rc)
		rc = server_watch(&backend->poller, backend->end, backend, &backend->wal.err);
	if (!rc)
		rc = wp_wal_attach(run->wal, &backend->wal);
	if (rc)
		wp_wal_fail(run->wal, &backend->wal.err);
	return rc;
}

void server_backend_main(void *argument)
{
	struct server_backend *backend = argument;
	struct server_run *run = backend->run;
	struct server_request request = { .statement = 0 };
	struct server_answer answer = { .is_failed = 0 };
	int rc = prepare(backend);
	int64_t cpu_ns = wp_os_cpu_ns(run->os);

	wp_sem_post(&run->ready);
	while (receive(backend, &request)) {
		if (!rc)
			rc = execute(backend, &request);
		answer.is_failed = rc != 0;
		if (wp_socket_pair_send(backend->end, &answer, sizeof(answer)))
			break; /* the client is gone */
	}
	/* Its transaction is rolled back: others may wait for its rows. */
	unlock_rows(backend, &request);
	backend->cpu_ns = wp_os_cpu_ns(run->os) - cpu_ns;
	if (wp_wal_detach(run->wal, &backend->wal))
		wp_wal_fail(run->wal, &backend->wal.err);
	wp_poller_close(&backend->poller);
}

/* Only this backend's end stays open, so that it sees when its client is gone. */
void server_backend_process(void *argument)
{
	struct server_backend *backend = argument;

	for (int64_t i = 0; i < backend->run->load->clients; i++)
		wp_socket_pair_close(backend->clients->items[i].end);
	server_backend_main(backend);
}
