/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tasks that change the size of their data (handbook 27.1), on CPUs and devices by turns: within
 * the allocation, and by another allocation. The new size goes wherever the value goes; what lies
 * behind it in the program's buffer stays.
 * orr-test: env ORRERY_FAKE_DEVICES=2 STARPU_NCPU=1 */
#include "data/mem_test.h"
#include "data/staged.h"

#define MAX 64

static unsigned nunits;

static unsigned my_node(void)
{
	return starpu_worker_get_memory_node((unsigned) starpu_worker_get_id());
}

/* Reads or writes n ints of a vector where the current unit has it. */
static void move(struct starpu_vector_interface *v, int *host, unsigned n, int out)
{
	uintptr_t p = (uintptr_t) host;
	size_t size = n * sizeof(*host);

	CHECK(out ? !starpu_interface_copy(v->dev_handle, v->offset, my_node(), p, 0,
					   STARPU_MAIN_RAM, size, NULL)
		  : !starpu_interface_copy(p, 0, STARPU_MAIN_RAM, v->dev_handle, v->offset,
					   my_node(), size, NULL));
}

/* The value is 1, 2, 3, ... up to its size. */
static void fill(struct starpu_vector_interface *v)
{
	int host[MAX];

	for (unsigned i = 0; i < v->nx; i++)
		host[i] = (int) i + 1;
	move(v, host, v->nx, 0);
}

static void check(struct starpu_vector_interface *v, unsigned n)
{
	int host[MAX];

	CHECK(v->nx == n);
	move(v, host, n, 1);
	for (unsigned i = 0; i < n; i++)
		CHECK(host[i] == (int) i + 1);
}

struct sizes {
	unsigned from, to;
};

static void set_nx_func(void *buffers[], void *arg)
{
	struct sizes *s = arg;

	check(buffers[0], s->from);
	CHECK(STARPU_VECTOR_GET_ALLOCSIZE(buffers[0]) >= s->to * sizeof(int));
	STARPU_VECTOR_SET_NX(buffers[0], s->to);
	fill(buffers[0]);
}

/* As the handbook does it, with its flags. */
static void reallocate_func(void *buffers[], void *arg)
{
	struct starpu_vector_interface *v = buffers[0];
	const int flags = STARPU_MALLOC_PINNED | STARPU_MALLOC_COUNT | STARPU_MEMORY_OVERFLOW;
	struct sizes *s = arg;

	check(v, s->from);
	starpu_free_on_node_flags(my_node(), v->dev_handle, v->allocsize, flags);
	v->nx = s->to;
	v->allocsize = s->to * sizeof(int);
	v->ptr = v->dev_handle = starpu_malloc_on_node_flags(my_node(), v->allocsize, flags);
	v->offset = 0;
	CHECK(v->ptr);
	fill(v);
}

static void set_shape_func(void *buffers[], void *arg)
{
	struct staged_array a = staged_dense(buffers[0]);
	unsigned k = *(unsigned *) arg, x, y;
	int host[MAX];

	a.copy = (char *) host;
	staged_move(&a, my_node(), 1);
	CHECK(a.nn[0] == k && a.nn[1] == 2);
	for (y = 0; y < 2; y++)
		for (x = 0; x < k; x++)
			CHECK(host[y * a.ld[1] + x] == (int) (100 * y + x));
	STARPU_MATRIX_SET_NX(buffers[0], k + 1);
	STARPU_MATRIX_SET_LD(buffers[0], k + 1);
	STARPU_MATRIX_SET_NY(buffers[0], 2);
	a = staged_dense(buffers[0]);
	a.copy = (char *) host;
	for (y = 0; y < 2; y++)
		for (x = 0; x <= k; x++)
			host[y * (k + 1) + x] = (int) (100 * y + x);
	staged_move(&a, my_node(), 0);
}

#define CODELET(name_) \
	static struct starpu_codelet name_##_cl = { .cpu_funcs = { name_##_func }, \
						    .cuda_funcs = { name_##_func }, \
						    .opencl_funcs = { name_##_func }, \
						    .nbuffers = 1, \
						    .modes = { STARPU_RW }, \
						    .name = #name_ }
CODELET(set_nx);
CODELET(reallocate);
CODELET(set_shape);

static void run(struct starpu_codelet *cl, unsigned unit, starpu_data_handle_t h, void *arg,
		size_t size)
{
	CHECK(starpu_task_insert(cl, STARPU_RW, h, STARPU_CL_ARGS_NFREE, arg, size,
				 STARPU_EXECUTE_ON_WORKER, unit % nunits, STARPU_TASK_SYNCHRONOUS,
				 1, 0) == 0);
}

static uint32_t footprint(starpu_data_handle_t h)
{
	struct starpu_task task;
	uint32_t f;

	starpu_task_init(&task);
	task.cl = &set_nx_cl;
	task.handles[0] = h;
	f = starpu_task_data_footprint(&task);
	starpu_task_clean(&task);
	return f;
}

/* Within an allocation for MAX; home: the program's buffer, or none. */
static void within(int home)
{
	static const unsigned sizes[] = { 10, 20, 5, MAX, 1, 33, 33, 0, 12 };
	int v[MAX + 1], i;
	starpu_data_handle_t h;

	for (i = 0; i <= MAX; i++)
		v[i] = i + 1;
	starpu_vector_data_register_allocsize(&h, home ? STARPU_MAIN_RAM : -1,
					      home ? (uintptr_t) v : 0, 10, sizeof(*v),
					      MAX * sizeof(*v));
	if (!home) {
		CHECK(starpu_data_acquire(h, STARPU_W) == 0);
		memcpy(starpu_data_get_local_ptr(h), v, 10 * sizeof(*v));
		starpu_data_release(h);
	}
	for (unsigned k = 0; k + 1 < sizeof(sizes) / sizeof(*sizes); k++) {
		struct sizes s = { sizes[k], sizes[k + 1] };
		uint32_t before = footprint(h);

		run(&set_nx_cl, k, h, &s, sizeof(s));
		if (k % 3 == 2)
			continue;
		CHECK(starpu_data_acquire(h, STARPU_R) == 0);
		CHECK(starpu_vector_get_nx(h) == s.to &&
		      starpu_data_get_size(h) == s.to * sizeof(*v));
		CHECK(starpu_data_get_alloc_size(h) == MAX * sizeof(*v));
		CHECK((footprint(h) != before) == (s.from != s.to));
		for (i = 0; i < (int) s.to; i++)
			CHECK(((int *) starpu_data_get_local_ptr(h))[i] == i + 1);
		starpu_data_release(h);
	}
	starpu_data_unregister(h);
	CHECK(v[MAX] == MAX + 1);
}

/* Every task gives the data another allocation. */
static void grows(unsigned first)
{
	static const unsigned sizes[] = { 4, 8, 24, 16, MAX, 2, 50 };
	struct starpu_vector_interface *ram;
	starpu_data_handle_t h;

	starpu_vector_data_register(&h, -1, 0, sizes[0], sizeof(int));
	starpu_data_get_interface_ops(h)->dontcache = 1;
	CHECK(starpu_data_acquire(h, STARPU_W) == 0);
	ram = starpu_data_get_interface_on_node(h, STARPU_MAIN_RAM);
	for (int i = 0; i < 4; i++)
		((int *) ram->ptr)[i] = i + 1;
	starpu_data_release(h);
	for (unsigned k = 0; k + 1 < sizeof(sizes) / sizeof(*sizes); k++) {
		struct sizes s = { sizes[k], sizes[k + 1] };

		run(&reallocate_cl, first + k, h, &s, sizeof(s));
		if (k % 2)
			continue;
		CHECK(starpu_data_acquire(h, STARPU_R) == 0);
		CHECK(ram->nx == s.to && ram->allocsize >= s.to * sizeof(int));
		for (int i = 0; i < (int) s.to; i++)
			CHECK(((int *) ram->ptr)[i] == i + 1);
		starpu_data_release(h);
	}
	starpu_data_unregister(h);
	starpu_interface_vector_ops.dontcache = 0;
	for (unsigned k = 0; k < starpu_memory_nodes_get_count(); k++)
		CHECK(starpu_memory_get_used(k) == 0);
}

/* A column more each time, in a matrix that is packed anew by each task. */
static void matrices(void)
{
	int v[MAX] = { 0, 1, 0, 0 };
	starpu_data_handle_t h;

	v[2] = 100;
	v[3] = 101;
	starpu_matrix_data_register_allocsize(&h, STARPU_MAIN_RAM, (uintptr_t) v, 2, 2, 2,
					      sizeof(*v), sizeof(v));
	for (unsigned k = 2; k < 11; k++)
		run(&set_shape_cl, k, h, &k, sizeof(k));
	CHECK(starpu_data_acquire(h, STARPU_R) == 0);
	CHECK(starpu_matrix_get_nx(h) == 11 && starpu_matrix_get_ny(h) == 2 &&
	      starpu_matrix_get_allocsize(h) == sizeof(v));
	for (unsigned y = 0; y < 2; y++)
		for (unsigned x = 0; x < 11; x++)
			CHECK(v[y * starpu_matrix_get_local_ld(h) + x] == (int) (100 * y + x));
	starpu_data_release(h);
	starpu_data_unregister(h);
}

int main(void)
{
	start();
	nunits = starpu_worker_get_count();
	within(1);
	within(0);
	for (unsigned i = 0; i < nunits; i++)
		grows(i);
	matrices();
	starpu_shutdown();
	return 0;
}
