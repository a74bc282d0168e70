/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Queues of ready tasks by priority (see sched.h). */
#include "sched/sched.h"
#include "base/assert.h"
#include "base/log.h"
#include "core/task/task.h"
#include "core/task/task_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void orr_taskq_init(struct orr_taskq *q)
{
	memset(q, 0, sizeof(*q));
	q->bucket = q->inl;
	q->cap = 2;
}

void orr_taskq_exit(struct orr_taskq *q)
{
	orr_assertf(!q->n && !q->ntasks, "%u tasks are queued when the queue ends", q->ntasks);
	if (q->bucket != q->inl)
		free(q->bucket);
	orr_taskq_init(q);
}

static int grow(struct orr_taskq *q)
{
	unsigned cap = 2 * q->cap;
	struct orr_bucket *v = malloc(cap * sizeof(*v));

	if (!v)
		return -ENOMEM;
	memcpy(v, q->bucket, q->n * sizeof(*v));
	if (q->bucket != q->inl)
		free(q->bucket);
	q->bucket = v;
	q->cap = cap;
	return 0;
}

/* The bucket of a priority that is not the highest one, made when missing. */
static struct orr_bucket *search_bucket(struct orr_taskq *q, int prio)
{
	unsigned lo = 0, hi = q->n;

	while (lo < hi) {
		unsigned mid = (lo + hi) / 2;

		if (q->bucket[mid].prio < prio)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < q->n && q->bucket[lo].prio == prio)
		return &q->bucket[lo];
	if (q->n == q->cap && grow(q))
		return NULL;
	memmove(&q->bucket[lo + 1], &q->bucket[lo], (q->n - lo) * sizeof(*q->bucket));
	q->n++;
	q->bucket[lo].prio = prio;
	q->bucket[lo].load = 0;
	orr_assert(lo == 0 || q->bucket[lo - 1].prio < prio);
	orr_assert(lo + 1 == q->n || prio < q->bucket[lo + 1].prio);
	starpu_task_list_init(&q->bucket[lo].list);
	return &q->bucket[lo];
}

/* The bucket of that priority, made when missing. */
static inline struct orr_bucket *bucket(struct orr_taskq *q, int prio)
{
	struct orr_bucket *last = &q->bucket[q->n - 1];

	return q->n && last->prio == prio ? last : search_bucket(q, prio);
}

int orr_taskq_push(struct orr_taskq *q, struct starpu_task *task, int prio)
{
	struct orr_bucket *b = bucket(q, prio);

	orr_assertf(ORR_ATOMIC_LOAD_RELAXED(&orr_task_of(task)->state) == ORR_TASK_READY,
		    "task %s is queued, but not ready", orr_task_name(task));
	if (!b)
		return -ENOMEM;
	starpu_task_list_push_back(&b->list, task);
	b->load += orr_task_of(task)->load;
	ORR_ATOMIC_STORE_RELAXED(&q->ntasks, q->ntasks + 1);
	return 0;
}

/* For an assertion: do n tasks of the default priority, ready and without a load, stand here? */
ORR_ASSERTED static inline int are_plain(const struct starpu_task *first,
					 const struct starpu_task *last, unsigned n)
{
	const struct starpu_task *before = NULL;

	for (; first; before = first, first = first->next, n--) {
		const struct orr_task *t = orr_task_of(first);

		if (ORR_ATOMIC_LOAD_RELAXED(&t->state) != ORR_TASK_READY || t->load ||
		    t->queue_prio != STARPU_DEFAULT_PRIO || first->prev != before)
			return 0;
	}
	return before == last && !n;
}

/* Appends a list of such tasks. */
static int append(struct orr_taskq *q, struct starpu_task *first, struct starpu_task *last,
		  unsigned n)
{
	struct orr_bucket *b = bucket(q, STARPU_DEFAULT_PRIO);

	orr_assert(are_plain(first, last, n));
	if (!b)
		return -ENOMEM;
	first->prev = b->list.tail;
	*(b->list.tail ? &b->list.tail->next : &b->list.head) = first;
	b->list.tail = last;
	ORR_ATOMIC_STORE_RELAXED(&q->ntasks, q->ntasks + n);
	return 0;
}

int orr_taskq_push_front(struct orr_taskq *q, struct starpu_task *task, int prio)
{
	int ret = orr_taskq_push(q, task, prio);
	struct orr_bucket *b = ret ? NULL : bucket(q, prio);

	if (!b)
		return ret;
	starpu_task_list_erase(&b->list, task);
	starpu_task_list_push_front(&b->list, task);
	return 0;
}

/* A quick yes for the common task, the full question otherwise. */
static int can_run(struct orr_worker *w, struct starpu_task *task)
{
	if (w->arch == STARPU_CPU_WORKER && task->cl->cpu_funcs[0] &&
	    (orr_task_of(task)->where & STARPU_CPU) && !task->cl->can_execute && !task->workerids &&
	    !orr_task_of(task)->forced_impl)
		return 1;
	return orr_task_first_impl(w, task) >= 0;
}

struct starpu_task *orr_taskq_take(struct orr_taskq *q, unsigned i, struct starpu_task *task)
{
	struct orr_bucket *b = &q->bucket[i];

	orr_assert(i < q->n && q->ntasks > 0 && !starpu_task_list_empty(&b->list));
	orr_assertf(ORR_ATOMIC_LOAD_RELAXED(&orr_task_of(task)->state) == ORR_TASK_READY,
		    "task %s is taken from a queue, but not ready", orr_task_name(task));
	starpu_task_list_erase(&b->list, task);
	b->load -= orr_task_of(task)->load;
	ORR_ATOMIC_STORE_RELAXED(&q->ntasks, q->ntasks - 1);
	if (starpu_task_list_empty(&b->list)) {
		orr_assertf(!b->load, "the load of no task is %lld", (long long) b->load);
		memmove(b, b + 1, (q->n - i - 1) * sizeof(*b));
		q->n--;
	}
	return task;
}

struct starpu_task *orr_taskq_pop(struct orr_taskq *q, struct orr_worker *w, int steal)
{
	for (unsigned i = q->n; i-- > 0;) {
		struct starpu_task_list *list = &q->bucket[i].list;
		struct starpu_task *task = steal ? list->tail : list->head;

		for (; task; task = steal ? task->prev : task->next)
			if (can_run(w, task)) {
				if (!steal && task->next)
					__builtin_prefetch(task->next->starpu_private);
				return orr_taskq_take(q, i, task);
			}
	}
	return NULL;
}

struct starpu_task *orr_taskq_pop_if(struct orr_taskq *q, orr_taskq_wanted_t wanted, void *arg,
				     int steal)
{
	for (unsigned i = q->n; i-- > 0;) {
		struct starpu_task_list *list = &q->bucket[i].list;
		struct starpu_task *task = steal ? list->tail : list->head;

		for (; task; task = steal ? task->prev : task->next)
			if (wanted(arg, task))
				return orr_taskq_take(q, i, task);
	}
	return NULL;
}

/* ---- shared queues ---- */

void orr_shq_init(struct orr_shq *q)
{
	memset(q, 0, sizeof(*q));
	orr_lock_init(&q->lock, ORR_RANK_QUEUE);
	orr_taskq_init(&q->q);
}

void orr_shq_exit(struct orr_shq *q)
{
	orr_assertf(!q->inbox && !q->draining, "tasks are in the inbox of a queue that ends");
	orr_taskq_exit(&q->q);
}

void orr_shq_push(struct orr_shq *q, struct starpu_task *task, int by_priority)
{
	struct starpu_task *head = ORR_ATOMIC_LOAD_RELAXED(&q->inbox);
	int prio = by_priority ? task->priority : STARPU_DEFAULT_PRIO;
	unsigned n = ORR_ATOMIC_LOAD_RELAXED(&q->npushed);

	orr_assertf(ORR_ATOMIC_LOAD_RELAXED(&orr_task_of(task)->state) == ORR_TASK_READY,
		    "task %s is pushed, but not ready", orr_task_name(task));
	/* The bucket is chosen on the consumer's side, from this field. */
	orr_task_of(task)->queue_prio = prio;
	if ((prio != STARPU_DEFAULT_PRIO || orr_task_of(task)->load) &&
	    !ORR_ATOMIC_LOAD_RELAXED(&q->mixed))
		ORR_ATOMIC_STORE_RELAXED(&q->mixed, 1);
	/* A hint for the walk along the inbox, which reads far memory at each task: one that
	 * comes soon. */
	task->prev = ORR_ATOMIC_LOAD_RELAXED(&q->recent[n % ORR_SHQ_RECENT]);
	ORR_ATOMIC_STORE_RELAXED(&q->recent[n % ORR_SHQ_RECENT], task);
	ORR_ATOMIC_STORE_RELAXED(&q->npushed, n + 1);
	do
		task->next = head;
	while (!ORR_ATOMIC_CAS(&q->inbox, &head, task));
	/* The task is not ours any more. */
	if (prio != STARPU_DEFAULT_PRIO && !ORR_ATOMIC_LOAD_RELAXED(&q->urgent))
		ORR_ATOMIC_STORE(&q->urgent, 1);
}

/* Moves the inbox to the queue, oldest first. Under the lock. */
static void drain(struct orr_shq *q)
{
	struct starpu_task *list, *oldest = NULL, *newest, *next;
	unsigned n = 0;

	orr_assert_locked(&q->lock);
	ORR_ATOMIC_STORE_RELAXED(&q->urgent, 0);
	ORR_ATOMIC_STORE_RELAXED(&q->draining, 1);
	newest = list = ORR_ATOMIC_XCHG(&q->inbox, NULL);
	for (; list; list = next) {
		next = list->next;
		__builtin_prefetch((const void *) ((uintptr_t) list->prev +
						   offsetof(struct starpu_task, next)));
		list->prev = next;
		list->next = oldest;
		oldest = list;
		n++;
	}
	if (n && !ORR_ATOMIC_LOAD_RELAXED(&q->mixed) && append(&q->q, oldest, newest, n) == 0)
		oldest = NULL;
	for (; oldest; oldest = next) {
		next = oldest->next;
		if (orr_taskq_push(&q->q, oldest, orr_task_of(oldest)->queue_prio))
			orr_fatal("out of memory while queueing task %s", orr_task_name(oldest));
	}
	ORR_ATOMIC_STORE(&q->draining, 0);
}

/* Looks without the lock, in the order that tasks take: whoever finds nothing may sleep, and those
 * that a worker of another kind is just moving are nobody else's to announce. */
static int is_empty(const struct orr_shq *q)
{
	return !ORR_ATOMIC_LOAD(&q->inbox) && !ORR_ATOMIC_LOAD(&q->draining) &&
	       !ORR_ATOMIC_LOAD_RELAXED(&q->q.ntasks);
}

#define DRAIN_EVERY 16

struct starpu_task *orr_shq_pop(struct orr_shq *q, struct orr_worker *w, int steal)
{
	struct starpu_task *task;

	/* The inbox stays in the cache of those that push. */
	if (!ORR_ATOMIC_LOAD_RELAXED(&q->q.ntasks) && is_empty(q))
		return NULL;
	orr_lock(&q->lock);
	if (!q->q.ntasks || ORR_ATOMIC_LOAD_RELAXED(&q->urgent) || ++q->npops % DRAIN_EVERY == 0)
		if (ORR_ATOMIC_LOAD_RELAXED(&q->inbox))
			drain(q);
	task = orr_taskq_pop(&q->q, w, steal);
	if (!task && ORR_ATOMIC_LOAD_RELAXED(&q->inbox)) {
		drain(q); /* what is queued may be for others only */
		task = orr_taskq_pop(&q->q, w, steal);
	}
	orr_unlock(&q->lock);
	return task;
}
