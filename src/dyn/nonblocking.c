/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The non-blocking forms: a thread makes the blocking call and then completes a generalized request
 * of MPI.
 *
 * The call that completes the request (MPI_Wait(), MPI_Test(), ..) asks for its status in the
 * thread of the program, and MPI requires that. There the outputs of the other thread become
 * visible: MPI itself does not promise it for memory that it does not know.
 *
 * Invariant: a call belongs to its thread until `done` is set, and is freed with the request. */
#include <stdlib.h>
#include "base/assert.h"
#include "base/seam.h"
#include "base/seam_dyn.h"
#include "dyn/client.h"

struct later {
	int (*f)(struct later *);
	MPI_Request request;
	int done; /* ret and the outputs are written */
	int ret;
	MPI_Session session;
	int *op, n, *noutput, wait;
	char *coll, *set, **names, ***outputs;
	MPI_Info info, *info_used;
};

static int query_status(void *extra, MPI_Status *status)
{
	const struct later *l = extra;
	int done = ORR_ATOMIC_LOAD(&l->done);
	orr_assert(done);
	PMPI_Status_set_elements(status, MPI_BYTE, 0);
	PMPI_Status_set_cancelled(status, 0);
	status->MPI_SOURCE = MPI_UNDEFINED;
	status->MPI_TAG = MPI_UNDEFINED;
	return done ? l->ret : MPI_ERR_INTERN;
}

static int free_call(void *extra)
{
	free(extra);
	return MPI_SUCCESS;
}

/* Operations on sets are not cancelled. */
static int cancel_call(void *extra, int complete)
{
	(void) extra;
	(void) complete;
	return MPI_SUCCESS;
}

static void run(void *arg)
{
	struct later *l = arg;
	MPI_Request request = l->request;
	l->ret = l->f(l);
	ORR_ATOMIC_STORE(&l->done, 1);
	PMPI_Grequest_complete(request);
}

static int start(const struct later *call, MPI_Request *request)
{
	struct later *l = orr_dyn_memory(NULL, sizeof(*l));
	*l = *call;
	int ret = PMPI_Grequest_start(query_status, free_call, cancel_call, l, &l->request);
	if (ret) {
		free(l);
		return ret;
	}
	*request = l->request;
	if (orr_sys_dyn_thread(run, l))
		run(l);
	return MPI_SUCCESS;
}

static int psetop(struct later *l)
{
	return MPI_Session_dyn_v2a_psetop(l->session, l->op, l->names, l->n, l->outputs, l->noutput,
					  l->info);
}

int MPI_Session_dyn_v2a_psetop_nb(MPI_Session session, int *op, char **input_sets, int ninput,
				  char ***output_sets, int *noutput, MPI_Info info,
				  MPI_Request *request)
{
	int ret = orr_dyn_check("MPI_Session_dyn_v2a_psetop_nb", session, "-");
	return ret ? ret
		   : start(&(struct later){ .f = psetop,
					    .session = session,
					    .op = op,
					    .names = input_sets,
					    .n = ninput,
					    .outputs = output_sets,
					    .noutput = noutput,
					    .info = info },
			   request);
}

static int query(struct later *l)
{
	return MPI_Session_dyn_v2a_query_psetop(l->session, l->coll, l->set, l->op, l->outputs,
						l->noutput);
}

int MPI_Session_dyn_v2a_query_psetop_nb(MPI_Session session, char *coll_pset, char *input_pset,
					int *type, char ***output_psets, int *noutput,
					MPI_Request *request)
{
	int ret = orr_dyn_check("MPI_Session_dyn_v2a_query_psetop_nb", session, coll_pset);
	return ret ? ret
		   : start(&(struct later){ .f = query,
					    .session = session,
					    .coll = coll_pset,
					    .set = input_pset,
					    .op = type,
					    .outputs = output_psets,
					    .noutput = noutput },
			   request);
}

static int later_get(struct later *l)
{
	return MPI_Session_get_pset_data(l->session, l->coll, l->set, l->names, l->n, l->wait,
					 l->info_used);
}

int MPI_Session_get_pset_data_nb(MPI_Session session, char *coll_pset_name, char *pset_name,
				 char **keys, int nkeys, int wait, MPI_Info *info_used,
				 MPI_Request *request)
{
	int ret = orr_dyn_check("MPI_Session_get_pset_data_nb", session, coll_pset_name);
	return ret ? ret
		   : start(&(struct later){ .f = later_get,
					    .session = session,
					    .coll = coll_pset_name,
					    .set = pset_name,
					    .names = keys,
					    .n = nkeys,
					    .wait = wait,
					    .info_used = info_used },
			   request);
}
