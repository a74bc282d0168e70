/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cores for the threads of programs (sim_share.h).
 *
 * Invariant: the list of a rank's cores exists once the rank has had more threads than cores. */
#include "actors/sim_share.h"

#include <stdlib.h>
#include <string.h>
#include "base/assert.h"
#include "base/log.h"

struct share {
	int nthreads;    /* beside the main thread */
	double *free_us; /* from when on each core is free */
};

/* Of the ranks that have had such threads, and of those before them. */
static struct share *shares;
static int nshares;

static struct share *share_of(int rank)
{
	orr_assert(rank >= 0);
	if (rank >= nshares) {
		struct share *more = realloc(shares, ((size_t) rank + 1) * sizeof(*shares));
		if (!more)
			orr_fatal(
				"out of memory for the threads of programs; simulate fewer nodes");
		memset(more + nshares, 0, (size_t) (rank + 1 - nshares) * sizeof(*shares));
		shares = more;
		nshares = rank + 1;
	}
	return &shares[rank];
}

void orr_sim_share_thread(int rank, int more)
{
	struct share *s = share_of(rank);
	s->nthreads += more;
	orr_assertf(s->nthreads >= 0, "rank %d has %d threads", rank, s->nthreads);
}

void orr_sim_share_renew(int rank)
{
	if (rank < nshares)
		shares[rank].nthreads = 0;
}

double orr_sim_share_until_us(int rank, unsigned cores, double now_us, double us)
{
	struct share *s = rank < nshares ? &shares[rank] : NULL;
	if (!s || (unsigned) s->nthreads < cores)
		return now_us + us;
	if (!s->free_us && !(s->free_us = calloc(cores, sizeof(*s->free_us))))
		orr_fatal("out of memory for the cores of a node; simulate fewer nodes");
	double *first = s->free_us;
	for (unsigned i = 1; i < cores; i++)
		if (s->free_us[i] < *first)
			first = &s->free_us[i];
	*first = (*first > now_us ? *first : now_us) + us;
	return *first;
}
