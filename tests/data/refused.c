/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Things that no datum can be, and calls that have no way to fail with nothing to work on: the
 * program ends with a message. One mistake per run, by its name; refused.sh knows them all.
 *
 * Invariant: a mistake that goes unnoticed ends with status 0. */
#include <starpu.h>

#include "lib/test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int v[16];
static uint32_t nn[3] = { 2, 2, 2 };
static starpu_data_handle_t h, o, c[4];
static struct starpu_data_filter cut = { .filter_func = starpu_vector_filter_block,
					 .nchildren = 4 };
static struct starpu_multiformat_data_interface_ops format;

#define HUGE ((size_t) 1 << 62)
#define V ((uintptr_t) v)

static void accessor_null(void)
{
	exit(starpu_vector_get_nx(NULL) == 77);
}
static void same_null(void)
{
	starpu_data_register_same(&o, NULL);
}
static void no_handle(void)
{
	starpu_vector_data_register(NULL, STARPU_MAIN_RAM, V, 16, sizeof(*v));
}
static void no_methods(void)
{
	starpu_data_register(&o, STARPU_MAIN_RAM, v, NULL);
}
static void no_filter(void)
{
	starpu_data_partition(h, NULL);
}
static void no_children(void)
{
	starpu_data_partition_plan(h, &cut, NULL);
}
static void no_sizes(void)
{
	starpu_ndim_data_register(&o, -1, 0, NULL, NULL, 3, 4);
}
static void no_leading(void)
{
	starpu_ndim_data_register(&o, STARPU_MAIN_RAM, V, NULL, nn, 3, 4);
}
static void no_format(void)
{
	starpu_multiformat_data_register(&o, STARPU_MAIN_RAM, v, 4, &format);
}
static void no_array(void)
{
	starpu_csr_data_register(&o, STARPU_MAIN_RAM, 4, 2, V, NULL, NULL, 0, 4);
}
static void element_of_0(void)
{
	starpu_vector_data_register(&o, -1, 0, 4, 0);
}
static void overlap(void)
{
	starpu_matrix_data_register(&o, STARPU_MAIN_RAM, V, 3, 4, 4, sizeof(*v));
}
static void small_allocation(void)
{
	starpu_matrix_data_register_allocsize(&o, STARPU_MAIN_RAM, V, 4, 4, 4, 4, 63);
}
static void huge_dense(void)
{
	starpu_matrix_data_register(&o, -1, 0, 1U << 31, 1U << 31, 8, (size_t) 1 << 31);
}
static void huge_csr(void)
{
	starpu_csr_data_register(&o, -1, 1U << 31, 4, 0, NULL, NULL, 0, HUGE);
}
static void huge_bcsr(void)
{
	starpu_bcsr_data_register(&o, -1, 1U << 31, 4, 0, NULL, NULL, 0, 1U << 16, 1U << 16, 16);
}
static void huge_coo(void)
{
	starpu_coo_data_register(&o, -1, 4, 4, 1U << 31, NULL, NULL, 0, HUGE);
}
/* 4 TiB fit into the address space, but not the distance between two z into 32 bits. */
static void huge_leading(void)
{
	starpu_block_data_register(&o, -1, 0, 0, 0, 1U << 20, 1U << 20, 4, 1);
}
static void alignment(void)
{
	starpu_malloc_set_align(24);
}
static void gather_nowhere(void)
{
	starpu_data_partition(h, &cut);
	starpu_data_unpartition(h, 77);
}
static void second_partition(void)
{
	starpu_data_partition(h, &cut);
	starpu_data_partition(h, &cut);
}
static void clean_inner(void)
{
	starpu_data_handle_t inner[2];
	struct starpu_data_filter two = { .filter_func = starpu_vector_filter_block,
					  .nchildren = 2 };

	starpu_data_partition_plan(h, &cut, c);
	starpu_data_partition_plan(c[1], &two, inner);
	starpu_data_partition_clean(h, 4, c);
}

static const struct {
	const char *name;
	void (*make)(void);
} mistakes[] = {
#define M(name) \
	{ \
#name, name \
	}
	M(accessor_null),    M(same_null),   M(no_handle),        M(no_methods), M(no_filter),
	M(no_children),      M(no_sizes),    M(no_leading),       M(no_format),  M(no_array),
	M(element_of_0),     M(overlap),     M(small_allocation), M(huge_dense), M(huge_csr),
	M(huge_bcsr),        M(huge_coo),    M(huge_leading),     M(alignment),  M(gather_nowhere),
	M(second_partition), M(clean_inner),
};

int main(int argc, char **argv)
{
	if (argc != 2 || test_skips(starpu_init(NULL)))
		return 77;
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, V, 16, sizeof(*v));
	starpu_data_set_name(h, "h");
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(*mistakes); i++)
		if (!strcmp(argv[1], mistakes[i].name))
			mistakes[i].make();
	return 0;
}
