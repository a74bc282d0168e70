/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* New scheduling contexts of a size that lies in an interval: their workers are chosen here.
 *
 * Invariant: who is in a context that exists does not change. */
#include "core/worker/core.h"
#include "core/ctx/sched_ctx_life.h"

#include <errno.h>

#include "base/log.h"

/* May worker w be in a new context? */
static int is_free(const struct orr_worker *w, unsigned allow_overlap)
{
	/* Bit 0 is the default context, in which all are. */
	return allow_overlap || !(ORR_ATOMIC_LOAD(&w->ctxs) & ~UINT32_C(1));
}

/* Appends up to max workers that are CPUs, or that are not. Returns how many. */
static int choose(struct orr_process *proc, int cpus, int max, unsigned allow_overlap, int *ids)
{
	int n = 0;

	for (unsigned i = 0; i < proc->core->nworkers && n < max; i++) {
		const struct orr_worker *w = &proc->core->workers[i];

		if ((w->arch == STARPU_CPU_WORKER) == cpus && is_free(w, allow_overlap))
			ids[n++] = (int) i;
	}
	return n;
}

unsigned starpu_sched_ctx_create_inside_interval(const char *policy_name,
						 const char *sched_ctx_name, int min_ncpus,
						 int max_ncpus, int min_ngpus, int max_ngpus,
						 unsigned allow_overlap)
{
	struct orr_process *proc = orr_self();
	int ids[STARPU_NMAXWORKERS], ncpus = choose(proc, 1, max_ncpus, allow_overlap, ids),
				     ngpus = choose(proc, 0, max_ngpus, allow_overlap, ids + ncpus);

	if (ncpus >= min_ncpus && ngpus >= min_ngpus)
		return starpu_sched_ctx_create(ids, ncpus + ngpus, sched_ctx_name,
					       STARPU_SCHED_CTX_POLICY_NAME,
					       policy_name ? policy_name : "", 0);
	orr_error(
		"starpu_sched_ctx_create_inside_interval: %d CPU workers and %d others can be had, %d and %d are asked for",
		ncpus, ngpus, min_ncpus, min_ngpus);
	return STARPU_NMAX_SCHED_CTXS;
}
