/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/stop.h"

#include <signal.h>

static atomic_int stop_signal;

static void remember(int signal_number)
{
	int none = 0;

	/* The first signal decides the exit status. */
	(void)atomic_compare_exchange_strong(&stop_signal, &none, signal_number);
}

void wp_stop_install(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = remember };
	sigset_t ours;

	(void)sigemptyset(&action.sa_mask);
	(void)sigemptyset(&ours);
	for (size_t i = 0; i < WP_COUNT(signals); i++) {
		(void)sigaction(signals[i], &action, NULL); /* cannot fail for these numbers */
		(void)sigaddset(&ours, signals[i]);
	}
	(void)sigprocmask(SIG_UNBLOCK, &ours, NULL);
	action.sa_handler = SIG_IGN;
	(void)sigaction(SIGPIPE, &action, NULL);
	(void)sigaction(SIGXFSZ, &action, NULL);
}

const atomic_int *wp_stop_flag(void)
{
	return &stop_signal;
}

bool wp_stop_requested(void)
{
	return atomic_load_explicit(&stop_signal, memory_order_relaxed) != 0;
}

int wp_stop_exit_status(void)
{
	int signal_number = atomic_load(&stop_signal);

	if (!signal_number)
		return 0;
	return signal_number == SIGINT ? 130 : 143;
}

int wp_stop_fail(struct wp_err *err)
{
	return wp_stop_requested() ? wp_fail(err, WP_E_STOPPED, 0, "interrupted") : 0;
}

void wp_stop_raise(int signal_number)
{
	remember(signal_number);
}

void wp_stop_reset(void)
{
	atomic_store(&stop_signal, 0);
}
