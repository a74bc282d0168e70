/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The life of scheduling contexts: creation, joining and leaving of workers, deletion.
 *
 * Invariant: only whoever holds core->ctx_busy changes which workers a context has. */
#ifndef ORR_CORE_SCHED_CTX_LIFE_H
#define ORR_CORE_SCHED_CTX_LIFE_H

#include "core/worker/core.h"

/* The workers of contexts that are finished and empty go to the inheritors, now or as soon as
 * whoever changes contexts is done. */
void orr_ctx_leave(struct orr_process *proc);

/* The context that id names, or NULL after a message that begins with `what`. */
struct orr_ctx *orr_ctx_get(unsigned id, const char *what);

/* Makes the default context, with all workers. 0 or -errno. */
int orr_ctx_init(struct orr_process *proc, struct starpu_sched_policy *policy);
/* Gives back what contexts hold, when the workers have ended. */
void orr_ctx_exit(struct orr_process *proc);

#endif
