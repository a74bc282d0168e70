/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Data that the tests of different insertions share: rank i owns h[i], which is 0. */
#ifndef MPI_INSERTS_H
#define MPI_INSERTS_H

#include "../mpi/mpi_test.h"

static inline void register_two(starpu_data_handle_t h[2])
{
	for (int i = 0; i < 2; i++) {
		new_int(&h[i]);
		starpu_mpi_data_register(h[i], i, i);
		if (rank == i)
			set_int(h[i], 0);
	}
}

#endif
