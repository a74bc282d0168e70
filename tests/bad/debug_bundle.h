/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the tests share that make the checks of debug builds fail by way of the public interface: a
 * bundle of one task, whose cost function runs while the runtime holds the bundle's lock.
 *
 * Invariant: the mistake goes unnoticed in other builds, or hangs: there, the tests are skipped. */
#ifndef DEBUG_BUNDLE_H
#define DEBUG_BUNDLE_H

#include "bad_test.h"

#include <string.h>

static starpu_task_bundle_t bundle;
static struct starpu_perfmodel_arch *arch;

/* Asks how long the bundle takes; mistake is the cost function. */
static inline int ask(double (*mistake)(struct starpu_task *, unsigned))
{
	struct starpu_perfmodel model = { .type = STARPU_COMMON, .cost_function = mistake };
	struct starpu_codelet cl = { .cpu_funcs = { nothing }, .model = &model };
	const char *debug = getenv("ORR_TEST_DEBUG");
	struct starpu_task *task;

	if (!debug || strcmp(debug, "yes"))
		return 77;
	start();
	arch = starpu_worker_get_perf_archtype(0, 0);
	starpu_task_bundle_create(&bundle);
	task = starpu_task_create();
	task->cl = &cl;
	starpu_task_bundle_insert(bundle, task);
	starpu_task_bundle_expected_length(bundle, arch, 0);
	return 0;
}
#endif
