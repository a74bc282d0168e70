/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Data laid out differently per kind of unit (chapter 27.10 of the handbook): points are an array
 * of structs in main memory, where a CPU wants x and y next to each other, and a struct of arrays
 * on devices, where neighbouring threads want neighbouring x. The runtime runs the conversion
 * codelets when the data change sides, never in between.
 *
 * opencl.c and kernels.cu have the kernels of devices, and the conversion to their layout, which
 * devices execute; on the way back a CPU converts. ORRERY_FAKE_DEVICES executes plain C functions
 * in place of those of CUDA. Every task is sent to a given worker, CPUs and devices in turn, so
 * that the layout changes as often as it can; without devices it never does.
 *
 * Invariant: a kernel touches only the layout of its side; both are there for the conversion
 * codelets alone.
 *
 *      orrery cc --both multiformat.c opencl.c -o multiformat -lOpenCL
 *      STARPU_OPENCL_ON_CPUS=1 ./multiformat
 *      ORRERY_FAKE_DEVICES=1 ./multiformat
 *      ORRERY_FAKE_DEVICES=1 orrery sim -n 1 multiformat.sim
 */
#include <starpu.h>

#include "../devices.h"
#include "../options.h"

static const char usage[] = "[OPTIONS]\n"
			    "Moves points along a line, on CPUs and on devices in turn.\n"
			    "  -n N             number of points (default 1000)\n"
			    "  -s, --steps N    number of tasks (default 12)\n"
			    "  -h, --help       this text\n";

static int size = 1000, steps = 12;

/* opencl.c and kernels.cu, where the build has them. */
DEVICE_KERNEL(step_opencl);
DEVICE_KERNEL(convert_opencl);
DEVICE_KERNEL(step_cuda);
DEVICE_KERNEL(convert_cuda);
DEVICE_SETUP(opencl_setup);
DEVICE_SETUP(opencl_end);

struct point {
	float x, y;
};

/* The step exists twice, once per layout: it turns (x, y) into (x + 2y, y + 1). */
static void step_cpu(void *buffers[], void *arg)
{
	struct point *p = STARPU_MULTIFORMAT_GET_CPU_PTR(buffers[0]);
	uint32_t n = STARPU_MULTIFORMAT_GET_NX(buffers[0]);

	(void) arg;
	for (uint32_t i = 0; i < n; i++) {
		p[i].x += 2 * p[i].y;
		p[i].y += 1;
	}
}

/* On devices all the x come first, then all the y. */
static void step_fake(void *buffers[], void *arg)
{
	uint32_t n = STARPU_MULTIFORMAT_GET_NX(buffers[0]);
	float *x = STARPU_MULTIFORMAT_GET_CUDA_PTR(buffers[0]), *y = x + n;

	(void) arg;
	for (uint32_t i = 0; i < n; i++)
		x[i] += 2 * y[i];
	for (uint32_t i = 0; i < n; i++)
		y[i] += 1;
}

/* CUDA devices that are there have kernels; fake ones, and builds without nvcc, have C functions.
 */
static int has_cuda_kernels(void)
{
	return step_cuda && !getenv("ORRERY_FAKE_DEVICES");
}

static void step_on_cuda(void *buffers[], void *arg)
{
	(has_cuda_kernels() ? step_cuda : step_fake)(buffers, arg);
}

static struct starpu_codelet step_cl = {
	.cpu_funcs = { step_cpu },
	.cpu_funcs_name = { "step_cpu" },
	.cuda_funcs = { step_on_cuda },
	.opencl_funcs = { step_opencl },
	.nbuffers = 1,
	.modes = { STARPU_RW },
	.name = "step",
};

static unsigned to_device, to_cpu;

static void count(unsigned *n)
{
	__atomic_add_fetch(n, 1, __ATOMIC_RELAXED);
}

/* The value from main memory lies next to the place for the result. */
static void convert_fake(void *buffers[], void *arg)
{
	const struct point *p = STARPU_MULTIFORMAT_GET_CPU_PTR(buffers[0]);
	uint32_t n = STARPU_MULTIFORMAT_GET_NX(buffers[0]);
	float *x = STARPU_MULTIFORMAT_GET_CUDA_PTR(buffers[0]), *y = x + n;

	(void) arg;
	for (uint32_t i = 0; i < n; i++) {
		x[i] = p[i].x;
		y[i] = p[i].y;
	}
}

/* These run on the device that needs the data. */
static void cpu_to_cuda(void *buffers[], void *arg)
{
	(has_cuda_kernels() ? convert_cuda : convert_fake)(buffers, arg);
	count(&to_device);
}

static void cpu_to_opencl(void *buffers[], void *arg)
{
	convert_opencl(buffers, arg);
	count(&to_device);
}

/* x: the layout of devices, in main memory. */
static void back(struct point *p, const float *x, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		p[i] = (struct point){ x[i], x[n + i] };
	count(&to_cpu);
}

/* These run on a CPU. */
static void cuda_to_cpu(void *buffers[], void *arg)
{
	(void) arg;
	back(STARPU_MULTIFORMAT_GET_CPU_PTR(buffers[0]),
	     STARPU_MULTIFORMAT_GET_CUDA_PTR(buffers[0]), STARPU_MULTIFORMAT_GET_NX(buffers[0]));
}

static void opencl_to_cpu(void *buffers[], void *arg)
{
	(void) arg;
	back(STARPU_MULTIFORMAT_GET_CPU_PTR(buffers[0]),
	     STARPU_MULTIFORMAT_GET_OPENCL_PTR(buffers[0]), STARPU_MULTIFORMAT_GET_NX(buffers[0]));
}

#define CONVERSION(NAME, MEMBER) \
	{ \
		.MEMBER = { NAME }, .nbuffers = 1, .modes = { STARPU_RW }, .name = #NAME \
	}

static struct starpu_codelet cpu_to_cuda_cl = CONVERSION(cpu_to_cuda, cuda_funcs),
			     cuda_to_cpu_cl = CONVERSION(cuda_to_cpu, cpu_funcs),
			     cpu_to_opencl_cl = CONVERSION(cpu_to_opencl, opencl_funcs),
			     opencl_to_cpu_cl = CONVERSION(opencl_to_cpu, cpu_funcs);

static struct starpu_multiformat_data_interface_ops formats = {
	.cpu_elemsize = sizeof(struct point),
	.cuda_elemsize = 2 * sizeof(float),
	.opencl_elemsize = 2 * sizeof(float),
	.cpu_to_cuda_cl = &cpu_to_cuda_cl,
	.cuda_to_cpu_cl = &cuda_to_cpu_cl,
	.cpu_to_opencl_cl = &cpu_to_opencl_cl,
	.opencl_to_cpu_cl = &opencl_to_cpu_cl,
};

/* The kind of devices that is used beside CPUs. */
static enum starpu_worker_archtype device_kind(void)
{
	return starpu_opencl_worker_get_count() && step_opencl && !starpu_cuda_worker_get_count()
		       ? STARPU_OPENCL_WORKER
		       : STARPU_CUDA_WORKER;
}

/* The worker of step s: the workers of a kind in turn, and the kinds in turn where there are both.
 */
static int worker_of_step(int s)
{
	enum starpu_worker_archtype kind = device_kind();
	int ncpu = starpu_worker_get_count_by_type(STARPU_CPU_WORKER),
	    ndevice = starpu_worker_get_count_by_type(kind);

	if (!ncpu)
		return starpu_worker_get_by_type(kind, s % ndevice);
	if (!ndevice || s % 2 == 0)
		return starpu_worker_get_by_type(STARPU_CPU_WORKER, s / 2 % ncpu);
	return starpu_worker_get_by_type(kind, s / 2 % ndevice);
}

static int check(const struct point *points)
{
	for (int i = 0; i < size; i++) {
		struct point p = { (float) i, 1 };

		for (int s = 0; s < steps; s++) {
			p.x += 2 * p.y;
			p.y += 1;
		}
		if (points[i].x != p.x || points[i].y != p.y) {
			fprintf(stderr, "point %d is (%g,%g), should be (%g,%g)\n", i,
				(double) points[i].x, (double) points[i].y, (double) p.x,
				(double) p.y);
			return 1;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct options o;
	starpu_data_handle_t h;
	struct point *points;
	int ret;

	for (options_begin(&o, argc, argv); options_more(&o);)
		if (options_int(&o, "-n", NULL, 1, 1000000, &size))
			;
		else if (options_int(&o, "--steps", "-s", 0, 1000, &steps))
			;
		else
			options_unknown(&o);
	if ((ret = options_report(&o, 0, "multiformat", usage)) >= 0)
		return ret;
	if (starpu_init(NULL))
		return 77;
	device_call(opencl_setup);
	points = malloc((size_t) size * sizeof(*points));
	for (int i = 0; i < size; i++)
		points[i] = (struct point){ (float) i, 1 };
	starpu_multiformat_data_register(&h, STARPU_MAIN_RAM, points, (uint32_t) size, &formats);
	ret = 0;
	for (int s = 0; s < steps && !ret; s++)
		ret = starpu_task_insert(&step_cl, STARPU_RW, h, STARPU_EXECUTE_ON_WORKER,
					 worker_of_step(s), 0);
	starpu_data_unregister(h);
	ret = ret || check(points);
	printf("multiformat n=%d steps=%d to_device=%u to_cpu=%u\ncheck: %s\n", size, steps,
	       to_device, to_cpu, ret ? "FAILED" : "OK");
	free(points);
	device_call(opencl_end);
	starpu_shutdown();
	return ret;
}
