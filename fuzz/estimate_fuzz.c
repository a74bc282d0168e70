/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Estimates from foreign models: the first line of the input is a question
 *      TYPE KIND DEVID NCORES NIMPL SIZE FLOPS FOOTPRINT CALIBRATE
 * and the rest the model's file. Whatever both say, the answer is a time that is finite and above
 * zero, or "not known"; when a time is needed at any price there is one; and the same question has
 * the same answer twice. */
#include <math.h>
#include <string.h>
#include "core/task/task.h"
#include "data/handle.h"
#include "fuzz.h"
#include "core/task/expect.h"
#include "perf/estimate.h"
#include "perf/model_file.h"
#include "perf/model_state.h"
#include "perf/model_store.h"
#include "base/config.h"

static struct {
	int type, kind, devid, ncores, calibrate;
	unsigned nimpl, footprint;
	size_t size;
	double flops;
} ask;

static size_t get_size(starpu_data_handle_t h)
{
	(void) h;
	return ask.size;
}
static uint32_t get_footprint(starpu_data_handle_t h)
{
	(void) h;
	return ask.footprint;
}
static uint32_t task_footprint(struct starpu_task *t)
{
	(void) t;
	return ask.footprint;
}
static size_t task_size(struct starpu_task *t, unsigned n)
{
	(void) t;
	(void) n;
	return ask.size;
}
static void parameters(struct starpu_task *t, double *p)
{
	(void) t;
	p[0] = (double) ask.size;
	p[1] = ask.flops;
}

static struct starpu_data_interface_ops ops = { .get_size = get_size, .footprint = get_footprint };

static void parse(const char *line)
{
	memset(&ask, 0, sizeof(ask));
	ask.type = STARPU_HISTORY_BASED;
	sscanf(line, "%d %d %d %d %u %zu %lf %x %d", &ask.type, &ask.kind, &ask.devid, &ask.ncores,
	       &ask.nimpl, &ask.size, &ask.flops, &ask.footprint, &ask.calibrate);
	ask.type = STARPU_PER_WORKER + (int) (((unsigned) ask.type - STARPU_PER_WORKER) % 7);
	ask.kind = (int) ((unsigned) ask.kind % STARPU_NARCH);
	ask.devid = (int) ((unsigned) ask.devid % (ORR_MODEL_MAX_DEVID + 1));
	ask.ncores = 1 + (int) (((unsigned) ask.ncores - 1) % ORR_MODEL_MAX_CORES);
	ask.nimpl %= STARPU_MAXIMPLEMENTATIONS;
	ask.calibrate = ask.calibrate != 0;
}

static struct orr_process *start(void)
{
	struct orr_process *proc = orr_self();
	if (!proc->perf) {
		orr_config_own(proc)->perf_model_dir = (char *) fuzz_dir();
		orr_config_own(proc)->hostname = (char *) "box";
		orr_config_own(proc)->calibrate_minimum = 10;
		orr_config_own(proc)->history_max_error = 50;
		MUST(orr_perf_init(proc) == 0);
	}
	orr_config_own(proc)->calibrate = ask.calibrate;
	orr_config_own(proc)->homogeneous_cpu = ask.devid & 1;
	return proc;
}

static void question(struct orr_process *proc, struct starpu_perfmodel *model)
{
	struct orr_arch arch = { (enum starpu_worker_archtype) ask.kind, ask.devid, ask.ncores };
	struct _starpu_data_state h = { .ops = &ops, .alive = ORR_HANDLE_ALIVE };
	struct starpu_codelet cl = { .nbuffers = 1, .modes = { STARPU_R }, .model = model };
	struct starpu_task t = STARPU_TASK_INITIALIZER;
	t.cl = &cl;
	t.flops = ask.flops;
	t.handles[0] = &h;
	for (int defaults = 0; defaults < 2; defaults++) {
		struct orr_query q = { .proc = proc,
				       .model = model,
				       .arch = &arch,
				       .task = &t,
				       .nimpl = ask.nimpl,
				       .use_defaults = defaults,
				       .ops = &orr_expect_ops };
		struct orr_estimate r = orr_estimate(&q);
		MUST((isnan(r.us) && !defaults) || (r.us > 0 && isfinite(r.us)));
		MUST(isnan(r.us) || (r.deviation >= 0 && isfinite(r.deviation)));
		MUST(isnan(r.us) == (r.source == ORR_PERF_UNKNOWN));
		struct orr_estimate again = orr_estimate(&q);
		MUST(isnan(r.us) ? isnan(again.us) : r.us == again.us && r.source == again.source);
	}
	MUST(orr_estimate_flops(proc, &arch) > 0 && isfinite(orr_estimate_flops(proc, &arch)));
	orr_model_state_knows(proc, model, STARPU_CUDA_WORKER, &arch);
	orr_model_state_knows(proc, model, STARPU_CUDA_WORKER, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static unsigned linear[] = { 1, 0 }, square[] = { 2, 0 }, mixed[] = { 1, 1 },
			*combinations[] = { linear, square, mixed };
	static FILE *nowhere;
	char *all = fuzz_text(data, size), *text = all, *line = fuzz_line(&text);
	struct orr_model_data *d = NULL;
	fuzz_forget();
	if (line && orr_model_file_parse(text, strlen(text), "the.file", &d) == 0) {
		parse(line);
		struct starpu_perfmodel model = { .type = (enum starpu_perfmodel_type) ask.type,
						  .symbol = "fuzz",
						  .parameters = parameters,
						  .nparameters = 2,
						  .combinations = combinations,
						  .ncombinations = 3 };
		if (ask.footprint & 1)
			model.footprint = task_footprint;
		if (ask.footprint & 2)
			model.size_base = task_size;
		struct orr_process *proc = start();
		MUST(orr_model_state_attach(proc, &model, orr_model_private("fuzz", d)) == 0);
		question(proc, &model);
		if (!nowhere)
			nowhere = fopen("/dev/null", "w");
		starpu_perfmodel_dump_xml(nowhere, &model);
		orr_model_state_detach(&model);
		MUST(fuzz_errors == 0);
	}
	free(all);
	return 0;
}
