/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The CUDA driver on GPUs that are really there: kernels that leave their stream and others,
 * vectors, matrices and blocks with gaps, pieces, the helpers of starpu_cuda.h, handles of cuBLAS,
 * pinned buffers, data beyond 4 GiB, data beyond the memory that may be used. hardware.sh runs it.
 * "fault" has a kernel write nowhere: that must end the program with the task's name.
 *
 * Invariant: each result is compared with one computed here. */
#include <starpu.h>
#include <starpu_cublas_v2.h>

#include <errno.h>
#include <string.h>

#include "hardware.h"
#include "lib/chain.h"

static int device_of_worker = -1;

/* ---- vectors ---- */

static void launch(void *buffers[], const void *arg, cudaStream_t stream)
{
	const struct chain_args *a = arg;

	/* Errors are the kernel's own, and none of the runtime's questions. */
	CHECK_IS(cudaPeekAtLastError(), cudaSuccess);
	gpu_scale_add((float *) STARPU_VECTOR_GET_PTR(buffers[0]), STARPU_VECTOR_GET_NX(buffers[0]),
		      a->by, a->plus, stream);
	if (cudaGetLastError() != cudaSuccess)
		STARPU_CUDA_REPORT_ERROR(cudaErrorUnknown);
	__atomic_add_fetch(&chain_ndevice, 1, __ATOMIC_RELAXED);
	CHECK_IS(cudaGetDevice(&device_of_worker), cudaSuccess);
}

static void leaves_it(void *buffers[], void *arg)
{
	launch(buffers, arg, starpu_cuda_get_local_stream());
}

static void waits(void *buffers[], void *arg)
{
	launch(buffers, arg, starpu_cuda_get_local_stream());
	CHECK_IS(cudaStreamSynchronize(starpu_cuda_get_local_stream()), cudaSuccess);
}

/* Neither the local stream nor a wait. */
static void careless(void *buffers[], void *arg)
{
	launch(buffers, arg, NULL);
}

/* The kernel begins long after the function has returned. */
static void late(void *buffers[], void *arg)
{
	gpu_spin(2000000, starpu_cuda_get_local_stream());
	launch(buffers, arg, starpu_cuda_get_local_stream());
}

#define CODELET(NAME, FUNC, FLAGS) \
	static struct starpu_codelet NAME = { .cpu_funcs = { chain_on_cpu }, \
					      .cuda_funcs = { FUNC }, \
					      .cuda_flags = { FLAGS }, \
					      .nbuffers = 1, \
					      .modes = { STARPU_RW }, \
					      .name = #NAME }

CODELET(asynchronous, leaves_it, STARPU_CUDA_ASYNC);
CODELET(synchronous, waits, 0);
CODELET(unwaited, leaves_it, 0);
CODELET(default_stream, careless, 0);
CODELET(delayed, late, STARPU_CUDA_ASYNC);

static const struct chain_args one_more = { 1, 1, 0 };

/* Many data, which need not fit into the memory of the device at once. */
static void test_many(size_t nx, unsigned ndata, unsigned rounds)
{
	float *v = calloc(ndata * nx, sizeof(*v));
	starpu_data_handle_t *h = calloc(ndata, sizeof(starpu_data_handle_t));

	CHECK(v && h);
	for (unsigned d = 0; d < ndata; d++)
		starpu_vector_data_register(&h[d], STARPU_MAIN_RAM, (uintptr_t) (v + d * nx),
					    (uint32_t) nx, sizeof(float));
	for (unsigned k = 0; k < rounds; k++)
		for (unsigned d = 0; d < ndata; d++)
			chain_submit(k % 2 ? &delayed : &asynchronous, h[d], &one_more,
				     STARPU_CUDA);
	for (unsigned d = 0; d < ndata; d++)
		starpu_data_unregister(h[d]);
	for (size_t i = 0; i < ndata * nx; i++)
		CHECK(v[i] == (float) rounds, "element %zu is %g", i, v[i]);
	free(v);
	free(h);
}

/* One datum, larger than 32 bits count bytes. */
static void test_large(void)
{
	size_t nx = (size_t) 5 << 28; /* 5 GiB */
	float *v = NULL;
	starpu_data_handle_t h;

	OK(starpu_malloc((void **) &v, nx * sizeof(*v)));
	for (size_t i = 0; i < nx; i++)
		v[i] = (float) (i % 1000);
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, (uint32_t) nx,
				    sizeof(float));
	chain_submit(&asynchronous, h, &one_more, STARPU_CUDA);
	starpu_data_unregister(h);
	for (size_t i = 0; i < nx; i++)
		CHECK(v[i] == (float) (i % 1000 + 1), "element %zu is %g", i, v[i]);
	OK(starpu_free_noflag(v, nx * sizeof(*v)));
}

/* ---- matrices and blocks with gaps, and pieces ---- */

static void number_matrix(void *buffers[], void *arg)
{
	(void) arg;
	gpu_number((float *) STARPU_MATRIX_GET_PTR(buffers[0]), STARPU_MATRIX_GET_NX(buffers[0]),
		   STARPU_MATRIX_GET_NY(buffers[0]), 1, STARPU_MATRIX_GET_LD(buffers[0]), 0,
		   starpu_cuda_get_local_stream());
}

static void number_block(void *buffers[], void *arg)
{
	(void) arg;
	gpu_number((float *) STARPU_BLOCK_GET_PTR(buffers[0]), STARPU_BLOCK_GET_NX(buffers[0]),
		   STARPU_BLOCK_GET_NY(buffers[0]), STARPU_BLOCK_GET_NZ(buffers[0]),
		   STARPU_BLOCK_GET_LDY(buffers[0]), STARPU_BLOCK_GET_LDZ(buffers[0]),
		   starpu_cuda_get_local_stream());
}

static struct starpu_codelet matrix_cl = { .cuda_funcs = { number_matrix },
					   .cuda_flags = { STARPU_CUDA_ASYNC },
					   .nbuffers = 1,
					   .modes = { STARPU_RW } },
			     block_cl = { .cuda_funcs = { number_block },
					  .cuda_flags = { STARPU_CUDA_ASYNC },
					  .nbuffers = 1,
					  .modes = { STARPU_RW } };

#define X 50
#define Y 40
#define Z 30
#define LDY 64
#define LDZ (LDY * 44)

/* Gaps keep -1. */
static void look(const float *v, unsigned nz, unsigned times)
{
	for (unsigned z = 0; z < nz; z++)
		for (unsigned y = 0; y < LDZ / LDY; y++)
			for (unsigned x = 0; x < LDY; x++) {
				float is = v[(size_t) z * LDZ + (size_t) y * LDY + x],
				      ought = x < X && y < Y
						      ? (float) times *
								((float) x + 1000.0f * (float) y +
								 1000000.0f * (float) z)
						      : -1;

				CHECK(is == ought, "(%u, %u, %u) is %g, not %g", x, y, z, is,
				      ought);
			}
}

static float *gaps(unsigned nz)
{
	float *v = malloc(sizeof(float) * LDZ * nz);

	CHECK(v);
	for (unsigned i = 0; i < LDZ * nz; i++)
		v[i] = i % LDY < X && i % LDZ / LDY < Y ? 0 : -1;
	return v;
}

static void test_gaps(void)
{
	float *m = gaps(1), *b = gaps(Z);
	starpu_data_handle_t h;

	starpu_matrix_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) m, LDY, X, Y, sizeof(float));
	OK(starpu_task_insert(&matrix_cl, STARPU_RW, h, 0));
	OK(starpu_task_insert(&matrix_cl, STARPU_RW, h, 0));
	starpu_data_unregister(h);
	look(m, 1, 2);
	starpu_block_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) b, LDY, LDZ, X, Y, Z,
				   sizeof(float));
	OK(starpu_task_insert(&block_cl, STARPU_RW, h, 0));
	starpu_data_unregister(h);
	look(b, Z, 1);
	free(m);
	free(b);
}

/* Pieces of a vector that is on the device already. */
static void test_pieces(void)
{
	struct starpu_data_filter four = { .filter_func = starpu_vector_filter_block,
					   .nchildren = 4 };
	float v[CHAIN_N] = { 0 };
	starpu_data_handle_t h;

	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, CHAIN_N, sizeof(float));
	chain_submit(&asynchronous, h, &one_more, STARPU_CUDA);
	OK(starpu_task_wait_for_all());
	starpu_data_partition(h, &four);
	for (int i = 0; i < 4; i++)
		for (int k = 0; k <= i; k++)
			chain_submit(k % 2 ? &synchronous : &asynchronous,
				     starpu_data_get_sub_data(h, 1, i), &one_more, STARPU_CUDA);
	starpu_data_unpartition(h, STARPU_MAIN_RAM);
	starpu_data_unregister(h);
	for (unsigned i = 0; i < CHAIN_N; i++)
		CHECK(v[i] == (float) (2 + i / (CHAIN_N / 4)), "element %u is %g", i, v[i]);
}

/* ---- helpers, handles, pinned memory ---- */

static void test_helpers(unsigned worker)
{
	enum { N = CHAIN_N };
	unsigned node = starpu_worker_get_memory_node(worker);
	float in[N], out[N] = { 0 }, rows[N] = { 0 };
	char *there = (char *) starpu_malloc_on_node(node, sizeof(in));
	const struct cudaDeviceProp *p = starpu_cuda_get_device_properties(worker);
	struct cudaDeviceProp mine;
	cudaStream_t stream;

	CHECK_IS(cudaGetDeviceProperties(&mine, starpu_worker_get_devid((int) worker)),
		 cudaSuccess);
	CHECK(!strcmp(p->name, mine.name) && p->totalGlobalMem == mine.totalGlobalMem);
	for (unsigned i = 0; i < N; i++)
		in[i] = (float) i;
	CHECK(there != NULL);
	starpu_cuda_set_device((unsigned) starpu_worker_get_devid((int) worker));
	CHECK_IS(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
	OK(starpu_cuda_copy_async_sync(in, STARPU_MAIN_RAM, there, node, sizeof(in), NULL,
				       cudaMemcpyHostToDevice));
	CHECK_IS(starpu_cuda_copy_async_sync(there, node, out, STARPU_MAIN_RAM, sizeof(out), stream,
					     cudaMemcpyDeviceToHost),
		 -EAGAIN);
	CHECK_IS(cudaStreamSynchronize(stream), cudaSuccess);
	CHECK(!memcmp(in, out, sizeof(in)));
	/* 4 * 3 blocks of 2 elements, 10 apart, planes 100 apart. */
	OK(starpu_cuda_copy3d_async_sync(there, node, rows, STARPU_MAIN_RAM, 8, 3, 40, 40, 4, 400,
					 400, NULL, cudaMemcpyDeviceToHost));
	for (unsigned i = 0; i < N; i++)
		CHECK(rows[i] == (i < 400 && i % 100 < 30 && i % 10 < 2 ? in[i] : 0),
		      "element %u is %g", i, rows[i]);
	CHECK_IS(cudaStreamDestroy(stream), cudaSuccess);
	starpu_free_on_node(node, (uintptr_t) there, sizeof(in));
}

/* The norm of a vector of ones, times itself. */
static void with_cublas(void *buffers[], void *arg)
{
	cublasHandle_t blas = starpu_cublas_get_local_handle();
	cudaStream_t stream = NULL;
	const float *v = (const float *) STARPU_VECTOR_GET_PTR(buffers[0]);
	float sum = 0;

	(void) arg;
	CHECK(blas != NULL);
	CHECK_IS(cublasGetStream(blas, &stream), CUBLAS_STATUS_SUCCESS);
	CHECK(stream == starpu_cuda_get_local_stream());
	CHECK_IS(cublasSdot(blas, CHAIN_N, v, 1, v, 1, &sum), CUBLAS_STATUS_SUCCESS);
	CHECK(sum == CHAIN_N, "%g", sum);
}

static struct starpu_codelet blas_cl = { .cuda_funcs = { with_cublas },
					 .nbuffers = 1,
					 .modes = { STARPU_R } };

static void test_handles(void)
{
	float v[CHAIN_N] = { 0 };
	starpu_data_handle_t h;

	starpu_cublas_init();
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, CHAIN_N, sizeof(float));
	chain_submit(&asynchronous, h, &one_more, STARPU_CUDA);
	for (unsigned k = 0; k < 8; k++)
		OK(starpu_task_insert(&blas_cl, STARPU_R, h, 0));
	starpu_data_unregister(h);
	starpu_cublas_shutdown();
}

/* A task on a CPU, between two on the device, sees a buffer of the runtime's. */
static unsigned npinned;

static void is_pinned(void *buffers[], void *arg)
{
	struct cudaPointerAttributes a = { 0 };

	(void) arg;
	CHECK_IS(cudaPointerGetAttributes(&a, (const void *) STARPU_VECTOR_GET_PTR(buffers[0])),
		 cudaSuccess);
	npinned += a.type == cudaMemoryTypeHost;
}

static struct starpu_codelet pinned_cl = { .cpu_funcs = { is_pinned },
					   .nbuffers = 1,
					   .modes = { STARPU_RW } };

static void set(void *buffers[], void *arg)
{
	(void) arg;
	CHECK_IS(cudaMemsetAsync((void *) STARPU_VECTOR_GET_PTR(buffers[0]), 0,
				 STARPU_VECTOR_GET_NX(buffers[0]) * sizeof(float),
				 starpu_cuda_get_local_stream()),
		 cudaSuccess);
}

static struct starpu_codelet set_cl = { .cuda_funcs = { set },
					.cuda_flags = { STARPU_CUDA_ASYNC },
					.nbuffers = 1,
					.modes = { STARPU_W } };

static void test_pinned(void)
{
	const char *off = getenv("STARPU_DISABLE_PINNING");
	unsigned n = 6;
	char *mine;

	npinned = 0;
	for (unsigned i = 0; i < n; i++) {
		starpu_data_handle_t h;

		starpu_vector_data_register(&h, -1, 0, 1 << 20, sizeof(float));
		OK(starpu_task_insert(&set_cl, STARPU_W, h, 0));
		OK(starpu_task_insert(&pinned_cl, STARPU_RW, h, 0));
		starpu_data_unregister(h);
	}
	CHECK_IS(npinned, off && atoi(off) ? 0 : n);
	mine = aligned_alloc(4096, 8192);
	CHECK(mine);
	OK(starpu_memory_pin(mine, 8192));
	OK(starpu_memory_unpin(mine, 8192));
	free(mine);
}

/* ---- a fault ---- */

static void faulty(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	gpu_fault(starpu_cuda_get_local_stream());
}

static struct starpu_codelet fault_cl = { .cuda_funcs = { faulty },
					  .cuda_flags = { STARPU_CUDA_ASYNC },
					  .name = "writes_nowhere" };

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "all";

	OK(starpu_init(NULL));
	chain_ndevices = starpu_cuda_worker_get_count();
	if (!chain_ndevices)
		return 77;
	if (!strcmp(what, "fault")) {
		OK(starpu_task_insert(&fault_cl, 0));
		OK(starpu_task_wait_for_all());
		CHECK(0, "nobody noticed");
	}
	if (!strcmp(what, "large"))
		test_large();
	for (unsigned round = 0; round < 3; round++) {
		chain_test(&asynchronous, STARPU_CUDA, 0);
		chain_test(&synchronous, STARPU_CUDA, 0);
		chain_test(&unwaited, STARPU_CUDA, 0);
		chain_test(&default_stream, STARPU_CUDA, 0);
		chain_test(&delayed, STARPU_CUDA, 0);
	}
	test_many(CHAIN_N, 50, 3);
	test_many(1 << 20, 24, 4);
	test_gaps();
	test_pieces();
	test_helpers((unsigned) starpu_worker_get_by_type(STARPU_CUDA_WORKER, 0));
	test_handles();
	test_pinned();
	printf("%u workers, %u devices\n", chain_ndevices, starpu_memory_nodes_get_count() - 1);
	starpu_shutdown();
	return 0;
}
