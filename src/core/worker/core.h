/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The core's part of a process: scheduling contexts, workers, the groups that step them, and
 * the counters of tasks.
 *
 * Invariant: fields that several threads write are atomics, or are protected by the lock named
 * beside them. */
#ifndef ORR_CORE_CORE_H
#define ORR_CORE_CORE_H

#include "base/slab.h"
#include "core/worker/ctx_record.h"
#include "core/worker/worker_record.h"

struct orr_graph;
struct orr_hook;
struct orr_combined;
struct orr_energy;
struct orr_monitor;
struct orr_map;
struct orr_policies;

struct orr_core {
	/* From the beginning of the process to its end. */
	const struct orr_policies *policies; /* the floor of policies (core/ctx/policy.h) */
	struct orr_graph
		*graph; /* recorded tasks (core/task/graph.h), NULL when nothing is recorded */
	void (*poll_hook)(struct orr_process *,
			  int idle);   /* atomic: called by workers between tasks and
					  before they sleep (orr_poll_hook_set), or NULL */
	void (*watchdog_hook)(void *); /* atomic: called when the watchdog reports, or NULL */
	void *watchdog_arg;
	unsigned npolling; /* atomic: workers that may be calling it */
	unsigned phase;    /* atomic: how often the program has waited for all tasks */
	struct orr_slab task_slab, access_slab, info_slab;
	struct orr_map *tags; /* by number (core/flow/tag.c), NULL: none */
	orr_lock_t tag_lock;  /* protects tags */
	orr_lock_t
		edge_lock; /* protects the dependencies that tasks keep (core/task/task_edges.h) */
	orr_lock_t join_lock;   /* held while a parallel task is queued to its members */
	struct orr_hook *hooks; /* functions that idle workers call (core/worker/hooks.c), hooks_cap
				   places; under proc->lock */
	unsigned hooks_cap;
	unsigned nhooks; /* atomic: places in use */

	/* From starpu_init to starpu_shutdown: workers and all that follows begins as zeroes. */
	struct orr_worker *workers;
	unsigned nworkers;
	struct orr_group *groups;
	struct orr_ctx ctx0; /* the default scheduling context */
	struct orr_ctx
		*ctx[STARPU_NMAX_SCHED_CTXS]; /* by number: ctx[0] is ctx0, NULL: never made */
	unsigned nctxs;                       /* atomic: contexts there are */
	unsigned ctx_busy;    /* atomic: somebody makes, changes or deletes contexts */
	unsigned ctx_inside;  /* atomic: threads inside a policy that wait to change contexts */
	unsigned ctx_leaving; /* atomic: a context became empty whose workers must leave it */
	int *explicit_ids;    /* STARPU_WORKERS_CPUID: units to bind to, nexplicit of them, owned */
	unsigned nexplicit;
	int *driver_units; /* those of the threads that drive devices, ndriver_units of them, owned
			    */
	unsigned ndriver_units;
	int engine_core; /* a unit is kept for the progression thread of MPI */
	int *by_unit;    /* atomic: workers in the order of their units (core/ctx/worker_names.c),
			    owned,    NULL: not asked for */
	struct starpu_tree *unit_tree; /* atomic: core/worker/unit_tree.c, NULL: not asked for */
	int counts_ready; /* one thread steps several workers, for whose sake nready is kept */
	unsigned nready; /* atomic, with counts_ready only: tasks that came to policies and lists of
			    workers, and that no worker has taken; never too few */
	unsigned paused; /* atomic: calls of starpu_pause that no starpu_resume has answered */
	unsigned stopping;                           /* atomic: workers end once nothing is left */
	struct starpu_parallel_worker_config *teams; /* atomic: core/flow/team.c, NULL: none */
	struct orr_monitor *monitor; /* counts for performance counters (core/flow/monitor.c) */
	unsigned collecting;         /* atomic: calls that switched performance counters on */
	unsigned prio_caps;          /* atomic: a context limits priorities (core/front/knob.c) */
	struct orr_energy *energy;   /* measurements under way (core/run/energy.c) */
	struct orr_combined **combined; /* combined workers (core/ctx/combined.h), by number -
					   nworkers; the table is made with the first */
	unsigned ncombined;             /* atomic */
	unsigned combined_built;        /* atomic: those that the machine suggests are there */

	/* Written by threads that submit. */
	uint64_t nsubmitted __attribute__((aligned(ORR_LINE))); /* atomic: tasks submitted */
	uint64_t next_job; /* atomic: job ids; goes on over starpu_shutdown */

	/* Written by threads that complete a task outside of a worker. */
	uint64_t ncompleted_other __attribute__((aligned(ORR_LINE))); /* atomic */

	unsigned ndone_waiters __attribute__((
		aligned(ORR_LINE))); /* atomic: threads in starpu_task_wait_for_all and relatives */
	struct orr_causes causes;    /* while profiling is on (core/task/times.h) */
	unsigned rr;                 /* round-robin cursor of pushes from outside of workers */
	uint64_t idle_mask[STARPU_NMAXWORKERS / 64]; /* atomic: groups that sleep, by index */
	uint64_t njoins; /* atomic, changed under join_lock: parallel tasks that were queued to
			    their members */
};

#endif
