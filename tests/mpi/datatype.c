/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An interface of the program travels by its MPI datatype: registered for the interface, for a
 * handle, and not given for some data. */
#include "user_interface.h"

static int made, freed, refuse;

static int make_type(starpu_data_handle_t handle, MPI_Datatype *type)
{
	struct pair_interface *p = starpu_data_get_interface_on_node(handle, STARPU_MAIN_RAM);
	int lengths[2] = { p->n, p->n };
	MPI_Datatype types[2] = { MPI_INT, MPI_INT };
	MPI_Aint where[2];

	if (refuse)
		return -1;
	made++;
	MPI_Get_address(p->first, &where[0]);
	MPI_Get_address(p->second, &where[1]);
	where[1] -= where[0];
	where[0] = 0;
	MPI_Type_create_struct(2, lengths, where, types, type);
	MPI_Type_commit(type);
	return 0;
}

static void free_type(MPI_Datatype *type)
{
	freed++;
	MPI_Type_free(type);
}

int main(int argc, char **argv)
{
	starpu_data_handle_t h;

	if (!begin(&argc, &argv, 2))
		return 77;
	starpu_data_register_ops(&pair_ops);
	OK(starpu_mpi_interface_datatype_register(pair_ops.interfaceid, make_type, free_type));
	exchange_pairs();
	CHECK(packed == 0 && unpacked == 0 && made == 16 && freed == 16,
	      "packed %d, unpacked %d, made %d, freed %d", packed, unpacked, made, freed);
	refuse = 1;
	exchange_pairs();
	CHECK(packed == 8 && unpacked == 8, "the data without datatype must be packed");
	refuse = 0;
	OK(starpu_mpi_interface_datatype_unregister(pair_ops.interfaceid));
	new_pair(&h, 10);
	fill_pair(h, rank);
	OK(starpu_mpi_datatype_register(h, make_type, free_type));
	OK(starpu_mpi_barrier(MPI_COMM_WORLD));
	made = 0;
	if (rank == 0)
		OK(starpu_mpi_send(h, 1, 1, MPI_COMM_WORLD));
	if (rank == 1) {
		OK(starpu_mpi_recv(h, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		check_pair(h, 0);
	}
	CHECK(made == (rank < 2), "made %d", made);
	OK(starpu_mpi_datatype_unregister(h));
	starpu_data_unregister(h);
	return end();
}
