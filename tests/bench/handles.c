/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-bench: run -n 1 */
/* What a handle costs that is registered and never used: bytes of the heap and microseconds for
 * each interface, over a million registrations (fewer of the large ones of programs), with a tag
 * and an owner for MPI and without.
 *
 * Bytes are what malloc has handed out, its own words included. Invariant: every handle is still
 * registered when they are counted, and what the program allocated itself is not. */
#include <starpu_mpi.h>

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT 1000000

static starpu_data_handle_t *handles;
static int buffer[64];
static uint32_t index_array[64];

static double heap(void)
{
	struct mallinfo2 m = mallinfo2();

	return (double) m.uordblks + (double) m.hblkhd;
}

/* ---- an interface of the program ---- */

struct own_interface {
	uintptr_t ptr;
	size_t size;
};

static void own_register(starpu_data_handle_t h, int home, void *iface)
{
	for (unsigned node = 0; node < STARPU_MAXNODES; node++) {
		struct own_interface *o = starpu_data_get_interface_on_node(h, node);

		*o = *(struct own_interface *) iface;
		if ((int) node != home)
			o->ptr = 0;
	}
}

static size_t own_size(starpu_data_handle_t h)
{
	return ((struct own_interface *) starpu_data_get_interface_on_node(h, STARPU_MAIN_RAM))
		->size;
}

static struct starpu_data_interface_ops own_ops = { .register_data_handle = own_register,
						    .get_size = own_size,
						    .interfaceid = STARPU_UNKNOWN_INTERFACE_ID,
						    .interface_size = sizeof(struct own_interface),
						    .name = "own" };

/* ---- registrations ---- */

static void new_variable(starpu_data_handle_t *h)
{
	starpu_variable_data_register(h, STARPU_MAIN_RAM, (uintptr_t) buffer, sizeof(*buffer));
}
static void new_vector(starpu_data_handle_t *h)
{
	starpu_vector_data_register(h, STARPU_MAIN_RAM, (uintptr_t) buffer, 64, sizeof(*buffer));
}
static void new_matrix(starpu_data_handle_t *h)
{
	starpu_matrix_data_register(h, STARPU_MAIN_RAM, (uintptr_t) buffer, 8, 8, 8,
				    sizeof(*buffer));
}
static void new_homeless(starpu_data_handle_t *h)
{
	starpu_matrix_data_register(h, -1, 0, 8, 8, 8, sizeof(*buffer));
}
static void new_block(starpu_data_handle_t *h)
{
	starpu_block_data_register(h, STARPU_MAIN_RAM, (uintptr_t) buffer, 4, 16, 4, 4, 4,
				   sizeof(*buffer));
}
static void new_void(starpu_data_handle_t *h)
{
	starpu_void_data_register(h);
}

static void new_tensor(starpu_data_handle_t *h)
{
	starpu_tensor_data_register(h, STARPU_MAIN_RAM, (uintptr_t) buffer, 2, 4, 16, 2, 2, 4, 4,
				    sizeof(*buffer));
}

static void new_ndim(starpu_data_handle_t *h)
{
	uint32_t nn[5] = { 2, 2, 2, 2, 4 }, ldn[5] = { 1, 2, 4, 8, 16 };

	starpu_ndim_data_register(h, STARPU_MAIN_RAM, (uintptr_t) buffer, ldn, nn, 5,
				  sizeof(*buffer));
}

static void new_csr(starpu_data_handle_t *h)
{
	starpu_csr_data_register(h, STARPU_MAIN_RAM, 0, 4, (uintptr_t) buffer, index_array,
				 index_array, 0, sizeof(*buffer));
}

static void new_bcsr(starpu_data_handle_t *h)
{
	starpu_bcsr_data_register(h, STARPU_MAIN_RAM, 0, 4, (uintptr_t) buffer, index_array,
				  index_array, 0, 2, 2, sizeof(*buffer));
}

static void new_coo(starpu_data_handle_t *h)
{
	starpu_coo_data_register(h, STARPU_MAIN_RAM, 4, 4, 8, index_array, index_array,
				 (uintptr_t) buffer, sizeof(*buffer));
}

static void new_multiformat(starpu_data_handle_t *h)
{
	static struct starpu_multiformat_data_interface_ops ops = { .cpu_elemsize = sizeof(int),
								    .cuda_elemsize = sizeof(int),
								    .opencl_elemsize = sizeof(
									    int) };

	starpu_multiformat_data_register(h, STARPU_MAIN_RAM, buffer, 64, &ops);
}

static void new_own(starpu_data_handle_t *h)
{
	struct own_interface o = { .ptr = (uintptr_t) buffer, .size = sizeof(buffer) };

	starpu_data_register(h, STARPU_MAIN_RAM, &o, &own_ops);
}

static void new_for_mpi(starpu_data_handle_t *h)
{
	static starpu_mpi_tag_t tag;

	new_vector(h);
	starpu_mpi_data_register(*h, tag++, 0);
}

static void measure(const char *name, void (*create)(starpu_data_handle_t *), int count)
{
	double before = heap(), bytes, us = starpu_timing_now();

	for (int i = 0; i < count; i++)
		create(&handles[i]);
	us = (starpu_timing_now() - us) / count;
	bytes = (heap() - before) / count;
	for (int i = 0; i < count; i++)
		starpu_data_unregister_no_coherency(handles[i]);
	printf("handles %s: %.1f bytes, %.3f us per registration\n", name, bytes, us);
}

static const struct {
	const char *name;
	void (*create)(starpu_data_handle_t *);
	int count;
} kinds[] = {
	{ "variable", new_variable, COUNT },
	{ "vector", new_vector, COUNT },
	{ "matrix", new_matrix, COUNT },
	{ "matrix without home", new_homeless, COUNT },
	{ "block", new_block, COUNT },
	{ "tensor", new_tensor, COUNT },
	{ "ndim (5 dimensions)", new_ndim, COUNT },
	{ "csr", new_csr, COUNT },
	{ "bcsr", new_bcsr, COUNT },
	{ "coo", new_coo, COUNT },
	{ "void", new_void, COUNT },
	{ "multiformat", new_multiformat, COUNT },
	{ "an interface of the program", new_own, COUNT / 10 },
};

int main(int argc, char **argv)
{
	struct starpu_conf conf;

	handles = malloc(COUNT * sizeof(*handles));
	starpu_conf_init(&conf);
	conf.ncpus = 1;
	/* What was recycled costs nothing: each kind starts anew. */
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!handles || starpu_init(&conf))
			return 77;
		measure(kinds[i].name, kinds[i].create, kinds[i].count);
		starpu_shutdown();
	}
	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, &conf))
		return 77;
	measure("vector, tag and owner", new_for_mpi, COUNT);
	starpu_mpi_shutdown();
	free(handles);
	return 0;
}
