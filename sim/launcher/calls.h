/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the executable orrery-sim-launcher calls in liborrery-sim: the launcher itself, and what
 * takes the place of some calls of the program. The executable holds only interpose.c, because the
 * loader looks there first; all else is in the library, whose other internal names are hidden.
 *
 * Invariant: exported for the executable of the same build, not for programs. */
#ifndef ORR_LAUNCHER_CALLS_H
#define ORR_LAUNCHER_CALLS_H

#include <sys/time.h>
#include <time.h>

#pragma GCC visibility push(default)

/* The launcher's main(). */
int orrery_sim_main(int argc, char **argv);
/* Becomes `orrery sim`, for the program for the simulated world that this process was started with.
 */
int orrery_sim_alone(int argc, char **argv) __attribute__((noreturn));
/* exit() and its relatives: ends the rank. */
void orrery_sim_exit(int status) __attribute__((noreturn));
/* MPI_Abort(): ends the simulation. */
void orrery_sim_abort(int code) __attribute__((noreturn));
/* clock_gettime(), gettimeofday() and time(): virtual time since the start of the simulation, all
 * clocks the same. */
int orrery_sim_clock_gettime(clockid_t clock, struct timespec *t);
int orrery_sim_gettimeofday(struct timeval *t);
time_t orrery_sim_time(time_t *t);
/* MPI_Init(). */
int orrery_sim_init(int *argc, char ***argv);
/* After MPI_Test() or one of its relatives returned ret, having found something (flag) or not: lets
 * virtual time go by. Returns ret. */
int orrery_sim_polled(int ret, int flag);

#pragma GCC visibility pop
#endif
