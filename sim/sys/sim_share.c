/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cores for the threads of programs (sim_share.h).
 *
 * Invariant: the list of a rank's cores exists once the rank has had more threads than cores. */
#include "sim_share.h"

#include <stdlib.h>
#include <string.h>
#include "sim.h"
#include "base/assert.h"
#include "base/log.h"

/* Of each rank. */
static struct share {
	int nthreads;    /* beside the main thread */
	double *free_us; /* from when on each core is free */
} * shares;

static struct share *share_of(const struct orr_sim_rank *r)
{
	if (!shares && !(shares = calloc((size_t) orr_sim.nranks, sizeof(*shares))))
		orr_fatal("out of memory for the threads of programs; simulate fewer nodes");
	orr_assert(r->rank >= 0 && r->rank < orr_sim.nranks);
	return &shares[r->rank];
}

void orr_sim_share_thread(const struct orr_sim_rank *r, int more)
{
	struct share *s = share_of(r);
	s->nthreads += more;
	orr_assertf(s->nthreads >= 0, "rank %d has %d threads", r->rank, s->nthreads);
}

void orr_sim_share_renew(const struct orr_sim_rank *r)
{
	if (shares)
		share_of(r)->nthreads = 0;
}

double orr_sim_share_until_us(const struct orr_sim_actor *a, double us)
{
	double now_us = orr_sys_now_us();
	const struct orr_sim_rank *r = a->rank;
	struct share *s = shares && a->role == ORR_ROLE_USER ? share_of(r) : NULL;
	if (!s || (unsigned) s->nthreads < r->ncpus)
		return now_us + us;
	if (!s->free_us && !(s->free_us = calloc(r->ncpus, sizeof(*s->free_us))))
		orr_fatal("out of memory for the cores of a node; simulate fewer nodes");
	double *first = s->free_us;
	for (unsigned i = 1; i < r->ncpus; i++)
		if (s->free_us[i] < *first)
			first = &s->free_us[i];
	*first = (*first > now_us ? *first : now_us) + us;
	return *first;
}
