/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Common to the files of the real world: the world's part of the process's context.
 *
 * Invariant: included by files of src/sys/ only. */
#ifndef ORR_SYS_REAL_H
#define ORR_SYS_REAL_H

#include <sched.h>
#include "base/process.h"
#include "base/seam_memory.h"

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
	int keep_none; /* atomic, see orr_sys_mem_keep_none */
};

/* proc->sys. */
struct orr_real {
	char host[256];              /* this machine, without its domain */
	orr_lock_t lock;             /* protects names */
	struct orr_real_name *names; /* every machine name ever given out, newest first */
	unsigned nprocs;     /* processes of the program on this machine, as the launcher says */
	unsigned proc;       /* which of them this is */
	int64_t progress_ms; /* atomic: when progress was last printed */
	cpu_set_t initial;   /* where the initialising thread might run */
	int has_initial;
	void *buses;         /* beside.c: a topology with devices, NULL: nobody asked */
	void *memory_beside; /* ... the NUMA nodes beside all of them; NULL or empty: not known */
	struct orr_real_memory memory;
};

/* Looks of a thread at a held lock before it sleeps. Atomic; 0 when the process has one
 * core, where the holder cannot run while others look. */
#define ORR_REAL_SPINS 100
extern unsigned orr_real_spins;

/* process.c: when the program was loaded, by orr_sys_now_us(). */
double orr_real_started_us(void);
/* real_ticks.c: the program was loaded, and the origin of times is set. */
void orr_real_ticks_begin(void);
/* memory.c: gives all that is kept back. */
void orr_real_memory_exit(struct orr_real *real);
/* topology.c: the type of the objects of hwloc that are units. On a machine without known cores,
 * every hardware thread is one. */
int orr_real_unit_type(struct orr_process *proc);
/* bind.c: the object of hwloc that is that unit (a hwloc_obj_t), or NULL. */
struct hwloc_obj *orr_real_unit_object(struct orr_process *proc, int unit);
/* topology.c: what orr_sys_mem_bind does. */
void orr_real_bind_memory(struct orr_process *proc, void *ptr, size_t size, int numa);
/* beside.c: the part of it that is about devices; and its end. */
void orr_real_bind_beside(struct orr_process *proc, void *ptr, size_t size);
void orr_real_beside_exit(struct orr_process *proc);

/* crash.c: from now on a kernel that crashes is named; no longer. */
void orr_real_crash_init(void);
void orr_real_crash_exit(void);

#endif
