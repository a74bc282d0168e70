/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reductions within a process (STARPU_REDUX): each worker contributes to a copy of its own,
 * combined when somebody needs the value. */
#ifndef ORR_DATA_REDUX_H
#define ORR_DATA_REDUX_H

#include "data/handle.h"

struct orr_redux;

/* A worker, as far as its contribution is concerned. */
struct orr_contributor {
	unsigned id;
	enum starpu_worker_archtype arch;
	unsigned memnode; /* where its kernels find their data */
	const char *name;
};

/* Contributor w's contribution to h, a datum of its own without home, made at its first use and
 * initialised by the handle's init codelet, on memnode or in main memory. Called by the group's
 * thread. Returns 0 and *part, -EAGAIN when memory is exhausted, or another negative errno after a
 * message. */
int orr_redux_contribution(starpu_data_handle_t h, const struct orr_contributor *w,
			   unsigned memnode, starpu_data_handle_t *part);
/* The same when it exists, else NULL. */
starpu_data_handle_t orr_redux_part(starpu_data_handle_t h, unsigned worker);
/* A task contributes to h: does it have its methods? 0, or -EINVAL after a message. */
int orr_redux_check(starpu_data_handle_t h, const char *what);
/* The handle ends: its arbiter loses it. */
void orr_arbiter_forget(starpu_data_handle_t h);

#endif
