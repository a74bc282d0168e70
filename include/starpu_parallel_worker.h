/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parallel workers: groups of CPU workers that execute one task at a time together. Older programs
 * call them clusters.
 *
 * Invariant: while parallel workers exist, a task whose field possibly_parallel is set is executed
 * by one of them: by one of its threads, which is bound to all its cores, so that the kernel can
 * use them (with OpenMP, say). Other tasks are executed by single workers as always. One set of
 * parallel workers exists at a time. Main thread.
 */
#ifndef STARPU_PARALLEL_WORKER_H
#define STARPU_PARALLEL_WORKER_H

#include <starpu_config.h>
#ifdef STARPU_HAVE_HWLOC
#include <hwloc.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct starpu_parallel_worker_config;
struct starpu_cluster_machine;

/* Defined where parallel workers are there. */
#define STARPU_PARALLEL_WORKER 1

/* Arguments of starpu_parallel_worker_init(), each with the type that follows it; the list ends
 * with 0. */
#define STARPU_PARALLEL_WORKER_MIN_NB (1 << 16) /* int: at least that many */
#define STARPU_PARALLEL_WORKER_MAX_NB (2 << 16) /* int: at most that many */
#define STARPU_PARALLEL_WORKER_NB (3 << 16)     /* int: that many */
#define STARPU_PARALLEL_WORKER_PREFERE_MIN \
	(4 << 16) /* int: 1: MIN_NB of them, which is given too */
#define STARPU_PARALLEL_WORKER_KEEP_HOMOGENEOUS (5 << 16) /* int: 1: all of one size */
#define STARPU_PARALLEL_WORKER_POLICY_NAME (6 << 16)      /* char *: a policy orders their tasks */
/* struct starpu_sched_policy *: the same. To the policy each parallel worker is its first worker,
 * in a context of its own that all of them share. Without a policy the most urgent task comes
 * first, and goes to any parallel worker that is free. */
#define STARPU_PARALLEL_WORKER_POLICY_STRUCT (7 << 16)
/* void (*)(void *): called once in each parallel worker when it is made; and its argument */
#define STARPU_PARALLEL_WORKER_CREATE_FUNC (8 << 16)
#define STARPU_PARALLEL_WORKER_CREATE_FUNC_ARG (9 << 16)
/* enum starpu_parallel_worker_types: the function to call when there is no CREATE_FUNC */
#define STARPU_PARALLEL_WORKER_TYPE (10 << 16)
/* unsigned: 0 or 1; with both, workers serve other tasks between those of their parallel worker,
 * sleep when there are none, and are woken */
#define STARPU_PARALLEL_WORKER_AWAKE_WORKERS (11 << 16)
/* only the workers of the first part of the machine form a parallel worker */
#define STARPU_PARALLEL_WORKER_PARTITION_ONE (12 << 16)
/* the next parallel worker, of one core unless NCORES follows; the level does not count then */
#define STARPU_PARALLEL_WORKER_NEW (13 << 16)
/* unsigned: cores of the parallel worker that NEW began, or of all of them */
#define STARPU_PARALLEL_WORKER_NCORES (14 << 16)

/* The library that makes kernels parallel; the functions below prepare it. */
enum starpu_parallel_worker_types {
	STARPU_PARALLEL_WORKER_OPENMP,
	STARPU_PARALLEL_WORKER_INTEL_OPENMP_MKL,
	STARPU_PARALLEL_WORKER_GNU_OPENMP_MKL
};

/* Make a parallel worker of the CPU workers in each part of the machine of that kind
 * (HWLOC_OBJ_PACKAGE, HWLOC_OBJ_NUMANODE, ...), or as the arguments say. Workers that are not bound
 * count as one part. NULL after a message when that makes no sense, when parallel workers exist
 * already, without CPU workers, or with a policy when there is no scheduling context left
 * (STARPU_NMAX_SCHED_CTXS). */
struct starpu_parallel_worker_config *starpu_parallel_worker_init(
	hwloc_obj_type_t parallel_worker_level, ...);
/* Wait for all tasks, and take the parallel workers apart. 0, or -EINVAL. */
int starpu_parallel_worker_shutdown(struct starpu_parallel_worker_config *parallel_workers);
/* Print their workers on standard output. 0, or -EINVAL. */
int starpu_parallel_worker_print(struct starpu_parallel_worker_config *parallel_workers);

/* As prologue_callback_pop of a task, or as CREATE_FUNC: the OpenMP, and MKL, that the program is
 * linked with shall use as many threads as the parallel worker has cores. The argument is not used.
 */
void starpu_parallel_worker_openmp_prologue(void *);
void starpu_parallel_worker_intel_openmp_mkl_prologue(void *);
void starpu_parallel_worker_gnu_openmp_mkl_prologue(void *);

/* --- Old names ----------------------------------------------------------------------- */

#define starpu_cluster_types starpu_parallel_worker_types
#define STARPU_CLUSTER_MIN_NB STARPU_PARALLEL_WORKER_MIN_NB
#define STARPU_CLUSTER_MAX_NB STARPU_PARALLEL_WORKER_MAX_NB
#define STARPU_CLUSTER_NB STARPU_PARALLEL_WORKER_NB
#define STARPU_CLUSTER_PREFERE_MIN STARPU_PARALLEL_WORKER_PREFERE_MIN
#define STARPU_CLUSTER_KEEP_HOMOGENEOUS STARPU_PARALLEL_WORKER_KEEP_HOMOGENEOUS
#define STARPU_CLUSTER_POLICY_NAME STARPU_PARALLEL_WORKER_POLICY_NAME
#define STARPU_CLUSTER_POLICY_STRUCT STARPU_PARALLEL_WORKER_POLICY_STRUCT
#define STARPU_CLUSTER_CREATE_FUNC STARPU_PARALLEL_WORKER_CREATE_FUNC
#define STARPU_CLUSTER_CREATE_FUNC_ARG STARPU_PARALLEL_WORKER_CREATE_FUNC_ARG
#define STARPU_CLUSTER_TYPE STARPU_PARALLEL_WORKER_TYPE
#define STARPU_CLUSTER_AWAKE_WORKERS STARPU_PARALLEL_WORKER_AWAKE_WORKERS
#define STARPU_CLUSTER_PARTITION_ONE STARPU_PARALLEL_WORKER_PARTITION_ONE
#define STARPU_CLUSTER_NEW STARPU_PARALLEL_WORKER_NEW
#define STARPU_CLUSTER_NCORES STARPU_PARALLEL_WORKER_NCORES
#define STARPU_CLUSTER_OPENMP STARPU_PARALLEL_WORKER_OPENMP
#define STARPU_CLUSTER_INTEL_OPENMP_MKL STARPU_PARALLEL_WORKER_INTEL_OPENMP_MKL
#define STARPU_CLUSTER_GNU_OPENMP_MKL STARPU_PARALLEL_WORKER_GNU_OPENMP_MKL

struct starpu_cluster_machine *starpu_cluster_machine(hwloc_obj_type_t cluster_level, ...);
int starpu_uncluster_machine(struct starpu_cluster_machine *clusters);
int starpu_cluster_print(struct starpu_cluster_machine *clusters);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
#endif
