/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts that the tests of the MPI layer share: start, end, and checks. Public interface only;
 * the same text in both worlds. */
#ifndef MPI_TEST_H
#define MPI_TEST_H

#include <stdint.h>
#include <string.h>
#include <errno.h>
#include <starpu_mpi.h>

#include "lib/test.h"

static int rank, size;

/* 1: go on; 0: the test cannot run here (return 77 from main). */
static inline int begin(int *argc, char ***argv, int least)
{
	int ret = starpu_mpi_init_conf(argc, argv, 1, MPI_COMM_WORLD, NULL);

	if (ret == -ENODEV)
		return 0;
	CHECK(ret == 0, "starpu_mpi_init_conf returned %d", ret);
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	test_rank = rank;
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	if (size >= least)
		return 1;
	starpu_mpi_shutdown();
	return 0;
}

static inline int end(void)
{
	OK(starpu_mpi_shutdown());
	return 0;
}

/* The value of a variable, read by the program. */
static inline int int_of(starpu_data_handle_t h)
{
	OK(starpu_data_acquire(h, STARPU_R));
	int value = *(int *) starpu_data_get_local_ptr(h);
	starpu_data_release(h);
	return value;
}

static inline void set_int(starpu_data_handle_t h, int value)
{
	OK(starpu_data_acquire(h, STARPU_W));
	*(int *) starpu_data_get_local_ptr(h) = value;
	starpu_data_release(h);
}

static inline void new_int(starpu_data_handle_t *h)
{
	starpu_variable_data_register(h, -1, 0, sizeof(int));
}

/* Kernels on ints: first += 1; first = 10 * first + second. */
static inline void cpu_increment(void *buffers[], void *arg)
{
	(void) arg;
	++*(int *) STARPU_VARIABLE_GET_PTR(buffers[0]);
}

static inline void cpu_append(void *buffers[], void *arg)
{
	int *a = (int *) STARPU_VARIABLE_GET_PTR(buffers[0]);

	(void) arg;
	/* (Modulo 2^32: a wrong program may append more often than an int has room.) */
	*a = (int) (10 * (unsigned) *a + *(unsigned *) STARPU_VARIABLE_GET_PTR(buffers[1]));
}

/* first = rank of the executing process (argument). */
static inline void cpu_set(void *buffers[], void *arg)
{
	int value;

	starpu_codelet_unpack_args(arg, &value);
	*(int *) STARPU_VARIABLE_GET_PTR(buffers[0]) = value;
}

__attribute__((unused)) static struct starpu_codelet increment_cl = {
	.cpu_funcs = { cpu_increment }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "increment"
};
__attribute__((unused)) static struct starpu_codelet append_cl = { .cpu_funcs = { cpu_append },
								   .nbuffers = 2,
								   .modes = { STARPU_RW, STARPU_R },
								   .name = "append" };
__attribute__((unused)) static struct starpu_codelet set_cl = {
	.cpu_funcs = { cpu_set }, .nbuffers = 1, .modes = { STARPU_W }, .name = "set"
};

#endif
