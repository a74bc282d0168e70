/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Data laid out differently per kind of unit (chapter 27.10 of the handbook): points are an array
 * of structs in main memory, where a CPU wants x and y next to each other, and a struct of arrays
 * on devices, where neighbouring threads want neighbouring x. The runtime runs the conversion
 * codelets when the data change sides, never in between.
 *
 * The kernels of devices are plain C functions, which ORRERY_FAKE_DEVICES runs on CPUs. Every task
 * is sent to a given worker, CPUs and devices in turn, so that the layout changes as often as it
 * can; without devices it never does.
 *
 * Invariant: a kernel touches only the layout of its side; both are there for the conversion
 * codelets alone.
 *
 *      orrery cc --both multiformat.c -o multiformat
 *      ORRERY_FAKE_DEVICES=1 ./multiformat
 *      ORRERY_FAKE_DEVICES=1 orrery sim -n 1 multiformat.sim
 */
#include <starpu.h>

#include "../options.h"

static const char usage[] = "[OPTIONS]\n"
			    "Moves points along a line, on CPUs and on devices in turn.\n"
			    "  -n N             number of points (default 1000)\n"
			    "  -s, --steps N    number of tasks (default 12)\n"
			    "  -h, --help       this text\n";

static int size = 1000, steps = 12;

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
static void step_cuda(void *buffers[], void *arg)
{
	uint32_t n = STARPU_MULTIFORMAT_GET_NX(buffers[0]);
	float *x = STARPU_MULTIFORMAT_GET_CUDA_PTR(buffers[0]), *y = x + n;

	(void) arg;
	for (uint32_t i = 0; i < n; i++)
		x[i] += 2 * y[i];
	for (uint32_t i = 0; i < n; i++)
		y[i] += 1;
}

static struct starpu_codelet step_cl = {
	.cpu_funcs = { step_cpu },
	.cpu_funcs_name = { "step_cpu" },
	.cuda_funcs = { step_cuda },
	.nbuffers = 1,
	.modes = { STARPU_RW },
	.name = "step",
};

static unsigned to_device, to_cpu;

/* Runs on the device that needs the data: what came from main memory lies next to the place for the
 * result. */
static void cpu_to_cuda(void *buffers[], void *arg)
{
	const struct point *p = STARPU_MULTIFORMAT_GET_CPU_PTR(buffers[0]);
	uint32_t n = STARPU_MULTIFORMAT_GET_NX(buffers[0]);
	float *x = STARPU_MULTIFORMAT_GET_CUDA_PTR(buffers[0]), *y = x + n;

	(void) arg;
	for (uint32_t i = 0; i < n; i++) {
		x[i] = p[i].x;
		y[i] = p[i].y;
	}
	__atomic_add_fetch(&to_device, 1, __ATOMIC_RELAXED);
}

/* Runs on a CPU. */
static void cuda_to_cpu(void *buffers[], void *arg)
{
	struct point *p = STARPU_MULTIFORMAT_GET_CPU_PTR(buffers[0]);
	uint32_t n = STARPU_MULTIFORMAT_GET_NX(buffers[0]);
	const float *x = STARPU_MULTIFORMAT_GET_CUDA_PTR(buffers[0]), *y = x + n;

	(void) arg;
	for (uint32_t i = 0; i < n; i++)
		p[i] = (struct point){ x[i], y[i] };
	__atomic_add_fetch(&to_cpu, 1, __ATOMIC_RELAXED);
}

static struct starpu_codelet cpu_to_cuda_cl = {
	.cuda_funcs = { cpu_to_cuda },
	.nbuffers = 1,
	.modes = { STARPU_RW },
	.name = "cpu_to_cuda",
};

static struct starpu_codelet cuda_to_cpu_cl = {
	.cpu_funcs = { cuda_to_cpu },
	.cpu_funcs_name = { "cuda_to_cpu" },
	.nbuffers = 1,
	.modes = { STARPU_RW },
	.name = "cuda_to_cpu",
};

static struct starpu_multiformat_data_interface_ops formats = {
	.cpu_elemsize = sizeof(struct point),
	.cuda_elemsize = 2 * sizeof(float),
	.cpu_to_cuda_cl = &cpu_to_cuda_cl,
	.cuda_to_cpu_cl = &cuda_to_cpu_cl,
};

/* The worker of step s: the workers of a kind in turn, and the kinds in turn where there are both.
 */
static int worker_of_step(int s)
{
	int ncpu = starpu_worker_get_count_by_type(STARPU_CPU_WORKER),
	    ncuda = starpu_worker_get_count_by_type(STARPU_CUDA_WORKER);

	if (!ncpu)
		return starpu_worker_get_by_type(STARPU_CUDA_WORKER, s % ncuda);
	if (!ncuda || s % 2 == 0)
		return starpu_worker_get_by_type(STARPU_CPU_WORKER, s / 2 % ncpu);
	return starpu_worker_get_by_type(STARPU_CUDA_WORKER, s / 2 % ncuda);
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
	starpu_shutdown();
	return ret;
}
