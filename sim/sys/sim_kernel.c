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

static const char *codelet_name(const struct starpu_codelet *cl, const struct starpu_task *t)
{
	if (cl && cl->model && cl->model->symbol)
		return cl->model->symbol;
	if (cl && cl->name)
		return cl->name;
	return t && t->name ? t->name : "unnamed";
}

/* True if the kernel runs; *inject: the time that it takes here counts. */
static int executes(const struct orr_process *proc, const struct starpu_codelet *cl, int *inject)
{
	unsigned flags = cl ? (unsigned) cl->flags : 0;
	*inject = orr_sim.kernels == ORR_SIM_INJECT ||
		  (flags & STARPU_CODELET_SIMGRID_EXECUTE_AND_INJECT);
	if (proc->cfg.disable_kernels)
		return *inject = 0;
	return orr_sim.kernels != ORR_SIM_SKIP || *inject ||
	       (flags & STARPU_CODELET_SIMGRID_EXECUTE);
}

/* That much of the simulated time comes from that source. */
static void note(const char *name, enum orr_perf_source source, double us)
{
	orr_sim.kernel_us[source] += us;
	if (source > ORR_PERF_BY_SIZE)
		note_uncalibrated(name, us);
}

/* A kernel's own random factor: the same on every unit, in units of that unit's deviation. */
static double noise(const struct orr_sim_rank *r, const struct orr_kernel *k, double us,
		    double deviation_us)
{
	struct orr_sim_noise *v = &orr_sim.noise;
	double deviation = deviation_us > 0 && us > 0 ? v->kernels * deviation_us / us
						      : v->unmeasured;
	if (!(deviation_us > 0))
		v->without_us += us;
	return orr_sim_factor(orr_sim_random(v->seed, ORR_SIM_KERNEL, (uint64_t) r->rank, k->job),
			      deviation);
}

/* Models do not know what sets this node and this worker apart. */
static double slowness(const struct orr_kernel *k, const struct orr_sim_rank *r)
{
	const struct orr_sim_noise *v = &orr_sim.noise;
	if (v->workers > 0)
		return r->slowness * orr_sim_factor(orr_sim_random(v->seed, ORR_SIM_WORKER,
								   (uint64_t) r->rank, k->worker),
						    v->workers);
	return r->slowness;
}

/* A kernel that slept said how long it takes: better than a default. One that runs on request of
 * its codelet takes just that. */
static double with_sleep_us(const struct starpu_codelet *cl, enum orr_perf_source source, double us,
			    double asked_us)
{
	int guessed = source == ORR_PERF_DEFAULT || source == ORR_PERF_UNKNOWN;
	int on_request = cl && (cl->flags & STARPU_CODELET_SIMGRID_EXECUTE);
	return asked_us > 0 && (guessed || on_request) ? asked_us : us + asked_us;
}

static double modelled_us(struct orr_process *proc, const struct orr_kernel *k, double asked_us)
{
	const struct starpu_codelet *cl = k->task->cl;
	enum orr_perf_source source = ORR_PERF_UNKNOWN;
	double deviation = 0, us = proc->core_up->kernel_us(proc, k, &source, &deviation);
	if (!(us >= 0) || isinf(us))
		us = 0;
	us = with_sleep_us(cl, source, us, asked_us);
	if (orr_sim.noise.kernels > 0 || orr_sim.noise.unmeasured > 0)
		us *= noise(proc->sys, k, us, deviation);
	note(codelet_name(cl, k->task), source, us);
	return us;
}

int orr_sys_kernel_runs(struct orr_process *proc, const struct starpu_codelet *cl)
{
	int inject;
	return executes(proc, cl, &inject);
}

int orr_sys_kernel_start(struct orr_process *proc, struct orr_kernel *k,
			 void (*func)(void **, void *), void **buffers, void *cl_arg)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	const struct starpu_codelet *cl = k->task->cl;
	int inject, run = executes(proc, cl, &inject) && func;
	double measured = 0, us;
	orr_assert_no_lock();
	a->extra_us = 0;
	if (run) {
		double before = inject ? cpu_us() : 0;
		a->in_kernel = 1 + (int) k->worker;
		orr_sim_private_enter(a);
		func(buffers, cl_arg);
		a->in_kernel = 0;
		orr_sim_private_enter(a);
		measured = inject ? cpu_us() - before : 0;
	}
	if (inject && run) {
		us = measured + a->extra_us;
		orr_sim.kernel_us[ORR_PERF_CALIBRATED] += us;
	} else {
		us = modelled_us(proc, k, a->extra_us);
	}
	us *= slowness(k, a->rank);
	orr_assertf(us >= 0 && isfinite(us), "the kernel of task %s takes %g us",
		    codelet_name(cl, k->task), us);
	a->extra_us = 0;
	/* The runtime's work for this worker since the last kernel comes before it. */
	k->before_us = a->head.thread.debt_us;
	us += k->before_us;
	a->head.thread.debt_us = 0;
	k->end_us = k->after_us = 0;
	if (us <= 0)
		return 0;
	k->end_us = k->arch == STARPU_CPU_WORKER ? orr_sim_cores_enter(a->rank, us)
						 : orr_sim_bus_kernel_end(a->rank, k->memnode, us);
	orr_assert(k->end_us >= orr_sys_now_us());
	return 1;
}

void orr_sys_kernel_settle(struct orr_thread *self, struct orr_kernel *k)
{
	orr_assert(self == orr_thread_self() && self->debt_us >= 0);
	k->end_us += self->debt_us;
	k->after_us += self->debt_us;
	self->debt_us = 0;
}

double orr_sys_convert_us(struct orr_process *proc, struct _starpu_data_state *h, unsigned memnode,
			  struct starpu_codelet *cl, void (*func)(void **, void *), void **buffers,
			  void *arg)
{
	enum orr_perf_source source = ORR_PERF_CALIBRATED;
	int inject, run = executes(proc, cl, &inject) && func;
	double us = run && inject ? -cpu_us() : 0;
	if (run)
		func(buffers, arg);
	if (run && inject)
		us += cpu_us();
	else
		us = proc->core_up->convert_us(proc, memnode, cl, h, &source);
	if (!(us >= 0) || isinf(us))
		us = 0;
	note(codelet_name(cl, NULL), source, us);
	return us * ((struct orr_sim_rank *) proc->sys)->slowness;
}

void orr_sys_kernel_end(struct orr_process *proc, struct orr_kernel *k)
{
	orr_assert_no_lock();
	if (k->arch == STARPU_CPU_WORKER && k->end_us > 0) {
		k->end_us = 0;
		orr_sim_cores_leave(proc->sys);
	}
	orr_sim.tasks_done++;
	orr_sys_progress(proc);
}
