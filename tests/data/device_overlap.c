/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The trace of a device shows kernels and the copies for the next tasks at once. The device is a
 * fake one whose copies take as long as its kernels: by the clock of the simulation it computes at
 * least 90 % of the time (tests/bench/device_stream.c measures the real one). opencl_pocl.sh runs
 * this with a device of PoCL's.
 *
 * Invariant: of a real run only half of the overlap is asked for, in the best of some tries,
 * because a busy machine may stop the worker's thread at any time.
 * orr-test: devices none
 * orr-test: env STARPU_NCPU=1 ORRERY_FAKE_DEVICES=1 ORRERY_FAKE_COPY_MBS=10 ORRERY_FAKE_KERNEL_US=4000 */
#include <orrery.h>
#include <starpu.h>
#include <string.h>

#include "lib/step.h"
#include "lib/test.h"
#include "lib/tracefile.h"

#define NTASKS 12
#define TRIES 5

/* Runs NTASKS tasks, each on data of its own, and returns the time that they took. */
static double run(void)
{
	starpu_data_handle_t h[NTASKS];
	float *v[NTASKS];
	unsigned n = step_floats();

	for (unsigned i = 0; i < NTASKS; i++) {
		v[i] = calloc(n, sizeof(float));
		CHECK(v[i]);
		starpu_vector_data_register(&h[i], STARPU_MAIN_RAM, (uintptr_t) v[i], n,
					    sizeof(float));
	}
	double start = starpu_timing_now();
	for (unsigned i = 0; i < NTASKS; i++)
		OK(starpu_task_insert(&step_cl, STARPU_RW, h[i], 0));
	starpu_task_wait_for_all();
	double us = starpu_timing_now() - start;
	for (unsigned i = 0; i < NTASKS; i++) {
		starpu_data_unregister(h[i]);
		CHECK(v[i][0] == 1, "task %u left %g", i, v[i][0]);
		free(v[i]);
	}
	return us;
}

/* The share of the time of copies to the device in which a kernel was under way, too. */
static double overlap(const char *path)
{
	struct tracefile t = tracefile_read(path);
	double last = 0, copying = 0, both = 0;
	int ncopies = 0, nkernels = 0, began = 0;

	for (size_t i = 0; i < t.n; i++) {
		const struct orr_trace_event *e = &t.events[i];
		double us = (double) e->ns * 1e-3;

		copying += ncopies ? us - last : 0;
		both += ncopies && nkernels ? us - last : 0;
		last = us;
		nkernels += (e->kind == ORR_TRACE_START) - (e->kind == ORR_TRACE_END);
		if ((e->kind == ORR_TRACE_COPY || e->kind == ORR_TRACE_COPIED) &&
		    e->b != STARPU_MAIN_RAM) {
			ncopies += e->kind == ORR_TRACE_COPY ? 1 : -1;
			began += e->kind == ORR_TRACE_COPY;
		}
	}
	free(t.events);
	CHECK_IS(began, NTASKS);
	CHECK_IS(ncopies, 0);
	CHECK_IS(nkernels, 0);
	return both / copying;
}

static int on_cpus;

/* The same; *us is the time of the tasks. */
static double traced(double *us)
{
	char path[512];
	const char *dir = getenv("ORR_TEST_TMP");

	snprintf(path, sizeof(path), "%s/orrery-trace-overlap", dir ? dir : "/tmp");
	setenv("ORRERY_TRACE", path, 1);
	OK(starpu_init(NULL));
	CHECK_IS(starpu_cuda_worker_get_count() + starpu_opencl_worker_get_count(), 1);
	on_cpus = starpu_opencl_worker_get_count() > 0;
	spin_load(3e6);
	*us = run();
	spin_unload();
	starpu_shutdown();
	double share = overlap(path);
	remove(path);
	return share;
}

int main(void)
{
	double us, best = 0;

	for (unsigned t = 0; t < TRIES && best < 0.5; t++)
		best = fmax(best, traced(&us));
	printf("%.0f %% of the time of copies a kernel was under way\n", best * 100);
	/* A device that computes on CPUs shares them with its copies and with whatever else runs on
	 * the computer. Without an overlap it would be 0. */
	double least = on_cpus && !orrery_is_simulated() ? 0.1 : 0.5;
	CHECK(best >= least, "copies and kernels overlap by %.2f", best);
	if (orrery_is_simulated()) {
		CHECK(best >= (NTASKS - 1.0) / NTASKS * 0.98, "it is %.3f", best);
		CHECK(NTASKS * STEP_US / us >= 0.9, "the device computes %.2f of the time",
		      NTASKS * STEP_US / us);
	}
	return 0;
}
