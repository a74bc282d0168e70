/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Scheduling contexts: sets of workers with a policy of their own.
 *
 * Invariant: context 0 always exists and is the default; a task belongs to one context, and
 * executes on a worker that is in it when the task is taken. A worker may be in several contexts:
 * it takes tasks from them in turn. Making a context of some workers does not take them out of
 * context 0: starpu_sched_ctx_remove_workers() does. Any thread, also kernels and callbacks, unless
 * said otherwise. A call with a number that names no context prints a message and returns the value
 * given below, or 0.
 */
#ifndef STARPU_SCHED_CTX_H
#define STARPU_SCHED_CTX_H

#include <stdio.h>
#include <starpu_config.h>
#include <starpu_worker.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct starpu_task;
struct starpu_sched_policy;

/* --- Creation ------------------------------------------------------------------------ */

/* Markers of starpu_sched_ctx_create(), each followed by the arguments that its comment names. */

#define STARPU_SCHED_CTX_POLICY_NAME (1 << 16)     /* const char *; "": the default */
#define STARPU_SCHED_CTX_POLICY_STRUCT (2 << 16)   /* struct starpu_sched_policy * */
#define STARPU_SCHED_CTX_POLICY_MIN_PRIO (3 << 16) /* int */
#define STARPU_SCHED_CTX_POLICY_MAX_PRIO (4 << 16) /* int */
#define STARPU_SCHED_CTX_HIERARCHY_LEVEL (5 << 16) /* unsigned */
#define STARPU_SCHED_CTX_NESTED (6 << 16)          /* unsigned: the context around it */
#define STARPU_SCHED_CTX_AWAKE_WORKERS \
	(7 << 16) /* no argument; accepted, workers wake as needed anyway */
#define STARPU_SCHED_CTX_POLICY_INIT \
	(8 << 16)                            /* void (*)(unsigned): called after the policy's own */
#define STARPU_SCHED_CTX_USER_DATA (9 << 16) /* void * */
#define STARPU_SCHED_CTX_CUDA_NSMS \
	(10 << 16) /* int: multiprocessors, see starpu_sched_ctx_get_sms_interval() */
#define STARPU_SCHED_CTX_SUB_CTXS \
	(11 << 16) /* int *ctxs, int n: contexts that are nested in this one from now on */

/* Create a context with the given workers (NULL or -1: all; 0: none yet, tasks wait for some),
 * followed by markers and 0. Its number, or STARPU_NMAX_SCHED_CTXS after a message: there are too
 * many, no such worker, no such policy. The name is copied. */
unsigned starpu_sched_ctx_create(int *workerids_ctx, int nworkers_ctx, const char *sched_ctx_name,
				 ...);
/* Wait for the tasks of a context, then remove it. Its workers go to the inheritor, and its number
 * may be used again. Not in kernels and callbacks. */
void starpu_sched_ctx_delete(unsigned sched_ctx_id);
/* The inheritor is context 0 until another is set. */
void starpu_sched_ctx_set_inheritor(unsigned sched_ctx_id, unsigned inheritor);
unsigned starpu_sched_ctx_get_inheritor(unsigned sched_ctx_id);
/* 0 for a context that is in no other, else one more than that of the context around it, unless
 * given at creation. */
unsigned starpu_sched_ctx_get_hierarchy_level(unsigned sched_ctx_id);
/* Only the context's own tasks will submit more tasks to it: its workers go to the inheritor as
 * soon as it is empty. Delete it all the same. */
void starpu_sched_ctx_finished_submit(unsigned sched_ctx_id);

/* --- Workers ------------------------------------------------------------------------- */

/* Workers join or leave at once. One that leaves completes its present task, and its queued tasks
 * go to the others. A task that none of them can execute waits until a worker joins that can.
 * Context 0 keeps at least one worker. */
void starpu_sched_ctx_add_workers(int *workerids_ctx, unsigned nworkers_ctx, unsigned sched_ctx_id);
void starpu_sched_ctx_remove_workers(int *workerids_ctx, unsigned nworkers_ctx,
				     unsigned sched_ctx_id);
void starpu_sched_ctx_display_workers(unsigned sched_ctx_id, FILE *f);
/* Store a malloc()ed list of the workers, which the caller frees; returns how many. */
unsigned starpu_sched_ctx_get_workers_list(unsigned sched_ctx_id, int **workerids);
unsigned starpu_sched_ctx_get_nworkers(unsigned sched_ctx_id);
/* Number of workers that both contexts have. */
unsigned starpu_sched_ctx_get_nshared_workers(unsigned sched_ctx_id, unsigned sched_ctx_id2);
unsigned starpu_sched_ctx_contains_worker(int workerid, unsigned sched_ctx_id);
unsigned starpu_sched_ctx_contains_type_of_worker(enum starpu_worker_archtype arch,
						  unsigned sched_ctx_id);
/* Rank of the calling worker in the context, (unsigned) -1 when it is not in it. */
unsigned starpu_sched_ctx_worker_get_id(unsigned sched_ctx_id);
/* The collection of its workers, owned by the context; for policies. It is made when it is first
 * asked for, as the policy's worker_type or STARPU_WORKER_TREE say, and changes as workers join and
 * leave. */
struct starpu_worker_collection *starpu_sched_ctx_get_worker_collection(unsigned sched_ctx_id);
/* Make it with a type of the caller's choice: in init_sched, before the first worker joins, or at
 * any time later. Returns the one that is there when it has that type; NULL after a message when it
 * has the other. */
struct starpu_worker_collection *starpu_sched_ctx_create_worker_collection(
	unsigned sched_ctx_id, enum starpu_worker_collection_type type);
/* Free it; nobody may be walking through it. Also done when the context ends. */
void starpu_sched_ctx_delete_worker_collection(unsigned sched_ctx_id);

/* --- The current context of a thread ------------------------------------------------- */

/* The context that the calling thread submits tasks to and that starpu_task_wait_for_all() waits
 * for there. NULL unsets it: then submissions go to the context of the task that the thread
 * executes, or else to context 0. get returns STARPU_NMAX_SCHED_CTXS when it is unset. */
void starpu_sched_ctx_set_context(unsigned *sched_ctx_id);
unsigned starpu_sched_ctx_get_context(void);

/* --- Policy -------------------------------------------------------------------------- */

/* The policy's data in a context, owned by the policy; data of the program. */
void starpu_sched_ctx_set_policy_data(unsigned sched_ctx_id, void *policy_data);
void *starpu_sched_ctx_get_policy_data(unsigned sched_ctx_id);
void *starpu_sched_ctx_get_user_data(unsigned sched_ctx_id);
void starpu_sched_ctx_set_user_data(unsigned sched_ctx_id, void *user_data);
struct starpu_sched_policy *starpu_sched_ctx_get_sched_policy(unsigned sched_ctx_id);
/* Priorities that the context's policy distinguishes. */
int starpu_sched_ctx_get_min_priority(unsigned sched_ctx_id);
int starpu_sched_ctx_get_max_priority(unsigned sched_ctx_id);
int starpu_sched_ctx_set_min_priority(unsigned sched_ctx_id, int min_prio);
int starpu_sched_ctx_set_max_priority(unsigned sched_ctx_id, int max_prio);
/* Number of tasks that are ready in the context, and the sum of their flops. */
int starpu_sched_ctx_get_nready_tasks(unsigned sched_ctx_id);
double starpu_sched_ctx_get_nready_flops(unsigned sched_ctx_id);
/* For policies of programs: there is a task in the context for the worker, or for all of them
 * (_all): they are woken. Workers look into all their contexts without being told, so the calls
 * that say that there is one task less, or none, have no effect. */
void starpu_sched_ctx_list_task_counters_increment(unsigned sched_ctx_id, int workerid);
void starpu_sched_ctx_list_task_counters_decrement(unsigned sched_ctx_id, int workerid);
void starpu_sched_ctx_list_task_counters_reset(unsigned sched_ctx_id, int workerid);
void starpu_sched_ctx_list_task_counters_increment_all_ctx_locked(struct starpu_task *task,
								  unsigned sched_ctx_id);
void starpu_sched_ctx_list_task_counters_decrement_all_ctx_locked(struct starpu_task *task,
								  unsigned sched_ctx_id);
void starpu_sched_ctx_list_task_counters_reset_all(struct starpu_task *task, unsigned sched_ctx_id);

/* --- Parallel code in a context without a policy ------------------------------------- */

/* Tasks of such a context are executed one at a time, by all its CPU workers: the kernel is called
 * once (STARPU_SPMD: by each), bound to the cores of all. */

/* Run func(param) once with all CPU workers of the context, as the kernel of a fork-join task;
 * returns what it returned, NULL after a message when it could not. In a kernel: only of a task of
 * that context, when it was made without a policy. */
void *starpu_sched_ctx_exec_parallel_code(void *(*func)(void *), void *param,
					  unsigned sched_ctx_id);
/* The cores of the workers that are free: a malloc()ed array that the caller frees. */
void starpu_sched_ctx_get_available_cpuids(unsigned sched_ctx_id, int **cpuids, int *ncpuids);
void starpu_sched_ctx_bind_current_thread_to_cpuid(unsigned cpuid);
/* The multiprocessors of the GPU that a stream's worker may use: *start to *end-1; -1 and -1 when
 * no context that it is in was given any. Contexts share a GPU one after the other, in the order
 * of their numbers. */
void starpu_sched_ctx_get_sms_interval(int stream_workerid, int *start, int *end);

/* --- Seldom called ------------------------------------------------------------------- */

/* Make a context of min_ncpus to max_ncpus CPU workers and min_ngpus to max_ngpus others, of those
 * that are in no context yet but the default one, or, with allow_overlap, of all. Its number, or
 * STARPU_NMAX_SCHED_CTXS after a message. */
unsigned starpu_sched_ctx_create_inside_interval(const char *policy_name,
						 const char *sched_ctx_name, int min_ncpus,
						 int max_ncpus, int min_ngpus, int max_ngpus,
						 unsigned allow_overlap);
/* The workers of a context: their number; *workerids is the context's, until it changes. */
unsigned starpu_sched_ctx_get_workers_list_raw(unsigned sched_ctx_id, int **workerids);
/* The context of a task, or STARPU_NMAX_SCHED_CTXS before it is submitted. */
unsigned starpu_sched_ctx_get_ctx_for_task(struct starpu_task *task);
/* 1 if the worker is in more than one context. */
unsigned starpu_sched_ctx_overlapping_ctxs_on_worker(int workerid);
/* The place of the calling worker in the list of the context's; -1: it is not there. */
int starpu_sched_ctx_get_worker_rank(unsigned sched_ctx_id);
/* 1 if the context has a policy. *awake_workers (may be NULL) is 0: idle workers sleep. */
unsigned starpu_sched_ctx_has_starpu_scheduler(unsigned sched_ctx_id, unsigned *awake_workers);
/* STARPU_SCHED_CTX_CUDA_NSMS of a context, -1: not given; its CUDA worker, -1: none; the context of
 * a CUDA worker that has multiprocessors of its own, STARPU_NMAX_SCHED_CTXS: none. */
int starpu_sched_ctx_get_nsms(unsigned sched_ctx);
int starpu_sched_ctx_get_stream_worker(unsigned sub_ctx);
unsigned starpu_worker_get_sched_ctx_id_stream(unsigned stream_workerid);
/* 1 if the program or the policy has set the limit. */
int starpu_sched_ctx_min_priority_is_set(unsigned sched_ctx_id);
int starpu_sched_ctx_max_priority_is_set(unsigned sched_ctx_id);
/* sched_policy_callback of struct starpu_conf for the default context, else NULL. */
void (*starpu_sched_ctx_get_sched_policy_callback(unsigned sched_ctx_id))(unsigned);
/* STARPU_NMAX_SCHED_CTXS: no worker is the master of others. */
unsigned starpu_sched_ctx_worker_is_master_for_child_ctx(int workerid, unsigned sched_ctx_id);
unsigned starpu_sched_ctx_master_get_context(int masterid);
/* 1 if the worker is in the context, since it looks at its contexts in turn, else 0. */
unsigned starpu_sched_ctx_get_priority(int worker, unsigned sched_ctx_id);
/* Have a function called by starpu_sched_ctx_delete(), when the tasks of the context have
 * completed; one for each context. */
void starpu_sched_ctx_register_close_callback(unsigned sched_ctx_id,
					      void (*close_callback)(unsigned sched_ctx_id,
								     void *args),
					      void *args);
/* Refused with a message (-ENOSYS). */
void starpu_sched_ctx_stop_task_submission(void);
void starpu_sched_ctx_set_priority(int *workers, int nworkers, unsigned sched_ctx_id,
				   unsigned priority);
int starpu_sched_ctx_book_workers_for_task(unsigned sched_ctx_id, int *workerids, int nworkers);
void starpu_sched_ctx_unbook_workers_for_task(unsigned sched_ctx_id, int master);
void starpu_sched_ctx_revert_task_counters_ctx_locked(unsigned sched_ctx_id, double flops);
void starpu_sched_ctx_move_task_to_ctx_locked(struct starpu_task *task, unsigned sched_ctx,
					      unsigned with_repush);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
