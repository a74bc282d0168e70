/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reductions between ranks (14.12): each contributing rank collects its part in its own copy; when
 * the datum is read, flushed, or everything is waited for, the parts are combined by tasks of the
 * datum's reduction codelet.
 *
 * The owner sees all insertions, so it knows who contributed; each contributor knows that it did,
 * and nothing about the others. Small parts go to the owner, which combines all of them. Large ones
 * go along a tree: the owner sends the contributors a plan, which names the children of each, at
 * the moment of the flush, usually long before their parts are ready. A contributor combines the
 * parts of its children with its own, in a copy, because tasks may use the datum again meanwhile,
 * and sends the result to its parent.
 *
 * Invariant: ORR_MPI_REDUXING is set on the owner while somebody contributed and on each
 * contributor while its part is not sent; a flush clears it on all of them, at the same point of
 * the insertion order. */
#include <errno.h>
#include <stdlib.h>
#include "mpi/carry/layer.h"
#include "mpi/carry/fake_rank.h"
#include "mpi/carry/relay.h"
#include "mpi/auto/cache.h"
#include "mpi/carry/p2p.h"
#include "mpi/carry/comm.h"
#include "mpi/carry/attach.h"
#include "mpi/auto/mpi_redux.h"
#include "mpi/carry/shape.h"
#include "base/assert.h"
#include "base/refuse.h"
#include "base/log.h"

/* The codelets of the datum; NULL after a message. */
static struct orr_data_ext *methods_of(starpu_data_handle_t h)
{
	if (h->ext && h->ext->redux_cl && h->ext->init_cl)
		return h->ext;
	orr_error(
		"data %s is reduced but has no methods for it: call starpu_data_set_reduction_methods() on every rank",
		orr_handle_name(h));
	return NULL;
}

static void set_reduxing(struct orr_mpi *mpi, starpu_data_handle_t h)
{
	if (h->mpi_flags & ORR_MPI_REDUXING)
		return;
	orr_lock(&mpi->data.lock);
	orr_assert(h->mpi_flags & ORR_MPI_ATTACHED);
	orr_mpi_flags(h, ORR_MPI_REDUXING, 0);
	mpi->redux.nreduxing++;
	orr_assert(mpi->redux.nreduxing <= mpi->data.nattached);
	orr_unlock(&mpi->data.lock);
}

static void clear_reduxing(struct orr_mpi *mpi, starpu_data_handle_t h)
{
	orr_lock(&mpi->data.lock);
	orr_assert(h->mpi_flags & ORR_MPI_REDUXING && mpi->redux.nreduxing > 0);
	orr_mpi_flags(h, 0, ORR_MPI_REDUXING);
	mpi->redux.nreduxing--;
	orr_unlock(&mpi->data.lock);
}

int orr_mpi_redux_note(struct orr_mpi *mpi, struct orr_mpi_comm *c, starpu_data_handle_t h,
		       int xrank, int mpi_redux)
{
	int me = c->rank, first;

	if (h->mpi_rank == STARPU_MPI_PER_NODE)
		return 0;
	/* A contribution changes the value, so copies of it are out of date. */
	orr_mpi_overwritten(mpi, h, me);
	if ((me != h->mpi_rank && me != xrank) || xrank < 0)
		return 0;
	struct orr_mpi_ext *ext = orr_mpi_attach(mpi, h);
	struct orr_data_ext *methods = methods_of(h);
	if (!ext || !methods)
		return -EINVAL;
	first = orr_mpi_ranks_insert(&ext->redux, &ext->nredux, &ext->redux_cap, xrank);
	if (first < 0)
		return first;
	set_reduxing(mpi, h);
	/* The first contribution of another rank than the owner starts from the neutral element,
	 * also where the rank has a buffer with a value of its own: the datum's value is the
	 * owner's. */
	if (first == 0 && me == xrank && me != h->mpi_rank) {
		starpu_data_invalidate_submit(h);
		if (mpi_redux)
			return starpu_task_insert(methods->init_cl, STARPU_W, h, 0);
	}
	return 0;
}

/* Receives one part and combines it with the value of h. */
static int combine(struct orr_mpi *mpi, struct orr_mpi_comm *c, starpu_data_handle_t h,
		   struct starpu_codelet *redux_cl, int rank, int64_t tag, int prio)
{
	starpu_data_handle_t part;

	starpu_data_register_same(&part, h);
	int ret = orr_mpi_irecv(mpi, c, part, rank, tag, prio, ORR_P2P_DETACHED, NULL, NULL, NULL);
	if (!ret)
		ret = starpu_task_insert(redux_cl, STARPU_RW | STARPU_COMMUTE, h, STARPU_R, part,
					 STARPU_PRIORITY, prio, 0);
	starpu_data_unregister_submit(part);
	return ret;
}

/* ---- along a tree ---- */

/* From this many contributors on, the owner does not combine all parts itself. */
#define MANY 4

/* Owner and contributors decide alike. */
static int uses_tree(struct orr_mpi *mpi, starpu_data_handle_t h, unsigned arity)
{
	long threshold = mpi->redux.threshold;
	int tree = mpi->size >= 3 &&
		   (arity || (threshold >= 0 && starpu_data_get_size(h) >= (size_t) threshold));

	if (tree && mpi->fake)
		orr_mpi_alone_reduces(mpi);
	return tree && !mpi->fake;
}

/* The parts of one reduction have a tag that no datum has. */
static int64_t tag_of_round(int origin, uint32_t round)
{
	return INT64_MIN + (((int64_t) origin << 32) | round);
}

/* Combines the parts of the children among the ranks of hops. */
static int combine_children(struct orr_mpi *mpi, struct orr_mpi_comm *c, starpu_data_handle_t h,
			    struct starpu_codelet *redux_cl, const struct orr_mpi_route *route,
			    const struct orr_mpi_hop *hops, uint32_t n, int prio)
{
	uint32_t children = orr_mpi_nchildren(n, route->arity);
	int ret = 0;

	for (; children && !ret; children--) {
		uint32_t below = orr_mpi_split(n, route->arity, children);
		ret = combine(mpi, c, h, redux_cl, orr_mpi_from_world(c, hops->rank),
			      tag_of_round(route->origin, route->piece), prio);
		hops += below;
		n -= below;
	}
	return ret;
}

/* Of the contributors ranks[0..n), which are not the owner. */
static int flush_owner_some(struct orr_mpi *mpi, struct orr_mpi_comm *c, starpu_data_handle_t h,
			    const int32_t *ranks, uint32_t n, int prio, unsigned arity)
{
	struct orr_mpi_plan_out *plan = malloc(sizeof(*plan) + n * sizeof(plan->hops[0]));

	if (!plan) {
		orr_error("out of memory for the plan of a reduction");
		return -ENOMEM;
	}
	plan->route = (struct orr_mpi_route){ .origin = mpi->rank,
					      .n = n,
					      .arity = arity      ? arity
						       : n < MANY ? n
								  : 2,
					      .piece = ORR_ATOMIC_ADD(&mpi->redux.nrounds, 1) };
	for (uint32_t i = 0; i < n; i++)
		plan->hops[i].rank = orr_mpi_to_world(c, ranks[i]);
	int ret = combine_children(mpi, c, h, h->ext->redux_cl, &plan->route, plan->hops, n, prio);
	if (!ret)
		ret = orr_mpi_plan_send(mpi, c, h, h->mpi_tag, plan);
	if (ret)
		free(plan);
	return ret;
}

static int flush_owner_tree(struct orr_mpi *mpi, struct orr_mpi_comm *c, starpu_data_handle_t h,
			    struct orr_mpi_ext *ext, int prio, unsigned arity)
{
	uint32_t n = 0;
	int ret = 0;

	for (uint32_t i = 0; i < ext->nredux; i++)
		if (ext->redux[i] != c->rank)
			ext->redux[n++] = ext->redux[i];
	for (uint32_t i = 0; i < n && !ret; i += mpi->set.max_route)
		ret = flush_owner_some(mpi, c, h, ext->redux + i,
				       n - i < mpi->set.max_route ? n - i : mpi->set.max_route,
				       prio, arity);
	return ret;
}

/* The part of this rank, on its way. */
struct contribution {
	struct orr_mpi_plan_awaited awaited; /* first */
	struct orr_mpi_comm *c;
	starpu_data_handle_t part;
	struct starpu_codelet *redux_cl;
	int prio;
};

/* The plan has come: the following steps belong to the request, whose callback this is, so that
 * nobody finds the process idle in between. */
static void planned(void *arg)
{
	struct orr_mpi *mpi = orr_self()->mpi;
	struct contribution *mine = arg;
	const struct orr_mpi_redux_plan *plan = mine->awaited.plan;

	if (combine_children(mpi, mine->c, mine->part, mine->redux_cl, &plan->route, plan->hops + 1,
			     plan->route.n - 1, mine->prio) ||
	    orr_mpi_isend(mpi, mine->c, mine->part, orr_mpi_from_world(mine->c, plan->via),
			  tag_of_round(plan->route.origin, plan->route.piece), mine->prio,
			  ORR_P2P_DETACHED, NULL, NULL, NULL))
		orr_sys_mpi_abort(mpi->proc);
	starpu_data_unregister_submit(mine->part);
	free(mine->awaited.plan);
	free(mine);
}

static int contribute_tree(struct orr_mpi *mpi, struct orr_mpi_comm *c, starpu_data_handle_t h,
			   int prio)
{
	struct contribution *mine = malloc(sizeof(*mine));

	if (!mine) {
		orr_error("out of memory for a reduction");
		return -ENOMEM;
	}
	*mine = (struct contribution){ .c = c, .redux_cl = h->ext->redux_cl, .prio = prio };
	starpu_data_register_same(&mine->part, h);
	int ret = starpu_data_cpy_priority(mine->part, h, 1, NULL, NULL, prio);
	if (!ret)
		ret = orr_mpi_plan_await(mpi, c, mine->part, h->mpi_rank, h->mpi_tag, planned,
					 &mine->awaited);
	if (ret) {
		starpu_data_unregister_submit(mine->part);
		free(mine);
	}
	return ret;
}

/* ---- flushing ---- */

static int flush_owner(struct orr_mpi *mpi, struct orr_mpi_comm *c, starpu_data_handle_t h,
		       struct orr_mpi_ext *ext, int prio)
{
	int ret = 0;

	for (unsigned i = 0; i < ext->nredux && !ret; i++)
		if (ext->redux[i] != c->rank)
			ret = combine(mpi, c, h, h->ext->redux_cl, ext->redux[i], h->mpi_tag, prio);
	return ret;
}

int orr_mpi_redux_flush(struct orr_mpi *mpi, struct orr_mpi_comm *c, starpu_data_handle_t h,
			int prio, unsigned arity)
{
	struct orr_mpi_ext *ext = orr_mpi_ext(h);
	int ret;

	if (!(h->mpi_flags & ORR_MPI_REDUXING) || !ext)
		return 0;
	ret = orr_mpi_check_tag(h, "starpu_mpi_redux_data");
	if (!ret && !methods_of(h))
		ret = -EINVAL;
	if (ret)
		return ret;
	int tree = uses_tree(mpi, h, arity);
	clear_reduxing(mpi, h);
	if (c->rank == h->mpi_rank) {
		orr_mpi_sent_clear(mpi, h);
		ret = tree ? flush_owner_tree(mpi, c, h, ext, prio, arity)
			   : flush_owner(mpi, c, h, ext, prio);
	} else {
		ret = tree ? contribute_tree(mpi, c, h, prio)
			   : orr_mpi_isend(mpi, c, h, h->mpi_rank, h->mpi_tag, prio,
					   ORR_P2P_DETACHED, NULL, NULL, NULL);
		if (!ret)
			starpu_data_invalidate_submit(h);
	}
	ext->nredux = 0;
	return ret;
}

int orr_mpi_redux_flush_all(struct orr_mpi *mpi, struct orr_mpi_comm *c)
{
	int ret = 0;

	for (unsigned i = mpi->redux.nreduxing ? mpi->data.nattached : 0; i-- > 0 && !ret;)
		if (i < mpi->data.nattached && mpi->data.attached[i]->mpi_flags & ORR_MPI_REDUXING)
			ret = orr_mpi_redux_flush(mpi, c, mpi->data.attached[i], 0, 0);
	return ret;
}

int starpu_mpi_redux_data_prio_tree(MPI_Comm comm, starpu_data_handle_t data_handle, int prio,
				    int arity)
{
	struct orr_mpi *mpi = orr_mpi_get("starpu_mpi_redux_data");
	struct orr_mpi_comm *c = mpi ? orr_mpi_comm_of(mpi, comm) : NULL;

	if (!c)
		return mpi ? -EINVAL : -ENODEV;
	if (arity < 0 || arity == 1) {
		orr_error(
			"starpu_mpi_redux_data_tree: a tree cannot have arity %d: use 2 or more, or 0 to let the runtime choose",
			arity);
		return -EINVAL;
	}
	return data_handle ? orr_mpi_redux_flush(mpi, c, data_handle, prio, (unsigned) arity) : 0;
}

int starpu_mpi_redux_data_prio(MPI_Comm comm, starpu_data_handle_t data_handle, int prio)
{
	return starpu_mpi_redux_data_prio_tree(comm, data_handle, prio, 0);
}

int starpu_mpi_redux_data_tree(MPI_Comm comm, starpu_data_handle_t data_handle, int arity)
{
	return starpu_mpi_redux_data_prio_tree(comm, data_handle, 0, arity);
}

int starpu_mpi_redux_data(MPI_Comm comm, starpu_data_handle_t data_handle)
{
	return starpu_mpi_redux_data_prio_tree(comm, data_handle, 0, 0);
}

char *starpu_mpi_data_get_redux_map(starpu_data_handle_t handle)
{
	(void) handle;
	orr_refuse(__func__, "which ranks contribute is known to the owner's reduction only");
	return NULL;
}
