/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The number of times that a waiting thread looks again before it sleeps.
 *
 * Invariant: 0 exactly if the process has one core, once its topology is known. */
#include "sys/real.h"

unsigned orr_real_spins = ORR_REAL_SPINS;
