/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Signals of a program that handles them: its handlers run once for each signal, with the
 * information that they asked for, and are there again when the runtime has ended. `off' switches
 * the runtime's messages off. caught.sh reads those.
 *
 * Invariant: the counts of the handlers are those of raise(). */
#include <signal.h>
#include <string.h>

#include <starpu.h>
#include "lib/test.h"

static int ninterrupts; /* atomic: tasks of several workers */
static volatile sig_atomic_t ninfos, info_signal;

static void on_interrupt(int sig)
{
	__atomic_fetch_add(&ninterrupts, sig == SIGINT, __ATOMIC_RELAXED);
}

static void on_info(int sig, siginfo_t *info, void *context)
{
	(void) context;
	ninfos += sig == SIGTRAP;
	info_signal = info ? info->si_signo : 0;
}

static void cpu_raise(void *buffers[], void *arg)
{
	int sig;

	(void) buffers;
	starpu_codelet_unpack_args(arg, &sig);
	raise(sig);
}

static struct starpu_codelet cl = { .cpu_funcs = { cpu_raise }, .name = "raises" };

int main(int argc, char **argv)
{
	int interrupt = SIGINT, trap = SIGTRAP;
	struct sigaction action = { .sa_sigaction = on_info, .sa_flags = SA_SIGINFO }, now;
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.catch_signals = argc < 2 || strcmp(argv[1], "off") != 0;
	signal(SIGINT, on_interrupt);
	CHECK(sigaction(SIGTRAP, &action, NULL) == 0);
	OK(starpu_init(&conf));
	for (int i = 0; i < 3; i++)
		OK(starpu_task_insert(&cl, STARPU_NAME, "interrupts", STARPU_VALUE, &interrupt,
				      sizeof(interrupt), 0));
	starpu_task_wait_for_all();
	raise(trap); /* outside of a task */
	CHECK(__atomic_load_n(&ninterrupts, __ATOMIC_RELAXED) == 3);
	CHECK(ninfos == 1 && info_signal == SIGTRAP);
	starpu_shutdown();

	CHECK(sigaction(SIGINT, NULL, &now) == 0 && now.sa_handler == on_interrupt);
	CHECK(sigaction(SIGTRAP, NULL, &now) == 0 && now.sa_sigaction == on_info);
	CHECK(sigaction(SIGFPE, NULL, &now) == 0 && now.sa_handler != on_interrupt);
	raise(interrupt);
	CHECK(ninterrupts == 4);
	return 0;
}
