/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The plan for a value that goes to several ranks: no piece is just too long to be eager, and
 * behind a slow network no piece that is not eager leaves a rank alone. A limit of the user holds.
 *
 * Invariant: the network is what the test says; nothing is sent. */
#include "lib/test.h"
#include "mpi/carry/shape.c"

/* The pieces of a value; 1: it goes as a whole. */
static size_t pieces_of(const struct orr_mpi_plan *plan, size_t bytes)
{
	return (bytes + plan->piece - 1) / plan->piece;
}

static int is_single(const struct orr_mpi_plan *plan)
{
	return orr_mpi_pieces_out(plan->arity) == 1;
}

/* Values of all sizes, to all numbers of ranks. Returns how many of them go in pieces, and in
 * *single how many of those one piece at a time. */
static unsigned plans(const struct orr_mpi_network *net, unsigned *single)
{
	unsigned cut = 0;

	*single = 0;
	for (size_t bytes = 16384; bytes < (size_t) 64 << 20; bytes += bytes / 7)
		for (uint32_t n = 2; n < 70; n += 1 + n / 3) {
			struct orr_mpi_plan plan = orr_mpi_plan(net, bytes, n, 8192,
								ORR_MPI_LEAVES_NOTHING);
			size_t pieces = pieces_of(&plan, bytes);

			if (pieces == 1)
				continue;
			cut++;
			CHECK(plan.piece <= EAGER_PIECE || plan.piece > EAGER_PIECE * 5 / 4 ||
			      net->most_pieces);
			CHECK(!net->most_pieces || (double) pieces <= net->most_pieces);
			if (!is_single(&plan))
				continue;
			++*single;
			CHECK(plan.piece <= EAGER_PIECE || net->bytes_per_us > 700);
		}
	return cut;
}

int main(void)
{
	struct orr_mpi_network slow = { .latency_us = 9, .bytes_per_us = 24, .overhead_us = 3 },
			       fast = { .latency_us = 1, .bytes_per_us = 12500, .overhead_us = 1 };
	struct orr_mpi_plan plan;
	unsigned single;

	/* 512 KiB in 8 pieces would be of 64 KiB, with the header of a message more. */
	plan = orr_mpi_plan(&slow, 524288, 4, 8192, ORR_MPI_LEAVES_NOTHING);
	CHECK_IS(pieces_of(&plan, 524288), 9);
	CHECK(plan.piece <= EAGER_PIECE);
	plan = orr_mpi_plan(&slow, 1 << 20, 4, 8192, ORR_MPI_LEAVES_NOTHING);
	CHECK_IS(pieces_of(&plan, 1 << 20), 8);
	CHECK(!is_single(&plan));
	plan = orr_mpi_plan(&fast, 1 << 20, 4, 8192, ORR_MPI_LEAVES_NOTHING);
	CHECK(pieces_of(&plan, 1 << 20) > 1 && is_single(&plan));
	CHECK(plans(&slow, &single) > 100 && single > 0);
	CHECK(plans(&fast, &single) > 100 && single > 100);
	slow.most_pieces = 8;
	CHECK(plans(&slow, &single) > 100);
	return 0;
}
