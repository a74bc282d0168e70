/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts tasks for the performance counters (see monitor.h).
 *
 * Locks: the table of codelets is protected by proc->lock; counts are atomics, and those of a
 * worker are written by its thread only. A listener is called without locks; whoever unsets one
 * waits until nobody is inside a listener any more.
 *
 * Invariant: a count of tasks that are somewhere now is the number of tasks whose `monitored` says
 * so: no count becomes negative. */
#include "core/flow/monitor.h"

#include <errno.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/log.h"
#include "base/map.h"
#include "core/flow/counter.h"
#include "core/task/task.h"
#include "core/worker/worker_life.h"

typedef struct starpu_perf_counter_listener listener_t;

/* Atomics: tasks that were ever submitted and executed, that wait and are ready now, and the
 * largest values of the latter. */
struct stages {
	int64_t submitted, executed, waiting, ready, peak_waiting, peak_ready;
};

struct per_worker {
	listener_t *listener; /* atomic */
	int64_t executed;     /* atomic */
	double us;            /* atomic */
};

struct per_codelet {
	uint64_t key;         /* its address */
	listener_t *listener; /* atomic */
	struct stages n;
	double us; /* atomic */
};

struct orr_monitor {
	listener_t *global; /* atomic */
	struct stages n;
	struct orr_map codelets; /* of struct per_codelet; under proc->lock */
	unsigned calling;        /* atomic: threads that may be inside a listener */
	struct per_worker worker[];
};

/* ---- counting ---- */

static void rise(int64_t *now, int64_t *peak)
{
	int64_t n = ORR_ATOMIC_ADD(now, 1), seen = ORR_ATOMIC_LOAD(peak);

	while (n > seen && !ORR_ATOMIC_CAS(peak, &seen, n))
		;
}

static void fall(int64_t *now)
{
	int64_t n = ORR_ATOMIC_ADD(now, -1);

	orr_assertf(n >= 0, "a count of tasks becomes negative");
	(void) n;
}

static void add_us(double *sum, double us)
{
	double old, sum_us;

	__atomic_load(sum, &old, __ATOMIC_RELAXED);
	do
		sum_us = old + us;
	while (!__atomic_compare_exchange(sum, &old, &sum_us, 0, __ATOMIC_ACQ_REL,
					  __ATOMIC_RELAXED));
}

static double load_us(double *sum)
{
	double us;

	__atomic_load(sum, &us, __ATOMIC_RELAXED);
	return us;
}

/* The counts of a codelet, made when missing; NULL: none (no codelet, or no memory). */
static struct per_codelet *of_codelet(struct orr_process *proc, struct starpu_codelet *cl)
{
	struct orr_monitor *m = proc->core->monitor;
	struct per_codelet *c = NULL;

	if (!cl)
		return NULL;
	orr_lock(&proc->lock);
	c = orr_map_find(&m->codelets, (uintptr_t) cl);
	if (!c) {
		c = calloc(1, sizeof(*c));
		if (c) {
			c->key = (uintptr_t) cl;
			if (orr_map_insert(&m->codelets, c)) {
				free(c);
				c = NULL;
			}
		}
	}
	orr_unlock(&proc->lock);
	return c;
}

/* ---- listeners ---- */

static void fill_stages(union orr_counter_value *v, struct stages *n)
{
	v[ORR_COUNTER_G_SUBMITTED].i = ORR_ATOMIC_LOAD(&n->submitted);
	v[ORR_COUNTER_G_PEAK_SUBMITTED].i = ORR_ATOMIC_LOAD(&n->peak_waiting);
	v[ORR_COUNTER_G_PEAK_READY].i = ORR_ATOMIC_LOAD(&n->peak_ready);
	v[ORR_COUNTER_G_EXECUTED].i = ORR_ATOMIC_LOAD(&n->executed);
}

_Static_assert((int) ORR_COUNTER_C_SUBMITTED == ORR_COUNTER_G_SUBMITTED &&
		       (int) ORR_COUNTER_C_PEAK_SUBMITTED == ORR_COUNTER_G_PEAK_SUBMITTED &&
		       (int) ORR_COUNTER_C_PEAK_READY == ORR_COUNTER_G_PEAK_READY &&
		       (int) ORR_COUNTER_C_EXECUTED == ORR_COUNTER_G_EXECUTED,
	       "fill_stages serves both scopes");

static void call(listener_t *l, struct starpu_perf_counter_sample *s, void *context)
{
	orr_assert_no_lock();
	orr_assert(l->set.mask >> ORR_COUNTER_MAX == 0);
	s->scope = l->set.scope;
	s->mask = l->set.mask;
	l->callback(l, s, context);
}

static void tell_global(struct orr_monitor *m)
{
	struct starpu_perf_counter_sample s;

	ORR_ATOMIC_ADD(&m->calling, 1);
	listener_t *l = ORR_ATOMIC_LOAD(&m->global);
	if (l) {
		fill_stages(s.value, &m->n);
		s.value[ORR_COUNTER_G_CURRENT_SUBMITTED].i = ORR_ATOMIC_LOAD(&m->n.waiting);
		s.value[ORR_COUNTER_G_CURRENT_READY].i = ORR_ATOMIC_LOAD(&m->n.ready);
		call(l, &s, l->arg);
	}
	ORR_ATOMIC_ADD(&m->calling, (unsigned) -1);
}

static void tell_worker(struct orr_monitor *m, struct per_worker *w)
{
	struct starpu_perf_counter_sample s;

	ORR_ATOMIC_ADD(&m->calling, 1);
	listener_t *l = ORR_ATOMIC_LOAD(&w->listener);
	if (l) {
		s.value[ORR_COUNTER_W_EXECUTED].i = ORR_ATOMIC_LOAD(&w->executed);
		s.value[ORR_COUNTER_W_TIME].d = load_us(&w->us);
		call(l, &s, l->arg);
	}
	ORR_ATOMIC_ADD(&m->calling, (unsigned) -1);
}

static void tell_codelet(struct orr_monitor *m, struct per_codelet *c)
{
	struct starpu_perf_counter_sample s;

	ORR_ATOMIC_ADD(&m->calling, 1);
	listener_t *l = ORR_ATOMIC_LOAD(&c->listener);
	if (l) {
		fill_stages(s.value, &c->n);
		s.value[ORR_COUNTER_C_TIME].d = load_us(&c->us);
		call(l, &s, (void *) (uintptr_t) c->key);
	}
	ORR_ATOMIC_ADD(&m->calling, (unsigned) -1);
}

/* ---- the stages of a task ---- */

void orr_monitor_submit_slow(struct orr_process *proc, struct orr_task *t)
{
	struct orr_monitor *m = proc->core->monitor;
	struct per_codelet *c = of_codelet(proc, t->pub->cl);

	orr_assertf(!t->monitored, "task %s is counted in two places", orr_task_name(t->pub));
	t->monitored = ORR_MONITOR_SUBMITTED;
	ORR_ATOMIC_ADD(&m->n.submitted, 1);
	rise(&m->n.waiting, &m->n.peak_waiting);
	if (c) {
		ORR_ATOMIC_ADD(&c->n.submitted, 1);
		rise(&c->n.waiting, &c->n.peak_waiting);
		tell_codelet(m, c);
	}
	tell_global(m);
}

/* A task leaves those that wait, if it was one of them, and joins those that are ready. */
static void move(struct stages *n, int waited, int runs)
{
	if (waited)
		fall(&n->waiting);
	if (runs)
		rise(&n->ready, &n->peak_ready);
}

void orr_monitor_ready_slow(struct orr_process *proc, struct orr_task *t, int runs)
{
	struct orr_monitor *m = proc->core->monitor;
	struct per_codelet *c = of_codelet(proc, t->pub->cl);
	int was = t->monitored & ORR_MONITOR_SUBMITTED, on = orr_monitor_on(proc);

	runs &= on;
	t->monitored = runs ? ORR_MONITOR_READY : 0;
	move(&m->n, was, runs);
	if (c)
		move(&c->n, was, runs);
	if (on && c)
		tell_codelet(m, c);
	if (on)
		tell_global(m);
}

void orr_monitor_start_slow(struct orr_process *proc, struct orr_task *t)
{
	struct orr_monitor *m = proc->core->monitor;

	orr_worker_assert_mine(t->worker);
	if (t->monitored & ORR_MONITOR_READY) {
		struct per_codelet *c = of_codelet(proc, t->pub->cl);

		fall(&m->n.ready);
		if (c)
			fall(&c->n.ready);
	}
	t->monitored = orr_monitor_on(proc) ? ORR_MONITOR_STARTED : 0;
	t->worker->start_us = orr_sys_now_us();
}

void orr_monitor_end_slow(struct orr_process *proc, struct orr_task *t, struct orr_worker *w)
{
	struct orr_monitor *m = proc->core->monitor;
	struct per_worker *pw = &m->worker[w->id];
	struct per_codelet *c;

	int started = t->monitored & ORR_MONITOR_STARTED;

	orr_worker_assert_mine(w);
	orr_assertf(!(t->monitored & ~ORR_MONITOR_STARTED),
		    "task %s was executed and is counted among those that wait",
		    orr_task_name(t->pub));

	t->monitored = 0;
	if (!started || !orr_monitor_on(proc))
		return;
	double us = orr_sys_now_us() - w->start_us;
	ORR_ATOMIC_ADD(&m->n.executed, 1);
	ORR_ATOMIC_ADD(&pw->executed, 1);
	add_us(&pw->us, us);
	tell_worker(m, pw);
	c = of_codelet(proc, t->pub->cl);
	if (c) {
		ORR_ATOMIC_ADD(&c->n.executed, 1);
		add_us(&c->us, us);
		tell_codelet(m, c);
	}
	tell_global(m);
}

/* ---- start and end ---- */

int orr_monitor_init(struct orr_process *proc)
{
	struct orr_monitor *m = calloc(1, sizeof(*m) +
						  proc->core->nworkers * sizeof(struct per_worker));

	if (!m)
		return -ENOMEM;
	orr_map_init(&m->codelets, offsetof(struct per_codelet, key));
	proc->core->monitor = m;
	proc->core->collecting = proc->conf->start_perf_counter_collection != 0;
	return 0;
}

static void forget(listener_t **place)
{
	orr_assert(!*place || ORR_ATOMIC_LOAD(&(*place)->nset) > 0);
	if (*place)
		ORR_ATOMIC_ADD(&(*place)->nset, (unsigned) -1);
}

void orr_monitor_exit(struct orr_process *proc)
{
	struct orr_monitor *m = proc->core->monitor;

	orr_assertf(!ORR_ATOMIC_LOAD(&m->calling), "a listener is called at the end");
	proc->core->collecting = 0;
	proc->core->monitor = NULL;
	forget(&m->global);
	for (unsigned i = 0; i < proc->core->nworkers; i++)
		forget(&m->worker[i].listener);
	for (uint32_t i = 0; i < m->codelets.cap; i++) {
		struct per_codelet *c = orr_map_at(&m->codelets, i);

		if (c)
			forget(&c->listener);
		free(c);
	}
	orr_map_exit(&m->codelets);
	free(m);
}

/* ---- the program's calls ---- */

/* The process while its runtime is up; NULL after a message. */
static struct orr_process *running(const char *what)
{
	struct orr_process *proc = orr_self();

	if (ORR_ATOMIC_LOAD(&proc->state) == ORR_PROCESS_UP)
		return proc;
	orr_error("%s outside of starpu_init and starpu_shutdown", what);
	return NULL;
}

void starpu_perf_counter_collection_start(void)
{
	struct orr_process *proc = running(__func__);

	if (proc)
		ORR_ATOMIC_ADD(&proc->core->collecting, 1);
}

void starpu_perf_counter_collection_stop(void)
{
	struct orr_process *proc = running(__func__);
	unsigned n = proc ? ORR_ATOMIC_LOAD(&proc->core->collecting) : 0;

	while (n && !ORR_ATOMIC_CAS(&proc->core->collecting, &n, n - 1))
		;
	if (proc && !n)
		orr_error("%s: collection is off: start it first", __func__);
}

static void set(listener_t **place, listener_t *l, enum starpu_perf_counter_scope scope,
		const char *what)
{
	listener_t *none = NULL;

	if (!l || l->set.scope != scope) {
		orr_error("%s: the listener's set must have the scope %s", what,
			  starpu_perf_counter_scope_id_to_name(scope));
		return;
	}
	ORR_ATOMIC_ADD(&l->nset, 1);
	if (ORR_ATOMIC_CAS(place, &none, l))
		return;
	ORR_ATOMIC_ADD(&l->nset, (unsigned) -1);
	orr_error("%s: there is a listener already: unset it first", what);
}

/* [waits] while somebody is inside a listener. */
static void unset(struct orr_monitor *m, listener_t **place)
{
	listener_t *l = ORR_ATOMIC_LOAD(place);

	while (l && !ORR_ATOMIC_CAS(place, &l, NULL))
		;
	while (ORR_ATOMIC_LOAD(&m->calling))
		orr_sys_sleep_us(1);
	if (l)
		ORR_ATOMIC_ADD(&l->nset, (unsigned) -1);
}

void starpu_perf_counter_set_global_listener(struct starpu_perf_counter_listener *listener)
{
	struct orr_process *proc = running(__func__);

	if (proc)
		set(&proc->core->monitor->global, listener, starpu_perf_counter_scope_global,
		    __func__);
}

void starpu_perf_counter_unset_global_listener(void)
{
	struct orr_process *proc = running(__func__);

	if (proc)
		unset(proc->core->monitor, &proc->core->monitor->global);
}

/* The place of a worker's listener, or NULL after a message. */
static listener_t **of_worker(struct orr_process *proc, unsigned workerid, const char *what)
{
	if (workerid < proc->core->nworkers)
		return &proc->core->monitor->worker[workerid].listener;
	orr_error("%s: there is no worker %u, only %u", what, workerid, proc->core->nworkers);
	return NULL;
}

void starpu_perf_counter_set_per_worker_listener(unsigned workerid,
						 struct starpu_perf_counter_listener *listener)
{
	struct orr_process *proc = running(__func__);
	listener_t **place = proc ? of_worker(proc, workerid, __func__) : NULL;

	if (place)
		set(place, listener, starpu_perf_counter_scope_per_worker, __func__);
}

void starpu_perf_counter_unset_per_worker_listener(unsigned workerid)
{
	struct orr_process *proc = running(__func__);
	listener_t **place = proc ? of_worker(proc, workerid, __func__) : NULL;

	if (place)
		unset(proc->core->monitor, place);
}

void starpu_perf_counter_set_all_per_worker_listeners(struct starpu_perf_counter_listener *listener)
{
	struct orr_process *proc = running(__func__);

	for (unsigned i = 0; proc && i < proc->core->nworkers; i++)
		set(&proc->core->monitor->worker[i].listener, listener,
		    starpu_perf_counter_scope_per_worker, __func__);
}

void starpu_perf_counter_unset_all_per_worker_listeners(void)
{
	struct orr_process *proc = running(__func__);

	for (unsigned i = 0; proc && i < proc->core->nworkers; i++)
		unset(proc->core->monitor, &proc->core->monitor->worker[i].listener);
}

void starpu_perf_counter_set_per_codelet_listener(struct starpu_codelet *cl,
						  struct starpu_perf_counter_listener *listener)
{
	struct orr_process *proc = running(__func__);
	struct per_codelet *c = proc ? of_codelet(proc, cl) : NULL;

	if (c)
		set(&c->listener, listener, starpu_perf_counter_scope_per_codelet, __func__);
	else if (proc)
		orr_error("%s: the codelet is NULL, or memory is exhausted", __func__);
}

void starpu_perf_counter_unset_per_codelet_listener(struct starpu_codelet *cl)
{
	struct orr_process *proc = running(__func__);
	struct per_codelet *c = proc ? of_codelet(proc, cl) : NULL;

	if (c)
		unset(proc->core->monitor, &c->listener);
}
