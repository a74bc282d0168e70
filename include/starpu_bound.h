/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Theoretical bounds on the time that the recorded tasks could take on this machine.
 *
 * Invariant: the record from start to stop is kept until the next start. Call from the
 * main thread.
 */
#ifndef STARPU_BOUND_H
#define STARPU_BOUND_H

#include <stdio.h>
#include <starpu_config.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Start recording submitted tasks; non-zero deps: and their dependencies. prio has no effect: no
 * bound follows from priorities. */
void starpu_bound_start(int deps, int prio);
/* Stop recording. */
void starpu_bound_stop(void);
/* Write the recorded task graph (dot), the linear program (lp_solve's lp or mps form), or
 * statistics. */
void starpu_bound_print_dot(FILE *output);
void starpu_bound_print_lp(FILE *output);
void starpu_bound_print_mps(FILE *output);
void starpu_bound_print(FILE *output, int integer);
/* Solve it: *res in milliseconds, *integer_res likewise with whole tasks when integer is non-zero,
 * 0 otherwise. */
void starpu_bound_compute(double *res, double *integer_res, int integer);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
