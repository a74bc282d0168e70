/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every interface on a device with a memory of its own, byte by byte: a task there changes what
 * main memory holds, main memory gets the result, and a task on a CPU then a second one on the
 * device go on from it. Without a device (or without a CPU) the tasks run where they can.
 *
 * Invariant: bytes between columns never change; every kernel also checks the indices that
 * travelled with the values. Public interface only.
 * orr-test: env ORRERY_FAKE_DEVICES=1 */
#include "data/iface_test.h"
#include "data/staged.h"

#define PAD 0x5a5a5a5a
#define NROW 6
#define NNZ 9
#define R 2
#define C 3

static const uint32_t rowptr0[NROW + 1] = { 0, 2, 2, 5, 7, 8, 9 },
				     colind0[NNZ] = { 0, 3, 1, 2, 4, 0, 4, 2, 5 };
static int bad_indices;

/* The one transformation. */
static int change(int v, int arg)
{
	return v * 3 + arg;
}

static void dense_func(void *buffers[], void *arg)
{
	struct view v = view_of(buffers[0]);
	uint32_t at[MAXDIM] = { 0 };

	do
		*element(&v, at) = change(*element(&v, at), *(int *) arg);
	while (next_index(&v, at));
}

static void csr_func(void *buffers[], void *arg)
{
	int *val = (int *) STARPU_CSR_GET_NZVAL(buffers[0]);

	if (memcmp(STARPU_CSR_GET_ROWPTR(buffers[0]), rowptr0, sizeof(rowptr0)) ||
	    memcmp(STARPU_CSR_GET_COLIND(buffers[0]), colind0, sizeof(colind0)))
		bad_indices = 1;
	for (uint32_t k = 0; k < STARPU_CSR_GET_NNZ(buffers[0]); k++)
		val[k] = change(val[k], *(int *) arg);
}

static void bcsr_func(void *buffers[], void *arg)
{
	int *val = (int *) STARPU_BCSR_GET_NZVAL(buffers[0]);

	if (memcmp(STARPU_BCSR_GET_ROWPTR(buffers[0]), rowptr0, sizeof(rowptr0)) ||
	    memcmp(STARPU_BCSR_GET_COLIND(buffers[0]), colind0, sizeof(colind0)))
		bad_indices = 1;
	for (uint32_t k = 0; k < STARPU_BCSR_GET_NNZ(buffers[0]) * R * C; k++)
		val[k] = change(val[k], *(int *) arg);
}

static void coo_func(void *buffers[], void *arg)
{
	int *val = (int *) STARPU_COO_GET_VALUES(buffers[0]);

	if (memcmp(STARPU_COO_GET_COLUMNS(buffers[0]), colind0, sizeof(colind0)) ||
	    memcmp(STARPU_COO_GET_ROWS(buffers[0]), colind0, sizeof(colind0)))
		bad_indices = 1;
	for (uint32_t k = 0; k < STARPU_COO_GET_NVALUES(buffers[0]); k++)
		val[k] = change(val[k], *(int *) arg);
}

static int void_runs;

static void void_func(void *buffers[], void *arg)
{
	(void) buffers;
	void_runs += *(int *) arg;
}

STAGED(dense_staged, dense_func, 1)
STAGED(csr_staged, csr_func, 1)
STAGED(bcsr_staged, bcsr_func, 1)
STAGED(coo_staged, coo_func, 1)
#define void_staged void_func /* nothing to copy */

#define CODELET(name_) \
	static struct starpu_codelet name_##_cl = { .cpu_funcs = { name_##_func }, \
						    .cpu_funcs_name = { #name_ "_func" }, \
						    .cuda_funcs = { name_##_func }, \
						    .opencl_funcs = { name_##_staged }, \
						    .nbuffers = 1, \
						    .modes = { STARPU_RW }, \
						    .name = #name_ }
CODELET(dense);
CODELET(csr);
CODELET(bcsr);
CODELET(coo);
CODELET(void);

/* The kind of device there is. */
static enum starpu_worker_archtype device_type(void)
{
	return starpu_opencl_worker_get_count() ? STARPU_OPENCL_WORKER : STARPU_CUDA_WORKER;
}

static void run_on(enum starpu_worker_archtype type, struct starpu_codelet *cl,
		   starpu_data_handle_t h, int arg)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = cl;
	task->handles[0] = h;
	task->cl_arg = &arg;
	task->cl_arg_size = sizeof(arg);
	task->synchronous = 1;
	if (starpu_worker_get_count_by_type(type) > 0) {
		task->execute_on_a_specific_worker = 1;
		task->workerid = (unsigned) starpu_worker_get_by_type(type, 0);
	}
	CHECK(starpu_task_submit(task) == 0);
	CHECK(!bad_indices);
}

/* Runs the three tasks; `ints` are the ints of main memory, of which inside(i) says whether a
 * kernel sees them. */
static void go(starpu_data_handle_t h, struct starpu_codelet *cl, int *ints, size_t n,
	       const unsigned char *inside)
{
	const enum starpu_worker_archtype dev = device_type(),
					  where[] = { dev, dev, STARPU_CPU_WORKER, dev };
	int *want = malloc(n * sizeof(*want));

	for (size_t i = 0; i < n; i++)
		want[i] = ints[i] = !inside || inside[i] ? (int) i + 1 : PAD;
	for (int step = 0; step < 4; step++) {
		for (size_t i = 0; i < n; i++)
			if (!inside || inside[i])
				want[i] = change(want[i], step + 1);
		run_on(where[step], cl, h, step + 1);
		if (step == 0)
			continue; /* twice on the device before main memory asks */
		CHECK(starpu_data_acquire(h, STARPU_R) == 0);
		CHECK(!memcmp(ints, want, n * sizeof(*want)));
		starpu_data_release(h);
	}
	starpu_data_unregister(h);
	CHECK(!memcmp(ints, want, n * sizeof(*want)));
	free(want);
}

/* Dense data of the given shape; the buffer takes n ints. */
static void dense(starpu_data_handle_t h, int *ints, size_t n)
{
	unsigned char *inside = calloc(n, 1);
	struct view v;
	uint32_t at[MAXDIM] = { 0 };

	CHECK(starpu_data_acquire(h, STARPU_R) == 0);
	v = main_view(h);
	CHECK(v.p == ints);
	do
		inside[element(&v, at) - ints] = 1;
	while (next_index(&v, at));
	starpu_data_release(h);
	go(h, &dense_cl, ints, n, inside);
	free(inside);
}

static void all_dense(void)
{
	uint32_t nn[5] = { 2, 3, 2, 3, 2 }, ldn[5] = { 1, 3, 10, 25, 80 };
	const size_t n = 60000;
	int *b = calloc(n, sizeof(*b));
	starpu_data_handle_t h;

	starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) b, sizeof(*b));
	dense(h, b, 2);
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) b, 5000, sizeof(*b));
	dense(h, b, 5001);
	starpu_matrix_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) b, 110, 100, 90, sizeof(*b));
	dense(h, b, 110 * 90);
	starpu_matrix_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) b, 5, 5, 7, sizeof(*b));
	dense(h, b, 5 * 7);
	starpu_block_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) b, 7, 40, 5, 4, 6, sizeof(*b));
	dense(h, b, 40 * 6);
	starpu_tensor_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) b, 21, 21 * 12, 21 * 12 * 10,
				    20, 11, 9, 8, sizeof(*b));
	dense(h, b, 21 * 12 * 10 * 8);
	starpu_ndim_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) b, ldn, nn, 5, sizeof(*b));
	dense(h, b, 160);
	starpu_ndim_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) b, NULL, NULL, 0, sizeof(*b));
	dense(h, b, 2);
	free(b);
}

static void all_indexed(void)
{
	uint32_t rowptr[NROW + 1], colind[NNZ], rows[NNZ];
	int val[NNZ * R * C];
	starpu_data_handle_t h;

	memcpy(rowptr, rowptr0, sizeof(rowptr));
	memcpy(colind, colind0, sizeof(colind));
	memcpy(rows, colind0, sizeof(rows));
	starpu_csr_data_register(&h, STARPU_MAIN_RAM, NNZ, NROW, (uintptr_t) val, colind, rowptr, 0,
				 sizeof(*val));
	go(h, &csr_cl, val, NNZ, NULL);
	starpu_bcsr_data_register(&h, STARPU_MAIN_RAM, NNZ, NROW, (uintptr_t) val, colind, rowptr,
				  0, R, C, sizeof(*val));
	go(h, &bcsr_cl, val, NNZ * R * C, NULL);
	starpu_coo_data_register(&h, STARPU_MAIN_RAM, NROW, NROW, NNZ, colind, rows,
				 (uintptr_t) val, sizeof(*val));
	go(h, &coo_cl, val, NNZ, NULL);
	CHECK(!memcmp(rowptr, rowptr0, sizeof(rowptr)) &&
	      !memcmp(colind, colind0, sizeof(colind)) && !memcmp(rows, colind0, sizeof(rows)));
	starpu_void_data_register(&h);
	run_on(device_type(), &void_cl, h, 1);
	run_on(STARPU_CPU_WORKER, &void_cl, h, 2);
	CHECK(starpu_data_acquire(h, STARPU_R) == 0);
	starpu_data_release(h);
	starpu_data_unregister(h);
	CHECK(void_runs == 3);
}

int main(void)
{
	start();
	all_dense();
	all_indexed();
	starpu_shutdown();
	return 0;
}
