/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads of the runtime in a real run: one per worker and one for the progression engine, bound to
 * cores where asked for.
 *
 * Invariant: a thread is bound and named before its function is called (thread_main has no other
 * order; a binding that fails is a message). */
#include "sys/real.h"
#include "base/assert.h"
#include "base/log.h"
#include "base/seam_machine.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

struct orr_sys_thread {
	pthread_t id;
	struct orr_process *proc;
	enum orr_role role;
	int cpu;
	char name[16]; /* what the kernel accepts */
	void *(*fn)(void *);
	void *arg;
};

/* The time that the system gives a thread before the next one, where processes share cores. */
#define SLICE_NS 100000
/* By how much the end of a sleep may be late. */
#define TIMER_SLACK_NS 1000UL

/* Asks for short turns if the workers of all processes of the program on this machine are more than
 * its cores: a thread that has a message to handle, or a task that others wait for, must not wait
 * until another process has used up the milliseconds that systems give. Linux before 6.12
 * pays no attention to it. */
static void take_short_turns(struct orr_process *proc)
{
	const struct orr_real *real = proc->sys;
	struct { /* struct sched_attr of the kernel, which C libraries have only lately */
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attr = { .size = 0 };

	if (!real || real->nprocs * proc->ngroups <= proc->topo.nmachine)
		return;
	if (syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0) || attr.policy != SCHED_OTHER)
		return;
	attr.size = sizeof(attr);
	attr.runtime = SLICE_NS;
	syscall(SYS_sched_setattr, 0, &attr, 0);
}

static void *thread_main(void *p)
{
	struct orr_sys_thread *t = p;

	take_short_turns(t->proc);

	pthread_setname_np(pthread_self(), t->name);
	/* A worker that sleeps until its device is done would wake up 50 us late. */
	if (t->role == ORR_ROLE_WORKERS)
		prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS);
	if (t->cpu >= 0) {
		int ret = orr_sys_bind(t->proc, &t->cpu, 1);

		/* A foreign topology (STARPU_HWLOC_INPUT) cannot be bound to. */
		if (ret && ret != -ENOSYS)
			orr_warn(
				"thread %s could not be bound to core %d (%s): it runs unbound; STARPU_WORKERS_NOBIND=1 avoids the attempt",
				t->name, t->cpu, strerror(-ret));
	}
	return t->fn(t->arg);
}

static int create(struct orr_sys_thread *t)
{
	sigset_t all, before;

	if (t->role != ORR_ROLE_WATCH)
		return pthread_create(&t->id, NULL, thread_main, t);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int ret = pthread_create(&t->id, NULL, thread_main, t);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return ret;
}

orr_sys_thread_t *orr_sys_thread_start(struct orr_process *proc, enum orr_role role,
				       const char *name, int cpu, void *(*fn)(void *), void *arg)
{
	struct orr_sys_thread *t = calloc(1, sizeof(*t));
	int ret;

	take_short_turns(proc); /* the caller is the program's thread, which drives the engine while
				   it waits */
	if (!t) {
		errno = ENOMEM;
		return NULL;
	}
	t->proc = proc;
	t->role = role;
	t->cpu = cpu;
	t->fn = fn;
	t->arg = arg;
	orr_assert(fn && proc);
	orr_assert_no_lock();
	snprintf(t->name, sizeof(t->name), "%s", name ? name : "orrery");
	ret = create(t);
	if (ret) {
		free(t);
		errno = ret;
		return NULL;
	}
	return t;
}

void *orr_sys_thread_join(orr_sys_thread_t *t)
{
	void *ret = NULL;

	orr_assert_no_lock();
	pthread_join(t->id, &ret);
	free(t);
	return ret;
}

void orr_sys_polled(double until_us)
{
	(void) until_us;
	orr_assert_no_lock();
}

void orr_sys_yield(void)
{
	orr_assert_no_lock();
	sched_yield();
}

unsigned orr_sys_ngroups(unsigned nworkers)
{
	return nworkers;
}

void orr_sys_workers_share(struct orr_process *proc, unsigned nworkers)
{
	(void) proc;
	(void) nworkers;
}

unsigned orr_sys_cores(struct orr_process *proc)
{
	const struct orr_real *real = proc->sys;
	unsigned nprocs = real ? real->nprocs : 1, cores = proc->topo.ncores;

	/* Processes that are not bound share the machine's cores. */
	if (cores >= proc->topo.nmachine && nprocs > 1)
		cores = (cores + nprocs - 1) / nprocs;
	return cores ? cores : 1;
}

double orr_sys_spin_us(struct orr_process *proc)
{
	unsigned cores = orr_sys_cores(proc), threads;

	if (cores <= 1)
		return 0;
	threads = proc->ngroups + 1 + (ORR_ATOMIC_LOAD(&proc->mpi) != NULL);
	return cores >= threads ? 20 : 2;
}
