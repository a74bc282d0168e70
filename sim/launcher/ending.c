/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The end of a simulation: by the end of the last program, by exit() of one, by a crash, a stall,
 * an interrupt, or an error of SimGrid.
 *
 * The program's own calls of exit() and MPI_Abort() are in calls.c.
 *
 * Invariant: the process ends by orr_sim_leave(), after the program's output was flushed. The
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
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
#include <smpi/smpi.h>
#include "guard.h"
#include "launcher.h"
#include "run/sim_report.h"
#include "run/sim_speak.h"
#include "run/sim_stall.h"
#include "sim_clock.h"
#include "sim_progress.h"
#include "base/backtrace.h"
#include "base/signal_text.h"
#include "base/upcalls.h"
#include "actors/sim_own.h"

/* smpi/smpi.h redirects these to virtual time; here they are defined. */
#undef exit
#undef malloc
#undef calloc
#undef free

/* The setting or file that SimGrid is reading (launcher_judge); standard error goes to capture
 * meanwhile. */
static struct {
	const char *culprit, *remedy; /* culprit is NULL if there is none */
	int stderr_copy, capture;
} judged = { .stderr_copy = -1, .capture = -1 };

/* Restores standard error. */
static void judged_capture_end(void)
{
	if (judged.stderr_copy < 0)
		return;
	fflush(stderr);
	dup2(judged.stderr_copy, 2);
	close(judged.stderr_copy);
	judged.stderr_copy = -1;
}

void launcher_fail(const char *fmt, ...)
{
	va_list ap;
	judged_capture_end();
	orr_sim_progress_clear();
	orr_sim_own_lines();
	fflush(stdout);
	fputs("orrery sim: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	orr_sim_leave(1);
}

void launcher_finish(int status)
{
	orr_sim_progress_clear();
	orr_sim_own_lines();
	fflush(NULL);
	if ((orr_sim_report_write() || orr_sim.failed_at_end) && !status)
		status = 1;
	fflush(NULL);
	orr_sim_leave(status & 255 ? status & 255 : status ? 1 : 0);
}

/* ---- SimGrid judges what the user gave ---- */

void launcher_judge(const char *culprit, const char *remedy)
{
	judged.culprit = culprit;
	judged.remedy = remedy;
	fflush(stderr);
	judged.capture = memfd_create("stderr", MFD_CLOEXEC);
	judged.stderr_copy = judged.capture >= 0 ? dup(2) : -1;
	if (judged.stderr_copy >= 0)
		dup2(judged.capture, 2);
}

void launcher_accepted(void)
{
	char text[4096];
	judged_capture_end();
	/* Warnings. */
	for (off_t at = 0; judged.capture >= 0;) {
		ssize_t n = pread(judged.capture, text, sizeof(text), at);
		if (n <= 0 || fwrite(text, 1, (size_t) n, stderr) != (size_t) n)
			break;
		at += n;
	}
	if (judged.capture >= 0)
		close(judged.capture);
	judged.capture = -1;
	judged.culprit = NULL;
}

void launcher_refused(const char *reason)
{
	launcher_fail("%s: SimGrid cannot use it: %s; %s", judged.culprit, reason, judged.remedy);
}

/* The first complaint in what was captured, without SimGrid's decoration. */
static const char *judged_complaint(char *text, size_t room)
{
	ssize_t n = judged.capture >= 0 ? pread(judged.capture, text, room - 1, 0) : 0;
	text[n > 0 ? n : 0] = 0;
	char *at = strstr(text, "/CRITICAL] ");
	at = at ? at + strlen("/CRITICAL] ") : text;
	at += strspn(at, "\n");
	at[strcspn(at, "\n")] = 0;
	return *at ? at : "it does not say why";
}

/* ---- crashes ---- */

static const char *crash_text(int sig)
{
	return sig == SIGSEGV
		       ? "crashed (segmentation fault; a stack that is too small shows like this too: --stack KIB)"
		       : orr_signal_ends(sig);
}

/* The C library's sigaction(): the usual name is the rank's. */
extern int __sigaction(int sig, const struct sigaction *action, struct sigaction *before);

#define FRAMES 8

static void on_crash(int sig, siginfo_t *info, void *context);
static const struct sigaction crash = { .sa_sigaction = on_crash,
					.sa_flags = SA_ONSTACK | (int) SA_RESETHAND | SA_NODEFER |
						    SA_SIGINFO };

/* The work of the runtime of the rank; "" if it does not run, or was told to be silent. Returns
 * whether it was in a task. */
static int rank_doing(struct orr_sim_actor *a, char *text, size_t size)
{
	struct orr_process *proc = a->rank->proc;
	*text = '\0';
	return proc && proc->core_up && a->rank->runtime_up && ORR_ATOMIC_LOAD(&proc->catches) &&
	       orr_signal_doing(proc, &a->head.thread, text, size);
}

void orrery_sim_tell_handled(int sig)
{
	char doing[512];
	struct orr_sim_actor *a = orr_sim_actor_self();
	if (sig != SIGSEGV && sig != SIGBUS && sig != SIGFPE && sig != SIGILL && sig != SIGABRT &&
	    sig != SIGTRAP && sig != SIGINT)
		return;
	if (a->rank->own.told & ORR_SIM_SIGNAL(sig))
		return;
	int in_task = rank_doing(a, doing, sizeof(doing));
	if (!*doing)
		return;
	a->rank->own.told |= ORR_SIM_SIGNAL(sig);
	orr_sim_progress_clear();
	fprintf(stderr,
		"orrery sim: rank %d: signal SIG%s, which the program handles: %s%s after %.6f s of virtual time\n",
		a->rank->rank, sigabbrev_np(sig), in_task ? "in " : "", doing, orr_sim_clock_s());
}

/* The program's own handler, which may end the rank or jump away. */
static void handle_by_program(struct orr_sim_rank *r, int sig, siginfo_t *info, void *context)
{
	struct sigaction *mine = r->own.actions ? &r->own.actions[sig] : NULL;
	if (!mine || mine->sa_handler == SIG_DFL || mine->sa_handler == SIG_IGN)
		return;
	struct sigaction action = *mine;
	mine->sa_handler = SIG_DFL; /* it may crash itself, and may set itself again */
	__sigaction(sig, &crash, NULL);
	orrery_sim_tell_handled(sig);
	if (action.sa_flags & SA_SIGINFO) {
		action.sa_sigaction(sig, info, context);
	} else {
		action.sa_handler(sig);
	}
}

/* The file that an object was copied from. */
static const char *original_of(const void *object)
{
	for (int i = 0; i < orr_sim.nranks; i++)
		if (orr_sim.ranks[i].object == object)
			return orr_sim.program;
	return NULL;
}

/* Says which task of the rank crashed, and where. */
static void tell_crash(struct orr_sim_actor *a, int sig, const void *context)
{
	static char frames[4096]; /* the stack is a small one */
	char task[512];
	int in_task = rank_doing(a, task, sizeof(task));
	orr_backtrace_write(frames, sizeof(frames), context, FRAMES, original_of);
	if (in_task)
		fprintf(stderr, "orrery sim: rank %d: %s %s after %.6f s of virtual time\n",
			a->rank->rank, task, crash_text(sig), orr_sim_clock_s());
	else
		fprintf(stderr, "orrery sim: rank %d (%s) %s after %.6f s of virtual time\n",
			a->rank->rank, a->name, crash_text(sig), orr_sim_clock_s());
	fputs(frames, stderr);
}

static void on_crash(int sig, siginfo_t *info, void *context)
{
	char text[4096];
	if (judged.culprit)
		launcher_refused(judged_complaint(text, sizeof(text)));
	orr_sim_progress_clear();
	struct orr_sim_actor *a = orr_sim_own_running();
	if (a)
		handle_by_program(a->rank, sig, info, context);
	orr_sim_own_lines();
	fflush(stdout);
	if (a)
		tell_crash(a, sig, context);
	else
		fprintf(stderr,
			"orrery sim: the simulator itself %s after %.6f s of virtual time\n",
			crash_text(sig), orr_sim_clock_s());
	fflush(stderr);
	orr_sim_leave(128 + sig);
}

/* ---- interrupts ---- */

static const char *interrupt_text(void)
{
	return orr_sim.interrupted == SIGINT ? "interrupted" : "terminated";
}

static void tell_interrupt(void)
{
	orr_sim_progress_clear();
	orr_sim_own_lines();
	fflush(stdout);
	fprintf(stderr,
		"orrery sim: %s at %.6f s of virtual time, after %.2f s; %llu tasks were done, %d of %d ranks had ended\n",
		interrupt_text(), orr_sim_clock_s(), orr_sim_wall_s() - orr_sim.wall_start,
		(unsigned long long) orr_sim.tasks_done, orr_sim.nended, orr_sim.nranks);
}

/* At the next change of actors, where everything is whole: what is known by now is written, and is
 * marked as a part. */
static void interrupted(void)
{
	int status = 128 + orr_sim.interrupted;
	tell_interrupt();
	orr_sim.quiet = 1;
	orr_sim.status = status;
	orr_sim_report_write();
	if (orr_sim.report_file || orr_sim.stats_file)
		fprintf(stderr, "orrery sim: %s%s%s %s of a part of the run, and say so\n",
			orr_sim.report_file ? orr_sim.report_file : "",
			orr_sim.report_file && orr_sim.stats_file ? " and " : "",
			orr_sim.stats_file ? orr_sim.stats_file : "",
			orr_sim.report_file && orr_sim.stats_file ? "are" : "is");
	fflush(NULL);
	orr_sim_leave(status);
}

static void attend(void)
{
	if (orr_sim.interrupted)
		interrupted();
	__atomic_store_n(&orr_sim.attention, 0, __ATOMIC_RELEASE);
	if (orr_sim.interrupted) /* just now */
		interrupted();
	launcher_live_attend();
}

/* The second time, or when no other actor comes up soon, the run ends at once. */
static void on_interrupt(int sig)
{
	struct itimerval soon = { .it_value = { .tv_sec = 1 } };
	if (orr_sim.interrupted)
		orr_sim_leave(128 + sig);
	orr_sim.interrupted = sig;
	__atomic_store_n(&orr_sim.attention, 1, __ATOMIC_RELEASE);
	syscall(SYS_setitimer, ITIMER_REAL, &soon, NULL);
}

/* SimGrid has a handler for SIGINT, which calls exit(): in the rank that runs just then. Whoever
 * started us in the background may have switched the signal off. */
static void catch_interrupt(int sig)
{
	struct sigaction before,
		action = { .sa_handler = on_interrupt, .sa_flags = SA_ONSTACK | SA_RESTART };
	if (!__sigaction(sig, NULL, &before) && before.sa_handler != SIG_IGN)
		__sigaction(sig, &action, NULL);
}

static void on_alarm(int sig)
{
	(void) sig;
	if (orr_sim.interrupted) { /* in the middle of a kernel: files would be half written */
		tell_interrupt();
		fflush(stderr);
		orr_sim_leave(128 + orr_sim.interrupted);
	}
	orr_sim_progress_clear();
	orr_sim_own_lines();
	fflush(stdout);
	fprintf(stderr,
		"orrery sim: rank %d had ended with status %d; ending the %d others, which still run\n",
		orr_sim.status_rank, orr_sim.status, orr_sim.nranks - orr_sim.nended);
	fflush(stderr);
	orr_sim_leave(orr_sim.status & 255 ? orr_sim.status & 255 : 1);
}

void launcher_ending_init(void)
{
	static char stack[64 << 10];
	stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	sigaltstack(&alternate, NULL);
	sigaction(SIGABRT, &crash, NULL);
	sigaction(SIGSEGV, &crash, NULL);
	sigaction(SIGBUS, &crash, NULL);
	sigaction(SIGFPE, &crash, NULL);
	sigaction(SIGILL, &crash, NULL);
	signal(SIGALRM, on_alarm);
	catch_interrupt(SIGINT);
	catch_interrupt(SIGTERM);
	orr_sim.attend = attend;
	orr_backtrace_prepare();
	signal(SIGPIPE, SIG_DFL);
	orr_sim.finish = launcher_finish;
	orr_sim.last_words = orr_sim_speak_end;
}

/* ---- stalls ---- */

void launcher_deadlock(void)
{
	static int diagnosing;
	if (diagnosing++)
		orr_sim_leave(1);
	launcher_guard_stall();
	orr_sim_progress_clear();
	orr_sim_own_lines();
	fflush(NULL);
	orr_sim_diagnose(stderr);
	fflush(NULL);
	orr_sim_leave(orr_sim.status & 255 ? orr_sim.status & 255 : 1);
}
