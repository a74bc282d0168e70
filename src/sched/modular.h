/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The policies that are made of components (modular.c).
 *
 * Invariant: each is a row of the list below. */
#ifndef ORR_SCHED_MODULAR_H
#define ORR_SCHED_MODULAR_H

#include "sched/component.h"

struct orr_modular {
	struct starpu_sched_policy policy; /* first */
	starpu_sched_component_create_t create;
	unsigned flags; /* of simple schedulers */
	int by_priority;
};

/* clang-format off */
#define ORR_MODULAR_LIST(X) \
	X(eager, "modular-eager", eager, 0, FIFO_ABOVE | IMPL, \
	  "one queue, first come first served") \
	X(eager_prefetching, "modular-eager-prefetching", eager, 0, FIFO_ABOVE | FIFOS_BELOW | IMPL, \
	  "modular-eager that gives each worker tasks ahead") \
	X(eager_prio, "modular-eager-prio", eager_prio, 1, FIFOS_BELOW | IMPL, \
	  "modular-prio-prefetching without priorities in the workers' queues") \
	X(prio, "modular-prio", eager, 1, FIFO_ABOVE | FIFO_ABOVE_PRIO | IMPL, \
	  "one queue, most urgent first") \
	X(prio_prefetching, "modular-prio-prefetching", eager, 1, \
	  FIFO_ABOVE | FIFO_ABOVE_PRIO | FIFOS_BELOW | FIFOS_BELOW_PRIO | IMPL, \
	  "modular-prio that gives each worker tasks ahead") \
	X(random, "modular-random", random, 0, FIFOS_BELOW | FIFOS_BELOW_NOLIMIT | IMPL, \
	  "workers are drawn in proportion to their speeds") \
	X(random_prio, "modular-random-prio", random, 1, \
	  FIFOS_BELOW | FIFOS_BELOW_NOLIMIT | FIFOS_BELOW_PRIO | IMPL, \
	  "modular-random, each worker takes its most urgent task") \
	X(random_prefetching, "modular-random-prefetching", random, 0, FIFO_ABOVE | FIFOS_BELOW | IMPL, \
	  "modular-random that draws late, when a worker has room") \
	X(random_prio_prefetching, "modular-random-prio-prefetching", random, 1, \
	  FIFO_ABOVE | FIFO_ABOVE_PRIO | FIFOS_BELOW | FIFOS_BELOW_PRIO | IMPL, \
	  "modular-random-prefetching, most urgent first") \
	X(parallel_random, "modular-parallel-random", random, 0, \
	  FIFOS_BELOW | FIFOS_BELOW_NOLIMIT | COMBINED_WORKERS | IMPL, \
	  "modular-random that draws groups of CPU workers, too, for parallel tasks") \
	X(parallel_random_prio, "modular-parallel-random-prio", random, 1, \
	  FIFOS_BELOW | FIFOS_BELOW_NOLIMIT | FIFOS_BELOW_PRIO | COMBINED_WORKERS | IMPL, \
	  "modular-parallel-random, each worker takes its most urgent task") \
	X(ws, "modular-ws", work_stealing, 0, IMPL, \
	  "one queue per worker, idle workers steal") \
	X(heft, "modular-heft", heft, 1, \
	  FIFOS_BELOW | FIFOS_BELOW_NOLIMIT | FIFOS_BELOW_PRIO | FIFOS_BELOW_EXP | IMPL, \
	  "the most urgent task first, where it ends first") \
	X(heft_prio, "modular-heft-prio", heft, 1, \
	  MEMNODES | FIFOS_BELOW | FIFOS_BELOW_NOLIMIT | FIFOS_BELOW_PRIO | FIFOS_BELOW_EXP | IMPL, \
	  "modular-heft that chooses a memory node, whose workers share a queue") \
	X(heft2, "modular-heft2", mct, 1, FIFO_ABOVE | FIFO_ABOVE_PRIO | FIFOS_BELOW | \
	  FIFOS_BELOW_PRIO | FIFOS_BELOW_EXP | PERFMODEL | IMPL, \
	  "modular-dmdap that decides late, when a worker has room; others go to who is idle") \
	X(parallel_heft, "modular-parallel-heft", heft, 1, \
	  FIFOS_BELOW | FIFOS_BELOW_NOLIMIT | FIFOS_BELOW_PRIO | FIFOS_BELOW_EXP | COMBINED_WORKERS | \
	  IMPL, \
	  "modular-heft that gives parallel tasks to several CPU workers") \
	X(dmda, "modular-dmda", mct, 0, FIFOS_BELOW | FIFOS_BELOW_NOLIMIT | FIFOS_BELOW_EXP | IMPL, \
	  "each task where it ends first") \
	X(dmdap, "modular-dmdap", mct, 1, \
	  FIFOS_BELOW | FIFOS_BELOW_NOLIMIT | FIFOS_BELOW_EXP | FIFOS_BELOW_PRIO | IMPL, \
	  "modular-dmda, most urgent first") \
	X(dmdar, "modular-dmdar", mct, 0, \
	  FIFOS_BELOW | FIFOS_BELOW_NOLIMIT | FIFOS_BELOW_EXP | FIFOS_BELOW_READY | IMPL, \
	  "modular-dmda, tasks first whose data are there") \
	X(dmdas, "modular-dmdas", mct, 1, FIFOS_BELOW | FIFOS_BELOW_NOLIMIT | FIFOS_BELOW_EXP | \
	  FIFOS_BELOW_PRIO | FIFOS_BELOW_READY | IMPL, \
	  "modular-dmda, most urgent first, then those whose data are there") \
	X(gemm, "modular-gemm", mct, 1, MEMNODES | FIFO_ABOVE | FIFO_ABOVE_PRIO | FIFOS_BELOW | \
	  FIFOS_BELOW_PRIO | FIFOS_BELOW_READY | FIFOS_BELOW_EXP | PERFMODEL | IMPL, \
	  "modular-heft2 among memory nodes, in each node tasks first whose data are there") \
	X(heteroprio, "modular-heteroprio", heteroprio, 1, IMPL, \
	  "each kind of unit takes first what it does best") \
	X(heteroprio_heft, "modular-heteroprio-heft", heteroprio, 1, \
	  ARCHS | FIFOS_BELOW | FIFOS_BELOW_PRIO | FIFOS_BELOW_EXP | IMPL, \
	  "modular-heteroprio that gives a task to the unit of its kind where it ends first")
/* clang-format on */

#define X(ID, ...) extern struct orr_modular orr_modular_##ID;
ORR_MODULAR_LIST(X)
#undef X

#endif
