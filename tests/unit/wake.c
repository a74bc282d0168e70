/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads that queue tasks at the same time wake as many sleeping workers as they queue tasks: no
 * two of them wake the same one while another sleeps.
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

int main(void)
{
	struct orr_process *proc = orr_process_new();
	pthread_t threads[NTHREADS];

	CHECK(proc && pthread_barrier_init(&together, NULL, NTHREADS + 1) == 0);
	proc->arch_mask = STARPU_CPU;
	proc->core->groups = groups;
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
