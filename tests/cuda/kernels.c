/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Kernels in streams of CUDA devices: asynchronous ones and others, pieces, methods of an
 * interface of the program's that copy in a stream, the helpers of starpu_cuda.h. The devices are
 * those of the stub (tests/lib/cudart), whose pointers lead nowhere. stub.sh runs it in many
 * settings.
 * orr-test: env STARPU_NCPU=1 */
#include <starpu.h>

#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "lib/chain.h"
#include "lib/cudart/cudart.h"

#define N CHAIN_N

/* A kernel's arguments, as a launch copies them. */
struct launched {
	float *v;
	unsigned n;
	struct chain_args a;
};

static void kernel(void *arg)
{
	const struct launched *l = arg;
	float *v = stub_memory(l->v, l->n * sizeof(*v));

	for (unsigned i = 0; i < l->n; i++)
		v[i] = v[i] * l->a.by + l->a.plus;
	__atomic_add_fetch(&chain_ndevice, 1, __ATOMIC_RELAXED);
}

static void launch(void *buffers[], const void *arg, cudaStream_t stream)
{
	struct launched l = { .v = (float *) STARPU_VECTOR_GET_PTR(buffers[0]),
			      .n = STARPU_VECTOR_GET_NX(buffers[0]),
			      .a = *(const struct chain_args *) arg };

	/* Errors are the kernel's own, and none of the runtime's questions. */
	CHECK_IS(cudaGetLastError(), cudaSuccess);
	if (stub_launch(kernel, &l, sizeof(l), stream) != cudaSuccess)
		STARPU_CUDA_REPORT_ERROR(cudaGetLastError());
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

#define CODELET(NAME, FUNC, FLAGS) \
	static struct starpu_codelet NAME = { .cpu_funcs = { chain_on_cpu }, \
					      .cuda_funcs = { FUNC }, \
					      .cuda_flags = { FLAGS }, \
					      .nbuffers = 1, \
					      .modes = { STARPU_RW } }

CODELET(asynchronous, leaves_it, STARPU_CUDA_ASYNC);
CODELET(synchronous, waits, 0);
CODELET(default_stream, careless, 0);

static const struct chain_args one_more = { 1, 1, 0 };

/* Many data, more than fit into a small memory. */
static void test_many(unsigned nx, unsigned ndata)
{
	float *v = calloc(ndata, nx * sizeof(*v));
	starpu_data_handle_t *h = calloc(ndata, sizeof(starpu_data_handle_t));

	for (unsigned d = 0; d < ndata; d++)
		starpu_vector_data_register(&h[d], STARPU_MAIN_RAM, (uintptr_t) (v + d * nx), nx,
					    sizeof(float));
	for (unsigned k = 0; k < 3; k++)
		for (unsigned d = 0; d < ndata; d++)
			chain_submit(&asynchronous, h[d], &one_more, STARPU_CUDA);
	for (unsigned d = 0; d < ndata; d++)
		starpu_data_unregister(h[d]);
	for (unsigned i = 0; i < ndata * nx; i++)
		CHECK(v[i] == 3, "element %u is %g", i, v[i]);
	free(v);
	free(h);
}

/* Copies by the helpers, from and to a buffer that the runtime allocates. */
static void test_helpers(void)
{
	unsigned worker = (unsigned) starpu_worker_get_by_type(STARPU_CUDA_WORKER, 0),
		 node = starpu_worker_get_memory_node(worker);
	float in[N], out[N], rows[N];
	char *there = (char *) starpu_malloc_on_node(node, sizeof(in));
	cudaStream_t stream;

	for (unsigned i = 0; i < N; i++)
		in[i] = (float) i;
	memset(out, 0, sizeof(out));
	memset(rows, 0, sizeof(rows));
	CHECK(there != NULL);
	CHECK(!strcmp(starpu_cuda_get_device_properties(worker)->name, "stub"));
	starpu_cuda_set_device(0);
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
	CHECK_IS(starpu_cuda_copy2d_async_sync(in, STARPU_MAIN_RAM, out, STARPU_MAIN_RAM, 8, 3, 40,
					       40, NULL, cudaMemcpyHostToHost),
		 -EINVAL);
	CHECK_IS(cudaStreamDestroy(stream), cudaSuccess);
	starpu_free_on_node(node, (uintptr_t) there, sizeof(in));
}

/* Threads that are named after devices. */
static unsigned count_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *e;
	unsigned n = 0;

	CHECK(dir);
	while ((e = readdir(dir))) {
		char path[300], name[32] = "";

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", e->d_name);
		FILE *f = fopen(path, "r");
		if (f && fgets(name, sizeof(name), f))
			n += !strncmp(name, "CUDA ", 5);
		if (f)
			fclose(f);
	}
	closedir(dir);
	return n;
}

int main(void)
{
	OK(starpu_init(NULL));
	chain_ndevices = starpu_cuda_worker_get_count();
	for (unsigned round = 0; round < 5; round++) {
		chain_test(&asynchronous, STARPU_CUDA, 0);
		chain_test(&synchronous, STARPU_CUDA, 0);
		chain_test(&default_stream, STARPU_CUDA, 0);
	}
	test_many(N, 50);
	test_many(65536, 24);
	if (chain_ndevices)
		test_helpers();
	printf("%u workers, %u devices, %d at once\n", chain_ndevices,
	       starpu_memory_nodes_get_count() - 1, chain_ndevices ? stub_overlap() : 0);
	printf("%u threads drive them\n", count_threads());
	starpu_shutdown();
	return 0;
}
