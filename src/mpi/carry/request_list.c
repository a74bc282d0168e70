/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list of what is under way (see request_list.h). */
#include "mpi/carry/request_list.h"

#include <inttypes.h>

#include "base/upcalls.h"
#include "mpi/carry/layer.h"
#include "mpi/carry/request.h"

static const char *state_of(const struct orr_mpi_req *req)
{
	if (req->kind == ORR_MPI_RECV && req->where != ORR_MPI_FLYING) {
		if (req->where == ORR_MPI_POSTED)
			return req->granted
				       ? "early request: waits for the message"
				       : "early request: waits for the message and for its data";
		return req->granted
			       ? "message here, waits for the engine"
			       : "message here, waits for its data (a task or another request holds it)";
	}
	switch (req->where) {
	case ORR_MPI_FETCHING:
		return req->granted ? "waits for the engine"
				    : "waits for its data (a task or another request holds it)";
	case ORR_MPI_READY: return "ready: waits for a free slot, see STARPU_MPI_NDETACHED_SEND";
	case ORR_MPI_FLYING: return "detached list: in MPI's hands, waits for the other side";
	default: return "complete";
	}
}

static void dump_request(FILE *f, struct orr_mpi *mpi, struct orr_mpi_req *req)
{
	char peer[32] = "any rank";

	if (req->peer_rank != ORR_MPI_ANY)
		snprintf(peer, sizeof(peer), "rank %d", req->peer_rank);
	fprintf(f, "[rank %d] %s of %s %s %s, tag %" PRId64 ", %zu bytes: %s\n", mpi->rank,
		req->kind == ORR_MPI_SEND ? (req->sync ? "synchronous send" : "send") : "receive",
		orr_handle_name(req->acquire.access.handle),
		req->kind == ORR_MPI_SEND ? "to" : "from", peer, req->tag,
		req->size ? req->size : starpu_data_get_size(req->acquire.access.handle),
		state_of(req));
}

/* A list that is being printed. */
struct listing {
	struct orr_mpi *mpi;
	FILE *f;
	unsigned n, max;
};

static void list_request(struct orr_mpi_req *req, void *arg)
{
	struct listing *l = arg;

	if (req->where != ORR_MPI_DONE && l->n++ < l->max)
		dump_request(l->f, l->mpi, req);
}

int orr_mpi_dump(struct orr_process *proc, FILE *f, unsigned max)
{
	struct orr_mpi *mpi = proc->mpi;
	struct listing l = { .mpi = mpi, .f = f, .max = max };

	if (!mpi)
		return 0;
	orr_mpi_reqs_foreach(mpi, list_request, &l);
	unsigned n = l.n, shown = n < max ? n : max;
	for (struct orr_mpi_early *e = mpi->match.first; e; e = e->next)
		if (!e->req && n++ < max) {
			shown++;
			fprintf(f,
				"[rank %d] early data: message from rank %d, tag %" PRId64
				", %" PRIu64 " bytes: no receive was posted for it\n",
				mpi->rank, e->source, e->env.tag, e->env.size);
		}
	if (n > shown)
		fprintf(f, "[rank %d] ... and %u more requests and messages\n", mpi->rank,
			n - shown);
	return (int) n;
}

/* Somebody who is told what the process waits for. */
struct listener {
	void (*note)(const struct orr_mpi_wait *w, void *arg);
	void *arg;
};

static void note_request(struct orr_mpi_req *req, void *arg)
{
	const struct listener *l = arg;

	if (req->where == ORR_MPI_DONE || req->kind == ORR_MPI_SEND_PLAN || req->plan ||
	    (req->kind == ORR_MPI_RECV && req->where != ORR_MPI_POSTED))
		return;
	l->note(&(struct orr_mpi_wait){ .kind = req->kind == ORR_MPI_RECV ? ORR_WAIT_RECEIVE
									  : ORR_WAIT_SEND,
					.peer = req->peer == ORR_MPI_ANY ? -1 : req->peer,
					.context = req->context,
					.tag = req->tag,
					.name = orr_handle_name(req->acquire.access.handle) },
		l->arg);
}

void orr_mpi_waits(struct orr_process *proc, void (*note)(const struct orr_mpi_wait *w, void *arg),
		   void *arg)
{
	struct orr_mpi *mpi = proc->mpi;
	struct listener l = { note, arg };

	if (!mpi)
		return;
	orr_mpi_reqs_foreach(mpi, note_request, &l);
	for (struct orr_mpi_early *e = mpi->match.first; e; e = e->next)
		if (!e->req)
			note(&(struct orr_mpi_wait){ .kind = ORR_WAIT_UNASKED,
						     .peer = e->source,
						     .context = e->env.context,
						     .tag = e->env.tag,
						     .name = "" },
			     arg);
}
