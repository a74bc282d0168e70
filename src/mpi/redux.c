/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reductions between ranks (14.12): each contributing rank collects its part in its own copy; when
 * the datum is read, flushed, or everything is waited for, the parts are sent to the owner, which
 * combines them by tasks of the datum's reduction codelet.
 *
 * Every rank sees all insertions, so the owner knows who contributed and each contributor knows
 * that it did.
 *
 * Invariant: ORR_MPI_REDUXING is set on the owner while somebody contributed and on each
 * contributor while its part is not sent; a flush clears it on all of them, at the same point of
 * the insertion order. */
#include <errno.h>
#include "mpi/mpi.h"
#include "base/assert.h"
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
	orr_lock(&mpi->data_lock);
	orr_assert(h->mpi_flags & ORR_MPI_ATTACHED);
	orr_mpi_flags(h, ORR_MPI_REDUXING, 0);
	mpi->nreduxing++;
	orr_assert(mpi->nreduxing <= mpi->nattached);
	orr_unlock(&mpi->data_lock);
}

static void clear_reduxing(struct orr_mpi *mpi, starpu_data_handle_t h)
{
	orr_lock(&mpi->data_lock);
	orr_assert(h->mpi_flags & ORR_MPI_REDUXING && mpi->nreduxing > 0);
	orr_mpi_flags(h, 0, ORR_MPI_REDUXING);
	mpi->nreduxing--;
	orr_unlock(&mpi->data_lock);
}

int orr_mpi_redux_note(struct orr_mpi *mpi, struct orr_mpi_comm *c, starpu_data_handle_t h,
		       int xrank, int mpi_redux)
{
	int me = c->rank, first;

	if ((me != h->mpi_rank && me != xrank) || h->mpi_rank == STARPU_MPI_PER_NODE || xrank < 0)
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
		orr_mpi_received_drop(mpi, h);
		starpu_data_invalidate_submit(h);
		if (mpi_redux)
			return starpu_task_insert(methods->init_cl, STARPU_W, h, 0);
	}
	return 0;
}

/* Receives one part and combines it. */
static int combine(struct orr_mpi *mpi, struct orr_mpi_comm *c, starpu_data_handle_t h, int rank,
		   int prio)
{
	struct orr_data_ext *methods = methods_of(h);
	starpu_data_handle_t part;

	if (!methods)
		return -EINVAL;
	starpu_data_register_same(&part, h);
	int ret = orr_mpi_irecv(mpi, c, part, rank, h->mpi_tag, prio, ORR_P2P_DETACHED, NULL, NULL,
				NULL);
	if (!ret)
		ret = starpu_task_insert(methods->redux_cl, STARPU_RW | STARPU_COMMUTE, h, STARPU_R,
					 part, STARPU_PRIORITY, prio, 0);
	starpu_data_unregister_submit(part);
	return ret;
}

int orr_mpi_redux_flush(struct orr_mpi *mpi, struct orr_mpi_comm *c, starpu_data_handle_t h,
			int prio, unsigned arity)
{
	struct orr_mpi_ext *ext = orr_mpi_ext(h);
	int ret;

	(void) arity;
	if (!(h->mpi_flags & ORR_MPI_REDUXING) || !ext)
		return 0;
	ret = orr_mpi_check_tag(h, "starpu_mpi_redux_data");
	if (ret)
		return ret;
	clear_reduxing(mpi, h);
	if (c->rank == h->mpi_rank) {
		orr_mpi_sent_clear(mpi, h);
		for (unsigned i = 0; i < ext->nredux && !ret; i++)
			if (ext->redux[i] != c->rank)
				ret = combine(mpi, c, h, ext->redux[i], prio);
	} else {
		ret = orr_mpi_isend(mpi, c, h, h->mpi_rank, h->mpi_tag, prio, ORR_P2P_DETACHED,
				    NULL, NULL, NULL);
		if (!ret)
			starpu_data_invalidate_submit(h);
	}
	ext->nredux = 0;
	return ret;
}

int orr_mpi_redux_flush_all(struct orr_mpi *mpi, struct orr_mpi_comm *c)
{
	int ret = 0;

	for (unsigned i = mpi->nreduxing ? mpi->nattached : 0; i-- > 0 && !ret;)
		if (i < mpi->nattached && mpi->attached[i]->mpi_flags & ORR_MPI_REDUXING)
			ret = orr_mpi_redux_flush(mpi, c, mpi->attached[i], 0, 0);
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
