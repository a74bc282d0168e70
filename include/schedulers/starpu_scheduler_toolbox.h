/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Queues of ready tasks for policies that programs write.
 *
 * Invariant: a task stands in one queue at most, between push_task and pop_task of the policy. No
 * queue has a lock: the policy protects it by one of its own. Functions that push return 0; those
 * that take a task out return NULL, or 0, when there is none.
 */
#ifndef STARPU_SCHEDULER_TOOLBOX_H
#define STARPU_SCHEDULER_TOOLBOX_H

#include <starpu.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* --- Fifos: a list of tasks, and what a policy notes about it ------------------------- */

typedef struct starpu_st_fifo_taskq *starpu_st_fifo_taskq_t;

/* A new one, freed by destroy, when it is empty; init makes it as new. create returns NULL when
 * memory is exhausted. */
starpu_st_fifo_taskq_t starpu_st_fifo_taskq_create(void);
void starpu_st_fifo_taskq_init(starpu_st_fifo_taskq_t fifo);
void starpu_st_fifo_taskq_destroy(starpu_st_fifo_taskq_t fifo);
int starpu_st_fifo_taskq_empty(starpu_st_fifo_taskq_t fifo);

/* Number of tasks, and of tasks that the worker has executed. Pushing and popping count the first;
 * the policy may correct it, and counts the second. */
unsigned starpu_st_fifo_ntasks_get(starpu_st_fifo_taskq_t fifo);
void starpu_st_fifo_ntasks_inc(starpu_st_fifo_taskq_t fifo, int n);
unsigned starpu_st_fifo_nprocessed_get(starpu_st_fifo_taskq_t fifo);
void starpu_st_fifo_nprocessed_inc(starpu_st_fifo_taskq_t fifo, int n);

/* The policy's expectations, in µs: when the first task starts, when the last one ends, how long
 * they take, and how long those that were popped and have not begun take. The runtime only keeps
 * them; init sets start and end to now and the others to 0. */
double starpu_st_fifo_exp_start_get(starpu_st_fifo_taskq_t fifo);
void starpu_st_fifo_exp_start_set(starpu_st_fifo_taskq_t fifo, double exp_start);
double starpu_st_fifo_exp_end_get(starpu_st_fifo_taskq_t fifo);
void starpu_st_fifo_exp_end_set(starpu_st_fifo_taskq_t fifo, double exp_end);
double starpu_st_fifo_exp_len_get(starpu_st_fifo_taskq_t fifo);
void starpu_st_fifo_exp_len_set(starpu_st_fifo_taskq_t fifo, double exp_len);
void starpu_st_fifo_exp_len_inc(starpu_st_fifo_taskq_t fifo, double exp_len);
double starpu_st_fifo_pipeline_len_get(starpu_st_fifo_taskq_t fifo);
void starpu_st_fifo_pipeline_len_set(starpu_st_fifo_taskq_t fifo, double pipeline_len);
void starpu_st_fifo_pipeline_len_inc(starpu_st_fifo_taskq_t fifo, double pipeline_len);

/* Arrays, owned by the fifo, of the tasks that are as urgent as a priority or more, and of their
 * predicted times. The index is starpu_st_normalize_prio() with STARPU_ST_NPRIORITIES priorities.
 * They show the queue as it is at the call. */
#define STARPU_ST_NPRIORITIES 32
unsigned *starpu_st_fifo_ntasks_per_priority_get(starpu_st_fifo_taskq_t fifo);
double *starpu_st_fifo_exp_len_per_priority_get(starpu_st_fifo_taskq_t fifo);
/* Expected time on a worker of the tasks that come before this one if it is pushed by priority; how
 * many, into *fifo_ntasks. Times that no model knows count as 0. */
double starpu_st_fifo_taskq_get_exp_len_prev_task_list(starpu_st_fifo_taskq_t fifo_queue,
						       struct starpu_task *task, int workerid,
						       int nimpl, int *fifo_ntasks);

/* Push behind all others (both), or behind those that are as urgent or more. */
int starpu_st_fifo_taskq_push_back_task(starpu_st_fifo_taskq_t fifo_queue,
					struct starpu_task *task);
int starpu_st_fifo_taskq_push_task(starpu_st_fifo_taskq_t fifo, struct starpu_task *task);
int starpu_st_fifo_taskq_push_sorted_task(starpu_st_fifo_taskq_t fifo_queue,
					  struct starpu_task *task);

/* Take out the first task; the first that the worker can execute; this one, if it is there and the
 * worker can (1 then); of the first tasks that the worker can execute and that are equally urgent,
 * the one that misses least data there. num_priorities: -1, or how many priorities are
 * distinguished. */
struct starpu_task *starpu_st_fifo_taskq_pop_local_task(starpu_st_fifo_taskq_t fifo);
struct starpu_task *starpu_st_fifo_taskq_pop_task(starpu_st_fifo_taskq_t fifo, int workerid);
int starpu_st_fifo_taskq_pop_this_task(starpu_st_fifo_taskq_t fifo_queue, int workerid,
				       struct starpu_task *task);
struct starpu_task *starpu_st_fifo_taskq_pop_first_ready_task(starpu_st_fifo_taskq_t fifo_queue,
							      unsigned workerid,
							      int num_priorities);

/* --- Priority deques: most urgent first, among equals first come, first served -------- */

/* The field is private. */
struct starpu_st_prio_deque {
	void *queue;
};
typedef struct starpu_st_prio_deque *starpu_st_prio_deque_t;

/* Make the caller's structure an empty deque; free what it holds, when it is empty. */
void starpu_st_prio_deque_init(starpu_st_prio_deque_t pdeque);
void starpu_st_prio_deque_destroy(starpu_st_prio_deque_t pdeque);
int starpu_st_prio_deque_is_empty(starpu_st_prio_deque_t pdeque);
/* Behind, or before, those of the same priority. */
int starpu_st_prio_deque_push_back_task(starpu_st_prio_deque_t pdeque, struct starpu_task *task);
int starpu_st_prio_deque_push_front_task(starpu_st_prio_deque_t pdeque, struct starpu_task *task);
/* Look at the first; take out the first; the last. */
struct starpu_task *starpu_st_prio_deque_highest_task(starpu_st_prio_deque_t pdeque);
struct starpu_task *starpu_st_prio_deque_pop_task(starpu_st_prio_deque_t pdeque);
struct starpu_task *starpu_st_prio_deque_pop_back_task(starpu_st_prio_deque_t pdeque);
/* Take out the first (deque_: the last) that the worker can execute. *skipped (skipped may be NULL)
 * becomes the first one that it cannot and that was passed over, else it stays as it is. */
struct starpu_task *starpu_st_prio_deque_pop_task_for_worker(starpu_st_prio_deque_t pdeque,
							     int workerid,
							     struct starpu_task **skipped);
struct starpu_task *starpu_st_prio_deque_deque_task_for_worker(starpu_st_prio_deque_t pdeque,
							       int workerid,
							       struct starpu_task **skipped);
/* Of the most urgent tasks, the one that misses least data on the worker's memory node. */
struct starpu_task *starpu_st_prio_deque_deque_first_ready_task(starpu_st_prio_deque_t pdeque,
								unsigned workerid);
/* Take this one out: if it is there and the worker can execute it, 1; it is there. */
int starpu_st_prio_deque_pop_this_task(starpu_st_prio_deque_t pdeque, int workerid,
				       struct starpu_task *task);
void starpu_st_prio_deque_erase(starpu_st_prio_deque_t pdeque, struct starpu_task *task);

/* --- Tasks ---------------------------------------------------------------------------- */

/* The place of a priority among num_priorities, from 0 (least urgent), when the range of the
 * context's priorities is cut evenly. */
int starpu_st_normalize_prio(int priority, int num_priorities, unsigned sched_ctx_id);
/* The number of data of the task that have no valid value where the worker needs them; how many
 * bytes that is, how many of them are not on their way either, and how many have no buffer there.
 */
int starpu_st_non_ready_buffers_count(struct starpu_task *task, unsigned worker);
void starpu_st_non_ready_buffers_size(struct starpu_task *task, unsigned worker, size_t *non_readyp,
				      size_t *non_loadingp, size_t *non_allocatedp);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
