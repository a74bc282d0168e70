/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a simulation ends: by the end of the last program, by exit() of one, by a crash, a stall, or
 * an error of SimGrid.
 *
 * The program's calls of exit(), abort() and MPI_Abort() are taken by the functions of the same
 * names here, for the loader finds the launcher's symbols first. MPI_Test and its relatives are
 * taken too: a program that polls must let virtual time go by, which SMPI does only with a fixed
 * delay that our own engines would pay as well (smpi/test).
 *
 * Invariant: whoever ends the process flushes the program's output first and leaves with _exit:
 * atexit functions of one rank must not run in the middle of others, and the simulator's own
 * tear-down takes longer than many simulations. */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <smpi/smpi.h>
#include "launcher.h"

/* smpi/smpi.h redirects these to virtual time; here they are defined. */
#undef exit
#undef malloc
#undef calloc
#undef free

static struct {
	const char *platform; /* being loaded */
	int stderr_copy, capture;
	int diagnosing;
} ending = { NULL, -1, -1, 0 };

static void end_capture(void)
{
	if (ending.capture < 0)
		return;
	fflush(stderr);
	dup2(ending.stderr_copy, 2);
	close(ending.stderr_copy);
}

void launcher_fail(const char *fmt, ...)
{
	va_list ap;
	end_capture();
	orr_sim_progress_clear();
	fflush(stdout);
	fputs("orrery sim: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	_exit(1);
}

void launcher_finish(int status)
{
	orr_sim_progress_clear();
	fflush(NULL);
	if (orr_sim_report_write() && !status)
		status = 1;
	fflush(NULL);
	_exit(status & 255 ? status & 255 : status ? 1 : 0);
}

/* ---- what SimGrid says while it loads ---- */

void launcher_loading(const char *platform)
{
	if (platform) {
		ending.platform = platform;
		ending.stderr_copy = dup(2);
		ending.capture = memfd_create("stderr", MFD_CLOEXEC);
		if (ending.stderr_copy >= 0 && ending.capture >= 0)
			dup2(ending.capture, 2);
		return;
	}
	ending.platform = NULL;
	end_capture();
	if (ending.capture >= 0)
		close(ending.capture);
	ending.capture = -1;
}

/* The first complaint of what was captured, without SimGrid's decoration. */
static const char *complaint(char *text, size_t room)
{
	ssize_t n = ending.capture >= 0 ? pread(ending.capture, text, room - 1, 0) : 0;
	text[n > 0 ? n : 0] = 0;
	char *at = strstr(text, "/CRITICAL] ");
	at = at ? at + strlen("/CRITICAL] ") : text;
	at[strcspn(at, "\n")] = 0;
	return *at ? at : "its content is not understood";
}

/* ---- crashes ---- */

static const char *signal_text(int sig)
{
	switch (sig) {
	case SIGSEGV:
		return "crashed (segmentation fault; a stack that is too small shows like this too: --stack KIB)";
	case SIGBUS: return "crashed (bus error)";
	case SIGFPE: return "crashed (arithmetic error)";
	case SIGILL: return "crashed (illegal instruction)";
	default: return "aborted";
	}
}

static void on_crash(int sig)
{
	char text[4096];
	if (ending.platform) {
		const char *why = complaint(text, sizeof(text));
		launcher_fail(
			"--platform %s: SimGrid cannot use it: %s; correct the file or write a new one with `orrery platform`",
			ending.platform, why);
	}
	orr_sim_progress_clear();
	struct orr_sim_actor *a = (struct orr_sim_actor *) orr_sim_self;
	sg_actor_t self = sg_actor_self();
	if (self && sg_actor_get_data(self))
		a = sg_actor_get_data(self);
	fflush(stdout);
	if (self && sg_actor_get_data(self))
		fprintf(stderr, "orrery sim: rank %d (%s) %s after %.6f s of virtual time\n",
			a->rank->rank, a->name, signal_text(sig), orr_sim_clock_s());
	else
		fprintf(stderr,
			"orrery sim: the simulator itself %s after %.6f s of virtual time\n",
			signal_text(sig), orr_sim_clock_s());
	fflush(stderr);
	signal(sig, SIG_DFL);
	_exit(128 + sig);
}

static void on_alarm(int sig)
{
	(void) sig;
	orr_sim_progress_clear();
	fflush(stdout);
	fprintf(stderr,
		"orrery sim: rank %d had ended with status %d; ending the %d others, which go on without it\n",
		orr_sim.status_rank, orr_sim.status, orr_sim.nranks - orr_sim.nended);
	fflush(stderr);
	_exit(orr_sim.status & 255 ? orr_sim.status & 255 : 1);
}

void launcher_ending_init(void)
{
	static char stack[64 << 10];
	stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction crash = { .sa_handler = on_crash,
				   .sa_flags = SA_ONSTACK | SA_RESETHAND | SA_NODEFER };
	sigaltstack(&alternate, NULL);
	sigaction(SIGABRT, &crash, NULL);
	sigaction(SIGSEGV, &crash, NULL);
	sigaction(SIGBUS, &crash, NULL);
	sigaction(SIGFPE, &crash, NULL);
	sigaction(SIGILL, &crash, NULL);
	signal(SIGALRM, on_alarm);
	signal(SIGPIPE, SIG_DFL);
	orr_sim.finish = launcher_finish;
}

/* ---- stalls ---- */

void launcher_deadlock(void)
{
	if (ending.diagnosing++)
		_exit(1);
	orr_sim_progress_clear();
	fflush(NULL);
	orr_sim_diagnose(stderr);
	fflush(NULL);
	_exit(orr_sim.status & 255 ? orr_sim.status & 255 : 1);
}

/* ---- what the program calls ---- */

static void __attribute__((noreturn)) end_rank(int status)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	if (!a) {
		fflush(NULL);
		_exit(status);
	}
	orr_sim_rank_end(a->rank, status & 255);
	orr_sim_park(a);
}

void exit(int status)
{
	end_rank(status);
}
void smpi_exit(int status)
{
	end_rank(status);
}
void _Exit(int status)
{
	end_rank(status);
}
void quick_exit(int status)
{
	end_rank(status);
}

int MPI_Abort(MPI_Comm comm, int code)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	(void) comm;
	orr_sim_progress_clear();
	fflush(NULL);
	fprintf(stderr,
		"orrery sim: rank %d called MPI_Abort with code %d after %.6f s of virtual time\n",
		a ? a->rank->rank : -1, code, orr_sim_clock_s());
	fflush(stderr);
	_exit(code & 255 ? code & 255 : 1);
}

int MPI_Init(int *argc, char ***argv)
{
	return orr_sim_mpi_init_program(argc, argv);
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	(void) required;
	if (provided)
		*provided = MPI_THREAD_MULTIPLE;
	return orr_sim_mpi_init_program(argc, argv);
}

/* After an unsuccessful poll: from 0.1 us up to 10 us more of virtual time. */
static int polled(int ret, int flag)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	if (!a)
		return ret;
	if (flag) {
		a->npolls = 0;
		return ret;
	}
	double us = 0.1 * (1 + a->npolls);
	if (us < 10)
		a->npolls++;
	orr_sys_sleep_us(us);
	return ret;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
	int ret = PMPI_Test(request, flag, status);
	return polled(ret, *flag);
}

int MPI_Testall(int n, MPI_Request *requests, int *flag, MPI_Status *statuses)
{
	int ret = PMPI_Testall(n, requests, flag, statuses);
	return polled(ret, *flag);
}

int MPI_Testany(int n, MPI_Request *requests, int *index, int *flag, MPI_Status *status)
{
	int ret = PMPI_Testany(n, requests, index, flag, status);
	return polled(ret, *flag);
}

int MPI_Testsome(int n, MPI_Request *requests, int *nout, int *indices, MPI_Status *statuses)
{
	int ret = PMPI_Testsome(n, requests, nout, indices, statuses);
	return polled(ret, *nout != 0);
}

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
	int ret = PMPI_Iprobe(source, tag, comm, flag, status);
	return polled(ret, *flag);
}
