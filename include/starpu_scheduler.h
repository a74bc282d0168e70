/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Scheduling policies: the structure that makes one, and what policies may ask of the runtime.
 *
 * Invariant: a policy gets each ready task once by push_task and gives it out once by pop_task, to
 * a worker that can execute it. No mutex of a policy may be held across a call that waits.
 */
#ifndef STARPU_SCHEDULER_H
#define STARPU_SCHEDULER_H

#include <stdint.h>
#include <starpu_config.h>
#include <starpu_data.h>
#include <starpu_task.h>
#include <starpu_task_list.h>
#include <starpu_thread.h>
#include <starpu_worker.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct starpu_perfmodel;
struct starpu_perfmodel_arch;

/* --- The structure ------------------------------------------------------------------- */

/* A policy. Its definer owns it and keeps it until starpu_shutdown(). Functions that are NULL are
 * not called; push_task and pop_task must be there. Any thread may call them, several at a time. */
struct starpu_sched_policy {
	/* Create and free the policy's data in a context, see starpu_sched_ctx_set_policy_data().
	 */
	void (*init_sched)(unsigned sched_ctx_id);
	void (*deinit_sched)(unsigned sched_ctx_id);
	/* A task is ready, in context task->sched_ctx. Returns 0, or -ENODEV when no worker of the
	 * context can execute it; the runtime pushes it again when workers join. */
	int (*push_task)(struct starpu_task *);
	/* The expected end in µs if the task were pushed now. Changes nothing. */
	double (*simulate_push_task)(struct starpu_task *);
	/* The task is being given directly to a worker (execute_on_a_specific_worker), without this
	 * policy; it has not begun. For a combined worker: called with each member, and the
	 * combined worker as perf_workerid. */
	void (*push_task_notify)(struct starpu_task *, int workerid, int perf_workerid,
				 unsigned sched_ctx_id);
	/* The calling worker is idle: returns the task that it executes next, or NULL. */
	struct starpu_task *(*pop_task)(unsigned sched_ctx_id);
	/* A task was submitted, and may not be ready yet. */
	void (*submit_hook)(struct starpu_task *);
	/* Around the execution of a task, on the worker that executes it. */
	void (*pre_exec_hook)(struct starpu_task *, unsigned sched_ctx_id);
	void (*post_exec_hook)(struct starpu_task *, unsigned sched_ctx_id);
	/* The program called starpu_do_schedule(). */
	void (*do_schedule)(unsigned sched_ctx_id);
	/* Workers join (also at the start) and leave the context. */
	void (*add_workers)(unsigned sched_ctx_id, int *workerids, unsigned nworkers);
	void (*remove_workers)(unsigned sched_ctx_id, int *workerids, unsigned nworkers);
	/* Non-zero: the policy asks for the data of tasks itself; else the runtime does it at push.
	 */
	int prefetches;
	/* Name for STARPU_SCHED, and one line that says what it does. */
	const char *policy_name;
	const char *policy_description;
	/* The organisation of the context's workers. */
	enum starpu_worker_collection_type worker_type;
};

/* The built-in policies: an array ended by NULL. The policy of the program's default context, or
 * of a context. */
struct starpu_sched_policy **starpu_sched_get_predefined_policies(void);
struct starpu_sched_policy *starpu_sched_get_sched_policy(void);
struct starpu_sched_policy *starpu_sched_get_sched_policy_in_ctx(unsigned sched_ctx_id);

/* Defined by a shared object that STARPU_SCHED_LIB names: the policy of that name, or NULL; all its
 * policies as an array ended by NULL. One of them is enough. */
struct starpu_sched_policy *starpu_get_sched_lib_policy(const char *name);
struct starpu_sched_policy **starpu_get_sched_lib_policies(void);

/* --- Priorities ---------------------------------------------------------------------- */

/* The range of task->priority that the policy of the calling thread's context distinguishes: 0 to 0
 * for a policy without priorities, INT_MIN to INT_MAX for one with them, unless the program or the
 * variables STARPU_MIN_PRIO and STARPU_MAX_PRIO say otherwise. The range informs the program:
 * nobody cuts a priority off. 0 and 0 before starpu_init(). Any thread. */
int starpu_sched_get_min_priority(void);
int starpu_sched_get_max_priority(void);
/* Set what the two above return; a policy of the program does so in init_sched. 0, or -EINVAL
 * before starpu_init(). */
int starpu_sched_set_min_priority(int min_prio);
int starpu_sched_set_max_priority(int max_prio);

#define STARPU_MIN_PRIO (starpu_sched_get_min_priority())
#define STARPU_MAX_PRIO (starpu_sched_get_max_priority())
#define STARPU_DEFAULT_PRIO 0

/* --- Tasks and workers --------------------------------------------------------------- */

/* True if the worker can execute implementation nimpl; the first possible one, stored into *nimpl;
 * all of them, as a mask of bits in *impl_mask. Non-zero when it can. */
int starpu_worker_can_execute_task(unsigned workerid, struct starpu_task *task, unsigned nimpl);
int starpu_worker_can_execute_task_impl(unsigned workerid, struct starpu_task *task,
					unsigned *impl_mask);
int starpu_worker_can_execute_task_first_impl(unsigned workerid, struct starpu_task *task,
					      unsigned *nimpl);

/* Give a task to one worker; back: behind the tasks that it was given before. Or give it to a
 * combined worker: each member takes it before its other tasks, and it begins when all members have
 * it. Returns 0, or -EINVAL after a message when there is no such worker. */
int starpu_push_local_task(int workerid, struct starpu_task *task, int back);
/* push_task may call it for a task that it has taken. The task can be over by then, so nothing is
 * noted in it. Returns 0, or -EINVAL after a message when task is NULL. */
int starpu_push_task_end(struct starpu_task *task);

/* Locks of a worker, protecting what a policy keeps for it, and its sleeping. trylock: 0 when it
 * was taken. */
void starpu_worker_lock(int workerid);
int starpu_worker_trylock(int workerid);
void starpu_worker_unlock(int workerid);
void starpu_worker_lock_self(void);
void starpu_worker_unlock_self(void);
/* The mutex and the condition behind them; owned by the runtime. */
void starpu_worker_get_sched_condition(int workerid, starpu_pthread_mutex_t **sched_mutex,
				       starpu_pthread_cond_t **sched_cond);
/* Wake a worker because there may be a task for it; call them after the task was queued. Non-zero
 * when the worker's thread slept and this call wakes it: one of several callers is told so. In a
 * simulated run all workers of a node share a thread. _locked: the caller holds its lock. The four
 * do the same. */
int starpu_wake_worker_locked(int workerid);
int starpu_wake_worker_no_relax(int workerid);
int starpu_wake_worker_relax(int workerid);
int starpu_wake_worker_relax_light(int workerid);
/* Have no effect: a worker holds no lock of its own while it calls a policy. The state is 1. */
void starpu_worker_relax_on(void);
void starpu_worker_relax_off(void);
int starpu_worker_get_relax_state(void);
/* True if the calling worker is inside an operation of the policy: 1 there, 0 in kernels, callbacks
 * and threads that are no workers. */
int starpu_worker_sched_op_pending(void);
/* Non-zero when a parallel task has the worker, or waits for it: it takes no other task. */
unsigned starpu_worker_is_blocked_in_parallel(int workerid);
/* Tell that the worker shares its tasks with others in a context. It is woken; nothing else needs
 * to be known. */
void starpu_sched_ctx_worker_shares_tasks_lists(int workerid, int sched_ctx_id);

/* --- Data ---------------------------------------------------------------------------- */

/* True if prefetching is wanted (STARPU_PREFETCH). */
int starpu_get_prefetch_flag(void);
/* Ask for the data of a task on a node, or where a worker needs them; now, or (idle) when links
 * have nothing else to do. Without a priority, the task's is used. 0. */
int starpu_prefetch_task_input_on_node(struct starpu_task *task, unsigned node);
int starpu_prefetch_task_input_on_node_prio(struct starpu_task *task, unsigned node, int prio);
int starpu_idle_prefetch_task_input_on_node(struct starpu_task *task, unsigned node);
int starpu_idle_prefetch_task_input_on_node_prio(struct starpu_task *task, unsigned node, int prio);
int starpu_prefetch_task_input_for(struct starpu_task *task, unsigned worker);
int starpu_prefetch_task_input_for_prio(struct starpu_task *task, unsigned worker, int prio);
int starpu_idle_prefetch_task_input_for(struct starpu_task *task, unsigned worker);
int starpu_idle_prefetch_task_input_for_prio(struct starpu_task *task, unsigned worker, int prio);

/* --- Expectations: times in µs, energies in joules, NAN when a model has no answer yet --- */

/* Hashes of the sizes of a task's data; the second as the model wants it. */
uint32_t starpu_task_data_footprint(struct starpu_task *task);
uint32_t starpu_task_footprint(struct starpu_perfmodel *model, struct starpu_task *task,
			       struct starpu_perfmodel_arch *arch, unsigned nimpl);
/* Execution time on a kind of unit, on a worker of a context, averaged over the context's workers.
 */
double starpu_task_expected_length(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
				   unsigned nimpl);
double starpu_task_worker_expected_length(struct starpu_task *task, unsigned workerid,
					  unsigned sched_ctx_id, unsigned nimpl);
double starpu_task_expected_length_average(struct starpu_task *task, unsigned sched_ctx_id);
/* Time of the transfers needed for all data on a node, or for a worker; for one datum. */
double starpu_task_expected_data_transfer_time(unsigned memory_node, struct starpu_task *task);
double starpu_task_expected_data_transfer_time_for(struct starpu_task *task, unsigned worker);
double starpu_data_expected_transfer_time(starpu_data_handle_t handle, unsigned memory_node,
					  enum starpu_data_access_mode mode);
/* Time of conversions of multiformat data. */
double starpu_task_expected_conversion_time(struct starpu_task *task,
					    struct starpu_perfmodel_arch *arch, unsigned nimpl);
/* Joules, as for the execution time. Without an energy model of the codelet a simulated run takes
 * the expected length times the watts in the machine's description (bus/NAME.power). */
double starpu_task_expected_energy(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
				   unsigned nimpl);
double starpu_task_worker_expected_energy(struct starpu_task *task, unsigned workerid,
					  unsigned sched_ctx_id, unsigned nimpl);
double starpu_task_expected_energy_average(struct starpu_task *task, unsigned sched_ctx_id);
/* Speed of a kind of unit relative to a CPU core. */
double starpu_worker_get_relative_speedup(struct starpu_perfmodel_arch *perf_arch);

/* --- Seldom called ------------------------------------------------------------------- */

/* Stop in the debugger (SIGTRAP) if STARPU_TASK_BREAK_ON_SCHED is the number of the task
 * (starpu_task_get_job_id()). For policies, where they have decided. */
void starpu_sched_task_break(struct starpu_task *task);
/* A function that would be told of tasks before they are ready. Refused with a message. */
typedef void (*starpu_notify_ready_soon_func)(void *data, struct starpu_task *task, double delay);
void starpu_task_notify_ready_soon_register(starpu_notify_ready_soon_func f, void *data);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
