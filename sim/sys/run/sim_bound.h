/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lower bounds on the time of what all ranks submitted (sim_bound.c).
 *
 * Invariant: stated in sim_bound.c. */
#ifndef ORR_SIM_BOUND_H
#define ORR_SIM_BOUND_H

struct orr_sim_rank;

struct orr_sim_bounds {
	double area_us, area_mean_us; /* of the rank with most work; mean over ranks */
	int area_rank;
	double path_us; /* of the longest path through tasks of all ranks */
};
/* The runtime of a rank stops: its graph is kept. */
void orr_sim_bound_collect(struct orr_sim_rank *r);
/* 0, or -ENOMEM. */
int orr_sim_bound_compute(struct orr_sim_bounds *b);

#endif
