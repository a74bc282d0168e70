/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The answers of a process about itself while it runs (base/live.h).
 *
 * Invariant: it reads atomics, and takes locks only that protect a few words of memory accounting;
 * it changes nothing. */
#ifndef ORR_CORE_TELL_H
#define ORR_CORE_TELL_H

#include <stdio.h>

struct orr_process;

/* [any] See orr_core_upcalls.tell. */
void orr_core_tell(struct orr_process *proc, FILE *f, int all);

#endif
