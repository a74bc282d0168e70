/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The settings of OpenMP of a thread: what omp_set_num_threads() and its relatives set holds for
 * the thread that calls them, and each thread begins with those of the environment
 * (OpenMP 5.1, 2.4). libgomp keeps them by thread of the system, of which all actors are one.
 *
 * Invariant: libgomp's settings are those of the thread that was entered last. */
#ifndef ORR_SIM_OPENMP_H
#define ORR_SIM_OPENMP_H

/* Of a thread that does not run. All zero: those of the environment. */
struct orr_sim_openmp {
	int known, threads, dynamic, levels, device, kind, chunk;
};

/* 1: the program has a libgomp. */
extern int orr_sim_openmp_found;

/* A program was loaded, by the thread of these settings. */
void orr_sim_openmp_find(struct orr_sim_openmp *own);
/* The thread goes on; only if one was found. */
void orr_sim_openmp_enter(struct orr_sim_openmp *own);
/* The thread has ended. */
void orr_sim_openmp_end(const struct orr_sim_openmp *own);

#endif
