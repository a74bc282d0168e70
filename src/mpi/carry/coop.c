/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cooperative sends (14.16): sends of one value to several ranks travel along a tree (relay.c),
 * whose shape shape.c chooses; burst.c finds those that are granted together, late.c gathers those
 * that come one by one.
 *
 * Invariant: sends that travel together hold one datum, have one tag and context, and go to
 * distinct ranks; synchronous sends, and those to the rank itself, go alone. */
#include <stdlib.h>
#include "base/assert.h"
#include "base/log.h"
#include "mpi/carry/late.h"
#include "mpi/carry/ready.h"
#include "mpi/carry/relay.h"
#include "mpi/carry/coop.h"
#include "mpi/carry/mpi_transfer.h"
#include "mpi/carry/shape.h"

static struct orr_mpi_req *req_of(struct orr_mpi_link *l)
{
	return l ? (struct orr_mpi_req *) ((char *) l - offsetof(struct orr_mpi_req, link)) : NULL;
}

static starpu_data_handle_t handle_of(const struct orr_mpi_req *req)
{
	return req->acquire.access.handle;
}

static int by_urgency(const void *pa, const void *pb)
{
	const struct orr_mpi_req *a = *(struct orr_mpi_req *const *) pa,
				 *b = *(struct orr_mpi_req *const *) pb;

	if (a->prio != b->prio)
		return a->prio > b->prio ? -1 : 1;
	return a->seq < b->seq ? -1 : a->seq > b->seq;
}

static int by_receiver(const void *pa, const void *pb)
{
	const struct orr_mpi_req *a = *(struct orr_mpi_req *const *) pa,
				 *b = *(struct orr_mpi_req *const *) pb;

	return a->peer != b->peer ? (a->peer < b->peer ? -1 : 1) : by_urgency(pa, pb);
}

/* Moves the sends of v that go where another one goes to the end, and returns how many others there
 * are. */
static uint32_t distinct(struct orr_mpi_req **v, uint32_t n)
{
	uint32_t kept = 1;

	qsort(v, n, sizeof(*v), by_receiver);
	for (uint32_t i = 1; i < n; i++)
		if (v[i]->peer != v[kept - 1]->peer) {
			struct orr_mpi_req *req = v[i];
			v[i] = v[kept];
			v[kept++] = req;
		}
	return kept;
}

static struct orr_mpi_req *link_all(struct orr_mpi_req **v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		v[i]->link.next = i + 1 < n ? &v[i + 1]->link : NULL;
	return v[0];
}

static void start_tree(struct orr_mpi *mpi, struct orr_mpi_req **v, uint32_t n,
		       const struct orr_mpi_plan *plan)
{
	if (n < 2) {
		orr_mpi_send_start(mpi, v[0]);
		return;
	}
	orr_mpi_relay_begin(mpi, link_all(v, n), n, plan);
}

/* Starts the most urgent send, and lets the others wait for their turns among all sends. */
static void start_one(struct orr_mpi *mpi, struct orr_mpi_req **v, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		ORR_ATOMIC_STORE_RELAXED(&v[i]->where, ORR_MPI_FETCHING);
		orr_mpi_ready_push(mpi, v[i]);
	}
	orr_mpi_send_start(mpi, v[0]);
}

/* Lets sends to distinct ranks join the tree along which their value leaves already, or wait until
 * it has left. Returns whether they do. */
static int join_or_wait(struct orr_mpi *mpi, struct orr_mpi_req **v, uint32_t n)
{
	struct orr_mpi_relay *r = orr_mpi_relay_of(mpi, v[0]);

	if (r && orr_mpi_relay_join(mpi, r, link_all(v, n), n))
		return 1;
	if (orr_mpi_late_waits(mpi, link_all(v, n), r != NULL))
		return 1;
	for (uint32_t i = 0; i < n; i++)
		v[i]->link.next = NULL;
	return 0;
}

/* A send of h starts: what leaves already? */
static enum orr_mpi_leaving leaving(struct orr_mpi *mpi, starpu_data_handle_t h)
{
	if (!mpi->limits.nsends && !mpi->ready.n) {
		mpi->late.only = h;
		return ORR_MPI_LEAVES_NOTHING;
	}
	if (mpi->late.only != h)
		mpi->late.only = NULL;
	return mpi->late.only ? ORR_MPI_LEAVES_MATES : ORR_MPI_LEAVES_OTHERS;
}

void orr_mpi_coop_start(struct orr_mpi *mpi, struct orr_mpi_req *first)
{
	struct orr_mpi_req **v, *next;
	uint32_t n = 0;

	orr_mpi_assert_owner(mpi);
	enum orr_mpi_leaving leaves = leaving(mpi, handle_of(first));
	if (!first->link.next && !mpi->late.leaving && !mpi->late.lone) {
		orr_mpi_send_start(mpi, first);
		return;
	}
	for (struct orr_mpi_req *req = first; req; req = req_of(req->link.next))
		n++;
	v = malloc(n * sizeof(*v));
	if (!v)
		orr_fatal("out of memory for %u sends of one value", n);
	n = 0;
	for (struct orr_mpi_req *req = first; req; req = next) {
		next = req_of(req->link.next);
		req->link.next = NULL;
		ORR_ATOMIC_STORE_RELAXED(&req->where, ORR_MPI_READY);
		v[n++] = req;
	}
	uint32_t kept = distinct(v, n);
	qsort(v, kept, sizeof(*v), by_urgency);
	struct orr_mpi_plan plan = orr_mpi_plan(orr_mpi_network(mpi),
						starpu_data_get_size(handle_of(first)), kept,
						orr_mpi_relay_eager(mpi), leaves);
	int later = join_or_wait(mpi, v, kept);
	if (!later && !plan.tree)
		start_one(mpi, v, n);
	for (uint32_t i = kept; later && i < n; i++)
		orr_mpi_send_start(mpi, v[i]);
	for (uint32_t i = 0; !later && plan.tree && i < kept; i += mpi->set.max_route)
		start_tree(mpi, v + i,
			   kept - i < mpi->set.max_route ? kept - i : mpi->set.max_route, &plan);
	for (uint32_t i = kept; !later && plan.tree && i < n; i++)
		orr_mpi_send_start(mpi, v[i]);
	free(v);
}

/* ---- public ---- */

void starpu_mpi_coop_sends_set_use(int use_coop_sends)
{
	struct orr_mpi *mpi = orr_mpi_get(__func__);

	if (mpi && use_coop_sends && ORR_ATOMIC_LOAD(&mpi->limits.throttle))
		orr_warn(
			"%s has no effect with STARPU_MPI_MEM_THROTTLE=1: ranks that pass values on need memory for them",
			__func__);
	else if (mpi)
		ORR_ATOMIC_STORE(&mpi->set.coop, !!use_coop_sends);
}

int starpu_mpi_coop_sends_get_use(void)
{
	struct orr_mpi *mpi = orr_self()->mpi;

	return mpi ? ORR_ATOMIC_LOAD(&mpi->set.coop) : orr_self()->cfg->mpi_coop_sends;
}
