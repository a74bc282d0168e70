/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A policy that a user might write, against the public interface only: a queue for each worker; a
 * task goes to the shortest queue of a worker that can execute it; an idle worker takes from its
 * own queue first, then from those of the others, walking through the collection of the context. It
 * wakes the worker that it queues for. own_hold() keeps tasks back.
 *
 * Invariant: a task stands in one queue until one worker takes it; bitmap and collection have the
 * same workers. */
#ifndef OWN_POLICY_H
#define OWN_POLICY_H

#include <errno.h>
#include <starpu.h>
#include <stdlib.h>

struct own_queue {
	struct starpu_task_list list;
	unsigned n;
};

struct own {
	starpu_pthread_mutex_t mutex; /* protects everything but the workers */
	struct starpu_bitmap *workers;
	struct own_queue queue[STARPU_NMAXWORKERS];
	struct starpu_task_list held;
	int hold;
	unsigned npushed, npopped, nstolen, npops, nops;
};

static struct own *own_of(unsigned ctx)
{
	return (struct own *) starpu_sched_ctx_get_policy_data(ctx);
}

static void own_init(unsigned ctx)
{
	struct own *o = (struct own *) calloc(1, sizeof(*o));

	if (!o)
		abort();
	o->workers = starpu_bitmap_create();
	STARPU_PTHREAD_MUTEX_INIT(&o->mutex, NULL);
	for (int i = 0; i < STARPU_NMAXWORKERS; i++)
		starpu_task_list_init(&o->queue[i].list);
	starpu_task_list_init(&o->held);
	starpu_sched_ctx_create_worker_collection(ctx, STARPU_WORKER_TREE);
	starpu_sched_ctx_set_policy_data(ctx, o);
}

static void own_deinit(unsigned ctx)
{
	struct own *o = own_of(ctx);

	starpu_sched_ctx_delete_worker_collection(ctx);
	starpu_bitmap_destroy(o->workers);
	STARPU_PTHREAD_MUTEX_DESTROY(&o->mutex);
	free(o);
}

static void own_add(unsigned ctx, int *ids, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		starpu_bitmap_set(own_of(ctx)->workers, ids[i]);
}

/* The worker with the shortest queue, or -1. */
static int own_choose(struct own *o, struct starpu_task *task)
{
	struct starpu_worker_collection *c = starpu_sched_ctx_get_worker_collection(
		task->sched_ctx);
	struct starpu_sched_ctx_iterator it;
	int best = -1;

	c->init_iterator_for_parallel_tasks(c, &it, task);
	while (c->has_next(c, &it)) {
		int w = c->get_next(c, &it);
		unsigned impl;

		if (!starpu_bitmap_get(o->workers, w) ||
		    !starpu_worker_can_execute_task_first_impl((unsigned) w, task, &impl))
			continue;
		if (best < 0 || o->queue[w].n < o->queue[best].n)
			best = w;
	}
	return best;
}

/* Under the mutex. The worker to wake, -1: none can execute the task. */
static int own_queue_task(struct own *o, struct starpu_task *task)
{
	int w = own_choose(o, task);

	if (w < 0)
		return -1;
	starpu_task_list_push_back(&o->queue[w].list, task);
	o->queue[w].n++;
	return w;
}

static int own_push(struct starpu_task *task)
{
	struct own *o = own_of(task->sched_ctx);
	int w = -1, held;

	starpu_worker_relax_on();
	STARPU_PTHREAD_MUTEX_LOCK(&o->mutex);
	starpu_worker_relax_off();
	held = o->hold;
	o->npushed++;
	if (held)
		starpu_task_list_push_back(&o->held, task);
	else
		w = own_queue_task(o, task);
	if (!held && w < 0)
		o->npushed--;
	STARPU_PTHREAD_MUTEX_UNLOCK(&o->mutex);
	if (held)
		return 0;
	if (w < 0)
		return -ENODEV;
	starpu_push_task_end(task);
	starpu_wake_worker_relax_light(w);
	return 0;
}

static struct starpu_task *own_take(struct own *o, int from, unsigned me)
{
	struct starpu_task *task;
	unsigned impl;

	for (task = starpu_task_list_begin(&o->queue[from].list);
	     task != starpu_task_list_end(&o->queue[from].list);
	     task = starpu_task_list_next(task)) {
		if (!starpu_worker_can_execute_task_first_impl(me, task, &impl))
			continue;
		starpu_task_list_erase(&o->queue[from].list, task);
		starpu_task_set_implementation(task, impl);
		o->queue[from].n--;
		o->npopped++;
		o->nstolen += from != (int) me;
		return task;
	}
	return NULL;
}

static struct starpu_task *own_pop(unsigned ctx)
{
	struct own *o = own_of(ctx);
	struct starpu_worker_collection *c = starpu_sched_ctx_get_worker_collection(ctx);
	struct starpu_sched_ctx_iterator it;
	unsigned me = starpu_worker_get_id_check();
	struct starpu_task *task;

	STARPU_PTHREAD_MUTEX_LOCK(&o->mutex);
	o->npops++;
	o->nops += starpu_worker_sched_op_pending();
	task = own_take(o, (int) me, me);
	c->init_iterator(c, &it);
	while (!task && c->has_next(c, &it))
		task = own_take(o, c->get_next(c, &it), me);
	STARPU_PTHREAD_MUTEX_UNLOCK(&o->mutex);
	return task;
}

/* What those that leave had is pushed again. */
static void own_remove(unsigned ctx, int *ids, unsigned n)
{
	struct own *o = own_of(ctx);

	for (unsigned i = 0; i < n; i++) {
		struct own_queue *q = &o->queue[ids[i]];

		starpu_bitmap_unset(o->workers, ids[i]);
		STARPU_PTHREAD_MUTEX_LOCK(&o->mutex);
		while (!starpu_task_list_empty(&q->list)) {
			q->n--;
			own_queue_task(o, starpu_task_list_pop_front(&q->list));
		}
		STARPU_PTHREAD_MUTEX_UNLOCK(&o->mutex);
	}
	starpu_sched_ctx_list_task_counters_increment_all_ctx_locked(NULL, ctx);
}

/* Tasks are kept back from now on, or queued and their workers woken by `wake`. */
static void own_hold(unsigned ctx, int hold, int (*wake)(int workerid))
{
	struct own *o = own_of(ctx);
	struct starpu_bitmap todo;

	starpu_bitmap_init(&todo);
	STARPU_PTHREAD_MUTEX_LOCK(&o->mutex);
	o->hold = hold;
	while (!hold && !starpu_task_list_empty(&o->held)) {
		int w = own_queue_task(o, starpu_task_list_pop_front(&o->held));

		if (w >= 0)
			starpu_bitmap_set(&todo, w);
	}
	STARPU_PTHREAD_MUTEX_UNLOCK(&o->mutex);
	for (int w = starpu_bitmap_first(&todo); w >= 0; w = starpu_bitmap_next(&todo, w))
		wake(w);
}

static struct starpu_sched_policy own_policy = {
	.init_sched = own_init,
	.deinit_sched = own_deinit,
	.add_workers = own_add,
	.remove_workers = own_remove,
	.push_task = own_push,
	.pop_task = own_pop,
	.policy_name = "own",
	.policy_description = "shortest queue, idle workers steal",
	.worker_type = STARPU_WORKER_TREE,
};

#endif
