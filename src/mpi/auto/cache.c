/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The communication cache: a value received from its owner is kept until somebody writes the datum.
 *
 * The owner keeps, per datum, the set of ranks that hold its value; each of those keeps one flag.
 * Both sides change at the same point of the insertion order, so they agree without talking.
 *
 * The rule by which they agree uses only tasks that both have inserted. A program may leave out a
 * task on a rank that has no part in it: one that does not execute the task, owns none of its data,
 * and holds no copy that it received of a datum that the task writes. So
 *  - the owner has seen every task that writes the datum;
 *  - a rank that received a copy in order to read it has seen every task that writes the datum
 * since then, and the flag may stay set until such a task;
 *  - a rank that wrote the datum for its owner holds no received copy after that. It may not see
 * the next write, so it drops its copy at once, and the owner counts on that.
 *
 * Invariant: with the cache on, rank r is in the owner's set exactly if the datum has
 * ORR_MPI_RECEIVED on r (between insertions). No rank can check that alone; a disagreement leaves a
 * message that nobody receives, which unmatched.c reports. */
#include <stdio.h>
#include "mpi/carry/layer.h"
#include "mpi/auto/cache.h"
#include "mpi/carry/attach.h"
#include "mpi/carry/comm.h"
#include "base/assert.h"
#include "base/refuse.h"

static void cache_tell(struct orr_mpi *mpi, const char *what, starpu_data_handle_t h)
{
	if (mpi->proc->cfg->mpi_cache_stats)
		printf("[starpu_mpi_cache_stats][%d] %s received data %s (owner %d, %zu bytes)\n",
		       mpi->rank, what, orr_handle_name(h), (int) h->mpi_rank,
		       starpu_data_get_size(h));
}

int orr_mpi_sent_set(struct orr_mpi *mpi, starpu_data_handle_t h, int dest)
{
	struct orr_mpi_ext *ext = orr_mpi_attach(mpi, h);

	if (!ext || !mpi->set.cache)
		return 0;
	return orr_mpi_ranks_insert(&ext->sent, &ext->nsent, &ext->sent_cap, dest);
}

void orr_mpi_sent_clear(struct orr_mpi *mpi, starpu_data_handle_t h)
{
	struct orr_mpi_ext *ext = orr_mpi_ext(h);

	(void) mpi;
	if (ext)
		ext->nsent = 0;
}

int orr_mpi_received_set(struct orr_mpi *mpi, starpu_data_handle_t h)
{
	if (!orr_mpi_attach(mpi, h) || !mpi->set.cache)
		return 0;
	if (h->mpi_flags & ORR_MPI_RECEIVED)
		return 1;
	orr_assert(h->mpi_flags & ORR_MPI_ATTACHED);
	orr_mpi_flags(h, ORR_MPI_RECEIVED, 0);
	orr_mpi_holds_copy(mpi, h);
	cache_tell(mpi, "added", h);
	return 0;
}

void orr_mpi_received_end(struct orr_mpi *mpi, starpu_data_handle_t h)
{
	if (!(h->mpi_flags & ORR_MPI_RECEIVED))
		return;
	orr_mpi_flags(h, 0, ORR_MPI_RECEIVED);
	orr_mpi_holds_no_copy(mpi, h);
}

static void received_clear(struct orr_mpi *mpi, starpu_data_handle_t h)
{
	if (!(h->mpi_flags & ORR_MPI_RECEIVED))
		return;
	orr_mpi_received_end(mpi, h);
	cache_tell(mpi, "removed", h);
}

void orr_mpi_received_drop(struct orr_mpi *mpi, starpu_data_handle_t h)
{
	if (!(h->mpi_flags & ORR_MPI_RECEIVED))
		return;
	received_clear(mpi, h);
	starpu_data_invalidate_submit(h);
}

void orr_mpi_cache_release(struct orr_mpi *mpi, starpu_data_handle_t h, int n)
{
	struct orr_mpi_ext *ext = orr_mpi_ext(h);

	if (mpi->rank >= n)
		orr_mpi_received_drop(mpi, h);
	else if (ext && h->mpi_rank == mpi->rank)
		while (ext->nsent && ext->sent[ext->nsent - 1] >= n)
			ext->nsent--;
}

void orr_mpi_written_drop(struct orr_mpi *mpi, starpu_data_handle_t h)
{
	received_clear(mpi, h);
	orr_mpi_flags(h, 0, ORR_MPI_STALE);
	/* Memory that the program gave keeps the value, which the program may look at. */
	if (h->home_node < 0)
		starpu_data_invalidate_submit(h);
}

void orr_mpi_forget(struct orr_mpi *mpi, starpu_data_handle_t h, int me)
{
	if (h->mpi_rank == me)
		orr_mpi_sent_clear(mpi, h);
	else
		orr_mpi_received_drop(mpi, h);
}

void orr_mpi_overwritten(struct orr_mpi *mpi, starpu_data_handle_t h, int me)
{
	orr_mpi_forget(mpi, h, me);
	if (h->mpi_flags & ORR_MPI_MIGRATED)
		orr_mpi_flags(h, ORR_MPI_STALE, 0);
}

/* ---- public ---- */

int starpu_mpi_cache_is_enabled(void)
{
	struct orr_mpi *mpi = orr_mpi_get(__func__);

	return mpi && mpi->set.cache;
}

int starpu_mpi_cache_set(int enabled)
{
	struct orr_mpi *mpi = orr_mpi_get(__func__);

	if (!mpi)
		return 0;
	if (mpi->set.cache && !enabled)
		starpu_mpi_cache_flush_all_data(mpi->comms.all[0]->comm);
	mpi->set.cache = !!enabled;
	return mpi->set.cache;
}

void starpu_mpi_cache_flush(MPI_Comm comm, starpu_data_handle_t data_handle)
{
	struct orr_mpi *mpi = orr_mpi_get(__func__);
	struct orr_mpi_comm *c = mpi ? orr_mpi_comm_of(mpi, comm) : NULL;

	if (c && data_handle)
		orr_mpi_forget(mpi, data_handle, c->rank);
}

void starpu_mpi_cache_flush_all_data(MPI_Comm comm)
{
	struct orr_mpi *mpi = orr_mpi_get(__func__);
	struct orr_mpi_comm *c = mpi ? orr_mpi_comm_of(mpi, comm) : NULL;

	/* From the end: an entry that goes away meanwhile is replaced by the last one. */
	for (unsigned i = c ? mpi->data.nattached : 0; i-- > 0;)
		if (i < mpi->data.nattached)
			orr_mpi_forget(mpi, mpi->data.attached[i], c->rank);
}

int starpu_mpi_cached_receive(starpu_data_handle_t data_handle)
{
	return !!(data_handle->mpi_flags & ORR_MPI_RECEIVED);
}

int starpu_mpi_cached_receive_set(starpu_data_handle_t data)
{
	struct orr_mpi *mpi = orr_mpi_get(__func__);

	return mpi ? orr_mpi_received_set(mpi, data) : 0;
}

void starpu_mpi_cached_receive_clear(starpu_data_handle_t data)
{
	struct orr_mpi *mpi = orr_mpi_get(__func__);

	if (mpi)
		received_clear(mpi, data);
}

int starpu_mpi_cached_send(starpu_data_handle_t data_handle, int dest)
{
	struct orr_mpi_ext *ext = orr_mpi_ext(data_handle);

	return ext && orr_mpi_ranks_has(ext->sent, ext->nsent, dest);
}

int starpu_mpi_cached_send_set(starpu_data_handle_t data, int dest)
{
	struct orr_mpi *mpi = orr_mpi_get(__func__);

	return mpi ? orr_mpi_sent_set(mpi, data, dest) : 0;
}

void starpu_mpi_cached_send_clear(starpu_data_handle_t data)
{
	struct orr_mpi *mpi = orr_mpi_get(__func__);

	if (mpi)
		orr_mpi_sent_clear(mpi, data);
}

int starpu_mpi_cached_cp_receive_set(starpu_data_handle_t data_handle)
{
	(void) data_handle;
	return orr_refuse(
		__func__,
		"checkpoints keep copies of their own, which no cache of received values holds");
}
