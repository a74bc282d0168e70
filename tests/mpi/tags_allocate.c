/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ranges of tags: distinct, reused after they are freed, the same on every rank. */
#include "mpi_test.h"

int main(int argc, char **argv)
{
	if (!begin(&argc, &argv, 1))
		return 77;
	int64_t a = starpu_mpi_tags_allocate(100), b = starpu_mpi_tags_allocate(50),
		c = starpu_mpi_tags_allocate(10);
	CHECK(a >= 0 && (b >= a + 100 || b + 50 <= a), "a %lld b %lld", (long long) a,
	      (long long) b);
	CHECK((c >= a + 100 || c + 10 <= a) && (c >= b + 50 || c + 10 <= b), "c %lld",
	      (long long) c);
	starpu_mpi_tags_free(b);
	CHECK(starpu_mpi_tags_allocate(50) == b, "freed tags are used again");
	CHECK(starpu_mpi_tags_allocate(0) == -1, "nothing was asked for");
	int64_t sum = 0;
	MPI_Reduce(&a, &sum, 1, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		CHECK(sum == size * a, "ranks disagree");
	return end();
}
