/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Learning on top of a foreign file: the first line of the input has words TYPE FOOTPRINT SIZE US
 * NUMBER CALIBRATE, the rest is what the model's file says. What is malformed stays as it is, byte
 * for byte; what is not holds the new measurement afterwards, can be read again, and all in it is
 * believable. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>
#include "core/task/task.h"
#include "data/handle.h"
#include "fuzz.h"
#include "core/task/expect.h"
#include "perf/estimate.h"
#include "perf/learn.h"
#include "perf/model_file.h"
#include "perf/model_state.h"
#include "base/config.h"

#define FILE_NAME "codelets/45/fuzz.box"

static struct {
	int type, calibrate;
	unsigned footprint, number;
	size_t size;
	double us;
} said;

static size_t get_size(starpu_data_handle_t h)
{
	(void) h;
	return said.size;
}
static uint32_t footprint(struct starpu_task *t)
{
	(void) t;
	return said.footprint;
}
static void parameters(struct starpu_task *t, double *p)
{
	(void) t;
	p[0] = (double) said.size;
}

static struct starpu_data_interface_ops ops = { .get_size = get_size };

static void parse(const char *line)
{
	memset(&said, 0, sizeof(said));
	sscanf(line, "%d %x %zu %lf %u %d", &said.type, &said.footprint, &said.size, &said.us,
	       &said.number, &said.calibrate);
	said.type = STARPU_HISTORY_BASED + (int) ((unsigned) said.type % 4);
	said.calibrate = 1 + (said.calibrate & 1);
}

static struct orr_process *start(void)
{
	struct orr_process *proc = orr_self();
	orr_config_own(proc)->perf_model_dir = (char *) fuzz_dir();
	orr_config_own(proc)->hostname = (char *) "box";
	orr_config_own(proc)->calibrate = said.calibrate;
	orr_config_own(proc)->calibrate_minimum = 10;
	orr_config_own(proc)->history_max_error = 50;
	orr_config_own(proc)->homogeneous_cpu = 1;
	MUST(orr_perf_init(proc) == 0);
	return proc;
}

/* Whether a file that is not to be discarded cannot be read: a process that needs it ends then
 * (tests/unit/perf_model.c). */
static int is_broken(void)
{
	char path[1024];
	struct orr_model_data *d = NULL;
	int err;

	if (said.calibrate == 2)
		return 0;
	fuzz_path(path, sizeof(path), FILE_NAME);
	err = orr_model_file_read(path, &d);
	orr_model_data_free(d);
	MUST((err != 0) == (fuzz_errors > 0));
	return err != 0;
}

/* One measurement, then what follows from it, then the end of the process's models, which writes
 * the file. */
static int learn(void)
{
	static unsigned one[] = { 1 }, *combinations[] = { one };
	struct starpu_perfmodel model = { .type = (enum starpu_perfmodel_type) said.type,
					  .symbol = "fuzz",
					  .footprint = footprint,
					  .parameters = parameters,
					  .nparameters = 1,
					  .combinations = combinations,
					  .ncombinations = 1 };
	struct _starpu_data_state h = { .ops = &ops, .alive = ORR_HANDLE_ALIVE };
	struct starpu_codelet cl = { .nbuffers = 1, .modes = { STARPU_R }, .model = &model };
	struct starpu_task t = STARPU_TASK_INITIALIZER;
	const struct starpu_perfmodel_device cpu = { STARPU_CPU_WORKER, 0, 1 };
	const struct orr_arch arch = { STARPU_CPU_WORKER, 0, 1 };
	struct orr_process *proc = start();
	t.cl = &cl;
	t.handles[0] = &h;
	MUST(orr_model_state(proc, &model));
	struct orr_query q = { .proc = proc,
			       .model = &model,
			       .arch = &arch,
			       .task = &t,
			       .use_defaults = 1,
			       .ops = &orr_expect_ops };
	orr_learn(&q, &cpu, 1, said.us, said.number);
	int learnt = model.state->m->dirty;
	MUST(!model.state->m->broken);
	struct orr_estimate r = orr_estimate(&q);
	MUST(r.us > 0 && isfinite(r.us) && r.deviation >= 0 && isfinite(r.deviation));
	orr_perf_exit(proc);
	MUST(!fuzz_errors);
	return learnt;
}

static void judge_written(void)
{
	char path[1024];
	struct orr_model_data *d = NULL;
	struct starpu_perfmodel_device cpu = { STARPU_CPU_WORKER, 0, 1 };
	fuzz_path(path, sizeof(path), FILE_NAME);
	MUST(orr_model_file_read(path, &d) == 0);
	struct orr_model_comb *c = orr_model_comb_find(d, 1, &cpu);
	MUST(c && c->nimpls > 0);
	struct orr_model_entry *e = orr_model_entry_find(&c->impls[0], said.footprint);
	/* A measurement that is far from what many others say is left out. */
	MUST(said.calibrate == 1 || (e && e->pub.nsample && e->pub.mean > 0));
	MUST(!e || !e->pub.nsample ||
	     (isfinite(e->pub.mean) && e->pub.deviation >= 0 && isfinite(e->pub.sum2)));
	orr_model_data_free(d);
}

static void judge_untouched(const char *text, size_t size)
{
	char path[1024];
	char *now;
	size_t n;
	fuzz_path(path, sizeof(path), FILE_NAME);
	FILE *f = fopen(path, "re");
	MUST(f && (now = malloc(size + 1)));
	n = fread(now, 1, size + 1, f);
	MUST(n == size && !memcmp(now, text, size));
	free(now);
	fclose(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nl = memchr(data, '\n', size);
	if (!nl)
		return 0;
	char *line = fuzz_text(data, (size_t) (nl - data));
	const char *text = (const char *) nl + 1;
	size_t length = size - (size_t) (nl + 1 - data);
	parse(line);
	free(line);
	fuzz_forget();
	fuzz_write(FILE_NAME, text, length);
	if (!is_broken() && learn())
		judge_written();
	else
		judge_untouched(text, length);
	return 0;
}
