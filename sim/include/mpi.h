/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* MPI as a program for the simulated world sees it: SMPI's, with handles that are constants.
 *
 * MPI wants predefined handles to be usable as initialisers of variables with static storage:
 *     static MPI_Comm comm = MPI_COMM_WORLD;
 * In SMPI, MPI_COMM_WORLD is a variable and MPI_COMM_SELF a call. Here both are addresses that the
 * loader fills in for each rank when it loads the rank's copy of the program (handles.c of the
 * launcher). All other predefined handles of SMPI are constants already.
 *
 * Invariant: a handle is the same object as SMPI's of that name, in the program's main thread. */
#ifndef ORRERY_SIM_MPI_H
#define ORRERY_SIM_MPI_H
#pragma GCC system_header
#include_next <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

extern char orrery_sim_comm_world[], orrery_sim_comm_self[], orrery_sim_info_env[];

#ifdef __cplusplus
}
#define ORRERY_SIM_HANDLE(type, name) (reinterpret_cast<type>(name))
#else
#define ORRERY_SIM_HANDLE(type, name) ((type) (void *) (name))
#endif

#undef MPI_COMM_WORLD
#define MPI_COMM_WORLD ORRERY_SIM_HANDLE(MPI_Comm, orrery_sim_comm_world)
#undef MPI_COMM_SELF
#define MPI_COMM_SELF ORRERY_SIM_HANDLE(MPI_Comm, orrery_sim_comm_self)
#undef MPI_INFO_ENV
#define MPI_INFO_ENV ORRERY_SIM_HANDLE(MPI_Info, orrery_sim_info_env)

#endif
