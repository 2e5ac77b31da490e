/* SPDX-License-Identifier: PostgreSQL */
/*
 * server_internal.h - what the threads of one run share: server_load.c (the run),
 * server_backend.c and server_client.c.
 */
#ifndef WALPROBE_WAL_SERVER_INTERNAL_H
#define WALPROBE_WAL_SERVER_INTERNAL_H

#include "walprobe/poller.h"
#include "walprobe/row_lock.h"
#include "walprobe/server_load.h"
#include "walprobe/work.h"

#define SERVER_IMAGES_MAXIMUM 16 /* page images of one transaction */
#define REQUEST_PADDING 80 /* together about what Bind, Execute and Sync of a statement take */
#define ANSWER_PADDING 56

/* client to backend; fixed size */
struct server_request {
	int32_t statement;
	int32_t branch;
	int32_t teller;
	int32_t images;
	unsigned char padding[REQUEST_PADDING];
};

/* backend to client */
struct server_answer {
	int32_t is_failed;
	int32_t reserved;
	unsigned char padding[ANSWER_PADDING];
};

struct server_run {
	struct wp_wal *wal;
	const struct wp_os *os;
	const struct wp_server_load *load;
	int64_t least_ns;
	atomic_int is_stopping; /* no transaction begins any more */
	struct wp_sem ready;    /* posted by each thread when it can begin */
	struct wp_sem go;       /* taken by the client thread */
	struct wp_sem over;     /* posted by the client thread at its end */
	struct wp_row_table branches;
	struct wp_row_table tellers;
	struct wp_work common; /* its memory is read by all backends */
};

/* one client as the client thread sees it */
struct server_client {
	int end; /* socket; -1: none */
	int statement;
	bool is_active;
	int64_t start_ns; /* of the transaction */
	struct server_request request;
};

struct server_clients {
	struct server_run *run;
	struct server_client *items; /* load->clients of them */
	struct wp_poller poller;
	struct wp_work work;
	struct wp_random random;
	struct wp_thread thread;
	struct wp_hist hist;
	double owed;
	int64_t active;
	_Atomic int64_t commits;
	double since_checkpoint;
	int64_t cpu_ns;
	int64_t start_ns;
	int64_t end_ns;
	struct wp_err err;
	int rc;
};

/* in memory that is shared with the process that runs it, if one does */
struct server_backend {
	struct server_run *run;
	const struct server_clients *clients;
	struct wp_wal_backend wal;
	struct wp_row_waiter waiter;
	struct wp_work work;
	struct wp_work common; /* the run's memory, an own place in it */
	struct wp_poller poller;
	struct wp_thread thread;
	int64_t pid; /* 0: a thread runs it */
	int end;     /* socket; -1: none */
	bool has_teller;
	bool has_branch;
	double owed; /* fractions of units not done yet */
	int64_t cpu_ns;
};

/* server_backend_main, server_clients_main - what the threads run. */
void server_backend_main(void *argument);
void server_backend_process(void *argument); /* the same in a process of its own */
void server_clients_main(void *argument);

/* server_watch - wait for a socket with poller; 0, or -WP_E_SYS. */
int server_watch(struct wp_poller *poller, int end, void *owner, struct wp_err *err);

/* server_work - units of work, fractions carried over in owed. */
void server_work(struct wp_work *work, double units, double *owed);

#endif
