/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Expected lengths, energies and transfer times of tasks (see expect.h), and the functions of
 * starpu.h that ask for them. */
#include "core/task/expect.h"

#include <math.h>

#include "core/task/footprint.h"
#include "core/task/task.h"
#include "core/task/task_impl.h"
#include "perf/estimate.h"
#include "perf/learn.h"
#include "perf/model_data.h"

const struct orr_query_ops orr_expect_ops = { .footprint = orr_footprint_of,
					      .data_size = orr_footprint_bytes };

static struct starpu_perfmodel *time_model(const struct starpu_task *t)
{
	return t->cl ? t->cl->model : NULL;
}

static struct starpu_perfmodel *energy_model(const struct starpu_task *t)
{
	return t->cl ? t->cl->energy_model : NULL;
}

static inline struct orr_estimate ask(struct orr_process *proc, struct starpu_perfmodel *model,
				      const struct orr_arch *arch, struct starpu_task *task,
				      unsigned nimpl, int use_defaults)
{
	struct orr_query q = { .proc = proc,
			       .model = model,
			       .arch = arch,
			       .task = task,
			       .nimpl = nimpl,
			       .use_defaults = use_defaults,
			       .ops = &orr_expect_ops };

	return orr_estimate(&q);
}

/* ---- for the runtime ---- */

double orr_expect_us(struct orr_process *proc, const struct orr_arch *arch,
		     struct starpu_task *task, unsigned nimpl, int use_defaults,
		     enum orr_perf_source *source)
{
	struct orr_estimate r = ask(proc, time_model(task), arch, task, nimpl, use_defaults);

	if (source)
		*source = r.source;
	return r.us;
}

double orr_expect_spread_us(struct orr_process *proc, const struct orr_arch *arch,
			    struct starpu_task *task, unsigned nimpl, enum orr_perf_source *source,
			    double *deviation_us)
{
	struct orr_estimate r = ask(proc, time_model(task), arch, task, nimpl, 1);

	*source = r.source;
	*deviation_us = r.deviation > 0 && isfinite(r.deviation) ? r.deviation : 0;
	return r.us;
}

double orr_expect_joules(struct orr_process *proc, const struct orr_arch *arch,
			 struct starpu_task *task, unsigned nimpl, double us)
{
	double joules = energy_model(task) ? ask(proc, energy_model(task), arch, task, nimpl, 0).us
					   : NAN;
	double watts = (unsigned) arch->type < STARPU_NARCH ? proc->watts[arch->type] * arch->ncores
							    : 0;

	return isnan(joules) && watts > 0 ? watts * us * 1e-6 : joules;
}

void orr_expect_learn(struct orr_process *proc, const struct orr_arch *arch,
		      struct starpu_task *task, unsigned nimpl, double us)
{
	struct orr_query q = { .proc = proc,
			       .model = time_model(task),
			       .arch = arch,
			       .task = task,
			       .nimpl = nimpl,
			       .ops = &orr_expect_ops };

	orr_learn_time(&q, us);
}

/* ---- lengths, for the program ---- */

/* On devices that the program describes. */
static double on_devices(struct starpu_perfmodel *model, const struct starpu_perfmodel_arch *arch,
			 struct starpu_task *task, unsigned nimpl)
{
	if (!arch || arch->ndevices < 1)
		return NAN;
	/* Of several devices only what was measured on exactly these is known. */
	if (arch->ndevices > 1)
		return model && model->symbol
			       ? starpu_perfmodel_history_based_expected_perf(
					 model, (struct starpu_perfmodel_arch *) arch,
					 orr_footprint_of(task, model))
			       : NAN;

	struct orr_arch a = { arch->devices[0].type, arch->devices[0].devid,
			      arch->devices[0].ncores };

	return ask(orr_self(), model, &a, task, nimpl, 0).us;
}

/* Mean over the workers of the context that can execute the task, each with its fastest
 * implementation of known time. */
static double average(double (*of)(struct starpu_task *, unsigned, unsigned, unsigned),
		      struct starpu_task *task, unsigned ctx)
{
	struct orr_process *proc = orr_self();
	double sum = 0;
	unsigned n = 0;

	for (unsigned w = 0; w < proc->core->nworkers; w++) {
		struct orr_worker *worker = &proc->core->workers[w];
		double best = NAN;

		if (ctx < 32 && !(ORR_ATOMIC_LOAD_RELAXED(&worker->ctxs) >> ctx & 1))
			continue;
		for (unsigned i = 0; i < STARPU_MAXIMPLEMENTATIONS; i++)
			if (orr_task_can_run(worker, task, i))
				best = fmin(best, of(task, w, ctx, i));
		if (!isnan(best)) {
			sum += best;
			n++;
		}
	}
	return n ? sum / n : NAN;
}

double starpu_task_expected_length(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
				   unsigned nimpl)
{
	return on_devices(time_model(task), arch, task, nimpl);
}

double starpu_task_worker_expected_length(struct starpu_task *task, unsigned workerid,
					  unsigned sched_ctx_id, unsigned nimpl)
{
	struct orr_process *proc = orr_self();

	(void) sched_ctx_id;
	return workerid < proc->core->nworkers
		       ? orr_expect_us(proc, proc->core->workers[workerid].perf_arch, task, nimpl,
				       0, NULL)
		       : NAN;
}

double starpu_task_expected_length_average(struct starpu_task *task, unsigned sched_ctx_id)
{
	return average(starpu_task_worker_expected_length, task, sched_ctx_id);
}

/* ---- energy, for the program ---- */

/* On a worker of that arch, for the time that the task is expected to take. */
static double joules_on(const struct orr_arch *arch, struct starpu_task *task, unsigned nimpl)
{
	struct orr_process *proc = orr_self();

	return orr_expect_joules(proc, arch, task, nimpl,
				 orr_expect_us(proc, arch, task, nimpl, 0, NULL));
}

double starpu_task_expected_energy(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
				   unsigned nimpl)
{
	if (!arch || arch->ndevices != 1)
		return on_devices(energy_model(task), arch, task, nimpl);

	struct orr_arch a = { arch->devices[0].type, arch->devices[0].devid,
			      arch->devices[0].ncores };

	return joules_on(&a, task, nimpl);
}

double starpu_task_worker_expected_energy(struct starpu_task *task, unsigned workerid,
					  unsigned sched_ctx_id, unsigned nimpl)
{
	struct orr_process *proc = orr_self();

	(void) sched_ctx_id;
	return workerid < proc->core->nworkers
		       ? joules_on(proc->core->workers[workerid].perf_arch, task, nimpl)
		       : NAN;
}

double starpu_task_expected_energy_average(struct starpu_task *task, unsigned sched_ctx_id)
{
	return average(starpu_task_worker_expected_energy, task, sched_ctx_id);
}

/* ---- transfers, for the program ---- */

/* Conversions of multiformat data are part of the kernels' transfers; none is charged by itself. */
double starpu_task_expected_conversion_time(struct starpu_task *task,
					    struct starpu_perfmodel_arch *arch, unsigned nimpl)
{
	(void) task;
	(void) arch;
	(void) nimpl;
	return 0;
}

double starpu_task_expected_data_transfer_time(unsigned memory_node, struct starpu_task *task)
{
	unsigned n = orr_task_nbuffers(task);
	double sum = 0;

	for (unsigned i = 0; i < n; i++) {
		starpu_data_handle_t h = orr_task_handle(task, i);

		if (h)
			sum += starpu_data_expected_transfer_time(h, memory_node,
								  orr_task_mode(task, i));
	}
	return sum;
}

double starpu_task_expected_data_transfer_time_for(struct starpu_task *task, unsigned worker)
{
	struct orr_process *proc = orr_self();

	return worker < proc->core->nworkers ? starpu_task_expected_data_transfer_time(
						       proc->core->workers[worker].memnode, task)
					     : NAN;
}

/* ---- learning, by the program ---- */

void starpu_perfmodel_update_history_n(struct starpu_perfmodel *model, struct starpu_task *task,
				       struct starpu_perfmodel_arch *arch, unsigned cpuid,
				       unsigned nimpl, double average_measured, unsigned number)
{
	struct orr_query q = { .proc = orr_self(),
			       .model = model,
			       .task = task,
			       .nimpl = nimpl,
			       .ops = &orr_expect_ops };

	(void) cpuid;
	if (model && arch && arch->ndevices <= ORR_MODEL_MAX_DEVICES)
		orr_learn(&q, arch->devices, arch->ndevices, average_measured, number);
}

void starpu_perfmodel_update_history(struct starpu_perfmodel *model, struct starpu_task *task,
				     struct starpu_perfmodel_arch *arch, unsigned cpuid,
				     unsigned nimpl, double measured)
{
	starpu_perfmodel_update_history_n(model, task, arch, cpuid, nimpl, measured, 1);
}
