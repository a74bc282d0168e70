/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The policy heteroprio, arranged by the program: tasks stand in buckets, and each kind of worker
 * looks into buckets in an order of its own.
 *
 * The bucket of a task is its priority, from 0. Without these calls the policy groups tasks by
 * codelets and learns the orders from performance models.
 *
 * Invariant: a context is arranged as a whole: with the first call its buckets are those of the
 * program. Call these before the context's first task: in sched_policy_callback of struct
 * starpu_conf, after STARPU_SCHED_CTX_POLICY_INIT, or right after the start. A call that comes
 * later or is about another policy, a kind that does not exist, or a bucket that does not, prints a
 * message and changes nothing.
 */
#ifndef STARPU_HETEROPRIO_H
#define STARPU_HETEROPRIO_H

#include <starpu.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* That kind looks into so many buckets, first into 0, then into 1, ... */
void starpu_heteroprio_set_nb_prios(unsigned sched_ctx_id, enum starpu_worker_archtype arch,
				    unsigned max_prio);
/* Its source_prio-th look, from 0, is into this bucket. */
void starpu_heteroprio_set_mapping(unsigned sched_ctx_id, enum starpu_worker_archtype arch,
				   unsigned source_prio, unsigned dest_bucket_id);
/* That kind is the fastest for the bucket; another one takes slow_factor times as long. The slower
 * one leaves the bucket alone as long as the fastest workers would be done with all of it before a
 * slower one with a single task. */
void starpu_heteroprio_set_faster_arch(unsigned sched_ctx_id, enum starpu_worker_archtype arch,
				       unsigned bucket_id);
void starpu_heteroprio_set_arch_slow_factor(unsigned sched_ctx_id, enum starpu_worker_archtype arch,
					    unsigned bucket_id, float slow_factor);

/* Other than 0: of the equally urgent tasks of a bucket, a worker takes the one that misses least
 * data on its memory node; of at most 32, the first ones. At 0, the first one. The default is
 * STARPU_HETEROPRIO_USE_LA. May be called at any time, by any thread; without arranging buckets,
 * too. */
void starpu_heteroprio_set_use_locality(unsigned sched_ctx_id, unsigned use_locality);
/* Workers of one memory node form a group; nothing else can be arranged: the first
 * function only checks the context. The second one prints the groups. */
void starpu_heteroprio_map_wgroup_memory_nodes(unsigned sched_ctx_id);
void starpu_heteroprio_print_wgroups(FILE *stream, unsigned sched_ctx_id);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
