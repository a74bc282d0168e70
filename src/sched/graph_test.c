/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The policy graph_test: list scheduling in the order of bottom levels, a reference to compare
 * others with.
 *
 * Ready tasks are held until the graph is there: when the program calls starpu_do_schedule(), or
 * waits for tasks or data. Then each task's bottom level (the longest path of shortest expected
 * times from it to the end) is its urgency, in one queue for all workers; tasks submitted later go
 * last until the next such moment. When waiting for all tasks of the context, or of the process, is
 * over, holding begins again. Each context has its queue; the graph is that of all tasks of the
 * process, so that what other contexts wait for is urgent too.
 *
 * Invariant: of equal levels the task that became ready first goes first. */
#include "sched/sched.h"
#include "base/assert.h"
#include "core/task/graph.h"
#include "base/log.h"
#include "core/worker/core.h"
#include "core/ctx/sched_ctx.h"
#include "core/task/task.h"
#include "core/task/task_impl.h"

#include <errno.h>
#include <stdlib.h>

struct entry {
	double level;
	uint64_t seq;
	struct starpu_task *task;
};

struct graph_test {
	struct orr_ctx *ctx;
	orr_lock_t lock;    /* protects what follows */
	unsigned released;  /* atomic: phase() + 1 when workers may take tasks */
	unsigned n, cap;    /* n: atomic hint */
	struct entry *heap; /* the first to go at the root */
	uint64_t seq;
	double *level; /* by record, of the graph as it was at the last moment of scheduling */
	uint32_t nlevels, base;
};

static void init(unsigned ctx)
{
	struct orr_process *proc = orr_self();
	struct graph_test *s = calloc(1, sizeof(*s));

	if (!s || orr_graph_join(proc))
		orr_fatal("out of memory for the scheduling policy");
	orr_lock_init(&s->lock, ORR_RANK_GRAPH_TEST);
	s->ctx = proc->core->ctx[ctx];
	s->ctx->policy_data = s;
}

static void deinit(unsigned ctx)
{
	struct orr_process *proc = orr_self();
	struct graph_test *s = proc->core->ctx[ctx]->policy_data;

	orr_assertf(!s->n, "%u tasks are left when graph_test ends", s->n);
	orr_graph_leave(proc);
	free(s->level);
	free(s->heap);
	free(s);
	proc->core->ctx[ctx]->policy_data = NULL;
}

/* ---- the heap, under the lock ---- */

static int before(const struct entry *a, const struct entry *b)
{
	return a->level > b->level || (a->level == b->level && a->seq < b->seq);
}

static void sift_up(struct graph_test *s, unsigned i, struct entry e)
{
	orr_assert_locked(&s->lock);
	for (; i > 0 && before(&e, &s->heap[(i - 1) / 2]); i = (i - 1) / 2)
		s->heap[i] = s->heap[(i - 1) / 2];
	s->heap[i] = e;
	orr_assert(i == 0 || before(&s->heap[(i - 1) / 2], &e));
}

static void sift_down(struct graph_test *s, unsigned i, struct entry e)
{
	orr_assert_locked(&s->lock);
	for (;;) {
		unsigned c = 2 * i + 1;

		if (c >= s->n)
			break;
		if (c + 1 < s->n && before(&s->heap[c + 1], &s->heap[c]))
			c++;
		if (!before(&s->heap[c], &e))
			break;
		s->heap[i] = s->heap[c];
		i = c;
	}
	s->heap[i] = e;
	orr_assert(2 * i + 1 >= s->n || before(&e, &s->heap[2 * i + 1]));
}

static void take_out(struct graph_test *s, unsigned i)
{
	struct entry last = s->heap[s->n - 1];

	orr_assert(i < s->n);
	ORR_ATOMIC_STORE_RELAXED(&s->n, s->n - 1);
	if (i == s->n)
		return;
	if (i > 0 && before(&last, &s->heap[(i - 1) / 2]))
		sift_up(s, i, last);
	else
		sift_down(s, i, last);
}

static double level_of(const struct graph_test *s, const struct orr_task *t)
{
	return t->record > s->base && t->record - s->base <= s->nlevels
		       ? s->level[t->record - s->base - 1]
		       : 0;
}

/* ---- the policy ---- */

/* Changes each time that waiting for all tasks is over. */
static unsigned phase(const struct orr_process *proc, const struct graph_test *s)
{
	return ORR_ATOMIC_LOAD(&proc->core->phase) + ORR_ATOMIC_LOAD(&s->ctx->phase);
}

static int is_released(const struct orr_process *proc, const struct graph_test *s)
{
	return ORR_ATOMIC_LOAD(&s->released) == phase(proc, s) + 1;
}

static int push(struct starpu_task *task)
{
	struct orr_process *proc = orr_self();
	struct graph_test *s = proc->core->ctx[orr_task_of(task)->ctx]->policy_data;
	int choosy = orr_task_is_choosy(task);

	orr_assertf(ORR_ATOMIC_LOAD_RELAXED(&orr_task_of(task)->state) == ORR_TASK_READY,
		    "task %s is pushed, but not ready", orr_task_name(task));
	orr_lock(&s->lock);
	if (s->n == s->cap) {
		unsigned cap = s->cap ? 2 * s->cap : 64;
		void *v = realloc(s->heap, cap * sizeof(*s->heap));

		if (!v) {
			orr_unlock(&s->lock);
			return -ENOMEM;
		}
		s->heap = v;
		s->cap = cap;
	}
	ORR_ATOMIC_STORE_RELAXED(&s->n, s->n + 1);
	sift_up(s, s->n - 1, (struct entry){ level_of(s, orr_task_of(task)), s->seq++, task });
	orr_unlock(&s->lock);
	if (is_released(proc, s))
		orr_ctx_wake(proc, s->ctx, choosy);
	return 0;
}

/* The best task that the worker can execute: mostly the root, so a search in the order of the array
 * is good enough otherwise. */
static struct starpu_task *pop(unsigned ctx)
{
	struct orr_thread *self = orr_thread_self();
	struct graph_test *s = self->proc->core->ctx[ctx]->policy_data;
	struct starpu_task *task = NULL;
	unsigned best = 0;

	if (!ORR_ATOMIC_LOAD_RELAXED(&s->n) || !is_released(self->proc, s))
		return NULL;
	orr_lock(&s->lock);
	for (unsigned i = 0; i < s->n; i++) {
		if ((task && !before(&s->heap[i], &s->heap[best])) ||
		    orr_task_first_impl(self->worker, s->heap[i].task) < 0)
			continue;
		task = s->heap[i].task;
		best = i;
		if (i == 0)
			break;
	}
	if (task)
		take_out(s, best);
	orr_unlock(&s->lock);
	return task;
}

/* Levels of the whole graph; what is queued is put in order again. */
static void do_schedule(unsigned ctx)
{
	struct orr_process *proc = orr_self();
	struct graph_test *s = proc->core->ctx[ctx]->policy_data;
	struct orr_graph *g = proc->core->graph;
	double *level;
	unsigned n;
	uint32_t nlevels;

	orr_lock(&g->lock);
	nlevels = g->nnodes;
	level = malloc((nlevels + 1) * sizeof(*level));
	if (!level || orr_graph_levels(g, 0, nlevels, level) < 0)
		orr_fatal("out of memory for the bottom levels of %u tasks", nlevels);
	orr_unlock(&g->lock);
	orr_lock(&s->lock);
	free(s->level);
	s->level = level;
	s->nlevels = nlevels;
	s->base = g->base;
	n = s->n;
	for (unsigned i = 0; i < n; i++)
		s->heap[i].level = level_of(s, orr_task_of(s->heap[i].task));
	for (unsigned i = n / 2; i-- > 0;)
		sift_down(s, i, s->heap[i]);
	ORR_ATOMIC_STORE(&s->released, phase(proc, s) + 1);
	orr_unlock(&s->lock);
	orr_ctx_wake_all(proc, s->ctx);
}

struct starpu_sched_policy orr_sched_graph_test = {
	.init_sched = init,
	.deinit_sched = deinit,
	.push_task = push,
	.pop_task = pop,
	.do_schedule = do_schedule,
	.policy_name = "graph_test",
	.policy_description = "longest path first, once everything is submitted (a reference)",
	.worker_type = STARPU_WORKER_LIST,
};
