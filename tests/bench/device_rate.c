/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rate at which a device gets through tasks: kernels that do nearly nothing, asynchronous, in
 * chains on a few data that are there already. Beside it stands what the same launches take without
 * the runtime, on a device of CUDA. device_rate.sh runs it.
 *
 * Invariant: each kernel's result is checked. */
#include <starpu.h>
#include <string.h>

#include "lib/step.h"
#include "lib/test.h"

#define NTASKS 4000
#define NDATA 8
#define ROUNDS 7

static int ascending(const void *a, const void *b)
{
	double x = *(const double *) a, y = *(const double *) b;

	return (x > y) - (x < y);
}

static double median(double v[ROUNDS])
{
	qsort(v, ROUNDS, sizeof(*v), ascending);
	return v[ROUNDS / 2];
}

/* Microseconds for each task. */
static double tasks(starpu_data_handle_t h[NDATA])
{
	double start = starpu_timing_now();

	for (unsigned i = 0; i < NTASKS; i++)
		OK(starpu_task_insert(&step_cl, STARPU_RW, h[i % NDATA], 0));
	OK(starpu_task_wait_for_all());
	return (starpu_timing_now() - start) / NTASKS;
}

#ifdef STARPU_USE_CUDA
static double bare_us[ROUNDS];

/* Microseconds for each launch, in the stream of a worker. */
static void launches(void *buffers[], void *arg)
{
	float *v = (float *) STARPU_VECTOR_GET_PTR(buffers[0]);
	cudaStream_t stream = starpu_cuda_get_local_stream();

	(void) arg;
	for (unsigned r = 0; r < ROUNDS; r++) {
		double start = starpu_timing_now();

		for (unsigned i = 0; i < NTASKS; i++)
			OK(spin_cuda_launch(v, 1, stream));
		OK(spin_cuda_wait(stream));
		bare_us[r] = (starpu_timing_now() - start) / NTASKS;
	}
}

static struct starpu_codelet bare_cl = { .cuda_funcs = { launches },
					 .nbuffers = 1,
					 .modes = { STARPU_RW } };

static void print_bare(starpu_data_handle_t h)
{
	if (!spin_has_cuda())
		return;
	OK(starpu_task_insert(&bare_cl, STARPU_RW, h, 0));
	OK(starpu_task_wait_for_all());
	printf("without the runtime: %.2f us for a launch\n", median(bare_us));
}
#else
static void print_bare(starpu_data_handle_t h)
{
	(void) h;
}
#endif

int main(void)
{
	float v[NDATA] = { 0 }, first;
	double us[ROUNDS];
	starpu_data_handle_t h[NDATA];

	int ret = starpu_init(NULL);
	if (ret == -ENODEV)
		return 77;
	OK(ret);
	if (!(starpu_cuda_worker_get_count() + starpu_opencl_worker_get_count()))
		return 77;
	if (spin_has_cuda())
		step_cl.cuda_funcs[0] = spin_on_cuda;
	spin_load(1);
	for (unsigned i = 0; i < NDATA; i++)
		starpu_vector_data_register(&h[i], STARPU_MAIN_RAM, (uintptr_t) &v[i], 1,
					    sizeof(*v));
	tasks(h);
	for (unsigned r = 0; r < ROUNDS; r++)
		us[r] = tasks(h);
	double mid = median(us);

	printf("%.2f us for a task in the median of %d rounds, %.2f us at best\n", mid, ROUNDS,
	       us[0]);
	starpu_data_acquire(h[0], STARPU_R);
	first = v[0];
	starpu_data_release(h[0]);
	print_bare(h[0]);
	for (unsigned i = 0; i < NDATA; i++)
		starpu_data_unregister(h[i]);
	CHECK(first == (ROUNDS + 1) * NTASKS / NDATA, "%g", first);
	spin_unload();
	starpu_shutdown();
	return 0;
}
