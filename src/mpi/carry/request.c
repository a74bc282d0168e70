/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Requests: their memory.
 *
 * Requests come from chunks of their own, recycled through one list under mpi->lock, which posting
 * takes anyhow.
 *
 * Invariant: kind is ORR_MPI_FREE exactly while a request is in the free list; a request in that
 * list holds nothing. */
#include <stdlib.h>
#include <string.h>
#include "mpi/carry/comm.h"
#include "mpi/carry/layer.h"
#include "mpi/carry/request.h"
#include "base/upcalls.h"
#include "base/assert.h"
#include "base/log.h"
#include "base/seam_memory.h"

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

static struct orr_mpi_req *request_take(struct orr_mpi *mpi)
{
	struct orr_mpi_req *req = mpi->reqs.free;

	orr_assert_locked(&mpi->lock);
	if (req)
		mpi->reqs.free = req->link.next ? of_link(req->link.next) : NULL;
	orr_assert(!req || req->kind == ORR_MPI_FREE);
	return req;
}

struct orr_mpi_req *orr_mpi_req_alloc(struct orr_mpi *mpi)
{
	orr_lock(&mpi->lock);
	struct orr_mpi_req *req = request_take(mpi);
	if (!req) {
		struct orr_mpi_chunk *chunk = orr_sys_chunk_alloc(CHUNK_BYTES);
		if (!chunk) {
			orr_unlock(&mpi->lock);
			orr_error("out of memory for MPI requests");
			return NULL;
		}
		memset(chunk, 0, sizeof(*chunk));
		chunk->next = mpi->reqs.chunks;
		mpi->reqs.chunks = chunk;
		for (int i = PER_CHUNK - 1; i >= 0; i--) {
			chunk->req[i].link.next = mpi->reqs.free ? &mpi->reqs.free->link : NULL;
			mpi->reqs.free = &chunk->req[i];
		}
		req = request_take(mpi);
	}
	memset(req, 0, sizeof(*req));
	req->seq = ++mpi->reqs.seq;
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
	req->link.next = mpi->reqs.free ? &mpi->reqs.free->link : NULL;
	mpi->reqs.free = req;
	orr_unlock(&mpi->lock);
}

void orr_mpi_reqs_exit(struct orr_mpi *mpi)
{
	while (mpi->reqs.chunks) {
		struct orr_mpi_chunk *chunk = mpi->reqs.chunks;
		mpi->reqs.chunks = chunk->next;
		orr_sys_chunk_free(chunk, CHUNK_BYTES);
	}
	mpi->reqs.free = NULL;
}

void orr_mpi_reqs_foreach(struct orr_mpi *mpi, void (*f)(struct orr_mpi_req *, void *), void *arg)
{
	for (struct orr_mpi_chunk *chunk = mpi->reqs.chunks; chunk; chunk = chunk->next)
		for (unsigned i = 0; i < PER_CHUNK; i++)
			if (chunk->req[i].kind != ORR_MPI_FREE)
				f(&chunk->req[i], arg);
}

int orr_mpi_mates(const struct orr_mpi *mpi, const struct orr_mpi_req *a,
		  const struct orr_mpi_req *b)
{
	return a->kind == b->kind && a->acquire.access.handle == b->acquire.access.handle &&
	       a->tag == b->tag && a->context == b->context && !a->sync && !b->sync && !mpi->fake &&
	       a->peer != mpi->rank && b->peer != mpi->rank &&
	       a->acquire.access.node == STARPU_MAIN_RAM &&
	       b->acquire.access.node == STARPU_MAIN_RAM &&
	       ORR_ATOMIC_LOAD_RELAXED(&mpi->set.coop) && mpi->set.max_route;
}
