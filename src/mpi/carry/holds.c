/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The bytes that a rank holds (see holds.h).
 *
 * Invariant: as stated there. */
#include "mpi/carry/holds.h"

#include "data/data.h"
#include "mpi/carry/layer.h"

static void more(uint64_t *sum, uint64_t *most, uint64_t bytes)
{
	uint64_t now = ORR_ATOMIC_ADD(sum, bytes), before = ORR_ATOMIC_LOAD(most);

	while (now > before && !ORR_ATOMIC_CAS(most, &before, now))
		;
}

/* The size of a datum may have changed meanwhile, so the sum ends at 0. */
static void less(uint64_t *sum, uint64_t bytes)
{
	uint64_t before = ORR_ATOMIC_LOAD(sum);

	while (!ORR_ATOMIC_CAS(sum, &before, before > bytes ? before - bytes : 0))
		;
}

int orr_mpi_holds_own(struct orr_mpi *mpi, starpu_data_handle_t h)
{
	if (!mpi || h->mpi_rank == -1 || h->piece_of)
		return 0;
	if (h->mpi_rank == STARPU_MPI_PER_NODE || !h->mpi_comm)
		return h->mpi_rank == STARPU_MPI_PER_NODE || h->mpi_rank == mpi->rank;
	orr_lock(&mpi->comms.lock);
	int own = h->mpi_comm < mpi->comms.n && h->mpi_rank == mpi->comms.all[h->mpi_comm]->rank;
	orr_unlock(&mpi->comms.lock);
	return own;
}

void orr_mpi_holds_owner(struct orr_mpi *mpi, starpu_data_handle_t h, int before)
{
	int now = orr_mpi_holds_own(mpi, h);

	if (before && !now)
		less(&mpi->holds.own, starpu_data_get_size(h));
	else if (now && !before)
		more(&mpi->holds.own, &mpi->holds.own_most, starpu_data_get_size(h));
}

void orr_mpi_holds_copy(struct orr_mpi *mpi, starpu_data_handle_t h)
{
	more(&mpi->holds.copies, &mpi->holds.copies_most, starpu_data_get_size(h));
}

void orr_mpi_holds_no_copy(struct orr_mpi *mpi, starpu_data_handle_t h)
{
	less(&mpi->holds.copies, starpu_data_get_size(h));
}

void orr_mpi_holds_end(struct orr_mpi *mpi, starpu_data_handle_t h)
{
	if (orr_mpi_holds_own(mpi, h))
		less(&mpi->holds.own, starpu_data_get_size(h));
	if (h->mpi_flags & ORR_MPI_RECEIVED)
		orr_mpi_holds_no_copy(mpi, h);
}
