/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the real world share: the world's part of the process's context, and the way
 * from a fatal error in the core to the MPI layer, which lives in a library of its own.
 *
 * Invariant: included by files of src/sys/ only. */
#ifndef ORR_SYS_REAL_H
#define ORR_SYS_REAL_H

#include <sched.h>
#include "core/core.h"

struct orr_real_name {
	struct orr_real_name *next;
	char text[];
};

/* Memory that the runtime freed and keeps, see memory.c. */
#define ORR_REAL_KEPT_LISTS 256
struct kept;
struct orr_real_memory {
	orr_lock_t lock; /* protects the rest */
	struct kept *kept[ORR_REAL_KEPT_LISTS];
	size_t bytes;
	unsigned hand; /* the list that was shortened last */
};

/* node->sys. */
struct orr_real {
	char host[256];              /* this machine, without its domain */
	orr_lock_t lock;             /* protects names */
	struct orr_real_name *names; /* every machine name ever given out, newest first */
	unsigned nprocs;     /* processes of the program on this machine, as the launcher says */
	unsigned proc;       /* which of them this is */
	int64_t progress_ms; /* atomic: when progress was last printed */
	cpu_set_t initial;   /* where the initialising thread might run */
	int has_initial;
	struct orr_real_memory memory;
};

/* Set by the MPI layer while MPI is up: ends the processes of all ranks and does not return. NULL
 * without MPI. */
extern void (*orr_sys_abort_hook)(void);

/* How often a thread looks at a held lock before it sleeps. Atomic; 0 when the process has one
 * core, where the holder cannot run while others look. */
#define ORR_REAL_SPINS 100
extern unsigned orr_real_spins;

/* memory.c: gives all that is kept back. */
void orr_real_memory_exit(struct orr_real *real);
/* topology.c: what orr_sys_mem_bind does. */
void orr_real_bind_memory(struct orr_process *proc, void *ptr, size_t size, int numa);
/* Binds the calling thread to a logical core. Returns 0 or -errno. */
int orr_real_bind(struct orr_process *proc, int cpu);

#endif
