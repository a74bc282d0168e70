/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Moving data between ranks: copies to one or all, new owners, scatter and gather, copies between
 * data.
 *
 * Every rank calls the same functions in the same order; the cache makes a second request for the
 * same value free.
 *
 * Invariant: after a migration the old owner, which still has the value, counts as a rank that
 * received it, on both sides. */
#include <errno.h>
#include "mpi/auto/mpi_insert.h"
#include "mpi/carry/array.h"
#include "mpi/auto/cache.h"
#include "mpi/carry/attach.h"
#include "mpi/auto/placement.h"
#include "mpi/auto/mpi_redux.h"
#include "mpi/carry/burst.h"
#include "mpi/carry/comm.h"
#include "base/log.h"

/* Contributions are combined before the value moves. */
static int combine_and_bring(struct orr_mpi *mpi, struct orr_mpi_comm *c, starpu_data_handle_t h,
			     int node, int prio, void (*callback)(void *), void *arg)
{
	int ret = h->mpi_flags & ORR_MPI_REDUXING ? orr_mpi_redux_flush(mpi, c, h, 0, 0) : 0;

	return ret ? ret : orr_mpi_bring(mpi, c, h, node, prio, 0, callback, arg);
}

/* 0, or -EINVAL after a message if the datum cannot go to that rank. */
static int check_move(const struct orr_mpi_comm *c, starpu_data_handle_t h, int node,
		      const char *who)
{
	if (h->mpi_rank == -1) {
		orr_error("%s: data %s has no owner; call starpu_mpi_data_register() first", who,
			  orr_handle_name(h));
		return -EINVAL;
	}
	if (node < 0 || node >= c->size) {
		orr_error("%s: rank %d is not in the communicator, which has %d ranks", who, node,
			  c->size);
		return -EINVAL;
	}
	return 0;
}

/* The parts common to all. */
static int bring(MPI_Comm comm, starpu_data_handle_t h, int node, void (*callback)(void *),
		 void *arg, const char *who)
{
	struct orr_mpi *mpi = orr_mpi_get(who);
	struct orr_mpi_comm *c = mpi ? orr_mpi_comm_of(mpi, comm) : NULL;

	if (!c)
		return mpi ? -EINVAL : -ENODEV;
	if (!h)
		return 0;
	int ret = check_move(c, h, node, who);
	return ret ? ret : combine_and_bring(mpi, c, h, node, 0, callback, arg);
}

int starpu_mpi_get_data_on_node_detached(MPI_Comm comm, starpu_data_handle_t data_handle, int node,
					 void (*callback)(void *), void *arg)
{
	return bring(comm, data_handle, node, callback, arg, __func__);
}

int starpu_mpi_get_data_on_node(MPI_Comm comm, starpu_data_handle_t data_handle, int node)
{
	int ret = orr_mpi_check_blocking(__func__);

	if (!ret)
		ret = bring(comm, data_handle, node, NULL, NULL, __func__);
	/* The message is the last user of the datum on either side: having it means that the
	 * message is over. */
	if (!ret && data_handle && (starpu_mpi_data_get_rank(data_handle) != node)) {
		int rank;
		starpu_mpi_comm_rank(comm, &rank);
		if (rank == node) {
			ret = starpu_data_acquire(data_handle, STARPU_R);
			if (!ret)
				starpu_data_release(data_handle);
		}
	}
	return ret;
}

void starpu_mpi_get_data_on_all_nodes_detached(MPI_Comm comm, starpu_data_handle_t data_handle)
{
	int size = 0, rank = 0;

	if (!data_handle || starpu_mpi_comm_size(comm, &size) || starpu_mpi_comm_rank(comm, &rank))
		return;
	if (data_handle->mpi_rank != rank) {
		bring(comm, data_handle, rank, NULL, NULL, __func__);
		return;
	}
	struct orr_mpi *mpi = orr_self()->mpi;
	struct orr_thread *self = orr_thread_self();
	int ret = 0;
	orr_mpi_burst_begin(self);
	for (int node = 0; node < size && !ret; node++)
		ret = bring(comm, data_handle, node, NULL, NULL, __func__);
	orr_mpi_burst_end(mpi, self);
}

static void set_owner(struct orr_mpi *mpi, starpu_data_handle_t h, int rank)
{
	int before = orr_mpi_holds_own(mpi, h);

	h->mpi_rank = rank;
	orr_mpi_holds_owner(mpi, h, before);
}

int orr_mpi_migrate(struct orr_mpi *mpi, struct orr_mpi_comm *c, starpu_data_handle_t h,
		    int new_rank, int prio)
{
	int old_rank = h->mpi_rank, me = c->rank,
	    ret = combine_and_bring(mpi, c, h, new_rank, prio, NULL, NULL);

	if (ret)
		return ret;
	if (me == old_rank)
		orr_mpi_sent_clear(mpi, h);
	else if (me == new_rank)
		orr_mpi_received_end(mpi, h);
	else
		orr_mpi_received_drop(mpi, h);
	set_owner(mpi, h, new_rank);
	if (me == old_rank) {
		orr_mpi_received_set(mpi, h);
		orr_mpi_flags(h, ORR_MPI_MIGRATED, 0);
	} else if (me == new_rank) {
		orr_mpi_sent_set(mpi, h, old_rank);
		orr_mpi_flags(h, 0, ORR_MPI_MIGRATED | ORR_MPI_STALE);
	}
	return 0;
}

void starpu_mpi_data_migrate(MPI_Comm comm, starpu_data_handle_t handle, int new_rank)
{
	struct orr_mpi *mpi = orr_mpi_get(__func__);
	struct orr_mpi_comm *c = mpi ? orr_mpi_comm_of(mpi, comm) : NULL;

	if (!c || !handle)
		return;
	int old_rank = handle->mpi_rank, me = c->rank;
	if (old_rank == new_rank)
		return;
	if (new_rank == STARPU_MPI_PER_NODE) {
		starpu_mpi_get_data_on_all_nodes_detached(comm, handle);
		if (me == old_rank)
			orr_mpi_sent_clear(mpi, handle);
		orr_mpi_received_end(mpi, handle);
		set_owner(mpi, handle, STARPU_MPI_PER_NODE);
		return;
	}
	if (old_rank == STARPU_MPI_PER_NODE) {
		set_owner(mpi, handle, new_rank);
		return;
	}
	if (check_move(c, handle, new_rank, __func__) ||
	    orr_mpi_migrate(mpi, c, handle, new_rank, 0))
		orr_sys_mpi_abort(mpi->proc);
}

/* The owner of a datum that takes part in a collective with this root, else -1. */
static int partner_of(starpu_data_handle_t h, int root)
{
	return h && h->mpi_rank != root ? h->mpi_rank : -1;
}

/* Moves every datum between the root and its owner. Each rank that sends calls scallback once when
 * all its sends are complete, each that receives calls rcallback once when it has everything; a
 * rank of either kind without data calls it at once. */
static int collective(starpu_data_handle_t *data_handles, int count, int root, MPI_Comm comm,
		      int from_root, void (*scallback)(void *), void *sarg,
		      void (*rcallback)(void *), void *rarg, const char *who)
{
	int rank, ret = starpu_mpi_comm_rank(comm, &rank);
	unsigned n = 0, done = 0;

	for (int i = 0; i < count && !ret; i++) {
		int owner = partner_of(data_handles[i], root);
		if (owner < 0 || (rank != root && rank != owner))
			continue;
		ret = orr_mpi_check_tag(data_handles[i], who);
		n++;
	}
	if (ret)
		return ret;
	int sends = from_root == (rank == root);
	void (*callback)(void *) = sends ? scallback : rcallback;
	struct orr_mpi_batch *batch = NULL;
	if (callback) {
		batch = orr_mpi_batch_new(n, callback, sends ? sarg : rarg);
		if (!batch)
			return -ENOMEM;
	}
	void (*complete)(void *) = batch ? orr_mpi_batch_complete : NULL;
	for (int i = 0; i < count && !ret; i++) {
		starpu_data_handle_t h = data_handles[i];
		int owner = partner_of(h, root);
		if (owner < 0 || (rank != root && rank != owner))
			continue;
		int peer = rank == root ? owner : root;
		ret = sends ? starpu_mpi_isend_detached(h, peer, h->mpi_tag, comm, complete, batch)
			    : starpu_mpi_irecv_detached(h, peer, h->mpi_tag, comm, complete, batch);
		done += !ret;
	}
	return batch ? orr_mpi_batch_submitted(batch, n - done, ret) : ret;
}

int starpu_mpi_scatter_detached(starpu_data_handle_t *data_handles, int count, int root,
				MPI_Comm comm, void (*scallback)(void *), void *sarg,
				void (*rcallback)(void *), void *rarg)
{
	return collective(data_handles, count, root, comm, 1, scallback, sarg, rcallback, rarg,
			  __func__);
}

int starpu_mpi_gather_detached(starpu_data_handle_t *data_handles, int count, int root,
			       MPI_Comm comm, void (*scallback)(void *), void *sarg,
			       void (*rcallback)(void *), void *rarg)
{
	return collective(data_handles, count, root, comm, 0, scallback, sarg, rcallback, rarg,
			  __func__);
}

int starpu_mpi_data_cpy_priority(starpu_data_handle_t dst_handle, starpu_data_handle_t src_handle,
				 MPI_Comm comm, int asynchronous, void (*callback_func)(void *),
				 void *callback_arg, int priority)
{
	struct orr_mpi *mpi = orr_mpi_get("starpu_mpi_data_cpy");
	struct orr_mpi_comm *c = mpi ? orr_mpi_comm_of(mpi, comm) : NULL;
	struct starpu_data_descr d[2] = { { .handle = dst_handle, .mode = STARPU_W },
					  { .handle = src_handle, .mode = STARPU_R } };
	struct orr_mpi_choice choice = { .node = -1,
					 .policy = STARPU_MPI_NODE_SELECTION_CURRENT_POLICY };
	int xrank, ret;

	if (!c)
		return mpi ? -EINVAL : -ENODEV;
	if (dst_handle && dst_handle == src_handle) {
		/* There is nothing to copy, on any rank. */
		if (callback_func)
			callback_func(callback_arg);
		return 0;
	}
	ret = orr_mpi_place(mpi, c, &choice, d, 2, NULL, &xrank);
	if (!ret)
		ret = orr_mpi_exchange_before(mpi, c, xrank, d, 2, priority);
	if (!ret && (xrank == c->rank || xrank == STARPU_MPI_PER_NODE))
		ret = starpu_data_cpy_priority(dst_handle, src_handle, asynchronous, callback_func,
					       callback_arg, priority);
	return ret ? ret : orr_mpi_exchange_after(mpi, c, xrank, d, 2, priority);
}

int starpu_mpi_data_cpy(starpu_data_handle_t dst_handle, starpu_data_handle_t src_handle,
			MPI_Comm comm, int asynchronous, void (*callback_func)(void *),
			void *callback_arg)
{
	return starpu_mpi_data_cpy_priority(dst_handle, src_handle, comm, asynchronous,
					    callback_func, callback_arg, 0);
}
