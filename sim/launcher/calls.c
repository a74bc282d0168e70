/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls of the program that the executable takes (interpose.c): the end of a rank, of all, clocks,
 * and polling.
 *
 * Invariant: exit() ends one rank; the process goes on until all ranks have ended. */
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "calls.h"
#include "launcher.h"
#include "base/poison.h"
#include "actors/sim_thread.h"
#include "actors/sim_own.h"
#include "net/sim_mpi.h"
#include "run/sim_dyn.h"
#include "run/sim_process.h"
#include "sim_clock.h"
#include "sim_progress.h"
#include "table.h"

/* Copies of messages add up to that before the program spends it. */
#define LEAST_COPIES_US 0.1

void launcher_rank_ended(struct orr_sim_rank *r, int status)
{
	if (orr_sim_dyn.on)
		orr_sim_dyn_ended(r, status);
	orr_sim_rank_end(r, status);
}

static void __attribute__((noreturn)) end_rank(int status, int functions, int quick)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	if (!a || getpid() != orr_sim.pid) { /* in a child of the simulation, too */
		if (functions)
			fflush(NULL);
		orr_sim_leave(status);
	}
	if (functions && !a->rank->ended)
		launcher_exits_run(a->rank, status, quick);
	if (orr_sim_dyn.on && a == a->rank->main) {
		char *from = __builtin_frame_address(0), *to = a->rank->frame;
		/* The frames that are left; AddressSanitizer does not know this stack. A handler of
		 * signals may have another one. */
		if (from < to && (size_t) (to - from) <= orr_sim.stack_main)
			ORR_UNPOISON(from, (size_t) (to - from));
		a->rank->status = status & 255;
		longjmp(*a->rank->end, 1); /* elastic_main() does the rest */
	}
	launcher_rank_ended(a->rank, status & 255);
	a->deep = a == a->rank->main; /* its stack is not needed any more */
	orr_sim_park(a);
}

void orrery_sim_exit(int status)
{
	end_rank(status, 1, 0);
}

void orrery_sim_quick_exit(int status)
{
	end_rank(status, 1, 1);
}

void orrery_sim_exit_now(int status)
{
	end_rank(status, 0, 0);
}

void orrery_sim_abort(int code)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	orr_sim_progress_clear();
	orr_sim_own_lines();
	fflush(NULL);
	fprintf(stderr,
		"orrery sim: rank %d called MPI_Abort with code %d after %.6f s of virtual time\n",
		a ? a->rank->rank : -1, code, orr_sim_clock_s());
	fflush(stderr);
	orr_sim_leave(code & 255 ? code & 255 : 1);
}

/* A program that asks for the time this often while none passes waits for it to pass. */
#define PATIENT_ASKS 100

/* Time goes by for whoever waits in a loop until it has. */
static double time_for_program_us(struct orr_sim_actor *a)
{
	double now_us = orr_sys_now_us();
	if (now_us > a->asked_us) {
		a->nasked = 0;
	} else if (++a->nasked > PATIENT_ASKS) {
		orr_sim_polled(a);
		now_us = orr_sys_now_us();
	}
	/* Polling must not begin anew because of the little time that it let pass. */
	a->asked_us = a->nasked > PATIENT_ASKS ? now_us + 20 : now_us;
	return now_us;
}

double orrery_sim_now_us(void)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	return a ? time_for_program_us(a) : orr_sys_now_us();
}

/* The system's clock where no rank runs: while the simulation is set up, and in SimGrid. */
int orrery_sim_clock_gettime(clockid_t clock, struct timespec *t)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	if (!a)
		return clock_gettime(clock, t);
	double us = time_for_program_us(a), s = floor(us / 1e6);
	t->tv_sec = (time_t) s;
	t->tv_nsec = (long) ((us - s * 1e6) * 1e3);
	return 0;
}

int orrery_sim_gettimeofday(struct timeval *t)
{
	struct timespec now;
	int ret = orrery_sim_clock_gettime(CLOCK_REALTIME, &now);
	if (!ret)
		*t = (struct timeval){ now.tv_sec, now.tv_nsec / 1000 };
	return ret;
}

time_t orrery_sim_time(time_t *t)
{
	struct timespec now;
	if (orrery_sim_clock_gettime(CLOCK_REALTIME, &now))
		return -1;
	if (t)
		*t = now.tv_sec;
	return now.tv_sec;
}

int orrery_sim_init(int *argc, char ***argv)
{
	return orr_sim_mpi_init_program(argc, argv);
}

void orrery_sim_too_large(const char *call, double bytes)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	launcher_fail(
		"rank %d: %s with %.0f bytes: the messages and datatypes of a program's own MPI have at most %d "
		"bytes in a simulation, because SMPI counts them in an int; send several, or let the runtime "
		"send the data",
		a ? a->rank->rank : -1, call, bytes, INT_MAX);
}

int orrery_sim_polled(int ret, int flag)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	if (!a)
		return ret;
	if (flag)
		a->npolls = 0;
	else
		orr_sim_polled(a);
	return ret;
}

int orrery_sim_sent(int ret)
{
	double owed_us = launcher_early_owed_us();
	struct orr_sim_actor *a = owed_us > 0 ? orr_sim_actor_self() : NULL;
	if (a) {
		a->head.thread.debt_us += owed_us;
		if (a->head.thread.debt_us > fmin(orr_sim_quantum_us, LEAST_COPIES_US))
			orr_sim_settle_slow(&a->head.thread);
	}
	return ret;
}

/* Returns what is left when a signal of the system came, or 0. */
static double sleep_really(double us)
{
	struct timespec span = { (time_t) (us / 1e6), 0 }, left = { 0, 0 };
	span.tv_nsec = (long) ((us - (double) span.tv_sec * 1e6) * 1e3);
	return us > 0 && syscall(SYS_nanosleep, &span, &left)
		       ? (double) left.tv_sec * 1e6 + (double) left.tv_nsec * 1e-3
		       : 0;
}

/* A wait of no time is one of those that look for something again and again. */
double orrery_sim_sleep(double us)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	if (!a || !orrery_sim_is_simulator()) /* a child's time is real */
		return sleep_really(us);
	if (!(us > 0)) {
		orr_sys_polled(-1);
		return 0;
	}
	if (a->role != ORR_ROLE_USER) {
		orr_sys_sleep_us(us);
		return 0;
	}
	const unsigned handled = orrery_sim_handled();
	us += a->head.thread.debt_us;
	a->head.thread.debt_us = 0;
	const double until_us = orr_sys_now_us() + us;
	/* A rest of less than a nanosecond may be less than the clock can show. */
	for (double left;
	     orrery_sim_handled() == handled && (left = until_us - orr_sys_now_us()) > 1e-3;)
		orrery_sim_signal_wait(left);
	/* A handler that runs at the end of the sleep ends it, too: that was set before. */
	return orrery_sim_handled() != handled ? fmax(until_us - orr_sys_now_us(), 1e-3) : 0;
}

/* ---- processes ---- */

/* smpi_getpid() is the number of the actor. */
int orrery_sim_rank_of_pid(int pid)
{
	for (int i = 0; i < orr_sim.nranks; i++) {
		const struct orr_sim_actor *a = orr_sim.ranks[i].main;
		if (a && a->actor && sg_actor_get_pid(a->actor) == pid)
			return i;
	}
	return -1;
}

int orrery_sim_my_rank(void)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	return a ? a->rank->rank : -1;
}

int orrery_sim_getpid(void)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	return a && a->rank->main ? (int) sg_actor_get_pid(a->rank->main->actor) : getpid();
}

long orrery_sim_memory_kib(void)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	return a ? (long) (a->rank->peak >> 10) : 0;
}

/* ---- alarms: each is an actor that sleeps; one that was set again finds that it is not meant ----
 */

static void alarm_main(struct orr_sim_actor *a)
{
	struct orr_sim_own *o = &a->rank->own;
	unsigned mine = o->alarms;
	while (mine == o->alarms) {
		orr_sys_sleep_us(o->alarm_us - orr_sys_now_us());
		if (mine != o->alarms || a->rank->ended)
			break;
		double interval_us = o->alarm_interval_us;
		o->alarm_us = interval_us > 0 ? orr_sys_now_us() + interval_us : 0;
		launcher_signal(a->rank->main, SIGALRM, NULL);
		if (!(interval_us > 0))
			break;
	}
	a->detached = 1;
	orr_sim_user_end(a, NULL);
}

void orrery_sim_alarm(double first_us, double interval_us)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	struct orr_sim_own *o = &a->rank->own;
	double now_us = orr_sys_now_us();
	o->alarms++;
	o->alarm_us = first_us > 0 ? now_us + first_us : 0;
	o->alarm_interval_us = interval_us;
	if (first_us > 0 && !orr_sim_actor_start(a->rank, ORR_ROLE_USER, "alarm", NULL,
						 orr_sim.stack_small, alarm_main))
		launcher_fail("out of memory for alarm() of rank %d", a->rank->rank);
}

double orrery_sim_alarm_left(double *interval_us)
{
	const struct orr_sim_own *o = &orr_sim_actor_self()->rank->own;
	*interval_us = o->alarm_interval_us;
	return o->alarm_us > 0 ? fmax(o->alarm_us - orr_sys_now_us(), 1) : 0;
}

/* ---- signals: a rank's alarms and timers are for its main thread, as the system prefers it ----
 */

int launcher_signal(struct orr_sim_actor *to, int sig, const union sigval *sent)
{
	struct orr_sim_own *o = &orr_sim_actor_self()->rank->own;
	o->to = to;
	o->sent = sent;
	return raise(sig);
}

int orrery_sim_signal_send(int sig)
{
	return launcher_signal(orr_sim_actor_self()->rank->main, sig, NULL);
}

void orrery_sim_signal_wait(double us)
{
	orr_waitq_t *q = &orr_sim_actor_self()->rank->signals;
	orr_waitq_wait(q, orr_waitq_prepare(q), us);
}

void orrery_sim_signal_came(void)
{
	orr_waitq_wake(&orr_sim_actor_self()->rank->signals);
	launcher_timers_changed();
}

void orrery_sim_signal_handled(struct orr_sim_actor *to, int restarts)
{
	struct orr_sim_actor *self = orr_sim_actor_self(), *a = to ? to : self;
	unsigned *handled = a->left ? self->rank->own.handled : a->handled;
	handled[0]++;
	handled[1] += !restarts;
	if (a->interruptible)
		orr_waitq_wake(a->interruptible);
	orrery_sim_signal_came();
}

unsigned orrery_sim_handled(void)
{
	const struct orr_sim_actor *a = orr_sim_actor_self();
	return a->handled[0] + a->rank->own.handled[0];
}

unsigned orrery_sim_handled_to_end(void)
{
	const struct orr_sim_actor *a = orr_sim_actor_self();
	return a->handled[1] + a->rank->own.handled[1];
}

int orrery_sim_is_simulator(void)
{
	return getpid() == orr_sim.pid;
}

/* The system's way with a process that does not handle the signal. */
int orrery_sim_default_signal(int sig)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	switch (sig) {
	case SIGCHLD:
	case SIGURG:
	case SIGWINCH:
	case SIGCONT: return 0;
	case SIGABRT: abort();
	default: break;
	}
	fprintf(stderr, "orrery sim: rank %d was ended by signal %d (%s)\n", a->rank->rank, sig,
		strsignal(sig));
	end_rank(128 + sig, 0, 0);
}

int orrery_sim_command_line(void)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	int fd = memfd_create("cmdline", MFD_CLOEXEC);
	for (char **word = a->rank->argv; fd >= 0 && *word; word++)
		if (write(fd, *word, strlen(*word) + 1) < 0)
			break;
	if (fd >= 0)
		lseek(fd, 0, SEEK_SET);
	return fd;
}

#define ORR_SIM_CALL_VALUE(name) .name##_ = &(name),
const struct orr_sim_calls orrery_sim_calls = { ORR_SIM_CALLS(ORR_SIM_CALL_VALUE) };
