/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sessions of the MPI itself. An MPI of version 4 has them; then they are used, and the library
 * adds the sets that change. With an older one, a session is a handle of ours.
 *
 * Invariant: in an elastic run, sets and their groups and communicators come from the registry,
 * whatever MPI there is; in other runs, from the MPI if it has them. */
#ifndef ORR_DYN_OWN_H
#define ORR_DYN_OWN_H

#include "orrery_dyn.h"

struct orr_dyn_own {
	int (*init)(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session);
	int (*finalize)(MPI_Session *session);
	/* 0: what follows is NULL, because this MPI has no sessions. */
	int has_sets;
	int (*get_num_psets)(MPI_Session session, MPI_Info info, int *npsets);
	int (*get_nth_pset)(MPI_Session session, MPI_Info info, int n, int *length, char *name);
	int (*get_pset_info)(MPI_Session session, const char *name, MPI_Info *info);
	int (*group)(MPI_Session session, const char *name, MPI_Group *group);
	int (*comm)(MPI_Group group, const char *tag, MPI_Info info, MPI_Errhandler errhandler,
		    MPI_Comm *comm);
};

extern const struct orr_dyn_own orr_dyn_own;

/* The MPI's functions if they are to answer, because the run is not elastic; NULL: they are not. */
const struct orr_dyn_own *orr_dyn_own_only(void);

#endif
