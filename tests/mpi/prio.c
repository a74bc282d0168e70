/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sends that become ready together start in the order of their priorities (one at a time here), by
 * whichever function they are posted.
 * orr-test: ranks 2
 * orr-test: sim-ranks 2
 * orr-test: env STARPU_MPI_NDETACHED_SEND=1 STARPU_MPI_EAGER_LIMIT=0 */
#include "mpi_test.h"

enum { N = 16, NX = 1 << 18, TAG_DONE = 100, FEW = 4 };
enum { ISEND, ISSEND, DETACHED, SYNCHRONOUS_DETACHED, UNLOCKS, ARRAY, NKINDS };
static int order[N], narrived;

static void arrived(void *arg)
{
	order[narrived++] = (int) (intptr_t) arg;
}

static void send_all(starpu_data_handle_t out, starpu_tag_t tag)
{
	starpu_data_handle_t handles[N];
	starpu_mpi_tag_t tags[N];
	MPI_Comm comms[N];
	int dest[N], prio[N];

	for (int i = 0; i < N; i++) {
		handles[i] = out;
		tags[i] = i;
		comms[i] = MPI_COMM_WORLD;
		dest[i] = 1;
		prio[i] = i % 4;
	}
	OK(starpu_mpi_isend_array_detached_unlock_tag_prio(N, handles, dest, tags, prio, comms,
							   tag));
}

/* Posts send number i; *req is NULL if nobody has to wait for it. */
static void send_one(int kind, starpu_data_handle_t out, starpu_mpi_req *req, int i)
{
	MPI_Comm world = MPI_COMM_WORLD;
	int prio = i % 4;

	*req = NULL;
	if (kind == ISEND)
		OK(starpu_mpi_isend_prio(out, req, 1, i, prio, world));
	else if (kind == ISSEND)
		OK(starpu_mpi_issend_prio(out, req, 1, i, prio, world));
	else if (kind == DETACHED)
		OK(starpu_mpi_isend_detached_prio(out, 1, i, prio, world, NULL, NULL));
	else if (kind == SYNCHRONOUS_DETACHED)
		OK(starpu_mpi_issend_detached_prio(out, 1, i, prio, world, NULL, NULL));
	else
		OK(starpu_mpi_isend_detached_unlock_tag_prio(out, 1, i, prio, world,
							     TAG_DONE + (starpu_tag_t) i));
}

/* Rank 0 sends one datum N times, with a release that makes the sends ready together. */
static void send(int kind, starpu_data_handle_t out)
{
	starpu_tag_t array_tag = TAG_DONE + N;
	starpu_mpi_req reqs[N];

	OK(starpu_data_acquire(out, STARPU_W));
	memset(starpu_data_get_local_ptr(out), 1, NX * sizeof(int));
	if (kind == ARRAY)
		send_all(out, array_tag);
	for (int i = 0; i < N && kind != ARRAY; i++)
		send_one(kind, out, &reqs[i], i);
	OK(MPI_Barrier(MPI_COMM_WORLD));
	starpu_data_release(out);
	for (int i = 0; i < N && kind != ARRAY; i++)
		if (reqs[i])
			OK(starpu_mpi_wait(&reqs[i], MPI_STATUS_IGNORE));
	for (int i = 0; i < N && kind == UNLOCKS; i++)
		OK(starpu_tag_wait(TAG_DONE + (starpu_tag_t) i));
	if (kind == ARRAY)
		OK(starpu_tag_wait(array_tag));
}

static void receive(starpu_data_handle_t *in)
{
	narrived = 0;
	for (int i = 0; i < N; i++)
		OK(starpu_mpi_irecv_detached_prio(in[i], 0, i, i % 4, MPI_COMM_WORLD, arrived,
						  (void *) (intptr_t) i));
	OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* The first starts before the others are known, and so do a few more if the thread that makes them
 * ready is interrupted; the rest is sorted, most urgent first. No limit holds for synchronous
 * sends, so all of them are under way together and end in any order. */
static void check_order(int kind)
{
	CHECK_IS(narrived, N);
	if (kind == ISSEND || kind == SYNCHRONOUS_DETACHED)
		return;
	for (int i = FEW; i + 1 < N; i++)
		CHECK(order[i] % 4 >= order[i + 1] % 4, "function %d: tag %d came before tag %d",
		      kind, order[i], order[i + 1]);
}

int main(int argc, char **argv)
{
	starpu_data_handle_t out, in[N];

	if (!begin(&argc, &argv, 2))
		return 77;
	starpu_vector_data_register(&out, -1, 0, NX, sizeof(int));
	for (int i = 0; i < N; i++)
		starpu_vector_data_register(&in[i], -1, 0, NX, sizeof(int));
	for (int kind = 0; kind < NKINDS; kind++) {
		if (rank == 0)
			send(kind, out);
		else
			receive(in);
		OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
		if (rank == 1)
			check_order(kind);
	}
	starpu_data_unregister(out);
	for (int i = 0; i < N; i++)
		starpu_data_unregister(in[i]);
	return end();
}
