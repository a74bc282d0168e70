/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Kernels that OpenCL compiles: programs from text, file and binary, kernels that are asynchronous
 * or wait themselves, arguments, offsets of pieces, copies that an interface makes itself, buffers
 * of the program's. Real runs use PoCL, which computes on CPUs; in a simulated run, and where no
 * driver is installed, nothing can be compiled, and the same program computes on CPUs.
 * orr-test: timeout 120
 * orr-test: env STARPU_OPENCL_ON_CPUS=1 STARPU_NCPU=1 */
#include <starpu.h>

#ifndef STARPU_USE_OPENCL
int main(void)
{
	return 77;
}
#else
#include <errno.h>
#include <string.h>

#include "lib/chain.h"

#define N CHAIN_N

static const char source[] =
	"__kernel void scale(__global float *v, unsigned offset, unsigned n, float by)\n"
	"{\n"
	"	unsigned i = get_global_id(0);\n"
	"	if (i < n) v[offset / sizeof(float) + i] *= by;\n"
	"}\n"
	"__kernel void add(__global float *v, unsigned offset, unsigned n, float by)\n"
	"{\n"
	"	unsigned i = get_global_id(0);\n"
	"	if (i < n) v[offset / sizeof(float) + i] += by;\n"
	"}\n";

static struct starpu_opencl_program program;

static void on_opencl(void *buffers[], void *arg)
{
	const struct chain_args *a = arg;
	const char *name = a->by != 1 ? "scale" : "add";
	float by = a->by != 1 ? a->by : a->plus;
	cl_mem v = (cl_mem) STARPU_VECTOR_GET_DEV_HANDLE(buffers[0]);
	unsigned offset = (unsigned) STARPU_VECTOR_GET_OFFSET(buffers[0]),
		 n = STARPU_VECTOR_GET_NX(buffers[0]);
	int devid = starpu_worker_get_devid((int) starpu_worker_get_id());
	size_t global = n;
	cl_command_queue queue, current;
	cl_kernel kernel;
	cl_event event;
	cl_int err;

	OK(starpu_opencl_load_kernel(&kernel, &queue, &program, name, devid));
	starpu_opencl_get_current_queue(&current);
	CHECK(current == queue);
	CHECK_IS(starpu_opencl_set_kernel_args(&err, &kernel, sizeof(v), &v, sizeof(offset),
					       &offset, sizeof(n), &n, sizeof(by), &by, 0),
		 4);
	OK(err);
	OK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, &event));
	if (a->wait) {
		OK(clWaitForEvents(1, &event));
		OK(starpu_opencl_collect_stats(event));
	}
	OK(clReleaseEvent(event));
	OK(starpu_opencl_release_kernel(kernel));
	__atomic_add_fetch(&chain_ndevice, 1, __ATOMIC_RELAXED);
}

static struct starpu_codelet asynchronous = { .cpu_funcs = { chain_on_cpu },
					      .opencl_funcs = { on_opencl },
					      .opencl_flags = { STARPU_OPENCL_ASYNC },
					      .nbuffers = 1,
					      .modes = { STARPU_RW } };
static struct starpu_codelet waiting = { .cpu_funcs = { chain_on_cpu },
					 .opencl_funcs = { on_opencl },
					 .nbuffers = 1,
					 .modes = { STARPU_RW } };

/* Pieces have offsets in the buffer of the whole. */
static void test_pieces(void)
{
	const struct chain_args add = { 1, 5, 0 };
	struct starpu_data_filter cut = { .filter_func = starpu_vector_filter_block,
					  .nchildren = 4 };
	static float v[N];
	starpu_data_handle_t h;

	memset(v, 0, sizeof(v));
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, N, sizeof(float));
	chain_submit(&asynchronous, h, &add, STARPU_OPENCL);
	starpu_data_partition(h, &cut);
	for (int i = 1; i < 4; i++)
		chain_submit(&asynchronous, starpu_data_get_sub_data(h, 1, i), &add, STARPU_OPENCL);
	starpu_data_unpartition(h, STARPU_MAIN_RAM);
	starpu_data_unregister(h);
	for (unsigned i = 0; i < N; i++)
		CHECK(v[i] == (i < N / 4 ? 5 : 10), "element %u is %g", i, v[i]);
}

/* Programs from a file, and what was compiled from one. */
static void test_programs(void)
{
	const char *dir = getenv("TMPDIR");
	struct starpu_opencl_program other;
	char path[4096], *file, *directory, *text;
	FILE *f;

	snprintf(path, sizeof(path), "%s/scale.cl", dir ? dir : "/tmp");
	f = fopen(path, "w");
	CHECK(f && fputs(source, f) >= 0 && !fclose(f));
	starpu_opencl_load_program_source_malloc(path, &file, &directory, &text);
	CHECK(!strcmp(file, path) && !strcmp(text, source));
	free(file);
	free(directory);
	free(text);
	OK(starpu_opencl_load_opencl_from_file(path, &other, "-DX=1"));
	CHECK(!chain_ndevices || other.programs[0]);
	OK(starpu_opencl_unload_opencl(&other));
	OK(starpu_opencl_compile_opencl_from_file(path, NULL));
	OK(starpu_opencl_load_binary_opencl("scale.cl", &other));
	CHECK(!chain_ndevices || other.programs[0]);
	OK(starpu_opencl_unload_opencl(&other));
	if (chain_ndevices)
		CHECK_IS(starpu_opencl_load_binary_opencl("never.cl", &other), EXIT_FAILURE);
	remove(path);
}

/* Buffers and copies by the helpers of handbook 27.9. */
static void test_helpers(void)
{
	unsigned node = starpu_worker_get_memory_node(
		(unsigned) starpu_worker_get_by_type(STARPU_OPENCL_WORKER, 0));
	float in[N], out[N];
	cl_event event;
	cl_mem mem, mem2;
	cl_context context;
	cl_device_id device;
	int ret;

	for (unsigned i = 0; i < N; i++)
		in[i] = (float) i;
	starpu_opencl_get_context(0, &context);
	starpu_opencl_get_device(0, &device);
	CHECK(context && device);
	OK(starpu_opencl_allocate_memory(0, &mem, sizeof(in), CL_MEM_READ_WRITE));
	OK(starpu_opencl_allocate_memory(0, &mem2, sizeof(in), CL_MEM_READ_WRITE));
	OK(starpu_opencl_copy_ram_to_opencl(in, 0, mem, node, sizeof(in), 0, NULL, &ret));
	CHECK_IS(ret, 0);
	OK(starpu_opencl_copy_opencl_to_opencl(mem, node, 0, mem2, node, 0, sizeof(in), NULL,
					       &ret));
	CHECK_IS(ret, 0);
	OK(starpu_opencl_copy_opencl_to_ram(mem2, node, out, 0, sizeof(out) / 2, 0, &event, &ret));
	CHECK_IS(ret, -EAGAIN);
	OK(clWaitForEvents(1, &event));
	OK(clReleaseEvent(event));
	OK(starpu_opencl_copy_async_sync((uintptr_t) mem2, sizeof(out) / 2, node, (uintptr_t) out,
					 sizeof(out) / 2, 0, sizeof(out) / 2, NULL));
	for (unsigned i = 0; i < N; i++)
		CHECK(out[i] == in[i], "element %u is %g", i, out[i]);
	clReleaseMemObject(mem);
	clReleaseMemObject(mem2);
	CHECK(!strcmp(starpu_opencl_error_string(CL_INVALID_KERNEL), "CL_INVALID_KERNEL"));
}

/* The profile that starpu_opencl_collect_stats() was told of. */
static void test_profile(void)
{
	struct starpu_profiling_worker_info info;
	int worker = starpu_worker_get_by_type(STARPU_OPENCL_WORKER, 0);

	starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
	OK(starpu_profiling_worker_get_info(worker, &info));
	chain_test(&waiting, STARPU_OPENCL, 0);
	OK(starpu_profiling_worker_get_info(worker, &info));
	CHECK_IS(info.used_cycles, 0);
	for (unsigned i = 0; i < chain_ndevices; i++)
		chain_test(&waiting, STARPU_OPENCL, 1);
	for (unsigned i = 0; i < chain_ndevices; i++) {
		worker = starpu_worker_get_by_type(STARPU_OPENCL_WORKER, (int) i);
		OK(starpu_profiling_worker_get_info(worker, &info));
		CHECK(!info.executed_tasks == !info.used_cycles, "%d tasks took %llu ns",
		      info.executed_tasks, (unsigned long long) info.used_cycles);
	}
	starpu_profiling_status_set(STARPU_PROFILING_DISABLE);
}

/* The field chooses devices, and those that are not there are left out. */
static void test_choice(void)
{
	struct starpu_conf conf;

	for (unsigned which = 0; which < 2; which++) {
		OK(starpu_conf_init(&conf));
		conf.precedence_over_environment_variables = 1;
		conf.ncpus = 1;
		conf.use_explicit_workers_opencl_gpuid = 1;
		for (unsigned i = 0; i < STARPU_NMAXWORKERS; i++)
			conf.workers_opencl_gpuid[i] = which ? 100 : chain_ndevices - 1;
		OK(starpu_init(&conf));
		CHECK_IS(starpu_opencl_worker_get_count(), which ? 0 : 1);
		starpu_shutdown();
	}
}

int main(void)
{
	OK(starpu_init(NULL));
	chain_ndevices = starpu_opencl_worker_get_count();
	OK(starpu_opencl_load_opencl_from_string(source, &program, NULL));
	for (unsigned round = 0; round < 5; round++) {
		chain_test(&asynchronous, STARPU_OPENCL, 0);
		chain_test(&waiting, STARPU_OPENCL, 1);
		chain_test(&waiting, STARPU_OPENCL, 0);
	}
	test_pieces();
	test_programs();
	if (chain_ndevices) {
		test_helpers();
		test_profile();
	}
	OK(starpu_opencl_unload_opencl(&program));
	starpu_shutdown();
	if (chain_ndevices)
		test_choice();
	printf("%u devices\n", chain_ndevices);
	return 0;
}
#endif
