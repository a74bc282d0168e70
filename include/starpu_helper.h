/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Small helpers: extrema, timing, running a function on workers.
 *
 * Invariant: time is the world's own, so durations are virtual ones in a simulated run.
 */
#ifndef STARPU_HELPER_H
#define STARPU_HELPER_H

#include <stdint.h>
#include <starpu_config.h>
#include <starpu_util.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Arguments are evaluated twice. */
#define STARPU_MIN(a, b) ((a) < (b) ? (a) : (b))
#define STARPU_MAX(a, b) ((a) > (b) ? (a) : (b))

/* An address that faults when it is used. */
#define STARPU_POISON_PTR ((void *) (uintptr_t) 0xdeadbeef)

/* The time in microseconds since an arbitrary start. Any time, any thread. */
double starpu_timing_now(void);

/* Joules used since starpu_init(): those of tasks by their energy models (in a simulated run, else
 * by the watts of their unit in the machine's description), those that the program added with
 * _use(), and those of the idle machine, if known. Any thread. */
double starpu_energy_used(void);
void starpu_energy_use(float joules);

/* Run func(arg) once on each worker of the kinds in the mask `where` (STARPU_CPU | STARPU_CUDA |
 * ...), at the same time on all, and return when all are done. name appears in traces. Not from a
 * kernel or a callback. */
void starpu_execute_on_each_worker(void (*func)(void *), void *arg, uint32_t where);
void starpu_execute_on_each_worker_ex(void (*func)(void *), void *arg, uint32_t where,
				      const char *name);
/* Same on the num_workers given workers. */
void starpu_execute_on_specific_workers(void (*func)(void *), void *arg, unsigned num_workers,
					unsigned *workers, const char *name);

/* The system's number of a unit; -1: there is no such unit. */
int starpu_get_pu_os_index(unsigned logical_index);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
