/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A watch on real time: ends a run that exceeds the memory of the computer (fit.c), and finds the
 * rank that keeps the processor for ever, because it spins on a variable that only another rank or
 * thread would change, or waits in the system, and ends the run with a message that names the
 * function.
 *
 * A thread of the system looks ten times a second (ORR_SIM_WATCH_LOOKS) whether SimGrid has changed
 * the actor. If it has not for SOME_QUIET looks, it interrupts the thread of the actors once for
 * each look, when that next runs at a tick of the system's clock. (Where a thread that wants more
 * than its share of a busy processor loses it may be the same place each time: the call of the
 * system that reads the time that it has used.) A loop that waits goes through the same few states
 * of the processor's registers again and again; a loop that computes does not, however long it
 * takes. So long kernels are left alone: a loop that also counts cannot be told from them, and
 * there is only a warning, after half a minute and whenever that time has doubled.
 *
 * The same thread takes questions about the run, and hands the answers on (live.c).
 *
 * Invariant: the thread of the watch touches no state of the simulation but the counter of changes,
 * `watch` and what live.c has for both threads; all else happens in the thread of the actors, in
 * the handler of the signal. */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include "launcher.h"
#include "sim_clock.h"
#include "sim_progress.h"
#include "base/backtrace.h"
#include "actors/sim_own.h"

/* Not smpi/smpi.h, whose sleep functions are virtual. */

#define SIGNAL (SIGRTMIN + 6)
#define LOOKS_PER_S 10
#define MOST_LOOKS_PER_S 100
#define SOME_QUIET 10
#define NSAMPLES 40
#define MOST_STATES 12
#define PATIENCE_S 30

extern int __sigaction(int sig, const struct sigaction *action, struct sigaction *before);

/* The registers of integers, the stack and the place in the program; and how often the thread has
 * got another page, since a loop that does so for ever waits for nothing. */
struct sample {
	uint64_t registers[32], pages;
};

static struct {
	pthread_t actors;
	int task; /* the system's number of that thread */
	struct sample samples[NSAMPLES];
	int nsamples; /* atomic: written by the handler */
	int restart;  /* atomic: the handler begins anew */
	int blocked;  /* atomic: it waits in the system, and nobody would wake it */
	int long_s;   /* atomic: how long the actor has run now, when that is to be told; else 0 */
	int patience_s, looks_per_s;
} watch = { .patience_s = PATIENCE_S };

static void take_registers(struct sample *s, const ucontext_t *u)
{
	struct rusage used;

	memset(s, 0, sizeof(*s));
	if (!getrusage(RUSAGE_THREAD, &used))
		s->pages = (uint64_t) used.ru_minflt;
#if defined(__x86_64__)
	memcpy(s->registers, u->uc_mcontext.gregs, 17 * sizeof(*s->registers));
#elif defined(__aarch64__)
	memcpy(s->registers, u->uc_mcontext.regs, 31 * sizeof(*s->registers));
	s->registers[31] = u->uc_mcontext.pc;
#endif
}

/* The number of different states that the samples show. */
static int count_states(void)
{
	int n = 0;
	for (int i = 0; i < NSAMPLES; i++) {
		int k = 0;
		while (k < i &&
		       memcmp(&watch.samples[k], &watch.samples[i], sizeof(*watch.samples)))
			k++;
		n += k == i;
	}
	return n;
}

/* The innermost function of the program itself, in a text that stays until the next call. */
static const char *name_function(const struct orr_sim_rank *r)
{
	static char name[160];
	void *frames[64];
	Dl_info info;
	int n = backtrace(frames, 64);
	for (int i = 1; i < n && r->object; i++) {
		struct link_map *at = NULL;
		if (!dladdr1(frames[i], &info, (void **) &at, RTLD_DL_LINKMAP) || at != r->object)
			continue;
		size_t offset = (size_t) ((uintptr_t) frames[i] - at->l_addr);
		if (orr_backtrace_name(orr_sim.program, offset, name, sizeof(name)))
			return name;
		return info.dli_sname;
	}
	return NULL;
}

#define REMEDY \
	"Wait with starpu_pthread_*, pthread_*, sem_*, starpu_task_wait*() or MPI, or call " \
	"sched_yield() or usleep() in the loop (ORR_SIM_WATCH=0 leaves the run alone)"

static void tell_long(int s)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	const char *name = a ? name_function(a->rank) : NULL;
	if (!a)
		return;
	orr_sim_progress_clear();
	fprintf(stderr,
		"orrery sim: rank %d (%s) has been in %s() for %d s of real time, at %.6f s of virtual time, and no other rank or thread can run meanwhile. A long computation ends by itself; a loop that waits for another thread does not. " REMEDY
		"\n",
		a->rank->rank, a->name, name ? name : "a function without name", s,
		orr_sim_clock_s());
}

static void end_run(const char *does)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	const char *name = a ? name_function(a->rank) : NULL;
	orr_sim_progress_clear();
	orr_sim_own_lines();
	fflush(stdout);
	fprintf(stderr,
		"orrery sim: rank %d (%s) %s in %s() at %.6f s of virtual time, and no other rank or thread can run meanwhile: in a simulated run they take turns, and each goes on until it waits. " REMEDY
		"\n",
		a ? a->rank->rank : -1, a ? a->name : "the simulator", does,
		name ? name : "a function without name", orr_sim_clock_s());
	fflush(stderr);
	orr_sim_leave(1);
}

/* ---- in the thread of the actors ---- */

static void on_look(int sig, siginfo_t *info, void *context)
{
	int before = errno, n = watch.nsamples;
	(void) sig;
	(void) info;
	if (watch.blocked && orr_sim_actor_self())
		end_run("waits in the system for what only another thread would do,");
	int long_s = __atomic_exchange_n(&watch.long_s, 0, __ATOMIC_ACQ_REL);
	if (long_s)
		tell_long(long_s);
	if (__atomic_exchange_n(&watch.restart, 0, __ATOMIC_ACQ_REL))
		n = 0;
	if (n < NSAMPLES)
		take_registers(&watch.samples[n++], context);
	if (n == NSAMPLES) {
		if (count_states() <= MOST_STATES && orr_sim_actor_self())
			end_run("spins");
		n = 0;
	}
	watch.nsamples = n;
	errno = before;
}

/* ---- in the thread of the watch ---- */

enum state { RUNS, WAITS_FOR_NOBODY, WAITS };

/* The state of the thread of the actors. */
static enum state look(void)
{
	char path[64], text[256];
	struct stat st;
	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", watch.task);
	if (!launcher_read_text(path, text, sizeof(text)))
		return RUNS;
	if (text[0] < '0' || text[0] > '9')
		return RUNS;
	/* A folder has two links and one more for each folder in it. */
	return strtol(text, NULL, 10) == SYS_futex && !stat("/proc/self/task", &st) &&
			       st.st_nlink == 4
		       ? WAITS_FOR_NOBODY
		       : WAITS;
}

/* Makes a timer of what the thread of the actors runs. -1: there is none. Not timer_create(), whose
 * timers are virtual. */
static int make_timer(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGNAL };
	clockid_t clock;
	int timer;
	event._sigev_un._tid = watch.task;
	if (pthread_getcpuclockid(watch.actors, &clock) ||
	    syscall(SYS_timer_create, clock, &event, &timer))
		return -1;
	return timer;
}

/* The handler runs in the thread of the actors: while it computes, if there is a timer. */
static void interrupt(int timer, enum state state)
{
	struct itimerspec soon = { .it_value.tv_nsec = 1 };
	if (timer < 0 || state != RUNS || syscall(SYS_timer_settime, timer, 0, &soon, NULL))
		pthread_kill(watch.actors, SIGNAL);
}

static void *watch_main(void *arg)
{
	int timer = make_timer();
	struct timespec span = { watch.looks_per_s == 1,
				 1000000000L / watch.looks_per_s % 1000000000L };
	uint64_t last = 0;
	int quiet = 0, blocked = 0, told_s = 0;
	for (;;) {
		syscall(SYS_nanosleep, &span, NULL);
		launcher_fit_look();
		launcher_live_look();
		uint64_t changes = __atomic_load_n(&orr_sim.nchanges, __ATOMIC_RELAXED);
		if (changes != last) {
			quiet = blocked = told_s = 0;
			last = changes;
			continue;
		}
		if (++quiet < SOME_QUIET)
			continue;
		if (quiet == SOME_QUIET)
			__atomic_store_n(&watch.restart, 1, __ATOMIC_RELEASE);
		int s = quiet / watch.looks_per_s;
		if (s >= watch.patience_s && s >= 2 * told_s) {
			__atomic_store_n(&watch.long_s, s, __ATOMIC_RELEASE);
			told_s = s;
		}
		enum state state = look();
		blocked = state == WAITS_FOR_NOBODY ? blocked + 1 : 0;
		__atomic_store_n(&watch.blocked, blocked > SOME_QUIET, __ATOMIC_RELEASE);
		/* A signal would end some calls of the system. */
		if (state == RUNS || blocked > SOME_QUIET)
			interrupt(timer, state);
	}
	return arg;
}

void launcher_watch_start(void)
{
	struct sigaction action = { .sa_sigaction = on_look,
				    .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK };
	int patience_s = (int) launcher_variable_whole("ORR_SIM_WATCH", 0, 1e9, 1);
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, before;
	void *frame;
	watch.looks_per_s = (int) launcher_variable_whole("ORR_SIM_WATCH_LOOKS", 1,
							  MOST_LOOKS_PER_S, LOOKS_PER_S);
	if (patience_s == 0)
		return;
	if (patience_s > 1)
		watch.patience_s = patience_s;
	backtrace(&frame, 1); /* loads what it needs now */
	launcher_live_start();
	watch.actors = pthread_self();
	watch.task = (int) syscall(SYS_gettid);
	__sigaction(SIGNAL, &action, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 128 << 10);
	orr_sim.watched = !pthread_create(&thread, &attr, watch_main, NULL);
	if (!orr_sim.watched)
		fputs("orrery sim: the watch on loops that never end cannot be started\n", stderr);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
}
