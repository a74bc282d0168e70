/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sessions of the MPI itself, or handles that stand for them.
 *
 * Invariant: see own.h. */
#include "dyn/own.h"

#include <stdlib.h>
#include "base/seam_dyn.h"
#include "dyn/client.h"

const struct orr_dyn_own *orr_dyn_own_only(void)
{
	return orr_dyn_own.has_sets && !orr_sys_dyn_on() ? &orr_dyn_own : NULL;
}

#if ORRERY_DYN_MPI_SESSIONS

const struct orr_dyn_own orr_dyn_own = { .init = PMPI_Session_init,
					 .finalize = PMPI_Session_finalize,
					 .has_sets = 1,
					 .get_num_psets = PMPI_Session_get_num_psets,
					 .get_nth_pset = PMPI_Session_get_nth_pset,
					 .get_pset_info = PMPI_Session_get_pset_info,
					 .group = PMPI_Group_from_session_pset,
					 .comm = PMPI_Comm_create_from_group };

#else

static int init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)
{
	struct orr_dyn_client *c = orr_dyn_client();
	(void) info;
	(void) errhandler;
	int at = 0;
	while (at < c->nsessions && c->sessions[at])
		at++;
	if (at == c->nsessions) {
		size_t bytes = (size_t) ++c->nsessions * sizeof(*c->sessions);
		c->sessions = orr_dyn_memory(c->sessions, bytes);
	}
	struct orrery_dyn_session *s = orr_dyn_memory(NULL, sizeof(*s));
	s->number = at + 1;
	*session = c->sessions[at] = s;
	return MPI_SUCCESS;
}

static int finalize(MPI_Session *session)
{
	orr_dyn_client()->sessions[(*session)->number - 1] = NULL;
	free(*session);
	*session = MPI_SESSION_NULL;
	return MPI_SUCCESS;
}

MPI_Fint MPI_Session_c2f(MPI_Session session)
{
	return session ? session->number : 0;
}

MPI_Session MPI_Session_f2c(MPI_Fint session)
{
	const struct orr_dyn_client *c = orr_dyn_client();
	return c && session > 0 && session <= c->nsessions ? c->sessions[session - 1]
							   : MPI_SESSION_NULL;
}

const struct orr_dyn_own orr_dyn_own = { .init = init, .finalize = finalize };

#endif
