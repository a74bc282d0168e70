/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A kernel or callback that crashes is named before the signal takes its course: task, codelet,
 * worker, and the functions that it was in.
 *
 * Invariant: a signal that the program handles is left to the program. Open MPI's handler, which
 * prints addresses, is passed over. */
#include "sys/real.h"
#include "base/backtrace.h"
#include "base/upcalls.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FRAMES 8

static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
#define NSIGNALS (sizeof(signals) / sizeof(*signals))

static const char *what(int sig)
{
	switch (sig) {
	case SIGSEGV: return "crashed (segmentation fault)";
	case SIGBUS: return "crashed (bus error)";
	case SIGFPE: return "crashed (arithmetic error)";
	case SIGILL: return "crashed (illegal instruction)";
	default: return "aborted";
	}
}

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

/* The instruction is executed again when this returns, and the signal ends the process. */
static void on_crash(int sig, siginfo_t *info, void *context)
{
	static int told; /* atomic: one thread tells */
	const struct orr_thread *self = &orr_the_thread;
	const struct orr_process *proc = &orr_the_process;
	char text[4096], task[512] = "";

	signal(sig, SIG_DFL);
	if (proc->core_up && self->task)
		proc->core_up->running(self, task, sizeof(task));
	if (*task && !ORR_ATOMIC_XCHG(&told, 1)) {
		int n = snprintf(text, sizeof(text), "[orrery] error: rank %d: %s %s\n",
				 proc->mpi_rank, task, what(sig));
		orr_backtrace_write(text + n, sizeof(text) - (size_t) n, context, FRAMES, NULL);
		put(text);
	}
	if (info->si_code <= 0) /* by kill() and its relatives: nothing would come again */
		raise(sig);
}

static int is_ours_to_take(const struct sigaction *before)
{
	Dl_info info;

	if (before->sa_handler == SIG_DFL)
		return 1;
	return before->sa_handler != SIG_IGN && dladdr((void *) before->sa_sigaction, &info) &&
	       info.dli_fname && strstr(info.dli_fname, "libopen-pal");
}

void orr_real_crash_init(void)
{
	struct sigaction before,
		action = { .sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK };

	orr_backtrace_prepare();
	for (unsigned i = 0; i < NSIGNALS; i++)
		if (!sigaction(signals[i], NULL, &before) && is_ours_to_take(&before))
			sigaction(signals[i], &action, NULL);
}

void orr_real_crash_exit(void)
{
	struct sigaction before;

	for (unsigned i = 0; i < NSIGNALS; i++)
		if (!sigaction(signals[i], NULL, &before) && before.sa_sigaction == on_crash)
			signal(signals[i], SIG_DFL);
}

void orr_sys_catch_signals(struct orr_process *proc, int on)
{
	ORR_ATOMIC_STORE(&proc->catches, on);
	if (on)
		orr_real_crash_init();
	else
		orr_real_crash_exit();
}
