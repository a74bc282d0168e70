/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A stream of tasks on a device, each of which needs a copy that takes as long as its kernel: the
 * rate of the stream over the rate of the kernels alone, whose data are there already.
 *
 * On a fake device both times come from the environment; for one of OpenCL or CUDA the program
 * measures the copies and makes the kernels as long. These compute, or with an argument they sleep:
 * a device that computes on CPUs overlaps kernels with copies only if both get a core. What the
 * kernels write goes back after the clock was read. The median and the best of some rounds are
 * printed; device_stream.sh runs it.
 *
 * Invariant: each task's result is checked. Below the aim the exit status is 1. */
#include <orrery.h>
#include <starpu.h>
#include <string.h>
#include <unistd.h>

#include "lib/step.h"
#include "lib/test.h"

#define NTASKS 40
#define ROUNDS 7
#define AIM 0.9

static float *v[NTASKS];
static uint32_t n;
static double nap_us;
static unsigned nkernels; /* that each datum has seen */

#ifdef STARPU_USE_OPENCL
struct nap {
	float *v;
	unsigned us;
};

static void CL_CALLBACK nap(void *arg)
{
	const struct nap *a = arg;

	usleep(a->us);
	a->v[0] += 1;
}

/* A kernel that needs no core. */
static void nap_on_opencl(void *buffers[], void *arg)
{
	cl_mem v = (cl_mem) STARPU_VECTOR_GET_DEV_HANDLE(buffers[0]);
	struct nap a = { .us = (unsigned) nap_us };
	const void *place = &a.v;
	cl_command_queue queue;

	(void) arg;
	starpu_opencl_get_current_queue(&queue);
	OK(clEnqueueNativeKernel(queue, nap, &a, sizeof(a), 1, &v, &place, 0, NULL, NULL));
}
#else
#define nap_on_opencl NULL
#endif

static void begin(starpu_data_handle_t h[])
{
	for (unsigned i = 0; i < NTASKS; i++)
		starpu_vector_data_register(&h[i], STARPU_MAIN_RAM, (uintptr_t) v[i], n,
					    sizeof(float));
}

static void end(starpu_data_handle_t h[])
{
	for (unsigned i = 0; i < NTASKS; i++) {
		starpu_data_unregister(h[i]);
		CHECK(v[i][0] == (float) nkernels, "task %u left %g, not %u", i, v[i][0], nkernels);
	}
}

/* The time of one kernel on each datum. */
static double kernels(starpu_data_handle_t h[])
{
	double start = starpu_timing_now();

	for (unsigned i = 0; i < NTASKS; i++)
		OK(starpu_task_insert(&step_cl, STARPU_RW, h[i], 0));
	starpu_task_wait_for_all();
	nkernels++;
	return starpu_timing_now() - start;
}

/* The time to bring all data to the device, without kernels. */
static double copies(starpu_data_handle_t h[], unsigned node)
{
	double start = starpu_timing_now();

	for (unsigned i = 0; i < NTASKS; i++) {
		OK(starpu_data_acquire_on_node(h[i], (int) node, STARPU_R));
		starpu_data_release_on_node(h[i], (int) node);
	}
	return starpu_timing_now() - start;
}

/* The rate of the stream over the rate of the kernels. */
static double measure(double *kernel_us)
{
	starpu_data_handle_t h[NTASKS];

	begin(h);
	double stream_us = kernels(h);
	*kernel_us = kernels(h);
	end(h);
	return *kernel_us / stream_us;
}

/* Makes the kernels of a real device as long as its copies. */
static double choose_kernel(unsigned node, int naps)
{
	starpu_data_handle_t h[NTASKS];
	double rounds = 1e5, copy_us = 0, kernel_us = 0;

	if (naps) {
		begin(h);
		nap_us = copies(h, node) / NTASKS;
		end(h);
		step_cl.opencl_funcs[0] = nap_on_opencl;
		return nap_us;
	}
	for (unsigned t = 0; t < 20 && (t < 3 || fabs(copy_us / kernel_us - 1) > 0.02); t++) {
		rounds *= t ? copy_us / kernel_us : 1;
		spin_load(rounds);
		begin(h);
		copy_us = copies(h, node);
		kernel_us = kernels(h);
		end(h);
	}
	return copy_us / NTASKS;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *) a, y = *(const double *) b;

	return (x > y) - (x < y);
}

/* With an argument the kernels of an OpenCL device sleep. */
int main(int argc, char **argv)
{
	double share[ROUNDS], copy_us = 0, kernel_us = 0;
	enum starpu_worker_archtype arch = STARPU_CUDA_WORKER;
	unsigned rounds = orrery_is_simulated() ? 1 : ROUNDS;

	(void) argv;
	int ret = starpu_init(NULL);
	if (ret == -ENODEV)
		return 77;
	OK(ret);
	if (starpu_opencl_worker_get_count())
		arch = STARPU_OPENCL_WORKER;
	if (spin_has_cuda())
		step_cl.cuda_funcs[0] = spin_on_cuda;
	n = step_floats();
	int id = starpu_worker_get_by_type(arch, 0);
	if (id < 0)
		return 77;
	for (unsigned i = 0; i < NTASKS; i++)
		CHECK(!starpu_malloc((void **) &v[i], n * sizeof(float)) &&
		      memset(v[i], 0, n * sizeof(float)));
	if (arch == STARPU_OPENCL_WORKER || spin_has_cuda())
		copy_us = choose_kernel(starpu_worker_get_memory_node((unsigned) id), argc > 1);
	for (unsigned r = 0; r < rounds; r++)
		share[r] = measure(&kernel_us);
	qsort(share, rounds, sizeof(*share), ascending);
	if (copy_us > 0)
		printf("copies of %.0f us, ", copy_us);
	printf("kernels of %.0f us: a stream of %d tasks runs at %.1f %% of the kernels' rate in the median of %u, %.1f %% at best (aim: %.0f %%)\n",
	       kernel_us / NTASKS, NTASKS, share[rounds / 2] * 100, rounds, share[rounds - 1] * 100,
	       AIM * 100);
	spin_unload();
	for (unsigned i = 0; i < NTASKS; i++)
		starpu_free_noflag(v[i], n * sizeof(float));
	starpu_shutdown();
	return share[rounds / 2] < AIM;
}
