/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The Cholesky example with --sizes, where the number of ranks in use changes between steps, and
 * with --elastic, where the number of processes does. Tiles follow. All ranks know all tiles then.
 *
 * Invariant: the owner of a tile, of A and of the residual, follows from the number of ranks in
 * use.
 */
#include "cholesky.h"

/* The tiles of both triangles have indices; those above the diagonal do not exist. */
static int64_t place(const struct problem *pb, int i, int j)
{
	return (int64_t) i * pb->nt + j;
}

void phases_start(struct problem *pb)
{
	int first = pb->elastic ? pb->now.base : pb->phases.n ? pb->phases.sizes[0] : 0;
	struct grid g = { .size = first };
	struct options none = { 0 };

	if (!first)
		return;
	pb->prune = 0;
	grid_complete(&g, &none);
	pb->rule = orrery_distribution_cyclic_2d(pb->nt, pb->nt, g.P, g.Q);
	phase_check(pb->grid.comm, pb->rule ? 0 : -ENOMEM, "cholesky");
	if (!pb->elastic)
		phase_check(pb->grid.comm, orrery_resize(pb->grid.comm, first), "cholesky");
}

void phases_follow(const struct problem *pb, starpu_data_handle_t tile, int i, int j)
{
	MPI_Comm comm = pb->grid.comm;
	int owner = orrery_distribution_owner(pb->rule, place(pb, i, j), orrery_resize_size(comm));

	phase_check(comm, owner, "cholesky");
	starpu_mpi_data_set_rank_comm(tile, owner, comm);
	phase_check(comm, orrery_resize_follow(comm, tile, pb->rule, place(pb, i, j)), "cholesky");
}

int phases_begin(struct problem *pb, int *argc, char ***argv, struct options *o, const char *usage)
{
	struct grid *g = &pb->grid;
	int status = options_report(o, 0, "cholesky", usage);

	if (status >= 0)
		return status;
	pb->joined = elastic_begin(argc, argv, &g->comm, &pb->now, "cholesky", &status);
	if (pb->joined < 0)
		return status;
	starpu_mpi_comm_rank(g->comm, &g->rank);
	starpu_mpi_comm_size(g->comm, &g->size);
	grid_complete(g, o);
	return -1;
}

/* The processes of the run change here. Insertion must not be far ahead of the tasks, or it were
 * over before anybody asks for a change. */
static void follow_set(struct problem *pb)
{
	starpu_task_wait_for_n_submitted(2 * starpu_worker_get_count());
	int ret = orrery_resize_point(pb->grid.comm);

	phase_check(pb->grid.comm, ret, "cholesky");
	pb->left = !ret;
	watch_point(&pb->watch, pb->grid.comm, &pb->grid.rank, ret, pb->now.step, "cholesky");
	if (!pb->left)
		starpu_mpi_comm_size(pb->grid.comm, &pb->grid.size);
}

void phases_step(struct problem *pb, int k)
{
	int size = phase_begins(&pb->phases, k, pb->nt);

	if (pb->elastic)
		follow_set(pb);
	else if (size)
		phase_check(pb->grid.comm, orrery_resize(pb->grid.comm, size), "cholesky");
}

void phases_end(struct problem *pb)
{
	if (!pb->rule)
		return;
	if (!pb->left)
		phases_print(pb->grid.comm, pb->grid.rank, "cholesky");
	orrery_distribution_free(pb->rule);
}
