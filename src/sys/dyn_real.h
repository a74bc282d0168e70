/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Common to the files of the real world's half of liborrery-dyn.
 *
 * Invariant: links are freed when the registry says so, and else live as long as the process. */
#ifndef ORR_SYS_DYN_REAL_H
#define ORR_SYS_DYN_REAL_H

#include <mpi.h>
#include <stdlib.h>

/* The place of the registry of this run (dyn_real.c); NULL: the set of processes is fixed. */
static inline const char *orr_dyn_registry(void)
{
	return getenv("ORRERY_DYN_SERVER");
}

/* A communicator that the library keeps (dyn/links.h). */
struct orr_dyn_known {
	int link;
	MPI_Comm comm; /* its ranks are in the order of uids */
	int *uids, n;
};

/* The link of that number, or the first one that has all these processes; NULL: there is none. */
struct orr_dyn_known *orr_dyn_known_by_number(int link);
struct orr_dyn_known *orr_dyn_known_with(const int *uids, int n);
/* Keeps the communicator. */
void orr_dyn_known_add(int link, MPI_Comm comm, const int *uids, int n);
void orr_dyn_known_free(int link);
/* The rank of the process in the link, or -1. */
int orr_dyn_known_rank(const struct orr_dyn_known *k, int uid);
/* The processes of a real group, allocated, and their number; -1: one is in no link. */
int orr_dyn_known_uids(MPI_Group group, int **uids);
/* The group of a set with processes that are not connected yet (dyn_group.c); 0 or an error class.
 */
int orr_dyn_stand_in(const int *uids, int n, MPI_Group *group);
/* Its processes and their number; -1: the group is a real one. */
int orr_dyn_stand_in_uids(MPI_Group group, const int **uids);
/* The uid of this process. */
int orr_dyn_uid(void);
/* The program ends and tells the registry (dyn_end.c). */
void orr_dyn_end_watch(void (*bye)(int status));
/* True if the process belongs to an elastic run, in which MPI_Finalize() waits for nobody. */
int orr_dyn_elastic(void);

#endif
