/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The account of a fake rank (see fake_rank.h). Memory is looked at whenever something may have
 * been allocated: the largest of these looks is reported.
 *
 * Invariant: nothing is counted twice; what it would send to a rank, and receive from one, is in
 * the statistics of its peers. */
#include "mpi/carry/fake_rank.h"
#include "mpi/carry/message_trace.h"
#include "mpi/carry/stats.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "base/log.h"
#include "base/notice.h"
#include "base/numbers.h"

/* All are atomic. */
struct orr_mpi_alone {
	uint64_t nany, any_bytes; /* receives from any rank: who would send is not known */
	uint64_t ntrees;          /* reductions that would go along a tree */
	size_t peak;              /* bytes of main memory that the runtime allocated for data */
	uint64_t nseen;           /* tasks inserted when the program paused last ... */
	int64_t last_ns;          /* ... with new ones, and when that was, by orr_sys_now_us() */
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

/* No clock is read for each insertion, which may take as long as that. */
void orr_mpi_alone_pauses(struct orr_mpi *mpi)
{
	uint64_t n = ORR_ATOMIC_LOAD_RELAXED(&mpi->counts.ninserted);

	if (ORR_ATOMIC_XCHG(&mpi->alone->nseen, n) != n)
		ORR_ATOMIC_STORE(&mpi->alone->last_ns, (int64_t) (orr_sys_now_us() * 1e3));
}

void orr_mpi_alone_received(struct orr_mpi *mpi, struct orr_mpi_req *req)
{
	req->size = starpu_data_get_size(req->acquire.access.handle);
	if (req->peer < 0) {
		ORR_ATOMIC_ADD(&mpi->alone->nany, 1);
		ORR_ATOMIC_ADD(&mpi->alone->any_bytes, req->size);
	}
	orr_mpi_alone_waited(mpi);
}

void orr_mpi_alone_reduces(struct orr_mpi *mpi)
{
	ORR_ATOMIC_ADD(&mpi->alone->ntrees, 1);
}

/* ---- the account ---- */

/* All peers together. */
struct sums {
	uint64_t sent, sent_bytes, received, received_bytes;
	unsigned to, from;
};

static struct sums sum(const struct orr_mpi_alone *a, const struct orr_mpi_peer_stats *v,
		       unsigned n)
{
	struct sums s = { .received = a->nany, .received_bytes = a->any_bytes };

	for (unsigned i = 0; i < n; i++) {
		s.to += v[i].logical_messages > 0;
		s.from += v[i].received_messages > 0;
		s.sent += v[i].logical_messages;
		s.sent_bytes += v[i].logical_bytes;
		s.received += v[i].received_messages;
		s.received_bytes += v[i].received_bytes;
	}
	return s;
}

/* Most bytes first, then by rank. */
static int by_bytes(const void *a, const void *b)
{
	const struct orr_mpi_peer_stats *x = a, *y = b;
	uint64_t p = x->logical_bytes + x->received_bytes, q = y->logical_bytes + y->received_bytes;

	return p != q ? (p < q) - (p > q) : (x->peer > y->peer) - (x->peer < y->peer);
}

static void print_row(FILE *f, const char *who, uint64_t sent, uint64_t sent_bytes,
		      uint64_t received, uint64_t received_bytes)
{
	fprintf(f, "%9s %13" PRIu64 " %16" PRIu64 " %13" PRIu64 " %16" PRIu64 "\n", who, sent,
		sent_bytes, received, received_bytes);
}

/* The peers, those with most bytes first, so that what does not fit on a screen matters least. */
static void print_peers(struct orr_mpi *mpi, struct orr_mpi_peer_stats *v, unsigned n,
			const struct sums *s)
{
	ORR_PLAIN_NUMBERS;
	int limit = mpi->proc->cfg->mpi_fake_peers;
	unsigned shown = limit > 0 && n > (unsigned) limit ? (unsigned) limit : n;
	struct orr_notice notice;
	char who[16];
	FILE *f = orr_notice_open(&notice);

	qsort(v, n, sizeof(*v), by_bytes);
	fprintf(f, "%9s %13s %16s %13s %16s\n", "peer", "messages to", "bytes to", "messages from",
		"bytes from");
	for (unsigned i = 0; i < shown; i++) {
		snprintf(who, sizeof(who), "%d", v[i].peer);
		print_row(f, who, v[i].logical_messages, v[i].logical_bytes, v[i].received_messages,
			  v[i].received_bytes);
	}
	if (shown < n)
		fprintf(f,
			"%9s and %u more, none with more bytes; ORRERY_MPI_FAKE_PEERS=0 shows all\n",
			"...", n - shown);
	if (mpi->alone->nany)
		print_row(f, "any", 0, 0, mpi->alone->nany, mpi->alone->any_bytes);
	print_row(f, "total", s->sent, s->sent_bytes, s->received, s->received_bytes);
	orr_notice_write(&notice);
}

void orr_mpi_alone_report(struct orr_mpi *mpi)
{
	ORR_PLAIN_NUMBERS;
	const struct orr_mpi_alone *a = mpi->alone;
	unsigned n = 0;

	orr_mpi_alone_pauses(mpi);
	double us = a->last_ns > 0 ? (double) a->last_ns * 1e-3 - mpi->start_us : 0;
	struct orr_mpi_peer_stats *v = orr_mpi_stats_all(mpi, &n);
	if (!v)
		return;
	struct sums s = sum(a, v, n);

	orr_info("rank %d of %d, alone: inserted %" PRIu64 " tasks, %" PRIu64
		 " of them its own, in %.6f s (%.3f us each)",
		 mpi->rank, mpi->size, mpi->counts.ninserted, mpi->counts.nown, us * 1e-6,
		 mpi->counts.ninserted ? us / (double) mpi->counts.ninserted : 0.0);
	orr_info(
		"rank %d of %d, alone: would send %" PRIu64 " messages, %" PRIu64
		" bytes, to %u ranks, and receive %" PRIu64 " messages, %" PRIu64
		" bytes, from %u ranks; holds at most %zu bytes of data that the runtime allocated",
		mpi->rank, mpi->size, s.sent, s.sent_bytes, s.to, s.received, s.received_bytes,
		s.from, a->peak);
	orr_info("rank %d of %d, alone: owns at most %" PRIu64
		 " bytes of data, and keeps at most %" PRIu64 " bytes of others' values",
		 mpi->rank, mpi->size, ORR_ATOMIC_LOAD(&mpi->holds.own_most),
		 ORR_ATOMIC_LOAD(&mpi->holds.copies_most));
	if (a->ntrees)
		orr_info(
			"rank %d of %d, alone: %" PRIu64
			" reductions would go along trees, which one rank does not know; each part counts as sent to the owner",
			mpi->rank, mpi->size, a->ntrees);
	if ((n || a->nany) && !mpi->proc->cfg->silent)
		print_peers(mpi, v, n, &s);
	free(v);
}
