/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The stages of starpu_init, in order. Each stage needs those before it; starpu_shutdown ends them
 * backwards, and so does starpu_init if one of them fails.
 *
 * Invariant: a stage that fails has undone what it did, and its exit is not called. */
#ifndef ORR_START_STAGES_H
#define ORR_START_STAGES_H

#include "base/process.h"

struct orr_stage {
	const char *name;
	int (*init)(struct orr_process *proc); /* 0, or -errno after a message (none for -ENOMEM) */
	void (*exit)(struct orr_process *proc);
};

extern const struct orr_stage orr_stages[];
extern const unsigned orr_nstages;

/* Walks n stages forwards. If one fails, ends those before it and returns its -errno. */
int orr_stages_enter(struct orr_process *proc, const struct orr_stage *stages, unsigned n);
/* Ends n stages, the last one first. */
void orr_stages_leave(struct orr_process *proc, const struct orr_stage *stages, unsigned n);

#endif
