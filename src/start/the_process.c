/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The making of processes (see process.h).
 *
 * Invariant: the tables by which lower floors reach higher ones are set before anybody sees a
 * process. */
#include "start/the_process.h"

#include <stdlib.h>

#include "core/worker/core.h"
#include "core/front/core_upcalls.h"
#include "data/close.h"
#include "data/data.h"
#include "data/nodes.h"
#include "sched/sched.h"
#include "start/shared_conf.h"
#include "base/config.h"

/* Locks that may be taken before starpu_init have their rank from the beginning. */
#define DATA \
	{ \
		.up = &orr_core_data_upcalls, .last_unpin = orr_handle_last_unpin, \
		.memnodes = ORR_MEMNODES_NONE, .handle_slab = { \
			.lock = ORR_LOCK_INIT(SLAB) \
		} \
	}
#define CORE \
	{ \
		.policies = &orr_sched_table, .tag_lock = ORR_LOCK_INIT(TAG), \
		.edge_lock = ORR_LOCK_INIT(EDGE), .join_lock = ORR_LOCK_INIT(JOIN), \
		.task_slab = { .lock = ORR_LOCK_INIT(SLAB) }, \
		.access_slab = { .lock = ORR_LOCK_INIT(SLAB) }, .info_slab = { \
			.lock = ORR_LOCK_INIT(SLAB) \
		} \
	}
#define PROCESS(its_data, its_core, its_cfg) \
	{ \
		.data = (its_data), .core = (its_core), .conf = &orr_no_conf, .cfg = (its_cfg), \
		.core_up = &orr_core_upcalls, .park = &orr_core_park_ops, \
		.lock = ORR_LOCK_INIT(PROCESS) \
	}

static struct orr_data the_data = DATA;
static struct orr_core the_core = CORE;
struct orr_process orr_the_process = PROCESS(&the_data, &the_core, &orr_lasting_config.cfg);

struct whole {
	struct orr_process proc;
	struct orr_data data;
	struct orr_core core;
};

struct orr_process *orr_process_new(void)
{
	struct whole *w = aligned_alloc(_Alignof(struct whole), sizeof(*w));

	if (!w)
		return NULL;
	*w = (struct whole){ .proc = PROCESS(&w->data, &w->core, &orr_no_config),
			     .data = DATA,
			     .core = CORE };
	return &w->proc;
}

void orr_process_free(struct orr_process *proc)
{
	orr_conf_end(proc);
	orr_config_end(proc);
	orr_memnodes_free(proc);
	free(proc);
}
