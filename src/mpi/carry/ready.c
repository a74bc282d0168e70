/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sends that wait to start (see ready.h). */
#include "mpi/carry/ready.h"

#include <stdlib.h>

#include "base/assert.h"
#include "base/log.h"
#include "mpi/carry/layer.h"
#include "mpi/carry/comm.h"

void orr_mpi_ready_push(struct orr_mpi *mpi, struct orr_mpi_req *req)
{
	if (mpi->ready.n == mpi->ready.cap) {
		mpi->ready.cap = mpi->ready.cap ? 2 * mpi->ready.cap : 16;
		mpi->ready.heap = realloc(mpi->ready.heap,
					  mpi->ready.cap * sizeof(*mpi->ready.heap));
		if (!mpi->ready.heap)
			orr_fatal("out of memory for %u ready requests", mpi->ready.cap);
	}
	unsigned i = mpi->ready.n;

	orr_mpi_assert_owner(mpi);
	orr_assert(req->kind == ORR_MPI_SEND && req->where == ORR_MPI_FETCHING && req->granted);
	ORR_ATOMIC_STORE_RELAXED(&mpi->ready.n, i + 1);
	for (; i && orr_mpi_ready_before(req, mpi->ready.heap[(i - 1) / 2]); i = (i - 1) / 2)
		mpi->ready.heap[i] = mpi->ready.heap[(i - 1) / 2];
	mpi->ready.heap[i] = req;
	ORR_ATOMIC_STORE_RELAXED(&req->where, ORR_MPI_READY);
}

struct orr_mpi_req *orr_mpi_ready_pop(struct orr_mpi *mpi)
{
	orr_mpi_assert_owner(mpi);
	orr_assert(mpi->ready.n > 0);
	struct orr_mpi_req *top = mpi->ready.heap[0], *last = mpi->ready.heap[mpi->ready.n - 1];
	unsigned i = 0;

	ORR_ATOMIC_STORE_RELAXED(&mpi->ready.n, mpi->ready.n - 1);

	for (unsigned child = 1; child < mpi->ready.n; child = 2 * i + 1) {
		if (child + 1 < mpi->ready.n &&
		    orr_mpi_ready_before(mpi->ready.heap[child + 1], mpi->ready.heap[child]))
			child++;
		if (!orr_mpi_ready_before(mpi->ready.heap[child], last))
			break;
		mpi->ready.heap[i] = mpi->ready.heap[child];
		i = child;
	}
	mpi->ready.heap[i] = last;
	orr_assertf(!mpi->ready.n || !orr_mpi_ready_before(mpi->ready.heap[0], top),
		    "the heap of ready requests");
	return top;
}

void orr_mpi_ready_exit(struct orr_mpi *mpi)
{
	free(mpi->ready.heap);
	mpi->ready.heap = NULL;
	mpi->ready.n = mpi->ready.cap = 0;
}
