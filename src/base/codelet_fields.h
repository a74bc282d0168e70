/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Codelets as their public structure describes them, deprecated fields included.
 *
 * Invariant: nothing here looks beyond struct starpu_codelet. */
#ifndef ORR_BASE_CODELET_H
#define ORR_BASE_CODELET_H

#include "starpu.h"

/* Implementation i for the CPU; NULL if there is none. */
static inline starpu_cpu_func_t orr_codelet_cpu_func(const struct starpu_codelet *cl, unsigned i)
{
	starpu_cpu_func_t f = cl->cpu_funcs[i];

	if (!f && i == 0 && cl->cpu_func && cl->cpu_func != STARPU_MULTIPLE_CPU_IMPLEMENTATIONS)
		f = cl->cpu_func;
	return f;
}

#endif
