/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pieces that overlap their neighbours, of every interface that has them, along each dimension:
 * read on devices and on CPUs, after writes to the whole anywhere; partitioned at once, and by
 * plans that are switched. Beside another plan of the same data that is read, too.
 * orr-test: env ORRERY_FAKE_DEVICES=2 STARPU_NCPU=1 */
#include "data/iface_test.h"
#include "data/staged.h"

#define MAXPIECES 8

static unsigned turn;

/* The elements of the first datum, in order, into the second. */
static void out_func(void *buffers[], void *arg)
{
	struct view v = view_of(buffers[0]);
	int *out = (int *) STARPU_VECTOR_GET_PTR(buffers[1]);
	uint32_t at[MAXDIM] = { 0 };

	(void) arg;
	CHECK(count_of(&v) == STARPU_VECTOR_GET_NX(buffers[1]));
	do
		*out++ = *element(&v, at);
	while (next_index(&v, at));
}

static void change_func(void *buffers[], void *arg)
{
	struct view v = view_of(buffers[0]);
	uint32_t at[MAXDIM] = { 0 };

	(void) arg;
	do
		*element(&v, at) = (int) ((unsigned) *element(&v, at) * 3 + 1);
	while (next_index(&v, at));
}
STAGED(out_staged, out_func, 2)
STAGED(change_staged, change_func, 1)

static struct starpu_codelet out_cl = { .cpu_funcs = { out_func },
					.cuda_funcs = { out_func },
					.opencl_funcs = { out_staged },
					.nbuffers = 2,
					.modes = { STARPU_R, STARPU_W },
					.name = "out" };
static struct starpu_codelet change_device_cl = { .cpu_funcs = { change_func },
						  .cuda_funcs = { change_func },
						  .opencl_funcs = { change_staged },
						  .nbuffers = 1,
						  .modes = { STARPU_RW },
						  .name = "change" };

/* On each worker in turn. */
static unsigned next_worker(void)
{
	return turn++ % starpu_worker_get_count();
}

/* Reads piece i of n, and compares with what the same filter gives in the program's copy of the
 * whole, which `father` describes. */
static void check_piece(starpu_data_handle_t piece, struct starpu_data_filter *f, void *father,
			unsigned i, unsigned n)
{
	void *child = calloc(1, 256);
	uint32_t at[MAXDIM] = { 0 };
	starpu_data_handle_t o;
	struct view v;
	int *out, *p;

	f->filter_func(father, child, f, i, n);
	v = view_of(child);
	p = out = calloc(count_of(&v), sizeof(*out));
	starpu_vector_data_register(&o, STARPU_MAIN_RAM, (uintptr_t) out, (uint32_t) count_of(&v),
				    sizeof(*out));
	CHECK(starpu_task_insert(&out_cl, STARPU_R, piece, STARPU_W, o, STARPU_EXECUTE_ON_WORKER,
				 next_worker(), 0) == 0);
	starpu_data_unregister(o);
	do
		CHECK(*p++ == *element(&v, at));
	while (next_index(&v, at));
	if (*(enum starpu_data_interface_id *) child == STARPU_NDIM_INTERFACE_ID) {
		free(STARPU_NDIM_GET_NN(child));
		free(STARPU_NDIM_GET_LDN(child));
	}
	free(child);
	free(out);
}

static void change(starpu_data_handle_t h, void *father)
{
	CHECK(starpu_task_insert(&change_device_cl, STARPU_RW, h, STARPU_EXECUTE_ON_WORKER,
				 next_worker(), 0) == 0);
	change_func(&father, NULL);
}

/* father: the same data in the program's copy. plain: a filter without overlap. */
static void go(starpu_data_handle_t h, void *father, struct starpu_data_filter f,
	       struct starpu_data_filter plain)
{
	starpu_data_handle_t c[MAXPIECES], d[MAXPIECES];
	unsigned n = f.nchildren;

	change(h, father);
	starpu_data_partition(h, &f);
	for (unsigned i = 0; i < n; i++)
		check_piece(starpu_data_get_child(h, i), &f, father, i, n);
	starpu_data_unpartition(h, starpu_worker_get_memory_node(next_worker()));
	starpu_data_partition_plan(h, &f, c);
	starpu_data_partition_plan(h, &plain, d);
	for (unsigned round = 0; round < 3; round++) {
		change(h, father);
		starpu_data_partition_readonly_submit(h, n, c);
		starpu_data_partition_readonly_submit(h, plain.nchildren, d);
		for (unsigned i = 0; i < n; i++)
			check_piece(c[i], &f, father, i, n);
		for (unsigned i = 0; i < plain.nchildren; i++)
			check_piece(d[i], &plain, father, i, plain.nchildren);
		starpu_data_unpartition_submit(h, n, c, -1);
		starpu_data_partition_readwrite_upgrade_submit(h, plain.nchildren, d);
		for (unsigned i = 0; i < plain.nchildren; i++)
			CHECK(starpu_task_insert(&change_device_cl, STARPU_RW, d[i],
						 STARPU_EXECUTE_ON_WORKER, next_worker(), 0) == 0);
		change_func(&father, NULL);
		starpu_data_unpartition_submit(h, plain.nchildren, d, STARPU_MAIN_RAM);
	}
	starpu_data_partition_clean(h, plain.nchildren, d);
	starpu_data_partition_clean(h, n, c);
}

#define FILTER(func, n, ...) \
	((struct starpu_data_filter){ .filter_func = starpu_##func, .nchildren = n, __VA_ARGS__ })
#define SHADOW(k) .filter_arg_ptr = (void *) (uintptr_t) (k)

static int *numbers(size_t n, int *into)
{
	for (size_t i = 0; i < n; i++)
		into[i] = (int) i + 1;
	return into;
}

static void up_to_three(int *v, int *w)
{
	struct starpu_vector_interface x = { .id = STARPU_VECTOR_INTERFACE_ID,
					     .ptr = (uintptr_t) w,
					     .nx = 23,
					     .elemsize = sizeof(*w) };
	struct starpu_matrix_interface m = { .id = STARPU_MATRIX_INTERFACE_ID,
					     .ptr = (uintptr_t) w,
					     .ld = 13,
					     .nx = 11,
					     .ny = 9,
					     .elemsize = sizeof(*w) };
	struct starpu_block_interface b = { .id = STARPU_BLOCK_INTERFACE_ID,
					    .ptr = (uintptr_t) w,
					    .nx = 7,
					    .ny = 6,
					    .nz = 8,
					    .ldy = 9,
					    .ldz = 60,
					    .elemsize = sizeof(*w) };
	starpu_data_handle_t h;

	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, 23, sizeof(*v));
	go(h, &x, FILTER(vector_filter_block_shadow, 4, SHADOW(2)), FILTER(vector_filter_block, 5));
	go(h, &x, FILTER(vector_filter_block_shadow, 3, SHADOW(0)),
	   FILTER(vector_filter_divide_in_2, 2, .filter_arg = 9));
	starpu_data_unregister(h);
	starpu_matrix_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, 13, 11, 9, sizeof(*v));
	go(h, &m, FILTER(matrix_filter_block_shadow, 4, SHADOW(1)),
	   FILTER(matrix_filter_vertical_block, 3));
	go(h, &m, FILTER(matrix_filter_vertical_block_shadow, 3, SHADOW(2)),
	   FILTER(matrix_filter_block, 3));
	starpu_data_unregister(h);
	starpu_block_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, 9, 60, 7, 6, 8, sizeof(*v));
	go(h, &b, FILTER(block_filter_block_shadow, 3, SHADOW(1)),
	   FILTER(block_filter_depth_block, 3));
	go(h, &b, FILTER(block_filter_vertical_block_shadow, 2, SHADOW(2)),
	   FILTER(block_filter_block, 2));
	go(h, &b, FILTER(block_filter_depth_block_shadow, 4, SHADOW(2)),
	   FILTER(block_filter_vertical_block, 4));
	starpu_data_unregister(h);
}

static void more(int *v, int *w)
{
	uint32_t nn[5] = { 4, 5, 3, 6, 4 }, ldn[5] = { 1, 5, 27, 90, 600 }, d;
	struct starpu_tensor_interface t = { .id = STARPU_TENSOR_INTERFACE_ID,
					     .ptr = (uintptr_t) w,
					     .nx = 5,
					     .ny = 4,
					     .nz = 6,
					     .nt = 5,
					     .ldy = 6,
					     .ldz = 25,
					     .ldt = 160,
					     .elemsize = sizeof(*w) };
	struct starpu_ndim_interface n = { .id = STARPU_NDIM_INTERFACE_ID,
					   .ptr = (uintptr_t) w,
					   .nn = nn,
					   .ldn = ldn,
					   .ndim = 5,
					   .elemsize = sizeof(*w) };
	starpu_data_handle_t h;

	starpu_tensor_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, 6, 25, 160, 5, 4, 6, 5,
				    sizeof(*v));
	go(h, &t, FILTER(tensor_filter_block_shadow, 3, SHADOW(1)),
	   FILTER(tensor_filter_time_block, 3));
	go(h, &t, FILTER(tensor_filter_vertical_block_shadow, 2, SHADOW(1)),
	   FILTER(tensor_filter_depth_block, 3));
	go(h, &t, FILTER(tensor_filter_depth_block_shadow, 2, SHADOW(2)),
	   FILTER(tensor_filter_vertical_block, 3));
	go(h, &t, FILTER(tensor_filter_time_block_shadow, 3, SHADOW(1)),
	   FILTER(tensor_filter_block, 3));
	starpu_data_unregister(h);
	starpu_ndim_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, ldn, nn, 5, sizeof(*v));
	for (d = 0; d < 5; d++)
		go(h, &n, FILTER(ndim_filter_block_shadow, nn[d] - 2, SHADOW(1), .filter_arg = d),
		   FILTER(ndim_filter_block, 2, .filter_arg = (d + 1) % 5));
	starpu_data_unregister(h);
}

int main(void)
{
	static int v[2400], w[2400];

	start();
	up_to_three(numbers(2400, v), numbers(2400, w));
	CHECK(!memcmp(v, w, sizeof(v)));
	more(numbers(2400, v), numbers(2400, w));
	CHECK(!memcmp(v, w, sizeof(v)));
	starpu_shutdown();
	return 0;
}
