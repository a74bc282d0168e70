/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Owners of data by the number of ranks, as resizes ask for them.
 *
 * Invariant: the answer follows from the distribution, the index, and the number of ranks alone. */
#ifndef ORR_MPI_DISTRIBUTION_H
#define ORR_MPI_DISTRIBUTION_H

#include "orrery_resize.h"

/* The number of data that a distribution is for; INT64_MAX: the program's own rule decides. */
int64_t orr_distribution_n(const struct orrery_distribution *d);

#endif
