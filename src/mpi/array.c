/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Detached communications that unlock a tag (dependencies of tasks on messages), alone or as an
 * array.
 *
 * Invariant: the tag is notified exactly once, when all messages of the call are complete; at once
 * for an empty array. */
#include <errno.h>
#include <stdlib.h>
#include "mpi/mpi.h"
#include "base/assert.h"
#include "base/log.h"

struct unlock {
	int32_t left; /* atomic: messages not complete, +1 while they are being submitted */
	starpu_tag_t tag;
};

static void one_done(void *arg)
{
	struct unlock *u = arg;
	int32_t left = ORR_ATOMIC_ADD(&u->left, -1);

	orr_assertf(left >= 0, "the messages of a tag ended %d times too often", -left);
	if (left)
		return;
	starpu_tag_notify_from_apps(u->tag);
	free(u);
}

static struct unlock *unlock_new(unsigned n, starpu_tag_t tag)
{
	struct unlock *u = malloc(sizeof(*u));

	if (!u) {
		orr_error("out of memory");
		return NULL;
	}
	u->left = (int32_t) n + 1;
	u->tag = tag;
	return u;
}

/* All submitted but `missing`, which failed with ret. */
static int submitted(struct unlock *u, unsigned missing, int ret)
{
	orr_assert(!missing == !ret);
	if (missing)
		ORR_ATOMIC_ADD(&u->left, -(int32_t) missing);
	one_done(u);
	return ret;
}

int starpu_mpi_isend_array_detached_unlock_tag_prio(unsigned array_size,
						    starpu_data_handle_t *data_handle, int *dest,
						    starpu_mpi_tag_t *data_tag, int *prio,
						    MPI_Comm *comm, starpu_tag_t tag)
{
	struct unlock *u = unlock_new(array_size, tag);
	int ret = u ? 0 : -ENOMEM;
	unsigned i;

	if (!u)
		return ret;
	for (i = 0; i < array_size; i++) {
		ret = starpu_mpi_isend_detached_prio(data_handle[i], dest[i], data_tag[i],
						     prio ? prio[i] : 0, comm[i], one_done, u);
		if (ret)
			break;
	}
	return submitted(u, array_size - i, ret);
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
	struct unlock *u = unlock_new(array_size, tag);
	int ret = u ? 0 : -ENOMEM;
	unsigned i;

	if (!u)
		return ret;
	for (i = 0; i < array_size; i++) {
		ret = starpu_mpi_irecv_detached(data_handle[i], source[i], data_tag[i], comm[i],
						one_done, u);
		if (ret)
			break;
	}
	return submitted(u, array_size - i, ret);
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
