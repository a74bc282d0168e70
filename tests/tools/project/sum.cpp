// SPDX-License-Identifier: LGPL-2.1-or-later
// A C++ program: each rank adds its numbers by tasks, MPI adds those of the ranks.
#include <iostream>
#include <numeric>
#include <vector>
#include <starpu_mpi.h>
#include "part.h"

static std::vector<int> numbers(100, 1); // a constructor that runs before main

static void add(void *buffers[], void *)
{
	int *v = reinterpret_cast<int *>(STARPU_VECTOR_GET_PTR(buffers[0]));
	int *total = reinterpret_cast<int *>(STARPU_VARIABLE_GET_PTR(buffers[1]));
	*total = std::accumulate(v, v + STARPU_VECTOR_GET_NX(buffers[0]), 0);
}

int main(int argc, char **argv)
{
	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 1;
	struct starpu_codelet cl;
	starpu_codelet_init(&cl);
	cl.cpu_funcs[0] = add;
	cl.nbuffers = 2;
	cl.modes[0] = STARPU_R;
	cl.modes[1] = STARPU_W;
	int mine = 0, all = 0, rank = starpu_mpi_world_rank();
	starpu_data_handle_t v, t;
	starpu_vector_data_register(&v, STARPU_MAIN_RAM,
				    reinterpret_cast<uintptr_t>(numbers.data()), numbers.size(),
				    sizeof(int));
	starpu_variable_data_register(&t, STARPU_MAIN_RAM, reinterpret_cast<uintptr_t>(&mine),
				      sizeof(mine));
	starpu_task_insert(&cl, STARPU_R, v, STARPU_W, t, 0);
	starpu_data_unregister(v);
	starpu_data_unregister(t);
	MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (rank == 0)
		std::cout << "sum " << twice(all) << std::endl;
	starpu_mpi_shutdown();
	return 0;
}
