/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Queues for policies that programs write (schedulers/starpu_scheduler_toolbox.h).
 *
 * Invariant: ntasks of a fifo is the length of its list, but for what the policy added. */
#include "sched/dm.h"
#include "sched/policy_calls.h"
#include "base/assert.h"
#include "base/log.h"
#include "core/worker/core.h"
#include "core/run/inputs.h"
#include "core/task/task.h"
#include "core/task/task_impl.h"

#include <schedulers/starpu_scheduler_toolbox.h>

#include <stdlib.h>
#include <string.h>

/* ---- fifos ---- */

struct starpu_st_fifo_taskq {
	struct starpu_task_list list;
	unsigned ntasks, nprocessed;
	double exp_start, exp_end, exp_len, pipeline_len;
	unsigned ntasks_per_priority[STARPU_ST_NPRIORITIES];
	double exp_len_per_priority[STARPU_ST_NPRIORITIES];
};

void starpu_st_fifo_taskq_init(starpu_st_fifo_taskq_t fifo)
{
	memset(fifo, 0, sizeof(*fifo));
	starpu_task_list_init(&fifo->list);
	fifo->exp_start = fifo->exp_end = starpu_timing_now();
}

starpu_st_fifo_taskq_t starpu_st_fifo_taskq_create(void)
{
	starpu_st_fifo_taskq_t fifo = malloc(sizeof(*fifo));

	if (fifo)
		starpu_st_fifo_taskq_init(fifo);
	return fifo;
}

void starpu_st_fifo_taskq_destroy(starpu_st_fifo_taskq_t fifo)
{
	if (fifo && !starpu_task_list_empty(&fifo->list))
		orr_warn(
			"starpu_st_fifo_taskq_destroy: %u tasks are in the queue and will not be executed",
			fifo->ntasks);
	free(fifo);
}

int starpu_st_fifo_taskq_empty(starpu_st_fifo_taskq_t fifo)
{
	return starpu_task_list_empty(&fifo->list);
}

unsigned starpu_st_fifo_ntasks_get(starpu_st_fifo_taskq_t fifo)
{
	return fifo->ntasks;
}
void starpu_st_fifo_ntasks_inc(starpu_st_fifo_taskq_t fifo, int n)
{
	fifo->ntasks += (unsigned) n;
}
unsigned starpu_st_fifo_nprocessed_get(starpu_st_fifo_taskq_t fifo)
{
	return fifo->nprocessed;
}
void starpu_st_fifo_nprocessed_inc(starpu_st_fifo_taskq_t fifo, int n)
{
	fifo->nprocessed += (unsigned) n;
}

#define KEPT(NAME) \
	double starpu_st_fifo_##NAME##_get(starpu_st_fifo_taskq_t fifo) \
	{ \
		return fifo->NAME; \
	} \
	void starpu_st_fifo_##NAME##_set(starpu_st_fifo_taskq_t fifo, double NAME) \
	{ \
		fifo->NAME = NAME; \
	}
KEPT(exp_start)
KEPT(exp_end)
KEPT(exp_len)
KEPT(pipeline_len)

void starpu_st_fifo_exp_len_inc(starpu_st_fifo_taskq_t fifo, double exp_len)
{
	fifo->exp_len += exp_len;
}
void starpu_st_fifo_pipeline_len_inc(starpu_st_fifo_taskq_t fifo, double pipeline_len)
{
	fifo->pipeline_len += pipeline_len;
}

/* ---- what is in a fifo ---- */

static void count_by_priority(starpu_st_fifo_taskq_t fifo)
{
	memset(fifo->ntasks_per_priority, 0, sizeof(fifo->ntasks_per_priority));
	memset(fifo->exp_len_per_priority, 0, sizeof(fifo->exp_len_per_priority));
	for (struct starpu_task *task = fifo->list.head; task; task = task->next) {
		int k = starpu_st_normalize_prio(task->priority, STARPU_ST_NPRIORITIES,
						 task->sched_ctx);

		for (; k >= 0; k--) {
			fifo->ntasks_per_priority[k]++;
			fifo->exp_len_per_priority[k] += task->predicted > 0 ? task->predicted : 0;
		}
	}
}

unsigned *starpu_st_fifo_ntasks_per_priority_get(starpu_st_fifo_taskq_t fifo)
{
	count_by_priority(fifo);
	return fifo->ntasks_per_priority;
}

double *starpu_st_fifo_exp_len_per_priority_get(starpu_st_fifo_taskq_t fifo)
{
	count_by_priority(fifo);
	return fifo->exp_len_per_priority;
}

double starpu_st_fifo_taskq_get_exp_len_prev_task_list(starpu_st_fifo_taskq_t fifo_queue,
						       struct starpu_task *task, int workerid,
						       int nimpl, int *fifo_ntasks)
{
	struct starpu_task *t = fifo_queue->list.head;
	double sum = 0;
	int n = 0;

	for (; t && t->priority >= task->priority; t = t->next, n++) {
		double us = starpu_task_worker_expected_length(t, (unsigned) workerid, t->sched_ctx,
							       (unsigned) nimpl);

		sum += us > 0 ? us : 0;
	}
	*fifo_ntasks = n;
	return sum;
}

/* ---- into fifos and out of them ---- */

int starpu_st_fifo_taskq_push_back_task(starpu_st_fifo_taskq_t fifo_queue, struct starpu_task *task)
{
	starpu_task_list_push_back(&fifo_queue->list, task);
	fifo_queue->ntasks++;
	return 0;
}

int starpu_st_fifo_taskq_push_task(starpu_st_fifo_taskq_t fifo, struct starpu_task *task)
{
	return starpu_st_fifo_taskq_push_back_task(fifo, task);
}

/* From the end: most tasks come with falling priorities, or all with one. */
int starpu_st_fifo_taskq_push_sorted_task(starpu_st_fifo_taskq_t fifo_queue,
					  struct starpu_task *task)
{
	struct starpu_task_list *list = &fifo_queue->list;
	struct starpu_task *before = list->tail;

	while (before && before->priority < task->priority)
		before = before->prev;
	fifo_queue->ntasks++;
	if (!before) {
		starpu_task_list_push_front(list, task);
	} else if (before == list->tail) {
		starpu_task_list_push_back(list, task);
	} else {
		task->prev = before;
		task->next = before->next;
		before->next->prev = task;
		before->next = task;
	}
	return 0;
}

static struct starpu_task *fifo_take(starpu_st_fifo_taskq_t fifo, struct starpu_task *task)
{
	if (!task)
		return NULL;
	starpu_task_list_erase(&fifo->list, task);
	fifo->ntasks--;
	return task;
}

struct starpu_task *starpu_st_fifo_taskq_pop_local_task(starpu_st_fifo_taskq_t fifo)
{
	return fifo_take(fifo, fifo->list.head);
}

struct starpu_task *starpu_st_fifo_taskq_pop_task(starpu_st_fifo_taskq_t fifo, int workerid)
{
	struct orr_worker *w = orr_policy_worker(workerid, "starpu_st_fifo_taskq_pop_task");
	struct starpu_task *task = w ? fifo->list.head : NULL;

	while (task && orr_task_first_impl(w, task) < 0)
		task = task->next;
	return fifo_take(fifo, task);
}

int starpu_st_fifo_taskq_pop_this_task(starpu_st_fifo_taskq_t fifo_queue, int workerid,
				       struct starpu_task *task)
{
	struct orr_worker *w = orr_policy_worker(workerid, "starpu_st_fifo_taskq_pop_this_task");

	if (!w || !starpu_task_list_ismember(&fifo_queue->list, task) ||
	    orr_task_first_impl(w, task) < 0)
		return 0;
	fifo_take(fifo_queue, task);
	return 1;
}

static int level(const struct starpu_task *task, int num_priorities)
{
	return num_priorities > 0
		       ? starpu_st_normalize_prio(task->priority, num_priorities, task->sched_ctx)
		       : task->priority;
}

struct starpu_task *starpu_st_fifo_taskq_pop_first_ready_task(starpu_st_fifo_taskq_t fifo_queue,
							      unsigned workerid, int num_priorities)
{
	struct orr_worker *w = orr_policy_worker((int) workerid,
						 "starpu_st_fifo_taskq_pop_first_ready_task");
	struct starpu_task *best = NULL;
	size_t least = 0;

	for (struct starpu_task *task = w ? fifo_queue->list.head : NULL; task; task = task->next) {
		size_t missing;

		if (orr_task_first_impl(w, task) < 0)
			continue;
		if (best && level(task, num_priorities) != level(best, num_priorities))
			break;
		starpu_st_non_ready_buffers_size(task, workerid, &missing, NULL, NULL);
		if (best && missing >= least)
			continue;
		best = task;
		least = missing;
		if (!missing)
			break;
	}
	return fifo_take(fifo_queue, best);
}

/* ---- priority deques ---- */

void starpu_st_prio_deque_init(starpu_st_prio_deque_t pdeque)
{
	pdeque->queue = malloc(sizeof(struct orr_taskq));
	if (!pdeque->queue)
		orr_fatal("out of memory for a queue of a scheduling policy");
	orr_taskq_init(pdeque->queue);
}

void starpu_st_prio_deque_destroy(starpu_st_prio_deque_t pdeque)
{
	struct orr_taskq *q = pdeque->queue;

	if (q->ntasks)
		orr_warn(
			"starpu_st_prio_deque_destroy: %u tasks are in the queue and will not be executed",
			q->ntasks);
	else
		orr_taskq_exit(q);
	free(q);
	pdeque->queue = NULL;
}

int starpu_st_prio_deque_is_empty(starpu_st_prio_deque_t pdeque)
{
	return !((struct orr_taskq *) pdeque->queue)->ntasks;
}

int starpu_st_prio_deque_push_back_task(starpu_st_prio_deque_t pdeque, struct starpu_task *task)
{
	return orr_taskq_push(pdeque->queue, task, task->priority);
}

int starpu_st_prio_deque_push_front_task(starpu_st_prio_deque_t pdeque, struct starpu_task *task)
{
	return orr_taskq_push_front(pdeque->queue, task, task->priority);
}

struct starpu_task *starpu_st_prio_deque_highest_task(starpu_st_prio_deque_t pdeque)
{
	const struct orr_taskq *q = pdeque->queue;

	return q->n ? q->bucket[q->n - 1].list.head : NULL;
}

struct starpu_task *starpu_st_prio_deque_pop_task(starpu_st_prio_deque_t pdeque)
{
	struct starpu_task *task = starpu_st_prio_deque_highest_task(pdeque);
	struct orr_taskq *q = pdeque->queue;

	return task ? orr_taskq_take(q, q->n - 1, task) : NULL;
}

struct starpu_task *starpu_st_prio_deque_pop_back_task(starpu_st_prio_deque_t pdeque)
{
	struct orr_taskq *q = pdeque->queue;

	return q->n ? orr_taskq_take(q, 0, q->bucket[0].list.tail) : NULL;
}

struct wanted {
	struct orr_worker *w;
	struct starpu_task *skipped;
};

static int is_wanted(void *arg, struct starpu_task *task)
{
	struct wanted *want = arg;
	int able = orr_task_first_impl(want->w, task) >= 0;

	if (!able && !want->skipped)
		want->skipped = task;
	return able;
}

struct starpu_task *starpu_st_prio_deque_pop_task_for_worker(starpu_st_prio_deque_t pdeque,
							     int workerid,
							     struct starpu_task **skipped)
{
	struct wanted want = {
		orr_policy_worker(workerid, "starpu_st_prio_deque_pop_task_for_worker"), NULL
	};
	struct starpu_task *task = want.w ? orr_taskq_pop_if(pdeque->queue, is_wanted, &want, 0)
					  : NULL;

	if (skipped && want.skipped)
		*skipped = want.skipped;
	return task;
}

/* From the least urgent bucket's end. */
struct starpu_task *starpu_st_prio_deque_deque_task_for_worker(starpu_st_prio_deque_t pdeque,
							       int workerid,
							       struct starpu_task **skipped)
{
	struct wanted want = {
		orr_policy_worker(workerid, "starpu_st_prio_deque_deque_task_for_worker"), NULL
	};
	struct orr_taskq *q = pdeque->queue;
	struct starpu_task *found = NULL;

	for (unsigned i = 0; i < q->n && want.w && !found; i++) {
		struct starpu_task *task = q->bucket[i].list.tail;

		while (task && !is_wanted(&want, task))
			task = task->prev;
		if (task)
			found = orr_taskq_take(q, i, task);
	}
	if (skipped && want.skipped)
		*skipped = want.skipped;
	return found;
}

struct starpu_task *starpu_st_prio_deque_deque_first_ready_task(starpu_st_prio_deque_t pdeque,
								unsigned workerid)
{
	struct orr_worker *w = orr_policy_worker((int) workerid,
						 "starpu_st_prio_deque_deque_first_ready_task");

	return w ? orr_dm_pop_ready(pdeque->queue, w) : NULL;
}

/* The bucket that has the task, n when none has. */
static unsigned find(const struct orr_taskq *q, const struct starpu_task *task)
{
	unsigned i = 0;

	while (i < q->n && (q->bucket[i].prio != task->priority ||
			    !starpu_task_list_ismember(&q->bucket[i].list, task)))
		i++;
	return i;
}

int starpu_st_prio_deque_pop_this_task(starpu_st_prio_deque_t pdeque, int workerid,
				       struct starpu_task *task)
{
	struct orr_worker *w = orr_policy_worker(workerid, "starpu_st_prio_deque_pop_this_task");
	struct orr_taskq *q = pdeque->queue;
	unsigned i = find(q, task);

	if (!w || i == q->n || orr_task_first_impl(w, task) < 0)
		return 0;
	orr_taskq_take(q, i, task);
	return 1;
}

void starpu_st_prio_deque_erase(starpu_st_prio_deque_t pdeque, struct starpu_task *task)
{
	struct orr_taskq *q = pdeque->queue;
	unsigned i = find(q, task);

	if (i < q->n)
		orr_taskq_take(q, i, task);
	else
		orr_error("starpu_st_prio_deque_erase: task %s is not in the queue",
			  orr_task_name(task));
}

/* ---- tasks ---- */

int starpu_st_normalize_prio(int priority, int num_priorities, unsigned sched_ctx_id)
{
	double min = starpu_sched_ctx_get_min_priority(sched_ctx_id),
	       max = starpu_sched_ctx_get_max_priority(sched_ctx_id), at;

	if (num_priorities <= 1 || !(max > min))
		return 0;
	at = (priority - min) / (max - min + 1) * num_priorities;
	return at < 0 ? 0 : at >= num_priorities ? num_priorities - 1 : (int) at;
}

struct missing {
	int count;
	size_t size, not_coming, not_allocated;
};

static struct missing missing_of(struct starpu_task *task, unsigned worker)
{
	struct orr_worker *w = orr_policy_worker((int) worker, "starpu_st_non_ready_buffers");
	struct missing m = { 0 };

	for (unsigned i = 0; w && i < orr_task_nbuffers(task); i++) {
		starpu_data_handle_t h = orr_task_handle(task, i);
		int node = orr_inputs_target_node(w, task, i), allocated, valid, loading, requested;
		size_t size;

		if (node < 0)
			continue;
		starpu_data_query_status2(h, node, &allocated, &valid, &loading, &requested);
		size = starpu_data_get_size(h);
		if (!allocated)
			m.not_allocated += size;
		if (valid || !(orr_task_mode(task, i) & STARPU_R))
			continue;
		m.count++;
		m.size += size;
		if (!loading && !requested)
			m.not_coming += size;
	}
	return m;
}

int starpu_st_non_ready_buffers_count(struct starpu_task *task, unsigned worker)
{
	return missing_of(task, worker).count;
}

void starpu_st_non_ready_buffers_size(struct starpu_task *task, unsigned worker, size_t *non_readyp,
				      size_t *non_loadingp, size_t *non_allocatedp)
{
	struct missing m = missing_of(task, worker);

	if (non_readyp)
		*non_readyp = m.size;
	if (non_loadingp)
		*non_loadingp = m.not_coming;
	if (non_allocatedp)
		*non_allocatedp = m.not_allocated;
}
