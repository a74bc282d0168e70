/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The operations on process sets, with the numbers that the interface gives them.
 *
 * Invariant: the same numbers as MPI_PSETOP_* of orrery_dyn.h, which checks that. */
#ifndef ORR_DYN_OPERATIONS_H
#define ORR_DYN_OPERATIONS_H

enum orr_dyn_operation {
	ORR_DYN_NULL = 0,
	ORR_DYN_ADD = 1,
	ORR_DYN_SUB = 2,
	ORR_DYN_REPLACE = 3,
	ORR_DYN_MALLEABLE = 4,
	ORR_DYN_GROW = 5,
	ORR_DYN_SHRINK = 6,
	ORR_DYN_UNION = 7,
	ORR_DYN_DIFFERENCE = 8,
	ORR_DYN_INTERSECTION = 9,
	ORR_DYN_SPLIT = 10
};

#endif
