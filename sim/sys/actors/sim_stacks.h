/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The stacks of the ranks' main actors: one piece of memory, and few of its pages in use.
 *
 * Invariant: a stack from here is never given back: the actor that has it parks when its rank ends.
 */
#ifndef ORR_SIM_STACKS_H
#define ORR_SIM_STACKS_H

#include <stddef.h>

struct orr_sim_actor;

#pragma GCC visibility push(default)
/* The launcher's posix_memalign() (sim/launcher/interpose.c) asks for each block: that stack, or
 * NULL where it is another block's turn. */
void *orrery_sim_stack(size_t alignment, size_t size);
#pragma GCC visibility pop

/* The next n stacks that SimGrid makes are those of actors that never end. */
void orr_sim_stacks_begin(size_t n);
void orr_sim_stacks_end(void);
/* What the caller's stack held below its present frames is given back to the system. */
void orr_sim_stacks_trim(const struct orr_sim_actor *a);

#endif
