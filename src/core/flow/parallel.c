/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The execution of a task by several workers (see parallel.h).
 *
 * Invariant: p->stage goes forward only: the leader sets it, the others follow; what a member reads
 * of p after OVER is its reference. */
#include "core/task/kernel_run.h"
#include "core/flow/parallel.h"
#include "core/worker/binding.h"
#include "core/task/task_trace.h"
#include "base/log.h"
#include "base/refuse.h"
#include "core/worker/core.h"
#include "base/codelet_fields.h"
#include "base/seam_kernel.h"
#include "core/task/task_life.h"
#include "core/worker/wake.h"
#include "core/worker/device.h"
#include "core/worker/worker.h"

#include <stdlib.h>

void orr_parallel_launch(struct orr_process *proc, struct orr_task *t, const struct orr_combined *c)
{
	struct orr_parallel *p = calloc(1, sizeof(*p) + c->n * sizeof(p->member[0]));

	if (!p)
		orr_fatal("out of memory while starting parallel task %s", orr_task_name(t->pub));
	p->task = t;
	p->comb = c;
	p->spmd = t->pub->cl->type == STARPU_SPMD;
	p->refs = c->n;
	orr_assertf(!t->parallel && c->n > 1, "task %s is launched on %u workers",
		    orr_task_name(t->pub), c->n);
	orr_task_assert_of(t, ORR_TASK_OF_POLICY);
	t->parallel = p;
	/* One order for all: else two tasks could wait for each other's members. */
	orr_lock(&proc->core->join_lock);
	p->order = proc->core->njoins;
	ORR_ATOMIC_STORE(&proc->core->njoins, p->order + 1);
	for (unsigned i = 0; i < c->n; i++) {
		struct orr_worker *w = &proc->core->workers[c->workers[i]];
		struct orr_member **end, *m = &p->member[i];

		m->p = p;
		m->rank = i;
		orr_lock(&w->local_lock);
		for (end = &w->joins; *end; end = &(*end)->next)
			orr_assert((*end)->p->order < p->order);
		ORR_ATOMIC_STORE(end, m);
		orr_unlock(&w->local_lock);
	}
	orr_unlock(&proc->core->join_lock);
	/* p may be over by now. */
	for (unsigned i = 0; i < c->n; i++)
		orr_wake_worker(&proc->core->workers[c->workers[i]]);
}

static struct orr_worker *leader(struct orr_process *proc, const struct orr_parallel *p)
{
	return &proc->core->workers[p->comb->workers[0]];
}

static void release(struct orr_parallel *p)
{
	orr_assert(ORR_ATOMIC_LOAD(&p->refs) > 0);
	if (ORR_ATOMIC_ADD(&p->refs, (unsigned) -1) == 0)
		free(p);
}

/* ---- members ---- */

void orr_parallel_join(struct orr_worker *w)
{
	struct orr_member *m;

	orr_worker_assert_mine(w);
	orr_assertf(!w->member && !w->task, "worker %u comes to a parallel task and has another",
		    w->id);
	orr_lock(&w->local_lock);
	m = w->joins;
	orr_assertf(m && &w->group->proc->core->workers[m->p->comb->workers[m->rank]] == w,
		    "worker %u comes to the place of another one", w->id);
	orr_assertf(!m->next || m->p->order < m->next->p->order,
		    "worker %u sees parallel tasks in an order of its own", w->id);
	ORR_ATOMIC_STORE(&w->joins, m->next);
	orr_unlock(&w->local_lock);
	w->member = m;
	orr_worker_go(w, ORR_WORKER_JOINED);
	orr_assertf(ORR_ATOMIC_LOAD(&m->p->narrived) < m->p->comb->n &&
			    ORR_ATOMIC_LOAD(&m->p->stage) == ORR_PARALLEL_GATHERS,
		    "more workers come to parallel task %s than it has",
		    orr_task_name(m->p->task->pub));
	if (ORR_ATOMIC_ADD(&m->p->narrived, 1) == m->p->comb->n && m->rank)
		orr_wake_worker(leader(w->group->proc, m->p));
}

/* One kernel less; the last one tells the leader. */
static void kernel_over(struct orr_process *proc, struct orr_parallel *p)
{
	struct orr_worker *first = leader(proc, p);

	orr_assert(ORR_ATOMIC_LOAD(&p->left) > 0);
	if (ORR_ATOMIC_ADD(&p->left, (unsigned) -1) == 0)
		orr_wake_worker(first);
}

/* Its own thread runs the kernel of a member. */
static void run_rank(struct orr_worker *w, struct orr_thread *self)
{
	struct orr_task *t = w->member->p->task;

	orr_wake_before_work(w->group);
	self->task = t;
	w->driver->start(w, t, &w->launch);
	self->task = NULL;
	kernel_over(self->proc, w->member->p);
}

int orr_parallel_step(struct orr_worker *w, struct orr_thread *self)
{
	struct orr_member *m = w->member;
	struct orr_parallel *p = m->p;
	unsigned stage;

	orr_worker_assert_mine(w);
	orr_assert(ORR_ATOMIC_LOAD(&p->narrived) <= p->comb->n);
	if (!m->rank)
		return ORR_ATOMIC_LOAD(&p->narrived) == p->comb->n ? 2 : 0;
	stage = ORR_ATOMIC_LOAD(&p->stage);
	if (stage == ORR_PARALLEL_RUNS && p->spmd && !m->started) {
		m->started = 1;
		run_rank(w, self);
		return 1;
	}
	if (stage != ORR_PARALLEL_OVER)
		return 0;
	w->member = NULL;
	orr_worker_go(w, ORR_WORKER_IDLE);
	release(p);
	return 1;
}

/* ---- kernels in threads of their own ---- */

static void *rank_main(void *arg)
{
	struct orr_member *m = arg;
	struct orr_parallel *p = m->p;
	struct orr_thread *self = orr_thread_self();
	struct orr_task *t = p->task;

	orr_worker_enter(self, &self->proc->core->workers[p->comb->workers[m->rank]]);
	self->task = t;
	orr_codelet_cpu_func(t->pub->cl, t->nimpl)(t->interfaces, t->pub->cl_arg);
	self->task = NULL;
	orr_worker_enter(self, NULL);
	kernel_over(self->proc, p);
	return NULL;
}

/* Members that the leader's thread steps, the leader too when there is another one. How many got a
 * thread. */
static unsigned start_threads(struct orr_worker *w, struct orr_parallel *p)
{
	struct orr_process *proc = w->group->proc;
	unsigned n = 0;

	for (unsigned i = 1; i < p->comb->n; i++)
		n += proc->core->workers[p->comb->workers[i]].group == w->group;
	if (!n)
		return 0;
	for (unsigned i = 0; i < p->comb->n; i++) {
		struct orr_worker *v = &proc->core->workers[p->comb->workers[i]];

		if (v->group != w->group)
			continue;
		p->member[i].started = 1;
		if (!orr_sys_kernel_runs(proc, p->task->pub->cl)) {
			ORR_ATOMIC_ADD(&p->left, (unsigned) -1);
			continue;
		}
		p->member[i].thread = orr_sys_thread_start(proc, ORR_ROLE_USER, v->name, v->bindid,
							   rank_main, &p->member[i]);
		if (!p->member[i].thread)
			orr_fatal("parallel task %s: no thread for its rank %u",
				  orr_task_name(p->task->pub), i);
	}
	return n + 1;
}

static void end_threads(struct orr_parallel *p)
{
	for (unsigned i = 0; i < p->comb->n; i++)
		if (p->member[i].thread)
			orr_sys_thread_join(p->member[i].thread);
}

/* ---- the leader ---- */

static void others_run(struct orr_process *proc, struct orr_parallel *p)
{
	orr_assert(ORR_ATOMIC_LOAD(&p->stage) == ORR_PARALLEL_GATHERS);
	ORR_ATOMIC_STORE(&p->stage, ORR_PARALLEL_RUNS);
	for (unsigned i = 1; i < p->comb->n; i++)
		orr_wake_worker(&proc->core->workers[p->comb->workers[i]]);
}

static int start_spmd(struct orr_worker *w, struct orr_parallel *p)
{
	struct orr_process *proc = w->group->proc;
	int later;

	/* The kernels, and the time that the world says they take. */
	ORR_ATOMIC_STORE(&p->left, p->comb->n + 1);
	if (start_threads(w, p)) {
		others_run(proc, p);
		later = orr_worker_run(w, p->task, NULL);
	} else {
		others_run(proc, p);
		later = w->driver->start(w, p->task, &w->launch);
		ORR_ATOMIC_ADD(&p->left, (unsigned) -1);
	}
	if (later)
		return 1;
	return ORR_ATOMIC_ADD(&p->left, (unsigned) -1) == 0 ? 0 : 2;
}

int orr_parallel_start(struct orr_worker *w, struct orr_thread *self)
{
	struct orr_parallel *p = w->member->p;
	int later;

	orr_assertf(!w->member->rank && w->task == p->task &&
			    ORR_ATOMIC_LOAD(&p->narrived) == p->comb->n,
		    "parallel task %s starts before all are there", orr_task_name(p->task->pub));

	for (unsigned i = 1; i < p->comb->n; i++)
		orr_task_trace(self->proc, ORR_TRACE_START, p->task, p->comb->workers[i], 0);
	if (p->spmd)
		return start_spmd(w, p);
	orr_bind_to_workers(self->proc, p->comb->workers, p->comb->n);
	later = w->driver->start(w, p->task, &w->launch);
	orr_bind_to_workers(self->proc, p->comb->workers, 1);
	return later;
}

int orr_parallel_time_is_over(struct orr_worker *w)
{
	return !w->member->p->spmd || ORR_ATOMIC_ADD(&w->member->p->left, (unsigned) -1) == 0;
}

int orr_parallel_is_over(const struct orr_worker *w)
{
	return w->member->p->spmd && ORR_ATOMIC_LOAD(&w->member->p->left) == 0;
}

void orr_parallel_finish(struct orr_worker *w, struct orr_task *t, double us)
{
	struct orr_process *proc = w->group->proc;
	struct orr_parallel *p = w->member->p;
	const struct orr_combined *c = p->comb;

	orr_assert(!w->member->rank && p->task == t && t->parallel == p);
	orr_assertf(!p->spmd || ORR_ATOMIC_LOAD(&p->left) == 0,
		    "parallel task %s ends while %u of its kernels run", orr_task_name(t->pub),
		    ORR_ATOMIC_LOAD(&p->left));
	orr_assert(ORR_ATOMIC_LOAD(&p->stage) != ORR_PARALLEL_OVER);
	end_threads(p);
	/* The others look on: what is theirs may be written. */
	for (unsigned i = 1; i < c->n; i++) {
		unsigned long *count = &t->pub->cl->per_worker_stats[c->workers[i]];

		orr_task_trace(proc, ORR_TRACE_END, t, c->workers[i], -w->kernel.after_us);
		ORR_ATOMIC_ADD_RELAXED(&proc->core->workers[c->workers[i]].busy_ns,
				       (uint64_t) (us * 1e3));
		if (proc->cfg->codelet_profiling)
			ORR_ATOMIC_STORE_RELAXED(count, *count + 1);
	}
	t->parallel = NULL;
	w->member = NULL;
	ORR_ATOMIC_STORE(&p->stage, ORR_PARALLEL_OVER);
	release(p);
	for (unsigned i = 1; i < c->n; i++)
		orr_wake_worker(&proc->core->workers[c->workers[i]]);
}

/* ---- questions of kernels ---- */

/* The parallel task that the calling thread executes, or NULL. */
static const struct orr_parallel *parallel_current(void)
{
	const struct orr_thread *self = orr_thread_self();

	return self->task ? self->task->parallel : NULL;
}

int starpu_combined_worker_get_id(void)
{
	return parallel_current() ? (int) parallel_current()->comb->id : starpu_worker_get_id();
}
int starpu_combined_worker_get_size(void)
{
	return parallel_current() ? (int) parallel_current()->comb->n : 1;
}

int starpu_combined_worker_get_rank(void)
{
	const struct orr_worker *w = orr_thread_self()->worker;

	return parallel_current() && w && w->member ? (int) w->member->rank : 0;
}

void starpu_parallel_task_barrier_init(struct starpu_task *task, int workerid)
{
	(void) task;
	(void) workerid;
	orr_refuse(__func__,
		   "give a parallel task to its combined worker; the runtime joins its members");
}

void starpu_parallel_task_barrier_init_n(struct starpu_task *task, int worker_size)
{
	(void) task;
	(void) worker_size;
	orr_refuse(__func__,
		   "give a parallel task to its combined worker; the runtime joins its members");
}
