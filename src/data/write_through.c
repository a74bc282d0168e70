/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Write-through (starpu_data_set_wt_mask): copies of a value that was just written.
 *
 * Invariant: a copy holds the datum for reading until it is made, so that its value is the one that
 * was written. */
#include "data/write_through.h"
#include "data/data.h"

#include <stdlib.h>

#include "data/access.h"
#include "data/fetch.h"

/* A copy under way; it holds the datum for reading until the copy is made. */
struct write_through {
	struct orr_acquire acq; /* first */
	unsigned memnode;
};

static void write_through_over(void *arg)
{
	struct write_through *wt = arg;

	orr_assert(wt->acq.access.locked);
	orr_acquire_release(&wt->acq);
	free(wt);
}

static void write_through_done(void *arg)
{
	struct write_through *wt = arg;

	/* The copy itself needs no reference. */
	orr_fetch_unref(wt->acq.access.handle, wt->memnode);
	write_through_over(wt);
}

/* The writer still holds the datum. */
void orr_write_through(starpu_data_handle_t h, unsigned from)
{
	struct orr_process *proc = orr_self();
	uint32_t mask = ORR_ATOMIC_LOAD_RELAXED(&h->ext->wt_mask);

	for (unsigned i = 0; i < proc->data->nmemnodes; i++) {
		struct write_through *wt;
		struct orr_fetch rq;
		enum orr_fetched ret;

		if (i == from || !(mask & (1U << i)))
			continue;
		wt = malloc(sizeof(*wt));
		if (!wt)
			return;
		orr_acquire_inherit(&wt->acq, h);
		wt->memnode = i;
		rq = (struct orr_fetch){ .handle = h,
					 .memnode = (uint8_t) i,
					 .mode = STARPU_R,
					 .effort = ORR_EFFORT_CLEAN,
					 .done = write_through_done,
					 .starved = write_through_over,
					 .arg = wt };
		ret = orr_fetch_request(&rq);
		if (ret == ORR_FETCH_READY)
			write_through_done(wt);
		else if (ret != ORR_FETCH_LATER)
			write_through_over(wt);
	}
}
