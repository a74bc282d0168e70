/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A vector that is scaled piece by piece, on CPUs and on devices: opencl.c has the kernel for
 * OpenCL, kernels.cu the one for CUDA.
 *
 * Invariant: whoever scales a piece, the result is exact.
 *
 *      orrery cc --both vector_scal.c opencl.c -o vector_scal -lOpenCL
 *      STARPU_OPENCL_ON_CPUS=1 ./vector_scal
 *      orrery sim -n 1 vector_scal.sim
 */
#include <starpu.h>

#include "../devices.h"
#include "../options.h"

static const char usage[] = "[OPTIONS]\n"
			    "Scales a vector, on CPUs and on devices.\n"
			    "  -n N             number of elements (default 100000)\n"
			    "  -p, --pieces N   number of pieces (default 10)\n"
			    "  -s, --steps N    how often each is scaled (default 4)\n"
			    "  --devices        only devices scale (CUDA, OpenCL)\n"
			    "  -h, --help       this text\n";

static int size = 100000, pieces = 10, steps = 4;
static int on_devices;
static unsigned on_cpu;

static void scale_cpu(void *buffers[], void *arg)
{
	float *v = (float *) STARPU_VECTOR_GET_PTR(buffers[0]), factor;

	starpu_codelet_unpack_args(arg, &factor);
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		v[i] *= factor;
	__atomic_add_fetch(&on_cpu, 1, __ATOMIC_RELAXED);
}

DEVICE_KERNEL(scale_opencl);
DEVICE_KERNEL(scale_cuda);
DEVICE_SETUP(opencl_setup);
DEVICE_SETUP(opencl_end);

static struct starpu_codelet scale_cl = {
	.cpu_funcs = { scale_cpu },
	.cpu_funcs_name = { "scale_cpu" },
	.cuda_funcs = { scale_cuda },
	.cuda_flags = { STARPU_CUDA_ASYNC },
	.opencl_funcs = { scale_opencl },
	.opencl_flags = { STARPU_OPENCL_ASYNC },
	.nbuffers = 1,
	.modes = { STARPU_RW },
	.name = "scale",
};

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

/* Scales, and checks the result. */
static int run(void)
{
	float *v;

	starpu_malloc((void **) &v, (size_t) size * sizeof(*v));
	for (int i = 0; i < size; i++)
		v[i] = (float) (i % 1000);
	int ret = scale(v) || check(v);
	printf("vector_scal n=%d pieces=%d steps=%d on_cpu=%u on_devices=%u\ncheck: %s\n", size,
	       pieces, steps, on_cpu, (unsigned) (pieces * steps) - on_cpu, ret ? "FAILED" : "OK");
	starpu_free_noflag(v, (size_t) size * sizeof(*v));
	return ret;
}

int main(int argc, char **argv)
{
	struct options o;
	struct starpu_codelet *const scaling[] = { &scale_cl, NULL };
	int ret;

	for (options_begin(&o, argc, argv); options_more(&o);)
		if (options_int(&o, "-n", NULL, 1, 100000000, &size))
			;
		else if (options_int(&o, "--pieces", "-p", 1, 100000, &pieces))
			;
		else if (options_flag(&o, "--devices", NULL))
			on_devices = 1;
		else if (options_int(&o, "--steps", "-s", 0, 20, &steps))
			;
		else
			options_unknown(&o);
	if ((ret = options_report(&o, 0, "vector_scal", usage)) >= 0)
		return ret;
	if (starpu_init(NULL))
		return 77;
	device_call(opencl_setup);
	ret = on_devices ? devices_only(scaling, "vector_scal") : 0;
	if (!ret)
		ret = run();
	device_call(opencl_end);
	starpu_shutdown();
	return ret;
}
