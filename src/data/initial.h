/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The init codelet of data (starpu_data_set_reduction_methods): it makes the value with which a
 * contribution to a reduction begins, and that of data which are read before they were written. */
#ifndef ORR_DATA_INITIAL_H
#define ORR_DATA_INITIAL_H

#include "data/handle.h"

typedef void (*orr_initial_func)(void **buffers, void *arg);

/* The function of h's init codelet for workers of a type; NULL if there is none. */
orr_initial_func orr_initial_function(starpu_data_handle_t h, enum starpu_worker_archtype arch);
/* The same for a kind of memory. */
orr_initial_func orr_initial_function_on(starpu_data_handle_t h, enum starpu_node_kind kind);
/* Runs function f of h's init codelet on `part`, which is h itself or a contribution to it, in its
 * buffer on memnode. Without locks. Returns how many microseconds of virtual time pass before the
 * value can be used. */
double orr_initial_run(struct orr_process *proc, starpu_data_handle_t h, orr_initial_func f,
		       starpu_data_handle_t part, unsigned memnode);

#endif
