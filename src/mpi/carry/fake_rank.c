/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The account of a fake rank (see fake_rank.h). Memory is looked at whenever something may have
 * been allocated: the largest of these looks is reported.
 *
 * Invariant: nothing is counted twice; what it would send is in the statistics of its peers. */
#include "mpi/carry/fake_rank.h"
#include "mpi/carry/message_trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "base/log.h"
#include "base/numbers.h"

/* All are atomic. */
struct orr_mpi_alone {
	uint64_t nown, nreceived, received_bytes;
	size_t peak;     /* bytes of main memory that the runtime allocated for data */
	uint64_t nseen;  /* tasks inserted when the program paused last ... */
	int64_t last_ns; /* ... with new ones, and when that was, by orr_sys_now_us() */
};

int orr_mpi_alone_init(struct orr_mpi *mpi)
{
	mpi->alone = calloc(1, sizeof(*mpi->alone));
	if (!mpi->alone) {
		orr_error("out of memory for the account of a fake rank");
		return -ENOMEM;
	}
	return 0;
}

void orr_mpi_alone_exit(struct orr_mpi *mpi)
{
	free(mpi->alone);
	mpi->alone = NULL;
}

void orr_mpi_alone_waited(struct orr_mpi *mpi)
{
	size_t used = starpu_memory_get_used(STARPU_MAIN_RAM),
	       peak = ORR_ATOMIC_LOAD(&mpi->alone->peak);

	while (used > peak && !ORR_ATOMIC_CAS(&mpi->alone->peak, &peak, used))
		;
}

void orr_mpi_alone_inserted(struct orr_mpi *mpi)
{
	ORR_ATOMIC_ADD(&mpi->alone->nown, 1);
	orr_mpi_alone_waited(mpi);
}

/* No clock is read for each insertion, which may take as long as that. */
void orr_mpi_alone_pauses(struct orr_mpi *mpi)
{
	uint64_t n = ORR_ATOMIC_LOAD_RELAXED(&mpi->counts.ninserted);

	if (ORR_ATOMIC_XCHG(&mpi->alone->nseen, n) != n)
		ORR_ATOMIC_STORE(&mpi->alone->last_ns, (int64_t) (orr_sys_now_us() * 1e3));
}

void orr_mpi_alone_received(struct orr_mpi *mpi, const struct orr_mpi_req *req)
{
	size_t bytes = starpu_data_get_size(req->acquire.access.handle);

	ORR_ATOMIC_ADD(&mpi->alone->nreceived, 1);
	ORR_ATOMIC_ADD(&mpi->alone->received_bytes, bytes);
	orr_mpi_alone_waited(mpi);
}

void orr_mpi_alone_report(struct orr_mpi *mpi)
{
	ORR_PLAIN_NUMBERS;
	const struct orr_mpi_alone *a = mpi->alone;
	uint64_t nsent = 0, sent_bytes = 0;
	unsigned to = 0, from = 0;

	orr_mpi_alone_pauses(mpi);
	double us = a->last_ns > 0 ? (double) a->last_ns * 1e-3 - mpi->start_us : 0;

	orr_lock(&mpi->lock);
	for (uint32_t i = 0; i < mpi->stats.peers.cap; i++) {
		const struct orr_mpi_peer *p = mpi->stats.peers.v[i];
		if (!p)
			continue;
		to += p->stats.messages > 0;
		from += p->nfrom > 0;
		nsent += p->stats.messages;
		sent_bytes += p->stats.bytes;
	}
	orr_unlock(&mpi->lock);
	orr_info("rank %d of %d, alone: inserted %" PRIu64 " tasks, %" PRIu64
		 " of them its own, in %.6f s (%.3f us each)",
		 mpi->rank, mpi->size, mpi->counts.ninserted, a->nown, us * 1e-6,
		 mpi->counts.ninserted ? us / (double) mpi->counts.ninserted : 0.0);
	orr_info(
		"rank %d of %d, alone: would send %" PRIu64 " messages, %" PRIu64
		" bytes, to %u ranks, and receive %" PRIu64 " messages, %" PRIu64
		" bytes, from %u ranks; holds at most %zu bytes of data that the runtime allocated",
		mpi->rank, mpi->size, nsent, sent_bytes, to, a->nreceived, a->received_bytes, from,
		a->peak);
}
