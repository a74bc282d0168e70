/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Barriers and sums of the runtime over all ranks, without a message for each step: SMPI's take
 * time that grows with the square of the number of ranks.
 *
 * Invariant: all ranks call in the same order, each from one actor at a time. */
#ifndef ORR_SIM_COLLECTIVE_H
#define ORR_SIM_COLLECTIVE_H

#include <stdint.h>

/* [waits] Until all ranks have called, and as long as a barrier of dissemination takes then: for
 * each doubling of the number of ranks one short message. sums: of the n numbers of all ranks, n
 * may be 0. Returns 0 or -ENOMEM. */
int orr_sim_collective_sum(const uint64_t *mine, uint64_t *sums, int n);

#endif
