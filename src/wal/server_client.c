/* SPDX-License-Identifier: PostgreSQL */
/*
 * server_client.c - the thread that serves all clients: as walprobe ramp's, one wait for all that
 * are ready, one call to read an answer and one to send the next statement.
 */
#include "server_internal.h"

#include "walprobe/socket_pair.h"

#include <math.h>

static int32_t draw_images(struct server_clients *clients)
{
	const struct wp_tx_images *images = &clients->run->load->images;
	double mean;
	double whole;

	if (images->pages <= 0)
		return 0;
	mean = images->first * exp(-clients->since_checkpoint / images->pages);
	clients->since_checkpoint += images->stretch;
	whole = floor(mean);
	if (whole >= SERVER_IMAGES_MAXIMUM)
		return SERVER_IMAGES_MAXIMUM;
	return (int32_t)whole + (wp_random_unit(&clients->random) < mean - whole);
}

static void begin(struct server_clients *clients, struct server_client *client)
{
	uint64_t scale = (uint64_t)clients->run->load->scale;

	client->statement = 0;
	client->start_ns = wp_os_now_ns(clients->run->os);
	client->request.branch = (int32_t)wp_random_below(&clients->random, scale);
	client->request.teller = (int32_t)wp_random_below(&clients->random, scale * 10);
	client->request.images = draw_images(clients);
}

static int send_next(struct server_clients *clients, struct server_client *client)
{
	const struct wp_server_load *load = clients->run->load;
	int rc;

	server_work(&clients->work, load->client_units / load->shape->statements, &clients->owed);
	client->request.statement = client->statement++;
	rc = wp_socket_pair_send(client->end, &client->request, sizeof(client->request));
	return rc ? wp_fail(&clients->err, WP_E_SYS, -rc, "could not send to a backend") : 0;
}

static void finish(struct server_clients *clients, struct server_client *client)
{
	clients->end_ns = wp_os_now_ns(clients->run->os);
	wp_hist_record(&clients->hist, clients->end_ns - client->start_ns);
	atomic_store_explicit(&clients->commits,
		atomic_load_explicit(&clients->commits, memory_order_relaxed) + 1,
		memory_order_relaxed);
}

static bool is_stopping(const struct server_clients *clients)
{
	return atomic_load_explicit(&clients->run->is_stopping, memory_order_relaxed) != 0;
}

static int take_answer(struct server_clients *clients, struct server_client *client)
{
	struct server_answer answer;
	int64_t got = wp_socket_pair_receive(client->end, &answer, sizeof(answer));

	if (got == -EAGAIN)
		return 0;
	if (got != (int64_t)sizeof(answer))
		return wp_fail(&clients->err, WP_E_SYS, got < 0 ? (int)-got : 0,
			"a backend did not answer");
	if (answer.is_failed)
		return -WP_E_SYS; /* the WAL has the error */
	if (client->statement == clients->run->load->shape->statements) {
		finish(clients, client);
		if (is_stopping(clients)) {
			client->is_active = false;
			clients->active--;
			return 0;
		}
		begin(clients, client);
	}
	return send_next(clients, client);
}

static int serve(struct server_clients *clients)
{
	struct wp_poll_event events[WP_POLLER_BATCH];
	int rc = 0;

	for (int64_t i = 0; !rc && i < clients->run->load->clients; i++) {
		clients->items[i].is_active = true;
		clients->active++;
		begin(clients, &clients->items[i]);
		rc = send_next(clients, &clients->items[i]);
	}
	while (!rc && clients->active > 0) {
		int count = wp_poller_wait(&clients->poller, -1, events);

		if (count < 0)
			return wp_fail(
				&clients->err, WP_E_SYS, -count, "could not wait for the backends");
		for (int i = 0; !rc && i < count; i++)
			if (events[i].owner)
				rc = take_answer(clients, events[i].owner);
	}
	return rc;
}

void server_clients_main(void *argument)
{
	struct server_clients *clients = argument;
	int64_t cpu_ns;

	wp_sem_post(&clients->run->ready);
	wp_sem_wait(&clients->run->go);
	cpu_ns = wp_os_cpu_ns(clients->run->os);
	clients->start_ns = clients->end_ns = wp_os_now_ns(clients->run->os);
	clients->rc = serve(clients);
	clients->cpu_ns = wp_os_cpu_ns(clients->run->os) - cpu_ns;
	wp_sem_post(&clients->run->over);
}
