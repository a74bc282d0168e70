/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Codelets as the core sees them.
 *
 * Invariant: a codelet is the program's; the core writes nothing into it but `checked` and its
 * counters. */
#ifndef ORR_CORE_CODELET_H
#define ORR_CORE_CODELET_H

#include "core/worker/core.h"

/* Marks of a codelet, in its field `checked`. */
#define ORR_CODELET_CHECKED 1
#define ORR_CODELET_LOOKED_UP 2 /* those that follow are known */
#define ORR_CODELET_REMOTE 4    /* slaves find its first function; the next bits: the others */
#define ORR_CODELET_BACKED 256  /* it has implementations for all kinds of units in its `where` */

static inline int orr_codelet_is_checked(const struct starpu_codelet *cl)
{
	return __atomic_load_n(&cl->checked, __ATOMIC_RELAXED) & ORR_CODELET_CHECKED;
}

/* Was it checked, and found to have implementations for all kinds of units that it names? */
static inline int orr_codelet_is_backed(const struct starpu_codelet *cl)
{
	return __atomic_load_n(&cl->checked, __ATOMIC_RELAXED) & ORR_CODELET_BACKED;
}

/* The program's `where` as it is meant: STARPU_NOWHERE by itself, or kinds of units, among which it
 * says nothing. */
static inline uint32_t orr_where_meant(uint32_t where)
{
	return where == STARPU_NOWHERE ? where : where & ~(uint32_t) STARPU_NOWHERE;
}

/* The kinds of units that the codelet names, or else has implementations for. */
uint32_t orr_codelet_where(const struct starpu_codelet *cl);
/* May the function for the CPU stand for one for this worker of a type of devices (NULL: for any of
 * the type)? See proc->stand_in. */
int orr_codelet_stands_in(const struct starpu_codelet *cl, enum starpu_worker_archtype type,
			  const struct orr_worker *w);
/* May slaves execute implementation impl of the codelet? They find functions by their names. */
int orr_codelet_is_remote(const struct starpu_codelet *cl, unsigned impl);
/* The mode that the codelet declares for its datum i, or STARPU_NONE: those beyond STARPU_NMAXBUFS
 * may be left to each insertion. */
static inline enum starpu_data_access_mode orr_codelet_mode(const struct starpu_codelet *cl,
							    unsigned i)
{
	return cl->dyn_modes || i < STARPU_NMAXBUFS ? STARPU_CODELET_GET_MODE(cl, i) : STARPU_NONE;
}

/* Looks for mistakes that every task of the codelet would share; once for each codelet that has
 * none. 0, or -EINVAL after a message. */
int orr_codelet_check(struct starpu_codelet *cl);

#endif
