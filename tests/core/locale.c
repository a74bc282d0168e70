/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A program that takes the locale of its user, with a decimal comma; started by locale.sh in both
 * worlds. `measure': kernels that are measured, so that a model is written; `read': what a model,
 * the environment and a machine say, in whole numbers; `time': what tasks with data take.
 *
 * Invariant: the program keeps its comma, in its threads and in kernels. */
#include "core_test.h"

#include <locale.h>
#include <math.h>
#include <string.h>

#define N 24

static struct starpu_perfmodel model = { .type = STARPU_HISTORY_BASED, .symbol = "locale_model" };
static int commas;

/* Does printf write a comma here, as the user wants it? */
static int comma(void)
{
	char text[8];

	snprintf(text, sizeof(text), "%.1f", 1.5);
	return !strcmp(text, "1,5");
}

static void kernel(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	if (comma())
		INCR(commas);
	starpu_usleep(100.25f);
}

static struct starpu_codelet cl = { .cpu_funcs = { kernel },
				    .model = &model,
				    .nbuffers = 1,
				    .modes = { STARPU_RW },
				    .name = "locale" };

static void run(void)
{
	starpu_data_handle_t h;
	int x = 0;

	h = core_register(&x);
	for (int i = 0; i < N; i++)
		CHECK_IS(starpu_task_insert(&cl, STARPU_RW, h, 0), 0);
	CHECK_IS(starpu_task_wait_for_all(), 0);
	starpu_data_unregister(h);
}

static void measure(void)
{
	starpu_bound_start(1, 0);
	run();
	starpu_bound_stop();
	starpu_bound_print(stdout, 0);
	starpu_bound_print_lp(stdout);
	starpu_bound_print_mps(stdout);
	starpu_bus_print_bandwidth(stdout);
	starpu_data_display_memory_stats();
	starpu_codelet_display_stats(&cl);
	CHECK_IS(LOAD(commas), comma() ? N : 0);
}

static void read_back(void)
{
	struct starpu_perfmodel loaded = { .type = STARPU_PERFMODEL_INVALID };
	struct starpu_perfmodel_arch *arch = starpu_worker_get_perf_archtype(0, 0);
	struct starpu_task *task = starpu_task_create();
	starpu_data_handle_t h;
	double us;
	int x;

	task->cl = &cl;
	task->handles[0] = h = core_register(&x);
	CHECK_IS(starpu_perfmodel_load_symbol("locale_model", &loaded), 0);
	starpu_perfmodel_dump_xml(stdout, &loaded);
	us = starpu_perfmodel_history_based_expected_perf(
		&loaded, arch, starpu_task_footprint(&model, task, arch, 0));
	CHECK(us > 0);
	printf("mean %ld ns\n", lround(us * 1e3));
	starpu_perfmodel_unload_model(&loaded);
	starpu_data_unregister(h);
	task->destroy = 0;
	starpu_task_destroy(task);
	printf("from the environment %ld\n",
	       lround(starpu_getenv_float_default("STARPU_SCHED_ALPHA", -1) * 1e3));
}

int main(int argc, char **argv)
{
	int with_comma;

	CHECK(argc == 2);
	setlocale(LC_ALL, "");
	with_comma = comma();
	core_start(1, "dm");
	if (!strcmp(argv[1], "measure")) {
		measure();
	} else if (!strcmp(argv[1], "read")) {
		read_back();
	} else {
		double us = starpu_timing_now();

		run();
		us = starpu_timing_now() - us;
		printf("took %ld ns, transfer %ld ns\n", lround(us * 1e3),
		       lround(starpu_transfer_predict(0, 1, 1000) * 1e3));
	}
	CHECK_IS(comma(), with_comma);
	starpu_shutdown();
	CHECK_IS(comma(), with_comma);
	return 0;
}
