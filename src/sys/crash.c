/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A signal that would end the program, or that it handles, is told first: the task, codelet and
 * worker that the thread was busy with, and the functions that it was in; else how far the run is.
 *
 * Invariant: after its first message, a signal takes the course that it would have taken without
 * the runtime: the program's own handler is called as it asked for, or the default happens. The
 * handlers of libraries below MPI and OpenCL, which print addresses, are passed over. */
#include "sys/real.h"
#include "base/backtrace.h"
#include "base/signal_text.h"
#include "base/upcalls.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FRAMES 8

static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGINT };
#define NSIGNALS (sizeof(signals) / sizeof(*signals))

/* The actions of the program, before orr_real_crash_init(). */
static struct sigaction before[NSIGNALS];
static unsigned told[NSIGNALS]; /* atomic: one thread tells, once */

/* Writes the text to standard error, whole. */
static void put(const char *text)
{
	for (size_t left = strlen(text); left > 0;) {
		ssize_t n = write(STDERR_FILENO, text, left);
		if (n <= 0)
			return;
		text += n;
		left -= (size_t) n;
	}
}

/* Libraries that come with MPI and OpenCL and handle signals: hwloc asks PoCL for devices when
 * MPICH starts, and LLVM comes with that. */
static const char *const theirs[] = { "/libopen-pal.", "/libucs.", "/libpocl.", "/libLLVM" };

/* Nothing of the program's own is to run: the default, or the handler of such a library. A signal's
 * handler asks, too, and dladdr() is not for those; it also searches all symbols of the library. */
static int is_default(const struct sigaction *action)
{
	struct dl_find_object object;

	if (action->sa_handler == SIG_DFL)
		return 1;
	if (action->sa_handler == SIG_IGN ||
	    _dl_find_object((void *) action->sa_sigaction, &object))
		return 0;
	for (size_t i = 0; i < sizeof(theirs) / sizeof(theirs[0]); i++)
		if (strstr(object.dlfo_link_map->l_name, theirs[i]))
			return 1;
	return 0;
}

static void crash_tell(int sig, const struct sigaction *program, const void *context)
{
	const struct orr_thread *self = &orr_the_thread;
	struct orr_process *proc = &orr_the_process;
	char text[4096], doing[512];
	int n, in_task;

	if (!proc->core_up)
		return;
	in_task = orr_signal_doing(proc, self, doing, sizeof(doing));
	if (!is_default(program))
		n = snprintf(text, sizeof(text),
			     "[orrery] rank %d: signal SIG%s, which the program handles: %s%s\n",
			     proc->mpi_rank, sigabbrev_np(sig), in_task ? "in " : "", doing);
	else if (in_task)
		n = snprintf(text, sizeof(text), "[orrery] error: rank %d: %s %s\n", proc->mpi_rank,
			     doing, orr_signal_ends(sig));
	else
		n = snprintf(text, sizeof(text), "[orrery] error: rank %d: the program %s: %s\n",
			     proc->mpi_rank, orr_signal_ends(sig), doing);
	if (in_task)
		orr_backtrace_write(text + n, sizeof(text) - (size_t) n, context, FRAMES, NULL);
	put(text);
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	int error = errno;
	unsigned i = 0;

	while (signals[i] != sig)
		i++;
	if (!ORR_ATOMIC_XCHG(&told[i], 1))
		crash_tell(sig, &before[i], context);
	errno = error;
	if (is_default(&before[i])) {
		/* One of the processor comes again when its instruction does. */
		signal(sig, SIG_DFL);
		if (info->si_code <= 0 || sig == SIGINT)
			raise(sig);
	} else if (before[i].sa_flags & SA_SIGINFO) {
		before[i].sa_sigaction(sig, info, context);
	} else {
		before[i].sa_handler(sig);
	}
}

void orr_real_crash_init(void)
{
	struct sigaction now, action;

	orr_backtrace_prepare();
	for (unsigned i = 0; i < NSIGNALS; i++) {
		if (sigaction(signals[i], NULL, &now) || now.sa_sigaction == on_signal ||
		    now.sa_handler == SIG_IGN)
			continue;
		before[i] = now;
		ORR_ATOMIC_STORE(&told[i], 0);
		action = now; /* its mask, and whether calls of the system go on */
		action.sa_flags |= SA_SIGINFO;
		if (is_default(&now))
			action.sa_flags |= SA_ONSTACK;
		action.sa_sigaction = on_signal;
		sigaction(signals[i], &action, NULL);
	}
}

void orr_real_crash_exit(void)
{
	struct sigaction now;

	for (unsigned i = 0; i < NSIGNALS; i++)
		if (!sigaction(signals[i], NULL, &now) && now.sa_sigaction == on_signal)
			sigaction(signals[i], &before[i], NULL);
}

void orr_sys_catch_signals(struct orr_process *proc, int on)
{
	ORR_ATOMIC_STORE(&proc->catches, on);
	if (on)
		orr_real_crash_init();
	else
		orr_real_crash_exit();
}
