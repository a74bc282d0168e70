/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A run that calibrates leaves a model file from which the next run predicts, through the public
 * interface alone; also with a model that a codelet gets after its first task. */
#include <time.h>
#include "starpu.h"
#include "perf_util.h"

#define KERNEL_US 300

static double now_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec * 1e6 + (double) t.tv_nsec / 1e3;
}

static void kernel(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	double end = now_us() + KERNEL_US;
	while (now_us() < end)
		;
}

static struct starpu_perfmodel model = { .type = STARPU_HISTORY_BASED, .symbol = "perf_run" };
static struct starpu_perfmodel late_model = { .type = STARPU_HISTORY_BASED, .symbol = "perf_late" };
static struct starpu_perfmodel *late; /* comes after the first task; NULL: there is one before */
static struct starpu_codelet cl = {
	.cpu_funcs = { kernel }, .nbuffers = 1, .modes = { STARPU_RW }, .model = &model
};

static double expected(starpu_data_handle_t h)
{
	struct starpu_task *t = starpu_task_create();
	t->cl = &cl;
	t->handles[0] = h;
	double us = starpu_task_worker_expected_length(t, 0, 0, 0),
	       arch = starpu_task_expected_length(t, starpu_worker_get_perf_archtype(0, 0), 0);
	CHECK(isnan(us) ? isnan(arch) : us == arch);
	CHECK(starpu_task_footprint(&model, t, NULL, 0) == starpu_task_data_footprint(t));
	CHECK(starpu_task_expected_data_transfer_time_for(t, 0) == 0);
	t->destroy = 0;
	starpu_task_destroy(t);
	return us;
}

static void run(int calibrate, unsigned ntasks, int known)
{
	struct starpu_conf conf;
	float data[100] = { 0 };
	starpu_data_handle_t h;
	starpu_conf_init(&conf);
	conf.ncpus = 1;
	setenv("STARPU_CALIBRATE", calibrate ? "1" : "0", 1);
	CHECK(starpu_init(&conf) == 0);
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) data, 100, sizeof(float));
	for (unsigned i = 0; i < ntasks; i++) {
		struct starpu_task *t = starpu_task_create();
		t->cl = &cl;
		t->handles[0] = h;
		if (late)
			cl.model = i ? late : NULL;
		CHECK(starpu_task_submit(t) == 0);
		if (late && !i)
			starpu_task_wait_for_all();
	}
	starpu_task_wait_for_all();
	double us = expected(h);
	printf("expected %.1f us\n", us);
	CHECK(known ? us >= KERNEL_US && us < 200 * KERNEL_US : isnan(us));
	starpu_data_unregister(h);
	starpu_shutdown();
}

int main(void)
{
	char path[1024];
	setenv("STARPU_PERF_MODEL_DIR", tmp_dir(), 1);
	setenv("STARPU_HOSTNAME", "box", 1);
	/* On a loaded machine measurements scatter, and dropped ones do not count. */
	setenv("STARPU_HISTORY_MAX_ERROR", "1000000", 1);
	run(0, 5, 0);
	run(1, 30, 1);
	run(0, 0, 1);
	late = &late_model;
	run(1, 30, 1);
	late = NULL;
	run(0, 0, 1);
	cl.model = &model;
	snprintf(path, sizeof(path), "%s/codelets/45/perf_run.box", tmp_dir());
	CHECK(access(path, R_OK) == 0);
	CHECK(starpu_perfmodel_unload_model(&model) == 0);
	CHECK(starpu_perfmodel_unload_model(&late_model) == 0);
	/* Tools read models without starting the runtime. */
	struct starpu_perfmodel loaded = { .type = STARPU_PERFMODEL_INVALID };
	CHECK(starpu_perfmodel_load_symbol("perf_run", &loaded) == 0);
	struct starpu_perfmodel_per_arch *p = starpu_perfmodel_get_model_per_devices(
		&loaded, 0, STARPU_CPU_WORKER, 0, 1, -1);
	CHECK(p && p->regression.nsample >= 10 && p->regression.nsample <= 30);
	starpu_perfmodel_dump_xml(stdout, &loaded);
	CHECK(starpu_perfmodel_unload_model(&loaded) == 0 && !loaded.symbol);
	CHECK(starpu_perfmodel_load_file(path, &loaded) == 0 && !strcmp(loaded.symbol, "perf_run"));
	CHECK(starpu_perfmodel_unload_model(&loaded) == 0);
	capture();
	CHECK(starpu_perfmodel_load_symbol("no_such_model", &loaded) < 0);
	CHECK(strstr(captured(), "no_such_model"));
	CHECK(starpu_perfmodel_list(stdout) == 0);
	return 0;
}
