/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* STARPU_SSEND: the datum of a task is sent synchronously. Its owner learns that the message is
 * over only after the receiver has taken it, so a task that writes the datum next begins after
 * that.
 * orr-test: ranks 2
 * orr-test: sim-ranks 2 */
#include "mpi_test.h"

/* The time at which a task of rank 0 overwrote the datum, since it came to the barrier. */
static double overwritten_us(int how, int value)
{
	starpu_data_handle_t h, to;
	double start, us;

	new_int(&h);
	starpu_mpi_data_register(h, 10 * value, 0);
	new_int(&to);
	starpu_mpi_data_register(to, 10 * value + 1, 1);
	if (rank == 0)
		set_int(h, value);
	if (rank == 1)
		set_int(to, 0);
	start = starpu_timing_now(); /* before rank 1 begins to be late */
	OK(starpu_mpi_barrier(MPI_COMM_WORLD));
	/* Rank 1 asks for the datum a tenth of a second late. */
	if (rank == 1)
		starpu_sleep(0.1f);
	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &append_cl, STARPU_RW, to, STARPU_R | how, h, 0));
	if (rank == 0)
		set_int(h, 0); /* waits for the message */
	us = starpu_timing_now() - start;
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	if (rank == 1)
		CHECK_IS(int_of(to), value);
	starpu_data_unregister(h);
	starpu_data_unregister(to);
	return us;
}

int main(int argc, char **argv)
{
	if (!begin(&argc, &argv, 2))
		return 77;
	overwritten_us(0, 1);
	double late = overwritten_us(STARPU_SSEND, 2);
	if (rank == 0)
		CHECK(late >= 99e3, "a synchronous send was over after %.0f us", late);
	return end();
}
