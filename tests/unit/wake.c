/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads that queue tasks at the same time wake as many sleeping workers as they queue tasks: no
 * two of them wake the same one while another sleeps. A group that finds a task in its last look
 * before it sleeps is not one of them, and if it was taken for one, another is woken.
 *
 * Invariant: the groups have no threads, only bells that somebody waits at, so that a group that
 * was woken stays awake and the number of its wakes can be read. */

#include "core/worker/wake.h"
#include "start/the_process.h"
#include <pthread.h>

#include "lib/test.h"

enum { NTHREADS = 2, NGROUPS = STARPU_NMAXWORKERS, ROUNDS = 4000 };

static struct orr_group groups[NGROUPS];
static pthread_barrier_t together;

static void *queue_tasks(void *arg)
{
	struct orr_process *proc = arg;

	for (int round = 0; round < ROUNDS; round++) {
		pthread_barrier_wait(&together);
		for (int i = 0; i < NGROUPS / NTHREADS; i++)
			orr_wake_one(proc);
		pthread_barrier_wait(&together);
	}
	return NULL;
}

/* All groups sleep, as those do that announced it and wait for their bells. */
static void fall_asleep(struct orr_core *core)
{
	for (unsigned g = 0; g < NGROUPS; g++) {
		ORR_ATOMIC_OR(&core->idle_mask[g / 64], 1ULL << g % 64);
		orr_waitq_init(&groups[g].bell);
		orr_waitq_prepare(&groups[g].bell);
	}
}

static void prepare_bells(void)
{
	for (unsigned g = 0; g < 2; g++) {
		orr_waitq_init(&groups[g].bell);
		orr_waitq_prepare(&groups[g].bell);
	}
}

/* Group 0 executes the task that it found in its last look. The thread that queues the next task
 * comes before that, in time to take group 0 for a sleeper, or after it. */
static void last_look(struct orr_process *proc, int comes_before)
{
	prepare_bells();
	for (unsigned g = 0; g < 2; g++) {
		groups[g].proc = proc;
		groups[g].looks_again = 0;
		orr_wake_enlist(&groups[g]);
		CHECK(groups[g].looks_again);
	}
	groups[1].looks_again = 0; /* it found nothing, and sleeps */
	if (comes_before) {
		orr_wake_one(proc);
		CHECK(groups[0].bell.seq == 1 && groups[1].bell.seq == 0);
	}
	orr_wake_before_work(&groups[0]);
	CHECK(!groups[0].looks_again && !orr_wake_is_listed(&groups[0]));
	if (!comes_before) {
		CHECK(groups[1].bell.seq == 0);
		orr_wake_one(proc);
	}
	CHECK(groups[1].bell.seq == 1 && !orr_wake_is_listed(&groups[1]));
	orr_wake_before_work(&groups[0]); /* at any other time it does nothing */
	CHECK(groups[0].bell.seq == (unsigned) comes_before && groups[1].bell.seq == 1);
}

int main(void)
{
	struct orr_process *proc = orr_process_new();
	pthread_t threads[NTHREADS];

	CHECK(proc && pthread_barrier_init(&together, NULL, NTHREADS + 1) == 0);
	proc->arch_mask = STARPU_CPU;
	proc->core->groups = groups;
	proc->ngroups = 2;
	last_look(proc, 0);
	last_look(proc, 1);
	proc->ngroups = NGROUPS;
	for (int i = 0; i < NTHREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, queue_tasks, proc) == 0);
	for (int round = 0; round < ROUNDS; round++) {
		fall_asleep(proc->core);
		pthread_barrier_wait(&together);
		pthread_barrier_wait(&together);
		for (unsigned g = 0; g < NGROUPS; g++)
			CHECK(groups[g].bell.seq == 1);
		for (unsigned i = 0; i < NGROUPS / 64; i++)
			CHECK(proc->core->idle_mask[i] == 0);
	}
	for (int i = 0; i < NTHREADS; i++)
		pthread_join(threads[i], NULL);
	proc->core->groups = NULL;
	proc->ngroups = 0;
	orr_process_free(proc);
	return 0;
}
