/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The one simulation of a process.
 *
 * Invariant: stated in sim.h. */
#include "sim.h"

struct orr_sim orr_sim;
