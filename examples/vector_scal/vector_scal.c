/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A vector that is scaled piece by piece, on CPUs and on devices that OpenCL drives. The kernel for
 * OpenCL is asynchronous: its function gives it to the queue and returns, and the runtime fetches
 * the next piece meanwhile.
 *
 * Invariant: the pieces of a device have no pointers; its kernel gets the handle of the whole
 * buffer, and the offset of the piece in it (chapter 27.7 of the handbook).
 *
 *      orrery cc --both vector_scal.c -o vector_scal -lOpenCL
 *      STARPU_OPENCL_ON_CPUS=1 ./vector_scal
 *      orrery sim -n 1 vector_scal.sim
 */
#include <starpu.h>

#include "../options.h"

static const char usage[] = "[OPTIONS]\n"
			    "Scales a vector, on CPUs and on OpenCL devices.\n"
			    "  -n N             number of elements (default 100000)\n"
			    "  -p, --pieces N   number of pieces (default 10)\n"
			    "  -s, --steps N    how often each is scaled (default 4)\n"
			    "  -h, --help       this text\n";

static int size = 100000, pieces = 10, steps = 4;
static unsigned on_cpu, on_opencl;

static void scale_cpu(void *buffers[], void *arg)
{
	float *v = (float *) STARPU_VECTOR_GET_PTR(buffers[0]), factor;

	starpu_codelet_unpack_args(arg, &factor);
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		v[i] *= factor;
	__atomic_add_fetch(&on_cpu, 1, __ATOMIC_RELAXED);
}

static struct starpu_codelet scale_cl = {
	.cpu_funcs = { scale_cpu },
	.cpu_funcs_name = { "scale_cpu" },
	.nbuffers = 1,
	.modes = { STARPU_RW },
	.name = "scale",
};

#ifdef STARPU_USE_OPENCL
static const char source[] = "__kernel void scale(__global float *v, ulong at, uint n, float by)\n"
			     "{\n"
			     "	uint i = get_global_id(0);\n"
			     "	if (i < n)\n"
			     "		v[at / sizeof(float) + i] *= by;\n"
			     "}\n";

static struct starpu_opencl_program program;

static void scale_opencl(void *buffers[], void *arg)
{
	cl_mem v = (cl_mem) STARPU_VECTOR_GET_DEV_HANDLE(buffers[0]);
	cl_ulong at = STARPU_VECTOR_GET_OFFSET(buffers[0]);
	cl_uint n = STARPU_VECTOR_GET_NX(buffers[0]);
	size_t global = n;
	cl_command_queue queue;
	cl_kernel kernel;
	cl_int err;
	float factor;

	starpu_codelet_unpack_args(arg, &factor);
	err = starpu_opencl_load_kernel(&kernel, &queue, &program, "scale",
					starpu_worker_get_devid((int) starpu_worker_get_id()));
	if (err != CL_SUCCESS)
		STARPU_OPENCL_REPORT_ERROR(err);
	starpu_opencl_set_kernel_args(&err, &kernel, sizeof(v), &v, sizeof(at), &at, sizeof(n), &n,
				      sizeof(factor), &factor, 0);
	if (err == CL_SUCCESS)
		err = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL);
	if (err != CL_SUCCESS)
		STARPU_OPENCL_REPORT_ERROR(err);
	starpu_opencl_release_kernel(kernel);
	__atomic_add_fetch(&on_opencl, 1, __ATOMIC_RELAXED);
}

static void begin_opencl(void)
{
	scale_cl.opencl_funcs[0] = scale_opencl;
	scale_cl.opencl_flags[0] = STARPU_OPENCL_ASYNC;
	starpu_opencl_load_opencl_from_string(source, &program, NULL);
}

static void end_opencl(void)
{
	starpu_opencl_unload_opencl(&program);
}
#else
static void begin_opencl(void) {}
static void end_opencl(void) {}
#endif

static int check(const float *v)
{
	for (int i = 0; i < size; i++) {
		float expected = (float) (i % 1000);

		for (int s = 0; s < steps; s++)
			expected *= 2;
		if (v[i] != expected) {
			fprintf(stderr, "element %d is %g, should be %g\n", i, (double) v[i],
				(double) expected);
			return 1;
		}
	}
	return 0;
}

static int scale(float *v)
{
	struct starpu_data_filter cut = { .filter_func = starpu_vector_filter_block,
					  .nchildren = (unsigned) pieces };
	const float factor = 2;
	starpu_data_handle_t h;
	int ret = 0;

	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, (uint32_t) size,
				    sizeof(*v));
	starpu_data_partition(h, &cut);
	for (int s = 0; s < steps; s++)
		for (int i = 0; i < pieces && !ret; i++)
			ret = starpu_task_insert(&scale_cl, STARPU_RW,
						 starpu_data_get_sub_data(h, 1, i), STARPU_VALUE,
						 &factor, sizeof(factor), 0);
	starpu_data_unpartition(h, STARPU_MAIN_RAM);
	starpu_data_unregister(h);
	return ret;
}

int main(int argc, char **argv)
{
	struct options o;
	float *v;
	int ret;

	for (options_begin(&o, argc, argv); options_more(&o);)
		if (options_int(&o, "-n", NULL, 1, 100000000, &size))
			;
		else if (options_int(&o, "--pieces", "-p", 1, 100000, &pieces))
			;
		else if (options_int(&o, "--steps", "-s", 0, 20, &steps))
			;
		else
			options_unknown(&o);
	if ((ret = options_report(&o, 0, "vector_scal", usage)) >= 0)
		return ret;
	if (starpu_init(NULL))
		return 77;
	begin_opencl();
	starpu_malloc((void **) &v, (size_t) size * sizeof(*v));
	for (int i = 0; i < size; i++)
		v[i] = (float) (i % 1000);
	ret = scale(v) || check(v);
	printf("vector_scal n=%d pieces=%d steps=%d on_cpu=%u on_opencl=%u\ncheck: %s\n", size,
	       pieces, steps, on_cpu, on_opencl, ret ? "FAILED" : "OK");
	starpu_free_noflag(v, (size_t) size * sizeof(*v));
	end_opencl();
	starpu_shutdown();
	return ret;
}
