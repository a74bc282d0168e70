/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An interface of the program travels by its MPI datatype: registered for the interface, for a
 * handle, and not given for some data. */
#include "user_interface.h"

static int made, freed, refuse;
static starpu_mpi_datatype_allocate_func_t allocate;
static starpu_mpi_datatype_node_allocate_func_t allocate_on;
static starpu_mpi_datatype_free_func_t release;

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

/* For data on any node: the engine asks for main memory. */
static int make_type_on(starpu_data_handle_t handle, unsigned node, MPI_Datatype *type)
{
	CHECK_IS(node, STARPU_MAIN_RAM);
	made += 100;
	return make_type(handle, type);
}

static void free_type(MPI_Datatype *type)
{
	freed++;
	MPI_Type_free(type);
}

/* A datatype of one handle. */
static void one_handle(int by_node)
{
	starpu_data_handle_t h;

	new_pair(&h, 10);
	fill_pair(h, rank);
	if (by_node)
		OK(starpu_mpi_datatype_node_register(h, allocate_on, release));
	else
		OK(starpu_mpi_datatype_register(h, allocate, release));
	OK(starpu_mpi_barrier(MPI_COMM_WORLD));
	made = 0;
	if (rank == 0)
		OK(starpu_mpi_send(h, 1, 1, MPI_COMM_WORLD));
	if (rank == 1) {
		OK(starpu_mpi_recv(h, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		check_pair(h, 0);
	}
	CHECK_IS(made, rank < 2 ? (by_node ? 101 : 1) : 0);
	OK(starpu_mpi_datatype_unregister(h));
	starpu_data_unregister(h);
}

int main(int argc, char **argv)
{
	if (!begin(&argc, &argv, 2))
		return 77;
	starpu_data_register_ops(&pair_ops);
	allocate = make_type;
	allocate_on = make_type_on;
	release = free_type;
	OK(starpu_mpi_interface_datatype_register(pair_ops.interfaceid, allocate, release));
	exchange_pairs();
	CHECK(packed == 0 && unpacked == 0 && made == 16 && freed == 16,
	      "packed %d, unpacked %d, made %d, freed %d", packed, unpacked, made, freed);
	refuse = 1;
	exchange_pairs();
	CHECK(packed == 8 && unpacked == 8, "the data without datatype must be packed");
	refuse = 0;
	OK(starpu_mpi_interface_datatype_unregister(pair_ops.interfaceid));
	made = 0;
	OK(starpu_mpi_interface_datatype_node_register(pair_ops.interfaceid, allocate_on, release));
	exchange_pairs();
	CHECK_IS(made, 16 * 101);
	OK(starpu_mpi_interface_datatype_unregister(pair_ops.interfaceid));
	one_handle(0);
	one_handle(1);
	return end();
}
