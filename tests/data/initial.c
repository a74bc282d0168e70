/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-test: devices cuda */
/* Data without value get one from their init codelet when they are first read: by a task on any
 * unit, by an acquisition, by a reduction, again after an invalidation, and in pieces. The codelet
 * runs once for each value that is missing.
 * orr-test: env ORRERY_FAKE_DEVICES=2 STARPU_NCPU=2 */
#include "data/mem_test.h"

#define N 64

static int ninit, nwrong;

static void init_func(void *buffers[], void *arg)
{
	int *v = (int *) STARPU_VECTOR_GET_PTR(buffers[0]);

	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		v[i] = *(int *) arg;
	__atomic_add_fetch(&ninit, 1, __ATOMIC_SEQ_CST);
}

static void redux_func(void *buffers[], void *arg)
{
	int *a = (int *) STARPU_VECTOR_GET_PTR(buffers[0]),
	    *b = (int *) STARPU_VECTOR_GET_PTR(buffers[1]);

	(void) arg;
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		a[i] += b[i];
}

static void read_func(void *buffers[], void *arg)
{
	int *v = (int *) STARPU_VECTOR_GET_PTR(buffers[0]);

	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		if (v[i] != *(int *) arg)
			__atomic_add_fetch(&nwrong, 1, __ATOMIC_SEQ_CST);
}

static void increment_func(void *buffers[], void *arg)
{
	int *v = (int *) STARPU_VECTOR_GET_PTR(buffers[0]);

	(void) arg;
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		v[i]++;
}

static struct starpu_codelet init_cl = {
	.cpu_funcs = { init_func }, .nbuffers = 1, .modes = { STARPU_W }, .name = "init"
};
static struct starpu_codelet init_device_cl = {
	.cuda_funcs = { init_func }, .nbuffers = 1, .modes = { STARPU_W }, .name = "init_device"
};
static struct starpu_codelet redux_cl = { .cpu_funcs = { redux_func },
					  .cuda_funcs = { redux_func },
					  .nbuffers = 2,
					  .modes = { STARPU_RW | STARPU_COMMUTE, STARPU_R },
					  .name = "redux" };
static struct starpu_codelet read_cl = { .cpu_funcs = { read_func },
					 .cuda_funcs = { read_func },
					 .nbuffers = 1,
					 .modes = { STARPU_R },
					 .name = "read" };
static struct starpu_codelet contribute_cl = { .cpu_funcs = { increment_func },
					       .cuda_funcs = { increment_func },
					       .nbuffers = 1,
					       .modes = { STARPU_REDUX },
					       .name = "contribute" };

static starpu_data_handle_t create(struct starpu_codelet *init, int *value)
{
	starpu_data_handle_t h;

	starpu_vector_data_register(&h, -1, 0, N, sizeof(int));
	starpu_data_set_reduction_methods_with_args(h, &redux_cl, NULL, init, value);
	return h;
}

/* Reads h on every worker of a type; all must find `value`. */
static void read_on(starpu_data_handle_t h, enum starpu_worker_archtype type, int *value)
{
	for (int w = 0; w < (int) starpu_worker_get_count(); w++)
		if (starpu_worker_get_type(w) == type)
			CHECK(starpu_task_insert(&read_cl, STARPU_R, h, STARPU_CL_ARGS_NFREE, value,
						 sizeof(*value), STARPU_EXECUTE_ON_WORKER, w,
						 0) == 0);
}

static void acquired(starpu_data_handle_t h, int expected)
{
	CHECK(starpu_data_acquire(h, STARPU_R) == 0);
	for (int i = 0; i < N; i++)
		CHECK(((int *) starpu_data_get_local_ptr(h))[i] == expected);
	starpu_data_release(h);
}

static void first_read(struct starpu_codelet *init, enum starpu_worker_archtype type)
{
	int value = 42, begun = ninit;
	starpu_data_handle_t h = create(init, &value);

	read_on(h, type, &value);
	CHECK(starpu_task_wait_for_all() == 0);
	acquired(h, 42);
	CHECK(ninit == begun + 1);
	starpu_data_invalidate_submit(h);
	read_on(h, type, &value);
	starpu_task_wait_for_all();
	CHECK(ninit == begun + 2);
	/* A value that is written before it is read is not made. */
	starpu_data_invalidate_submit(h);
	CHECK(starpu_data_acquire(h, STARPU_W) == 0);
	for (int i = 0; i < N; i++)
		((int *) starpu_data_get_local_ptr(h))[i] = 7;
	starpu_data_release(h);
	acquired(h, 7);
	CHECK(ninit == begun + 2);
	starpu_data_unregister(h);
}

static void reduction(int *buffer)
{
	int zero = 0;
	unsigned n = starpu_worker_get_count();
	starpu_data_handle_t h;

	starpu_vector_data_register(&h, buffer ? STARPU_MAIN_RAM : -1, (uintptr_t) buffer, N,
				    sizeof(int));
	starpu_data_set_reduction_methods_with_args(h, &redux_cl, NULL, &init_cl, &zero);
	for (int round = 0; round < 3; round++) {
		starpu_data_invalidate_submit(h);
		for (unsigned i = 0; i < 3 * n; i++)
			CHECK(starpu_task_insert(&contribute_cl, STARPU_REDUX, h,
						 STARPU_EXECUTE_ON_WORKER, (int) (i % n), 0) == 0);
		acquired(h, (int) (3 * n));
	}
	starpu_data_unregister(h);
}

static void pieces(void)
{
	struct starpu_data_filter f = { .filter_func = starpu_vector_filter_block, .nchildren = 4 };
	int value = 5;
	starpu_data_handle_t h = create(&init_cl, &value);

	starpu_data_partition(h, &f);
	for (int i = 0; i < 4; i++)
		read_on(starpu_data_get_sub_data(h, 1, i), STARPU_CPU_WORKER, &value);
	starpu_data_unpartition(h, STARPU_MAIN_RAM);
	acquired(h, 5);
	starpu_data_unregister(h);
}

int main(void)
{
	static int buffer[N] = { 1000 };

	start();
	first_read(&init_cl, STARPU_CPU_WORKER);
	first_read(&init_cl, STARPU_CUDA_WORKER);
	/* Without a function for CPUs the value is made on the device that reads it. */
	first_read(&init_device_cl, STARPU_CUDA_WORKER);
	reduction(NULL);
	reduction(buffer);
	pieces();
	CHECK(nwrong == 0);
	starpu_shutdown();
	return 0;
}
