/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The stacks of actors that never end: those of the ranks' main actors, which park, and of engines
 * and drivers, where they have their own. They lie in one piece of memory, and few of its pages are
 * in use.
 *
 * Invariant: a stack from here is never given back. */
#ifndef ORR_SIM_STACKS_H
#define ORR_SIM_STACKS_H

#include <stddef.h>

struct orr_sim_actor;

#pragma GCC visibility push(default)
/* The launcher's posix_memalign() (sim/launcher/interpose.c) asks for each block that is wanted
 * while no actor runs, which is when SimGrid makes stacks: that stack, or NULL where it is none. */
void *orrery_sim_stack(size_t alignment, size_t size);
#pragma GCC visibility pop

/* One more of the next stacks that SimGrid makes is that of an actor that never ends. About n of
 * its size are expected in all. */
void orr_sim_stacks_expect(size_t n);
/* Gives the pages of the caller's stack below its present frames back to the system. */
void orr_sim_stacks_trim(const struct orr_sim_actor *a);

#endif
