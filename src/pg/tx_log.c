/* SPDX-License-Identifier: PostgreSQL */
#include "pg/tx_log.h"
#include "walprobe/host.h"
#include "walprobe/mem.h"

#define BUFFER_BYTES 65536
#define LINE_BYTES 512

struct wp_tx_log {
	const struct wp_os *os;
	struct wp_loop_log options;
	struct wp_tx_log_form form;
	char *path;
	int fd;
	int failure; /* first errno of a write */
	int64_t offset;
	int64_t wall_offset_ns; /* wall clock minus monotonic clock */
	struct wp_tx_sums sums;
	bool has_sums;
	size_t used;
	char buffer[BUFFER_BYTES];
};

struct wp_tx_log *wp_tx_log_open(const struct wp_os *os, const struct wp_loop_log *options,
	const struct wp_tx_log_form *form, int64_t thread, struct wp_err *err)
{
	struct wp_tx_log *log = wp_xcalloc(1, sizeof(*log));

	log->os = os;
	log->options = *options;
	log->form = *form;
	log->path = wp_xasprintf("%s.%" PRId64, options->prefix, wp_host_pid());
	if (thread > 0) {
		char *longer = wp_xasprintf("%s.%" PRId64, log->path, thread);

		free(log->path);
		log->path = longer;
	}
	log->wall_offset_ns = wp_host_wall_ns() - wp_os_now_ns(os);
	log->fd = wp_os_open(os, log->path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (log->fd >= 0)
		return log;
	(void)wp_fail(err, WP_E_SYS, -log->fd, "could not open log file \"%s\"", log->path);
	wp_err_hint(err, "Name a place that you may write to with --log-prefix.");
	free(log->path);
	free(log);
	return NULL;
}

static void write_out(struct wp_tx_log *log)
{
	int rc = 0;

	if (!log->failure && log->used)
		rc = wp_os_write_all(log->os, log->fd, log->buffer, log->used, log->offset);
	if (rc < 0)
		log->failure = -rc;
	log->offset += (int64_t)log->used;
	log->used = 0;
}

static char *room(struct wp_tx_log *log)
{
	if (log->used + LINE_BYTES > BUFFER_BYTES)
		write_out(log);
	return log->buffer + log->used;
}

size_t wp_tx_log_line(const struct wp_loop_log *options, const struct wp_tx_log_form *form,
	const struct wp_tx_entry *entry, int64_t wall_ns, char *out, size_t size)
{
	char latency[32];
	int used;

	if (entry->is_skipped)
		(void)snprintf(latency, sizeof(latency), "skipped");
	else if (entry->is_serialization || entry->is_deadlock)
		(void)snprintf(latency, sizeof(latency), "%s",
			!options->is_detailed     ? "failed"
			: entry->is_serialization ? "serialization"
						  : "deadlock");
	else
		(void)snprintf(latency, sizeof(latency), "%.0f",
			(double)entry->latency_ns / (double)WP_NS_PER_US);
	used = snprintf(out, size, "%" PRId64 " %" PRId64 " %s %" PRId64 " %" PRId64 " %" PRId64,
		entry->client, entry->number, latency, entry->script, wall_ns / WP_NS_PER_S,
		wall_ns % WP_NS_PER_S / WP_NS_PER_US);
	if (form->has_lag)
		used += snprintf(out + used, size - (size_t)used, " %.0f",
			(double)entry->lag_ns / (double)WP_NS_PER_US);
	if (form->has_retries)
		used += snprintf(out + used, size - (size_t)used, " %" PRId64, entry->retries);
	used += snprintf(out + used, size - (size_t)used, "\n");
	return (size_t)used;
}

static void widen(double value, bool is_first, double *low, double *high)
{
	*low = is_first || value < *low ? value : *low;
	*high = is_first || value > *high ? value : *high;
}

void wp_tx_sums_add(
	struct wp_tx_sums *sums, const struct wp_tx_log_form *form, const struct wp_tx_entry *entry)
{
	double latency_us = (double)entry->latency_ns / (double)WP_NS_PER_US;
	double lag_us = (double)entry->lag_ns / (double)WP_NS_PER_US;

	sums->skipped += entry->is_skipped ? 1 : 0;
	sums->retried += entry->retries > 0 ? 1 : 0;
	sums->retries += entry->retries;
	sums->serialization_failures += entry->is_serialization ? 1 : 0;
	sums->deadlock_failures += entry->is_deadlock ? 1 : 0;
	if (entry->is_skipped || entry->is_serialization || entry->is_deadlock)
		return;
	widen(latency_us, sums->count == 0, &sums->latency_min_us, &sums->latency_max_us);
	sums->latency_us += latency_us;
	sums->latency_square += latency_us * latency_us;
	if (form->has_lag) {
		widen(lag_us, sums->count == 0, &sums->lag_min_us, &sums->lag_max_us);
		sums->lag_us += lag_us;
		sums->lag_square += lag_us * lag_us;
	}
	sums->count++;
}

size_t wp_tx_sums_line(const struct wp_tx_sums *sums, char *out, size_t size)
{
	return (size_t)snprintf(out, size,
		"%" PRId64 " %" PRId64 " %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %" PRId64
		" %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n",
		sums->start_s, sums->count, sums->latency_us, sums->latency_square,
		sums->latency_min_us, sums->latency_max_us, sums->lag_us, sums->lag_square,
		sums->lag_min_us, sums->lag_max_us, sums->skipped, sums->retried, sums->retries,
		sums->serialization_failures, sums->deadlock_failures);
}

/* Empty intervals get their line too, as a reader who plots them expects. */
static void aggregate(struct wp_tx_log *log, const struct wp_tx_entry *entry, int64_t wall_ns)
{
	int64_t interval_s = log->options.aggregate_ns / WP_NS_PER_S;
	int64_t now_s = wall_ns / WP_NS_PER_S;

	if (!log->has_sums) {
		log->sums = (struct wp_tx_sums){ .start_s = now_s };
		log->has_sums = true;
	}
	while (log->sums.start_s + interval_s <= now_s) {
		int64_t next_s = log->sums.start_s + interval_s;

		log->used += wp_tx_sums_line(&log->sums, room(log), LINE_BYTES);
		log->sums = (struct wp_tx_sums){ .start_s = next_s };
	}
	wp_tx_sums_add(&log->sums, &log->form, entry);
}

void wp_tx_log_add(struct wp_tx_log *log, const struct wp_tx_entry *entry, struct wp_random *random)
{
	int64_t wall_ns = entry->now_ns + log->wall_offset_ns;

	if (log->options.sampling_rate > 0 && wp_random_unit(random) > log->options.sampling_rate)
		return;
	if (log->options.aggregate_ns) {
		aggregate(log, entry, wall_ns);
		return;
	}
	log->used +=
		wp_tx_log_line(&log->options, &log->form, entry, wall_ns, room(log), LINE_BYTES);
}

int wp_tx_log_close(struct wp_tx_log *log, struct wp_err *err)
{
	int rc = 0;
	int closed;

	if (!log)
		return 0;
	if (log->has_sums)
		log->used += wp_tx_sums_line(&log->sums, room(log), LINE_BYTES);
	write_out(log);
	closed = wp_os_close(log->os, log->fd);
	if (!log->failure && closed < 0)
		log->failure = -closed;
	if (log->failure)
		rc = wp_fail(
			err, WP_E_SYS, log->failure, "could not write log file \"%s\"", log->path);
	free(log->path);
	free(log);
	return rc;
}
