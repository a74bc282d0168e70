/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Execution of kernels on simulated CPUs: when they end, whether they run at all, and how well the
 * time is known.
 *
 * Invariant: the virtual duration of a kernel depends on models, sizes and settings only, never on
 * how long it took here, except with
 * --kernels=inject and for codelets that ask for it (STARPU_CODELET_SIMGRID_EXECUTE_AND_INJECT). */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "sim.h"
#include "core/expect.h"
#include "core/parallel.h"
#include "core/core.h"
#include "base/assert.h"

static double cpu_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double) t.tv_sec * 1e6 + (double) t.tv_nsec * 1e-3;
}

static void note_uncalibrated(const char *name, double us)
{
	for (unsigned i = 0; i < orr_sim.nuncalibrated; i++) {
		if (!strcmp(orr_sim.uncalibrated[i].name, name)) {
			orr_sim.uncalibrated[i].us += us;
			return;
		}
	}
	unsigned n = orr_sim.nuncalibrated;
	if (n >= 256)
		return;
	struct orr_sim_uncalibrated *u = realloc(orr_sim.uncalibrated, (n + 1) * sizeof(*u));
	if (!u)
		return;
	orr_sim.uncalibrated = u;
	if ((u[n].name = strdup(name))) {
		u[n].us = us;
		orr_sim.nuncalibrated++;
	}
}

static const char *codelet_name(const struct starpu_task *t)
{
	if (t->cl && t->cl->model && t->cl->model->symbol)
		return t->cl->model->symbol;
	if (t->cl && t->cl->name)
		return t->cl->name;
	return orr_task_name(t);
}

/* Whether the kernel runs, and whether the time that it takes here counts. */
static int executes(const struct orr_process *proc, const struct starpu_task *t, int *inject)
{
	unsigned flags = t->cl ? (unsigned) t->cl->flags : 0;
	*inject = orr_sim.kernels == ORR_SIM_INJECT ||
		  (flags & STARPU_CODELET_SIMGRID_EXECUTE_AND_INJECT);
	if (proc->cfg.disable_kernels)
		return *inject = 0;
	return orr_sim.kernels != ORR_SIM_SKIP || *inject ||
	       (flags & STARPU_CODELET_SIMGRID_EXECUTE);
}

/* That much of the simulated time comes from that source. */
static void note(const struct starpu_task *t, enum orr_perf_source source, double us)
{
	orr_sim.kernel_us[source] += us;
	if (source > ORR_PERF_BY_SIZE)
		note_uncalibrated(codelet_name(t), us);
}

/* A kernel's own random factor: the same on every unit, in units of that unit's deviation. */
static double noise(const struct orr_sim_rank *r, const struct orr_task *t, double us,
		    double deviation_us)
{
	struct orr_sim_noise *v = &orr_sim.noise;
	double deviation = deviation_us > 0 && us > 0 ? v->kernels * deviation_us / us
						      : v->unmeasured;
	if (!(deviation_us > 0))
		v->without_us += us;
	return orr_sim_factor(
		orr_sim_random(v->seed, ORR_SIM_KERNEL, (uint64_t) r->rank, t->job_id), deviation);
}

/* Models do not know what sets this node and this worker apart. */
static double slowness(const struct orr_worker *w, const struct orr_sim_rank *r)
{
	const struct orr_sim_noise *v = &orr_sim.noise;
	if (v->workers > 0)
		return r->slowness * orr_sim_factor(orr_sim_random(v->seed, ORR_SIM_WORKER,
								   (uint64_t) r->rank, w->id),
						    v->workers);
	return r->slowness;
}

static double modelled_us(struct orr_worker *w, struct orr_task *t, double asked_us)
{
	enum orr_perf_source source = ORR_PERF_UNKNOWN;
	double deviation = 0, us = orr_expect_spread_us(w->group->proc, orr_worker_arch(w), t->pub,
							t->nimpl, &source, &deviation);
	int guessed = source == ORR_PERF_DEFAULT || source == ORR_PERF_UNKNOWN;
	if (!(us >= 0) || isinf(us))
		us = 0;
	/* A kernel that slept said how long it takes: better than a default. */
	us = asked_us > 0 && guessed ? asked_us : us + asked_us;
	if (orr_sim.noise.kernels > 0 || orr_sim.noise.unmeasured > 0)
		us *= noise(w->group->proc->sys, t, us, deviation);
	note(t->pub, source, us);
	return us;
}

int orr_sys_kernel_runs(struct orr_worker *w, struct orr_task *t)
{
	int inject;
	return executes(w->group->proc, t->pub, &inject);
}

int orr_sys_kernel_start(struct orr_worker *w, struct orr_task *t, void (*func)(void **, void *),
			 void **buffers, void *cl_arg)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	int inject, run = executes(w->group->proc, t->pub, &inject) && func;
	double measured = 0, us;
	a->extra_us = 0;
	if (run) {
		double before = inject ? cpu_us() : 0;
		func(buffers, cl_arg);
		measured = inject ? cpu_us() - before : 0;
	}
	if (inject && run) {
		us = measured + a->extra_us;
		orr_sim.kernel_us[ORR_PERF_CALIBRATED] += us;
	} else {
		us = modelled_us(w, t, a->extra_us);
	}
	us *= slowness(w, a->rank);
	orr_assertf(us >= 0 && isfinite(us), "the kernel of task %s takes %g us",
		    orr_task_name(t->pub), us);
	a->extra_us = 0;
	/* What the runtime did for this worker since the last kernel comes before it. */
	us += a->head.thread.debt_us;
	a->head.thread.debt_us = 0;
	w->end_us = 0;
	if (us <= 0)
		return 0;
	w->end_us = w->arch == STARPU_CPU_WORKER ? orr_sim_cores_enter(a->rank, us)
						 : orr_sim_bus_kernel_end(a->rank, w->memnode, us);
	orr_assert(w->end_us >= orr_sys_now_us());
	return 1;
}

/* The arch of the workers that compute on a memory node: a CPU's if there is no worker. */
static struct orr_arch arch_of(const struct orr_process *proc, unsigned memnode)
{
	for (unsigned i = 0; i < proc->core->nworkers; i++)
		if (proc->core->workers[i].memnode == memnode)
			return *proc->core->workers[i].perf_arch;
	return (struct orr_arch){ .type = STARPU_CPU_WORKER, .ncores = 1 };
}

double orr_sys_convert_us(struct orr_process *proc, struct _starpu_data_state *h, unsigned memnode,
			  struct starpu_codelet *cl, void (*func)(void **, void *), void **buffers)
{
	struct orr_arch arch = arch_of(proc, memnode);
	enum orr_perf_source source = ORR_PERF_CALIBRATED;
	struct starpu_task t;
	int inject;
	starpu_task_init(&t);
	t.cl = cl;
	t.handles[0] = h;
	int run = executes(proc, &t, &inject);
	double us = run && inject ? -cpu_us() : 0;
	if (run)
		func(buffers, NULL);
	if (run && inject)
		us += cpu_us();
	else
		us = orr_expect_us(proc, &arch, &t, 0, 1, &source);
	if (!(us >= 0) || isinf(us))
		us = 0;
	note(&t, source, us);
	return us * ((struct orr_sim_rank *) proc->sys)->slowness;
}

void orr_sys_kernel_end(struct orr_worker *w, struct orr_task *t)
{
	(void) t;
	if (w->arch == STARPU_CPU_WORKER && w->end_us > 0) {
		w->end_us = 0;
		orr_sim_cores_leave(w->group->proc->sys);
	}
	orr_sim.tasks_done++;
	orr_sys_progress(w->group->proc);
}
