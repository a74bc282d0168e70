/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Requests: their memory, and the list of pending ones for diagnosis.
 *
 * Requests come from chunks of their own, recycled through one list under mpi->lock, which posting
 * takes anyhow.
 *
 * Invariant: kind is ORR_MPI_FREE exactly while a request is in the free list; a request in that
 * list holds nothing. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "mpi/stall.h"
#include "base/upcalls.h"
#include "base/assert.h"
#include "base/log.h"

#define PER_CHUNK 32

struct orr_mpi_chunk {
	struct orr_mpi_chunk *next;
	struct orr_mpi_req req[PER_CHUNK];
};

#define CHUNK_BYTES ((sizeof(struct orr_mpi_chunk) + 63) & ~(size_t) 63)

static struct orr_mpi_req *of_link(struct orr_mpi_link *l)
{
	return (struct orr_mpi_req *) ((char *) l - offsetof(struct orr_mpi_req, link));
}

static struct orr_mpi_req *take(struct orr_mpi *mpi)
{
	struct orr_mpi_req *req = mpi->free_reqs;

	orr_assert_locked(&mpi->lock);
	if (req)
		mpi->free_reqs = req->link.next ? of_link(req->link.next) : NULL;
	orr_assert(!req || req->kind == ORR_MPI_FREE);
	return req;
}

struct orr_mpi_req *orr_mpi_req_alloc(struct orr_mpi *mpi)
{
	orr_lock(&mpi->lock);
	struct orr_mpi_req *req = take(mpi);
	if (!req) {
		struct orr_mpi_chunk *chunk = orr_sys_chunk_alloc(CHUNK_BYTES);
		if (!chunk) {
			orr_unlock(&mpi->lock);
			orr_error("out of memory for MPI requests");
			return NULL;
		}
		memset(chunk, 0, sizeof(*chunk));
		chunk->next = mpi->chunks;
		mpi->chunks = chunk;
		for (int i = PER_CHUNK - 1; i >= 0; i--) {
			chunk->req[i].link.next = mpi->free_reqs ? &mpi->free_reqs->link : NULL;
			mpi->free_reqs = &chunk->req[i];
		}
		req = take(mpi);
	}
	memset(req, 0, sizeof(*req));
	req->seq = ++mpi->seq;
	orr_unlock(&mpi->lock);
	return req;
}

void orr_mpi_req_free(struct orr_mpi *mpi, struct orr_mpi_req *req)
{
	orr_lock(&mpi->lock);
	orr_assertf(req->kind != ORR_MPI_FREE, "a request is freed twice");
	orr_assert(!req->early && !req->envelope && !req->buf && !req->nflight);
	orr_assertf(!req->acquire.access.granted && !req->acquire.access.locked &&
			    !req->acquire.access.pinned,
		    "a request ends that still holds its datum");
	req->kind = ORR_MPI_FREE;
	req->link.next = mpi->free_reqs ? &mpi->free_reqs->link : NULL;
	mpi->free_reqs = req;
	orr_unlock(&mpi->lock);
}

void orr_mpi_reqs_exit(struct orr_mpi *mpi)
{
	while (mpi->chunks) {
		struct orr_mpi_chunk *chunk = mpi->chunks;
		mpi->chunks = chunk->next;
		orr_sys_chunk_free(chunk, CHUNK_BYTES);
	}
	mpi->free_reqs = NULL;
}

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

void orr_mpi_reqs_foreach(struct orr_mpi *mpi, void (*f)(struct orr_mpi_req *, void *), void *arg)
{
	for (struct orr_mpi_chunk *chunk = mpi->chunks; chunk; chunk = chunk->next)
		for (unsigned i = 0; i < PER_CHUNK; i++)
			if (chunk->req[i].kind != ORR_MPI_FREE)
				f(&chunk->req[i], arg);
}

int orr_mpi_dump(struct orr_process *proc, FILE *f, unsigned max)
{
	struct orr_mpi *mpi = proc->mpi;
	unsigned n = 0;

	if (!mpi)
		return 0;
	orr_mpi_stall_tell(mpi, f);
	for (struct orr_mpi_chunk *chunk = mpi->chunks; chunk; chunk = chunk->next)
		for (unsigned i = 0; i < PER_CHUNK; i++) {
			struct orr_mpi_req *req = &chunk->req[i];
			if (req->kind == ORR_MPI_FREE || req->where == ORR_MPI_DONE)
				continue;
			if (n++ < max)
				dump_request(f, mpi, req);
		}
	unsigned shown = n < max ? n : max;
	for (struct orr_mpi_early *e = mpi->early_first; e; e = e->next)
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

void orr_mpi_waits(struct orr_process *proc, void (*note)(const struct orr_mpi_wait *w, void *arg),
		   void *arg)
{
	struct orr_mpi *mpi = proc->mpi;

	for (struct orr_mpi_chunk *chunk = mpi ? mpi->chunks : NULL; chunk; chunk = chunk->next)
		for (unsigned i = 0; i < PER_CHUNK; i++) {
			const struct orr_mpi_req *req = &chunk->req[i];
			if (req->kind == ORR_MPI_FREE || req->where == ORR_MPI_DONE ||
			    req->kind == ORR_MPI_SEND_PLAN || req->plan ||
			    (req->kind == ORR_MPI_RECV && req->where != ORR_MPI_POSTED))
				continue;
			note(
				&(struct orr_mpi_wait){
					.kind = req->kind == ORR_MPI_RECV ? ORR_WAIT_RECEIVE
									  : ORR_WAIT_SEND,
					.peer = req->peer == ORR_MPI_ANY ? -1 : req->peer,
					.context = req->context,
					.tag = req->tag,
					.name = orr_handle_name(req->acquire.access.handle) },
				arg);
		}
	for (struct orr_mpi_early *e = mpi ? mpi->early_first : NULL; e; e = e->next)
		if (!e->req)
			note(&(struct orr_mpi_wait){ .kind = ORR_WAIT_UNASKED,
						     .peer = e->source,
						     .context = e->env.context,
						     .tag = e->env.tag,
						     .name = "" },
			     arg);
}
