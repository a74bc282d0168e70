/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The archs of a process: those of its workers, and the combinations that the program asked for.
 *
 * Invariant: the table only grows, so what it hands out stays valid until orr_perf_exit. perf->lock
 * protects it, except the workers' archs: these are written before any worker starts. */
#ifndef ORR_PERF_ARCH_TABLE_H
#define ORR_PERF_ARCH_TABLE_H

#include "base/process.h"
#include "perf/arch.h"

struct orr_arch_table {
	struct orr_arch *worker; /* by number of the worker */
	unsigned nworkers;
	struct starpu_perfmodel_arch *worker_pub; /* the same for the program, made at the first
						     request */
	struct starpu_perfmodel_arch **comb;      /* starpu_perfmodel_arch_comb_*, by number */
	unsigned ncombs;
};

/* Makes room for the archs of n workers. 0 or -ENOMEM. */
int orr_arch_table_set_workers(struct orr_process *proc, unsigned n);
/* Sets the arch of a worker, before it starts. The result is valid until orr_perf_exit. */
const struct orr_arch *orr_arch_table_set_worker(struct orr_process *proc, unsigned id,
						 enum starpu_worker_archtype type, int devid);
/* The number of the worker that has this arch: if a is a worker's own, that worker, else the first
 * one that is the same to models; 0 if there is none. */
unsigned orr_arch_table_worker(struct orr_process *proc, const struct orr_arch *a);
void orr_arch_table_free(struct orr_arch_table *t);

#endif
