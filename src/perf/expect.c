/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What schedulers ask: expected lengths and energies of tasks, expected times of transfers, and the
 * bus tables behind these.
 *
 * Invariant: NAN means "not known"; a transfer that is not needed takes 0. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/numbers.h"
#include "core/task.h"
#include "data/handle.h"
#include "perf/state.h"
#include "data/data.h"
#include "core/core.h"

/* ---- execution ---- */

static double expected(struct starpu_perfmodel *model, const struct starpu_perfmodel_arch *arch,
		       struct starpu_task *task, unsigned nimpl)
{
	if (!arch || arch->ndevices < 1)
		return NAN;
	/* Several devices: nothing but what was measured for just these. */
	if (arch->ndevices > 1)
		return model && model->symbol
			       ? starpu_perfmodel_history_based_expected_perf(
					 model, (struct starpu_perfmodel_arch *) arch,
					 orr_perf_footprint(model, task))
			       : NAN;
	struct orr_perf_unit u = { arch->devices[0].type, arch->devices[0].devid,
				   arch->devices[0].ncores };
	return orr_perf_estimate(orr_self(), model, &u, task, nimpl, 0).us;
}

static double on_worker(struct starpu_perfmodel *model, unsigned workerid, struct starpu_task *task,
			unsigned nimpl)
{
	struct orr_process *proc = orr_self();
	struct orr_perf_unit tmp;
	if (workerid >= proc->core->nworkers)
		return NAN;
	return orr_perf_estimate(proc, model,
				 orr_perf_worker_unit(&proc->core->workers[workerid], &tmp), task,
				 nimpl, 0)
		.us;
}

/* Mean over the workers of the context that can execute the task, with their fastest implementation
 * of known time. */
static double average(double (*of)(struct starpu_task *, unsigned, unsigned, unsigned),
		      struct starpu_task *task, unsigned ctx)
{
	struct orr_process *proc = orr_self();
	double sum = 0;
	unsigned n = 0;
	for (unsigned w = 0; w < proc->core->nworkers; w++) {
		double best = NAN;
		if (ctx < 32 && !(ORR_ATOMIC_LOAD_RELAXED(&proc->core->workers[w].ctxs) >> ctx & 1))
			continue;
		for (unsigned i = 0; i < STARPU_MAXIMPLEMENTATIONS; i++) {
			if (orr_task_can_run(&proc->core->workers[w], task, i))
				best = fmin(best, of(task, w, ctx, i));
		}
		if (!isnan(best)) {
			sum += best;
			n++;
		}
	}
	return n ? sum / n : NAN;
}

static struct starpu_perfmodel *time_model(struct starpu_task *t)
{
	return t->cl ? t->cl->model : NULL;
}

static struct starpu_perfmodel *energy_model(struct starpu_task *t)
{
	return t->cl ? t->cl->energy_model : NULL;
}

double starpu_task_expected_length(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
				   unsigned nimpl)
{
	return expected(time_model(task), arch, task, nimpl);
}

double starpu_task_worker_expected_length(struct starpu_task *task, unsigned workerid,
					  unsigned sched_ctx_id, unsigned nimpl)
{
	(void) sched_ctx_id;
	return on_worker(time_model(task), workerid, task, nimpl);
}

double starpu_task_expected_length_average(struct starpu_task *task, unsigned sched_ctx_id)
{
	return average(starpu_task_worker_expected_length, task, sched_ctx_id);
}

double orr_perf_expected_joules(struct orr_process *proc, const struct orr_perf_unit *unit,
				struct starpu_task *task, unsigned nimpl, double us)
{
	double joules =
		task->cl && task->cl->energy_model
			? orr_perf_estimate(proc, task->cl->energy_model, unit, task, nimpl, 0).us
			: NAN;
	double watts = (unsigned) unit->type < STARPU_NARCH ? proc->watts[unit->type] * unit->ncores
							    : 0;

	return isnan(joules) && watts > 0 ? watts * us * 1e-6 : joules;
}

/* Of one unit, for the time that it is expected to take. */
static double joules_on(const struct orr_perf_unit *unit, struct starpu_task *task, unsigned nimpl)
{
	struct orr_process *proc = orr_self();
	return orr_perf_expected_joules(
		proc, unit, task, nimpl,
		orr_perf_estimate(proc, time_model(task), unit, task, nimpl, 0).us);
}

double starpu_task_expected_energy(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
				   unsigned nimpl)
{
	if (!arch || arch->ndevices != 1)
		return expected(energy_model(task), arch, task, nimpl);
	struct orr_perf_unit u = { arch->devices[0].type, arch->devices[0].devid,
				   arch->devices[0].ncores };
	return joules_on(&u, task, nimpl);
}

double starpu_task_worker_expected_energy(struct starpu_task *task, unsigned workerid,
					  unsigned sched_ctx_id, unsigned nimpl)
{
	struct orr_process *proc = orr_self();
	struct orr_perf_unit tmp;
	(void) sched_ctx_id;
	return workerid < proc->core->nworkers
		       ? joules_on(orr_perf_worker_unit(&proc->core->workers[workerid], &tmp), task,
				   nimpl)
		       : NAN;
}

double starpu_task_expected_energy_average(struct starpu_task *task, unsigned sched_ctx_id)
{
	return average(starpu_task_worker_expected_energy, task, sched_ctx_id);
}

/* Conversions of multiformat data are part of the kernels' transfers; none is charged by itself. */
double starpu_task_expected_conversion_time(struct starpu_task *task,
					    struct starpu_perfmodel_arch *arch, unsigned nimpl)
{
	(void) task;
	(void) arch;
	(void) nimpl;
	return 0;
}

/* ---- buses ---- */

/* The machine's measurements, read at the first question; NULL when there are none. */
static const struct orr_machine *machine_of(struct orr_process *proc)
{
	struct orr_perf *p = orr_perf_get(proc);
	if (!p)
		return NULL;
	if (ORR_ATOMIC_LOAD(&p->machine_looked))
		return p->machine;
	orr_lock(&p->lock);
	for (unsigned i = 0; !p->machine_looked && i < p->ndirs; i++) {
		char path[4096];
		const char *const dirs[] = { p->dirs[i], NULL };
		if (snprintf(path, sizeof(path), "%s/bus/%s.config", p->dirs[i], p->host) >=
			    (int) sizeof(path) ||
		    access(path, R_OK))
			continue;
		p->machine_mine = orr_machine_load(p->host, dirs, &p->machine) == 0;
		break;
	}
	ORR_ATOMIC_STORE(&p->machine_looked, 1);
	orr_unlock(&p->lock);
	return p->machine;
}

/* Which row of the tables a memory node of the process is; -1: none. */
static int row_of(const struct orr_process *proc, const struct orr_machine *m, unsigned memnode)
{
	if (memnode >= proc->data->nmemnodes)
		return -1;
	const struct orr_memnode *n = &proc->data->memnodes[memnode];
	unsigned id = (unsigned) n->devid;
	switch (n->kind) {
	case STARPU_CPU_RAM: return id < m->nnuma ? (int) id : 0;
	case STARPU_CUDA_RAM: return n->devid >= 0 && id < m->ncuda ? (int) (m->nnuma + id) : -1;
	case STARPU_OPENCL_RAM:
		return n->devid >= 0 && id < m->nopencl ? (int) (m->nnuma + m->ncuda + id) : -1;
	default: return -1;
	}
}

static int is_disk(const struct orr_process *proc, unsigned memnode)
{
	return memnode < proc->data->nmemnodes &&
	       proc->data->memnodes[memnode].kind == STARPU_DISK_RAM;
}

/* Between main memory and a disk, as the machine's files tell. */
static double disk_table(const struct orr_machine *m, int latency, int writing)
{
	if (!m)
		return NAN;
	return latency ? m->disk_us : m->disk_mbs[writing] > 0 ? m->disk_mbs[writing] : NAN;
}

static double disk_transfer_us(const struct orr_machine *m, int writing, size_t size)
{
	double us = disk_table(m, 1, writing), mbs = disk_table(m, 0, writing);
	if (isnan(us))
		us = ORR_PERF_DISK_US;
	if (isnan(mbs))
		mbs = writing ? ORR_PERF_DISK_WRITE_MBS : ORR_PERF_DISK_READ_MBS;
	return us + (double) size / mbs;
}

static double table(struct orr_process *proc, int latency, unsigned src, unsigned dst)
{
	const struct orr_machine *m = machine_of(proc);
	if (src != dst && (is_disk(proc, src) || is_disk(proc, dst)))
		return src == STARPU_MAIN_RAM || dst == STARPU_MAIN_RAM
			       ? disk_table(m, latency, is_disk(proc, dst))
			       : NAN;
	const double *t = m ? (latency ? m->latency : m->bandwidth) : NULL;
	int i = m ? row_of(proc, m, src) : -1, j = m ? row_of(proc, m, dst) : -1;
	if (src == dst)
		return latency ? 0 : NAN;
	if (!t || i < 0 || j < 0 || (i == j && !latency))
		return NAN;
	return t[(unsigned) i * m->nmemnodes + (unsigned) j];
}

double orr_perf_transfer_us(struct orr_process *proc, unsigned src, unsigned dst, size_t size)
{
	if (src == dst)
		return 0;
	if (is_disk(proc, src))
		return disk_transfer_us(machine_of(proc), 0, size) +
		       orr_perf_transfer_us(proc, STARPU_MAIN_RAM, dst, size);
	if (is_disk(proc, dst))
		return orr_perf_transfer_us(proc, src, STARPU_MAIN_RAM, size) +
		       disk_transfer_us(machine_of(proc), 1, size);
	return table(proc, 1, src, dst) + (double) size / table(proc, 0, src, dst);
}

double starpu_transfer_bandwidth(unsigned src_node, unsigned dst_node)
{
	return table(orr_self(), 0, src_node, dst_node);
}

double starpu_transfer_latency(unsigned src_node, unsigned dst_node)
{
	return table(orr_self(), 1, src_node, dst_node);
}

double starpu_transfer_predict(unsigned src_node, unsigned dst_node, size_t size)
{
	return orr_perf_transfer_us(orr_self(), src_node, dst_node, size);
}

static void print_table(FILE *f, const struct orr_machine *m, const char *title, const double *t)
{
	ORR_PLAIN_NUMBERS;
	fprintf(f, "%s\nfrom/to\t", title);
	for (unsigned j = 0; j < m->nmemnodes; j++)
		fprintf(f, "%u\t", j);
	for (unsigned i = 0; i < m->nmemnodes; i++) {
		fprintf(f, "\n%u\t", i);
		for (unsigned j = 0; j < m->nmemnodes; j++)
			fprintf(f, "%.0f\t", t ? t[i * m->nmemnodes + j] : NAN);
	}
	fprintf(f, "\n\n");
}

void starpu_bus_print_bandwidth(FILE *f)
{
	const struct orr_machine *m = machine_of(orr_self());
	if (!m) {
		fprintf(f,
			"The buses of this machine were never measured; run `orrery calibrate'.\n");
		return;
	}
	print_table(
		f, m,
		"bandwidth (MB/s), latency (us) below; main memory first (each NUMA node), then CUDA, then OpenCL devices",
		m->bandwidth);
	print_table(f, m, "latency (us)", m->latency);
}

static void print_file(FILE *f, const struct orr_machine *m, const char *suffix)
{
	char path[4096], *text;
	size_t length;
	snprintf(path, sizeof(path), "%s/bus/%s.%s", m->dir, m->name, suffix);
	if (orr_model_slurp(path, 4 << 20, &text, &length) == 0) {
		fwrite(text, 1, length, f);
		free(text);
	}
}

void starpu_bus_print_affinity(FILE *f)
{
	const struct orr_machine *m = machine_of(orr_self());
	if (m)
		print_file(f, m, "affinity");
}

void starpu_bus_print_filenames(FILE *f)
{
	static const char *const suffix[] = { "bandwidth", "affinity", "latency" };
	struct orr_perf *p = orr_perf_get(orr_self());
	const struct orr_machine *m = machine_of(orr_self());
	for (unsigned i = 0; p && i < 3; i++)
		fprintf(f, "%s: <%s/bus/%s.%s>\n", suffix[i], m ? m->dir : p->dirs[p->ndirs - 1],
			m ? m->name : p->host, suffix[i]);
}

/* ---- transfers of data ---- */

double starpu_data_expected_transfer_time(starpu_data_handle_t handle, unsigned memory_node,
					  enum starpu_data_access_mode mode)
{
	struct orr_process *proc = orr_self();
	if (!(mode & STARPU_R))
		return 0;
	uint32_t valid = 0;
	orr_lock(&handle->lock);
	for (const struct orr_replicate *r = &handle->main; r; r = r->next) {
		if (r->state != ORR_INVALID)
			valid |= 1u << r->memnode;
	}
	orr_unlock(&handle->lock);
	/* A datum without contents needs no transfer. */
	if (!valid || (valid >> memory_node & 1))
		return 0;
	size_t size = starpu_data_get_size(handle);
	double best = NAN;
	for (unsigned src = 0; src < STARPU_MAXNODES; src++) {
		if (valid >> src & 1)
			best = fmin(best, orr_perf_transfer_us(proc, src, memory_node, size));
	}
	return best;
}

double starpu_task_expected_data_transfer_time(unsigned memory_node, struct starpu_task *task)
{
	double sum = 0;
	unsigned n = orr_task_nbuffers(task);
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
