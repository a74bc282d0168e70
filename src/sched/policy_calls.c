/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The calls of programs' policies: they queue tasks, lock and wake workers.
 *
 * Invariant: these functions only queue and wake; no worker is waited for. */
#include "sched/policy_calls.h"
#include "base/log.h"
#include "core/ctx/combined.h"
#include "core/worker/core.h"
#include "core/flow/parallel.h"
#include "core/ctx/policy.h"
#include "core/task/task.h"
#include "core/worker/wake.h"

#include <errno.h>
#include <stdlib.h>

struct orr_worker *orr_policy_worker(int workerid, const char *what)
{
	struct orr_core *core = orr_self()->core;

	if (workerid >= 0 && (unsigned) workerid < core->nworkers)
		return &core->workers[workerid];
	orr_error("%s: there is no worker %d, they are 0 to %d", what, workerid,
		  (int) core->nworkers - 1);
	return NULL;
}

/* ---- queueing ---- */

int starpu_push_local_task(int workerid, struct starpu_task *task, int back)
{
	struct orr_process *proc = orr_self();
	struct orr_combined *c = orr_combined_get(proc, (unsigned) workerid);
	struct orr_worker *w;

	if (c) {
		orr_parallel_launch(proc, orr_task_of(task), c);
		return 0;
	}
	w = orr_policy_worker(workerid, "starpu_push_local_task");
	if (!w)
		return -EINVAL;
	orr_lock(&w->local_lock);
	if (back)
		starpu_task_list_push_back(&w->local, task);
	else
		starpu_task_list_push_front(&w->local, task);
	ORR_ATOMIC_STORE(&w->nlocal, w->nlocal + 1);
	orr_unlock(&w->local_lock);
	orr_wake_worker(w);
	return 0;
}

/* The task may be executing, or gone, by now: it is not looked into. */
int starpu_push_task_end(struct starpu_task *task)
{
	if (task)
		return 0;
	orr_error("starpu_push_task_end: NULL is no task; call it for the task that push_task got");
	return -EINVAL;
}

/* ---- waking ---- */

static int wake(int workerid, const char *what)
{
	struct orr_worker *w = orr_policy_worker(workerid, what);
	struct orr_process *proc = orr_self();

	if (!w)
		return 0;
	ORR_ATOMIC_FENCE();
	return orr_wake_claim_fenced(proc, (unsigned) (w->group - proc->core->groups));
}

int starpu_wake_worker_locked(int workerid)
{
	return wake(workerid, "starpu_wake_worker_locked");
}
int starpu_wake_worker_no_relax(int workerid)
{
	return wake(workerid, "starpu_wake_worker_no_relax");
}
int starpu_wake_worker_relax(int workerid)
{
	return wake(workerid, "starpu_wake_worker_relax");
}
int starpu_wake_worker_relax_light(int workerid)
{
	return wake(workerid, "starpu_wake_worker_relax_light");
}

void starpu_wake_all_blocked_workers(void)
{
	orr_wake_all(orr_self());
}

/* ---- locks of workers ---- */

/* A worker needs no lock to be looked at: its state is its group's. These keep the pairing that
 * programs write; what they protect is the policy's own data about that worker. */
struct orr_policy_lock {
	starpu_pthread_mutex_t mutex;
	starpu_pthread_cond_t cond;
};

/* Few policies lock workers, and many simulated ranks have many of these. */
static struct orr_policy_lock *lock_of(int workerid)
{
	struct orr_worker *w = &orr_self()->core->workers[workerid];
	struct orr_policy_lock *lock = ORR_ATOMIC_LOAD(&w->policy_lock), *made;

	if (lock)
		return lock;
	made = calloc(1, sizeof(*made));
	if (!made)
		orr_fatal("out of memory for the lock of worker %d", workerid);
	if (ORR_ATOMIC_CAS(&w->policy_lock, &lock, made))
		return made;
	free(made);
	return lock;
}

void starpu_worker_lock(int workerid)
{
	starpu_pthread_mutex_lock(&lock_of(workerid)->mutex);
}
int starpu_worker_trylock(int workerid)
{
	return starpu_pthread_mutex_trylock(&lock_of(workerid)->mutex);
}
void starpu_worker_unlock(int workerid)
{
	starpu_pthread_mutex_unlock(&lock_of(workerid)->mutex);
}
void starpu_worker_lock_self(void)
{
	starpu_worker_lock((int) orr_thread_self()->worker->id);
}
void starpu_worker_unlock_self(void)
{
	starpu_worker_unlock((int) orr_thread_self()->worker->id);
}

void starpu_worker_get_sched_condition(int workerid, starpu_pthread_mutex_t **sched_mutex,
				       starpu_pthread_cond_t **sched_cond)
{
	struct orr_policy_lock *lock = lock_of(workerid);

	*sched_mutex = &lock->mutex;
	*sched_cond = &lock->cond;
}

void starpu_worker_relax_on(void) {}
void starpu_worker_relax_off(void) {}
int starpu_worker_get_relax_state(void)
{
	return 1;
}

/* Of the program's code, a worker runs policies while it has no task. */
int starpu_worker_sched_op_pending(void)
{
	const struct orr_thread *self = orr_thread_self();

	return self->worker && !self->task;
}

unsigned starpu_worker_is_blocked_in_parallel(int workerid)
{
	struct orr_worker *w = orr_policy_worker(workerid, "starpu_worker_is_blocked_in_parallel");

	return w && ORR_ATOMIC_LOAD(&w->joins);
}

/* ---- the rest ---- */

void starpu_do_schedule(void)
{
	orr_policy_give_out(orr_self(), 0);
}

int starpu_get_prefetch_flag(void)
{
	return orr_self()->cfg->prefetch;
}
