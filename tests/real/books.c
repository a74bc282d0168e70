/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Time that is booked as data: until data come that are not where a worker needs them, and none
 * where they are there. The device is a fake one whose copies take 100 ms.
 * orr-test: timeout 60
 * orr-test: env ORRERY_FAKE_DEVICES=1 STARPU_NCPU=1 STARPU_PROFILING=1 ORRERY_FAKE_COPY_MBS=10 */
#include <orrery.h>
#include <starpu.h>

#include "lib/test.h"

#define BYTES 1000000
#define COPY_US 1e5

static void kernel(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
}

static struct starpu_codelet cl = {
	.cpu_funcs = { kernel }, .cuda_funcs = { kernel }, .nbuffers = 1, .modes = { STARPU_RW }
};
static struct starpu_codelet bare = { .cpu_funcs = { kernel }, .cuda_funcs = { kernel } };

/* The time that the worker has booked as data since the last call. */
static double data_us(unsigned worker)
{
	struct orrery_worker_times t;

	OK(orrery_worker_times((int) worker, &t));
	OK(starpu_profiling_worker_get_info((int) worker, NULL));
	return t.data_us;
}

static double run(unsigned worker, starpu_data_handle_t h)
{
	data_us(worker);
	if (h)
		OK(starpu_task_insert(&cl, STARPU_RW, h, STARPU_EXECUTE_ON_WORKER, worker, 0));
	else
		OK(starpu_task_insert(&bare, STARPU_EXECUTE_ON_WORKER, worker, 0));
	OK(starpu_task_wait_for_all());
	return data_us(worker);
}

/* A copy is no kernel. */
static void copies(starpu_data_handle_t from)
{
	struct orrery_worker_times t;
	starpu_data_handle_t to;

	starpu_data_register_same(&to, from);
	for (unsigned w = 0; w < starpu_worker_get_count(); w++)
		data_us(w);
	OK(starpu_data_cpy(to, from, 0, NULL, NULL));
	OK(orrery_worker_times(-1, &t));
	CHECK(t.data_us > 0);
	CHECK_IS(t.kernels_us, 0);
	starpu_data_unregister(to);
}

int main(void)
{
	static char bytes[BYTES];
	starpu_data_handle_t h;
	int cpu, device;

	OK(starpu_init(NULL));
	cpu = starpu_worker_get_by_type(STARPU_CPU_WORKER, 0);
	device = starpu_worker_get_by_type(STARPU_CUDA_WORKER, 0);
	CHECK(cpu >= 0 && device >= 0);
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) bytes, BYTES, 1);
	for (int i = 0; i < 3; i++) {
		CHECK_IS(run((unsigned) cpu, NULL), 0);
		CHECK_IS(run((unsigned) device, NULL), 0);
		CHECK(run((unsigned) device, h) > 0.8 * COPY_US);
		CHECK_IS(run((unsigned) device, h), 0);
		CHECK(run((unsigned) cpu, h) > 0.8 * COPY_US);
		CHECK_IS(run((unsigned) cpu, h), 0);
	}
	copies(h);
	starpu_data_unregister(h);
	starpu_shutdown();
	return 0;
}
