/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A task that writes data of two owners executes where the fewest bytes move: written data count,
 * data that are read and written count twice, and the lowest of equal ranks wins. */
#include "mpi_test.h"

static void cpu_note(void *buffers[], void *arg)
{
	int *executed;

	(void) buffers;
	starpu_codelet_unpack_args(arg, &executed);
	__atomic_add_fetch(executed, 1, __ATOMIC_SEQ_CST);
}

static struct starpu_codelet note_cl = { .cpu_funcs = { cpu_note },
					 .nbuffers = STARPU_VARIABLE_NBUFFERS,
					 .name = "note" };

static starpu_data_handle_t of_owner(int owner, int tag, size_t n)
{
	starpu_data_handle_t h;

	starpu_vector_data_register(&h, -1, 0, (uint32_t) n, 1);
	starpu_mpi_data_register(h, tag, owner);
	if (rank == owner) {
		OK(starpu_data_acquire(h, STARPU_W));
		memset((void *) starpu_data_get_local_ptr(h), 0, n);
		starpu_data_release(h);
	}
	return h;
}

/* The task executes on this rank, once. */
static void expect(int where, struct starpu_data_descr *d, int n)
{
	int executed = 0, *p = &executed;

	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &note_cl, STARPU_DATA_MODE_ARRAY, d, n,
				  STARPU_VALUE, &p, sizeof(p), 0));
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	CHECK(executed == (rank == where), "executed %d times here, expected on rank %d", executed,
	      where);
}
#define EXPECT(where, ...) \
	expect(where, (struct starpu_data_descr[]){ __VA_ARGS__ }, \
	       (int) (sizeof((struct starpu_data_descr[]){ __VA_ARGS__ }) / \
		      sizeof(struct starpu_data_descr)))
#define W(h) \
	{ \
		h, STARPU_W \
	}
#define RW(h) \
	{ \
		h, STARPU_RW \
	}
#define R(h) \
	{ \
		h, STARPU_R \
	}

int main(int argc, char **argv)
{
	if (!begin(&argc, &argv, 2))
		return 77;
	int last = size - 1;
	starpu_data_handle_t small0 = of_owner(0, 1, 100), small1 = of_owner(last, 2, 100),
			     big0 = of_owner(0, 3, 1000), mid1 = of_owner(last, 4, 600);

	/* Equal: the lowest rank, in whatever order they stand. */
	EXPECT(0, W(small0), W(small1));
	EXPECT(0, RW(small1), RW(small0));
	/* Only written bytes, and the larger ones are the last rank's. */
	EXPECT(last, W(small0), W(mid1));
	/* Bytes read decide between equal writes. */
	EXPECT(last, W(small0), W(small1), R(mid1));
	/* 600 read and written weigh more than 1,000 read plus 100 written. */
	EXPECT(last, RW(mid1), W(small0), R(big0));
	/* ... but 600 only written do not. */
	EXPECT(0, W(mid1), RW(small0), R(big0));
	starpu_data_unregister(small0);
	starpu_data_unregister(small1);
	starpu_data_unregister(big0);
	starpu_data_unregister(mid1);
	return end();
}
