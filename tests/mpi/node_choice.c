/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rank that executes: the owner, EXECUTE_ON_NODE, EXECUTE_ON_DATA, most data read, a policy;
 * results return to their owners. */
#include "mpi_test.h"

static int executed;

static void cpu_note(void *buffers[], void *arg)
{
	(void) arg;
	(void) buffers;
	__atomic_add_fetch(&executed, 1, __ATOMIC_SEQ_CST);
	++*(int *) STARPU_VARIABLE_GET_PTR(buffers[0]);
}

static struct starpu_codelet note_cl = {
	.cpu_funcs = { cpu_note }, .nbuffers = 2, .modes = { STARPU_RW, STARPU_RW }, .name = "note"
};

static int last_rank(int me, int nb_nodes, struct starpu_data_descr *descr, int nb_data)
{
	(void) me;
	(void) descr;
	CHECK(nb_data == 2, "%d data", nb_data);
	return nb_nodes - 1;
}

static void expect_on(int where)
{
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	CHECK(executed == (rank == where), "executed %d times here, expected on rank %d", executed,
	      where);
	executed = 0;
	OK(starpu_mpi_barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
	starpu_data_handle_t a, b, big;

	if (!begin(&argc, &argv, 2))
		return 77;
	new_int(&a);
	new_int(&b);
	starpu_vector_data_register(&big, -1, 0, 1000, sizeof(int));
	starpu_mpi_data_register(a, 1, 0);
	starpu_mpi_data_register(b, 2, 1);
	starpu_mpi_data_register(big, 3, 1);
	if (rank == 0)
		set_int(a, 0);
	if (rank == 1) {
		set_int(b, 0);
		OK(starpu_data_acquire(big, STARPU_W));
		memset(starpu_data_get_local_ptr(big), 0, 1000 * sizeof(int));
		starpu_data_release(big);
	}
	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &note_cl, STARPU_RW, a, STARPU_RW, b,
				  STARPU_EXECUTE_ON_NODE, size - 1, 0));
	expect_on(size - 1);
	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &note_cl, STARPU_RW, a, STARPU_RW, b,
				  STARPU_EXECUTE_ON_DATA, b, 0));
	expect_on(1);
	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &note_cl, STARPU_RW, a, STARPU_RW, b,
				  STARPU_EXECUTE_ON_NODE, -1, STARPU_EXECUTE_ON_DATA, a, 0));
	expect_on(0);
	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &note_cl, STARPU_RW, a, STARPU_RW, big, 0));
	expect_on(1);
	starpu_mpi_select_node_policy_func_t last = last_rank;
	int policy = starpu_mpi_node_selection_register_policy(last);
	CHECK(policy > 0, "policy %d", policy);
	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &note_cl, STARPU_RW, a, STARPU_RW, b,
				  STARPU_NODE_SELECTION_POLICY, policy, 0));
	expect_on(size - 1);
	OK(starpu_mpi_node_selection_set_current_policy(policy));
	CHECK(starpu_mpi_node_selection_get_current_policy() == policy, "current policy");
	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &note_cl, STARPU_RW, a, STARPU_RW, b, 0));
	expect_on(size - 1);
	OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &note_cl, STARPU_RW, a, STARPU_RW, b,
				  STARPU_NODE_SELECTION_POLICY,
				  STARPU_MPI_NODE_SELECTION_CURRENT_POLICY, 0));
	expect_on(size - 1);
	OK(starpu_mpi_node_selection_set_current_policy(STARPU_MPI_NODE_SELECTION_MOST_R_DATA));
	OK(starpu_mpi_node_selection_unregister_policy(policy));
	if (rank == 0)
		CHECK(int_of(a) == 7, "the owner has %d", int_of(a));
	starpu_data_unregister(a);
	starpu_data_unregister(b);
	starpu_data_unregister(big);
	return end();
}
