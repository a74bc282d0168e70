/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* MPI's predefined handles are constants: they initialise variables with static storage, and are
 * the same handles as in code. The communicators work, with receives from any source, too. */
#include "mpi_test.h"

static MPI_Comm world = MPI_COMM_WORLD;
static MPI_Comm const self = MPI_COMM_SELF;
static const struct {
	MPI_Comm comm;
	MPI_Datatype type;
	MPI_Op op;
	MPI_Group group;
	MPI_Errhandler handler;
} table[] = {
	{ MPI_COMM_WORLD, MPI_INT, MPI_SUM, MPI_GROUP_EMPTY, MPI_ERRORS_RETURN },
	{ MPI_COMM_SELF, MPI_INT, MPI_MAX, MPI_GROUP_NULL, MPI_ERRORS_ARE_FATAL },
	{ MPI_COMM_NULL, MPI_DATATYPE_NULL, MPI_OP_NULL, MPI_GROUP_NULL, MPI_ERRHANDLER_NULL },
};

static int sum_over(int i)
{
	int sum = -1;
	MPI_Allreduce(&rank, &sum, 1, table[i].type, table[i].op, table[i].comm);
	return sum;
}

static int comparison(MPI_Comm a, MPI_Comm b)
{
	int result;
	MPI_Comm_compare(a, b, &result);
	return result;
}

int main(int argc, char **argv)
{
	CHECK(world == MPI_COMM_WORLD, "before MPI_Init");
	OK(starpu_mpi_init_conf(&argc, &argv, 1, world, NULL));
	MPI_Comm_rank(world, &rank);
	MPI_Comm_size(world, &size);
	CHECK(world == MPI_COMM_WORLD && world == table[0].comm, "after MPI_Init");
	CHECK(self == MPI_COMM_SELF && self == table[1].comm, "after MPI_Init");
	CHECK(comparison(world, MPI_COMM_WORLD) == MPI_IDENT, "world");
	CHECK(comparison(self, MPI_COMM_SELF) == MPI_IDENT, "self");
	CHECK(sum_over(0) == size * (size - 1) / 2, "%d", sum_over(0));
	CHECK(sum_over(1) == rank, "%d", sum_over(1));

	int of_self, sum = 0;
	MPI_Comm_size(self, &of_self);
	CHECK(of_self == 1, "%d", of_self);
	if (rank)
		MPI_Send(&rank, 1, MPI_INT, 0, 3, world);
	for (int i = 1; !rank && i < size; i++) {
		int from;
		MPI_Recv(&from, 1, MPI_INT, MPI_ANY_SOURCE, 3, world, MPI_STATUS_IGNORE);
		sum += from;
	}
	CHECK(rank || sum == size * (size - 1) / 2, "%d", sum);
	return end();
}
