/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Workers: the state machines that execute tasks, the groups that step them, and what they share
 * with the task code.
 *
 * Invariant: a worker's state is touched only by the thread of its group. */
#ifndef ORR_CORE_WORKER_H
#define ORR_CORE_WORKER_H

#include "core/task.h"
#include "base/codelet.h"
#include "base/park.h"

/* What a kind of unit can do; one table per driver, every slot filled. All are called by the
 * group's thread. */
struct orr_driver_ops {
	const char *name;
	enum starpu_worker_archtype arch;
	/* Prepares the device in the group's thread. 0 or -errno after a message. */
	int (*init)(struct orr_worker *w);
	void (*deinit)(struct orr_worker *w);
	/* Starts the chosen implementation. 0: it has run; 1: it ends at w->end_us or when `test`
	 * says so. */
	int (*start)(struct orr_worker *w, struct orr_task *t);
	/* For asynchronous kernels: is it over? */
	int (*test)(struct orr_worker *w, struct orr_task *t);
	/* Called once when it is over. */
	void (*finish)(struct orr_worker *w, struct orr_task *t);
};

extern const struct orr_driver_ops orr_cpu_driver;

/* From here on the thread steps worker w, or none (NULL). */
static inline void orr_worker_enter(struct orr_thread *self, struct orr_worker *w)
{
	self->worker = w;
	self->memnode = w ? w->memnode : STARPU_MAIN_RAM;
}

/* Creates workers, groups and their threads from the configuration; orr_workers_exit waits for
 * their end. */
int orr_workers_init(struct orr_process *proc);
void orr_workers_exit(struct orr_process *proc);

/* Makes policies that hold tasks until the whole graph is there give them out: policies of ours
 * only, or all. */
void orr_sched_give_out(struct orr_process *proc, int ours_only);

/* Wakes the group of a worker, or up to one sleeping group (any), or all. Called after the task was
 * queued. */
void orr_wake_worker(struct orr_worker *w);
void orr_wake_one(struct orr_process *proc);
void orr_wake_all(struct orr_process *proc);

/* From now on workers call look(node, 0) after each step that got them further, and look(node, 1)
 * before they sleep; NULL: nothing, and when this returns nobody is in the former one any more.
 * [waits] for that. */
void orr_look_set(struct orr_process *proc, void (*look)(struct orr_process *, int idle));

/* Calls the program's hooks in the thread of an idle group. 1 when one of them wants to be called
 * again soon. */
int orr_hooks_run(struct orr_group *g);
void orr_hooks_exit(struct orr_process *proc);

/* The calling thread drives the workers of `g` until told to stop. */
void *orr_group_main(void *g);
/* One turn of a group's state machine: returns 1 when something advanced. *next_us is the instant
 * of the next known completion, or negative. */
int orr_group_step(struct orr_group *g, double *next_us);
/* Puts the running workers in order again after somebody changed their end_us. */
void orr_group_sort(struct orr_group *g);

uint32_t orr_codelet_where(const struct starpu_codelet *cl);
/* May the function for the CPU stand for one for this worker of a type of devices (NULL: for any of
 * the type)? See node->stand_in. */
int orr_codelet_stands_in(const struct starpu_codelet *cl, enum starpu_worker_archtype type,
			  const struct orr_worker *w);

/* The memory node on which worker w wants access i of its task, -1 when nowhere. */
int orr_task_target_node(struct orr_worker *w, struct starpu_task *task, unsigned i);

/* Does the program drive this worker itself (starpu_driver_run)? */
int orr_driven_by_program(struct orr_process *proc, struct orr_worker *w);

size_t orr_task_slab_size(void);
int orr_task_array_add(struct orr_task_array *a, struct orr_task *t);
struct orr_task *orr_task_array_get(const struct orr_task_array *a, unsigned i);

/* Submission blocks while more than cfg.max_submitted tasks are pending. [waits] */
void orr_throttle(struct orr_process *proc);
/* Nothing completed for too long: says what waits. */
void orr_watchdog(struct orr_process *proc);

/* energy.c: the kernel of a task is over and took that long; joules of the units of a type (worker
 * -1: all), idle machine included for CPUs; the end of measurements, and the sum in node->joules.
 */
void orr_energy_task(struct orr_worker *w, struct orr_task *t, double us);
double orr_energy_of(struct orr_process *proc, int arch, int worker);
void orr_energy_exit(struct orr_process *proc);

/* On-line profiling of a task (starpu_profiling_task_info). */
void orr_profile_submit(struct orr_task *t);
void orr_profile_stamp(struct orr_task *t, size_t field_offset);

#endif
