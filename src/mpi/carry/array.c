/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Batches of detached communications that end together: with a callback, or by unlocking a tag
 * (dependencies of tasks on messages).
 *
 * Invariant: the callback runs, or the tag is notified, exactly once: when all messages of the call
 * are complete, at once for an empty array. */
#include <errno.h>
#include <stdlib.h>
#include "mpi/carry/layer.h"
#include "mpi/carry/array.h"
#include "mpi/carry/comm.h"
#include "base/assert.h"
#include "base/log.h"

struct orr_mpi_batch {
	int32_t left; /* atomic: messages not complete, +1 while they are being submitted */
	void (*callback)(void *);
	void *arg;
	starpu_tag_t tag; /* of batch_of_tag */
};

struct orr_mpi_batch *orr_mpi_batch_new(unsigned n, void (*callback)(void *), void *arg)
{
	struct orr_mpi_batch *batch = calloc(1, sizeof(*batch));

	if (!batch) {
		orr_error("out of memory");
		return NULL;
	}
	batch->left = (int32_t) n + 1;
	batch->callback = callback;
	batch->arg = arg;
	return batch;
}

void orr_mpi_batch_complete(void *arg)
{
	struct orr_mpi_batch *batch = arg;
	int32_t left = ORR_ATOMIC_ADD(&batch->left, -1);

	orr_assertf(left >= 0, "the messages of a batch completed %d times too often", -left);
	if (left)
		return;
	batch->callback(batch->arg);
	free(batch);
}

int orr_mpi_batch_submitted(struct orr_mpi_batch *batch, unsigned missing, int ret)
{
	orr_assert(!ret || missing);
	if (missing)
		ORR_ATOMIC_ADD(&batch->left, -(int32_t) missing);
	orr_mpi_batch_complete(batch);
	return ret;
}

static void batch_notify_tag(void *arg)
{
	starpu_tag_notify_from_apps(((struct orr_mpi_batch *) arg)->tag);
}

static struct orr_mpi_batch *batch_of_tag(unsigned n, starpu_tag_t tag)
{
	struct orr_mpi_batch *batch = orr_mpi_batch_new(n, batch_notify_tag, NULL);

	if (batch) {
		batch->arg = batch;
		batch->tag = tag;
	}
	return batch;
}

/* Posts the messages of an array by a detached form. prio NULL: all have priority 0. */
static int array_form(__typeof__(starpu_mpi_isend_detached_prio) *post, unsigned n,
		      starpu_data_handle_t *handle, int *peer, starpu_mpi_tag_t *tag, int *prio,
		      MPI_Comm *comm, starpu_tag_t unlocked)
{
	struct orr_mpi_batch *batch = batch_of_tag(n, unlocked);
	int ret = 0;
	unsigned i;

	if (!batch)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		ret = post(handle[i], peer[i], tag[i], prio ? prio[i] : 0, comm[i],
			   orr_mpi_batch_complete, batch);
		if (ret)
			break;
	}
	return orr_mpi_batch_submitted(batch, n - i, ret);
}

int starpu_mpi_isend_array_detached_unlock_tag_prio(unsigned array_size,
						    starpu_data_handle_t *data_handle, int *dest,
						    starpu_mpi_tag_t *data_tag, int *prio,
						    MPI_Comm *comm, starpu_tag_t tag)
{
	return array_form(starpu_mpi_isend_detached_prio, array_size, data_handle, dest, data_tag,
			  prio, comm, tag);
}

int starpu_mpi_isend_array_detached_unlock_tag(unsigned array_size,
					       starpu_data_handle_t *data_handle, int *dest,
					       starpu_mpi_tag_t *data_tag, MPI_Comm *comm,
					       starpu_tag_t tag)
{
	return starpu_mpi_isend_array_detached_unlock_tag_prio(array_size, data_handle, dest,
							       data_tag, NULL, comm, tag);
}

int starpu_mpi_irecv_array_detached_unlock_tag(unsigned array_size,
					       starpu_data_handle_t *data_handle, int *source,
					       starpu_mpi_tag_t *data_tag, MPI_Comm *comm,
					       starpu_tag_t tag)
{
	return array_form(starpu_mpi_irecv_detached_prio, array_size, data_handle, source, data_tag,
			  NULL, comm, tag);
}

int starpu_mpi_isend_detached_unlock_tag_prio(starpu_data_handle_t data_handle, int dest,
					      starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm,
					      starpu_tag_t tag)
{
	return starpu_mpi_isend_array_detached_unlock_tag_prio(1, &data_handle, &dest, &data_tag,
							       &prio, &comm, tag);
}

int starpu_mpi_isend_detached_unlock_tag(starpu_data_handle_t data_handle, int dest,
					 starpu_mpi_tag_t data_tag, MPI_Comm comm, starpu_tag_t tag)
{
	return starpu_mpi_isend_detached_unlock_tag_prio(data_handle, dest, data_tag, 0, comm, tag);
}

int starpu_mpi_irecv_detached_unlock_tag(starpu_data_handle_t data_handle, int source,
					 starpu_mpi_tag_t data_tag, MPI_Comm comm, starpu_tag_t tag)
{
	return starpu_mpi_irecv_array_detached_unlock_tag(1, &data_handle, &source, &data_tag,
							  &comm, tag);
}
