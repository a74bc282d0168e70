/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Execution of kernels on simulated CPUs: when they end, whether they run at all, and how well the
 * time is known.
 *
 * One actor, the driver, steps all workers of a rank. It calls each kernel on a fiber, as an actor
 * of its own. A kernel that does not wait is a part of the driver until it returns. One that waits,
 * for time, for a message or for another thread, parts from it: its end is not known then
 * (INFINITY), the driver goes on with the other workers, and the kernel gets turns like any other
 * actor. When it has returned it has lasted as long as its model says or as long as it has really
 * waited, whichever is longer.
 *
 * Measured: a kernel that does not wait takes 130 instructions more than one that the driver calls.
 *
 * Invariant: an actor of r->kernels runs no kernel, and its fiber is over. The virtual duration of
 * a kernel depends on models, sizes and settings only, never on how long it took here, except with
 * --kernels=inject and for codelets that ask for it (STARPU_CODELET_SIMGRID_EXECUTE_AND_INJECT). */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "actors/sim_actor.h"
#include "actors/sim_fiber.h"
#include "actors/sim_rank.h"
#include "actors/sim_own.h"
#include "actors/sim_private.h"
#include "machine/sim_bus.h"
#include "machine/sim_company.h"
#include "machine/sim_cores.h"
#include "sim_noise.h"
#include "base/assert.h"
#include "base/log.h"
#include "base/park.h"
#include "base/seam_kernel.h"
#include "base/upcalls.h"

static void add(struct orr_sim_kernel_times *list, const char *name, double us)
{
	for (unsigned i = 0; i < list->n; i++) {
		if (!strcmp(list->of[i].name, name)) {
			list->of[i].us += us;
			return;
		}
	}
	if (list->n >= 256)
		return;
	struct orr_sim_kernel_time *of = realloc(list->of, (list->n + 1) * sizeof(*of));
	if (!of)
		return;
	list->of = of;
	if ((of[list->n].name = strdup(name)))
		of[list->n++].us = us;
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
	if (proc->cfg->disable_kernels)
		return *inject = 0;
	return orr_sim.kernels != ORR_SIM_SKIP || *inject ||
	       (flags & STARPU_CODELET_SIMGRID_EXECUTE);
}

/* That much of the simulated time comes from that source. */
static void note(const char *name, enum orr_perf_source source, double us)
{
	orr_sim.kernel_us[source] += us;
	if (source > ORR_PERF_BY_SIZE)
		add(&orr_sim.uncalibrated, name, us);
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

/* A kernel that has returned. */
struct run {
	int ran, inject;
	double cpu_us;    /* time of the processor, where that counts */
	double waited_us; /* virtual time */
	int slept;        /* by a function that says how long */
	int calibrated;   /* its model was measured */
};

/* An actor that runs kernels of a rank, one after the other. */
struct orr_sim_kernel {
	struct orr_sim_actor actor; /* first */
	struct orr_sim_kernel *next;
	struct orr_kernel *k;
	int inject;
	double start_us, cpu_us;
};

/* A kernel that slept said how long it takes: better than a default. */
static double modelled_us(struct orr_process *proc, const struct orr_kernel *k, struct run *r)
{
	const struct starpu_codelet *cl = k->task->cl;
	enum orr_perf_source source = ORR_PERF_UNKNOWN;
	double deviation = 0, us = proc->core_up->kernel_us(proc, k, &source, &deviation);
	if (!(us >= 0) || isinf(us))
		us = 0;
	if (r->slept && r->waited_us > 0 &&
	    (source == ORR_PERF_DEFAULT || source == ORR_PERF_UNKNOWN)) {
		orr_sim.kernel_us[ORR_PERF_CALIBRATED] += r->waited_us;
		add(&orr_sim.slept, codelet_name(cl, k->task), r->waited_us);
		return 0;
	}
	if (orr_sim.noise.kernels > 0 || orr_sim.noise.unmeasured > 0)
		us *= noise(proc->sys, k, us, deviation);
	note(codelet_name(cl, k->task), source, us > r->waited_us ? us : r->waited_us);
	r->calibrated = source <= ORR_PERF_BY_SIZE;
	return us;
}

int orr_sys_kernel_runs(struct orr_process *proc, const struct starpu_codelet *cl)
{
	int inject;
	return executes(proc, cl, &inject);
}

/* The time that the kernel, which has returned, takes from now on. */
static double left_us(struct orr_process *proc, const struct orr_kernel *k, struct run *r)
{
	struct orr_sim_rank *rank = proc->sys;
	double us;
	if (r->inject && r->ran) {
		us = r->cpu_us;
		orr_sim.kernel_us[ORR_PERF_CALIBRATED] += us;
		us *= slowness(k, rank);
	} else {
		us = modelled_us(proc, k, r) * slowness(k, rank);
		us = us > r->waited_us ? us - r->waited_us : 0;
	}
	orr_assertf(us >= 0 && isfinite(us), "the kernel of task %s takes %g us",
		    codelet_name(k->task->cl, k->task), us);
	return us;
}

/* The end of a kernel that keeps its worker so much longer; 0: it is over. */
static double end_us(struct orr_sim_rank *r, struct orr_kernel *k, const struct run *run, double us)
{
	k->turns_us = 0;
	k->own_us = 0;
	if (us <= 0)
		return 0;
	int cpu = k->arch == STARPU_CPU_WORKER;
	double end = cpu ? orr_sim_cores_enter(r, us, &k->after_us, &k->turns_us)
			 : orr_sim_bus_kernel_end(r, k->memnode, us);
	if (cpu && __builtin_expect(r->cores->company != NULL, 0))
		end = orr_sim_company_enter(r, k, end);
	else if (cpu && run->calibrated)
		orr_sim_company_unmeasured(r, k->task);
	orr_assert(end >= orr_sys_now_us());
	return end;
}

/* ---- calls of functions ---- */

static void begin_measuring(struct orr_sim_actor *a, double *cpu_us)
{
	a->measured = 1;
	a->others_us = 0;
	*cpu_us = orr_sim_cpu_us();
}

static double measured_us(struct orr_sim_actor *a, double cpu_us)
{
	a->measured = 0;
	return orr_sim_cpu_us() - cpu_us - a->others_us;
}

/* By a thread that steps no other worker. */
static void call_here(struct orr_sim_actor *a, const struct orr_kernel *k, struct run *r,
		      void (*func)(void **, void *), void **buffers, void *cl_arg)
{
	double start_us = orr_sys_now_us(), cpu_us = 0;
	a->in_kernel = 1 + (int) k->worker;
	a->slept = 0;
	orr_sim_private_enter(a);
	if (r->inject)
		begin_measuring(a, &cpu_us);
	func(buffers, cl_arg);
	if (r->inject)
		r->cpu_us = measured_us(a, cpu_us);
	a->in_kernel = 0;
	orr_sim_private_enter(a);
	r->slept = a->slept;
	r->waited_us = orr_sys_now_us() - start_us;
}

/* A kernel that has parted from its driver has a turn. */
static void turn(struct orr_sim_actor *a)
{
	struct orr_sim_kernel *f = (struct orr_sim_kernel *) a;
	struct orr_process *proc = a->head.thread.proc;
	uintptr_t low = a->head.stack_low;
	size_t size = a->head.stack_size;

	a->head.stack_low = a->fiber->low;
	a->head.stack_size = a->fiber->size;
	orr_sim_self = &a->head;
	if (!orr_sim_fiber_continue(a->fiber))
		orr_fatal("a kernel left its stack to nobody");
	a->head.stack_low = low;
	a->head.stack_size = size;
	orr_sim_self = &a->head;
	struct run r = { .ran = 1,
			 .inject = f->inject,
			 .cpu_us = f->inject ? measured_us(a, f->cpu_us) : 0,
			 .waited_us = orr_sys_now_us() - f->start_us,
			 .slept = a->slept };
	/* Last comes the runtime's work that it was charged with after its last wait, and that
	 * which followed its start. */
	double us = left_us(proc, f->k, &r) + a->head.thread.debt_us + f->k->after_us;
	a->head.thread.debt_us = 0;
	proc->core_up->ends(proc, f->k, end_us(a->rank, f->k, &r, us));
	orr_park_wake_all(proc);
	orr_assert(!a->blocked && !a->head.thread.later);
	a->in_kernel = 0;
	orr_sim_fiber_put(a->fiber);
	a->fiber = NULL;
	f->next = a->rank->kernels;
	a->rank->kernels = f;
}

/* The driver's next kernel gets that actor. */
static void equip(struct orr_sim_kernel *f, const struct orr_sim_actor *driver,
		  struct orr_kernel *k)
{
	struct orr_thread *to = &f->actor.head.thread;
	const struct orr_thread *from = &driver->head.thread;

	f->actor.head.costs = driver->head.costs;
	to->proc = from->proc;
	to->worker = from->worker;
	to->memnode = from->memnode;
	to->task = from->task;
	to->ctx = from->ctx;
	to->cause = from->cause;
	to->debt_us = from->debt_us;
	f->actor.in_kernel = 1 + (int) k->worker;
	f->actor.slept = 0;
	f->k = k;
}

/* The kernel waits. It pays for the work before it, as any thread does that waits. */
static void part(struct orr_sim_kernel *f, struct orr_sim_actor *driver, struct orr_kernel *k)
{
	orr_assert(!f->actor.fiber->over);
	f->start_us = orr_sys_now_us();
	k->before_us = driver->head.thread.debt_us;
	driver->head.thread.debt_us = 0;
	k->after_us = 0;
	k->end_us = INFINITY;
}

/* By the driver. Returns 1 if the kernel waits. One that does not gives actor and fiber back:
 * others run meanwhile with --yields only. */
static int call_apart(struct orr_sim_actor *driver, struct orr_kernel *k, struct run *r,
		      void (*func)(void **, void *), void **buffers, void *cl_arg)
{
	struct orr_sim_rank *rank = driver->rank;
	struct orr_sim_kernel *f = rank->kernels;
	struct orr_sim_fiber *fiber = orr_sim_fiber_unused;

	if (!f)
		f = (struct orr_sim_kernel *) orr_sim_actor_kernels(rank, sizeof(*f), turn);
	if (!fiber)
		fiber = orr_sim_fiber_make(orr_sim.stack_small);
	if (!f || !fiber)
		orr_fatal("out of memory for the stack of another kernel");
	rank->kernels = f->next;
	orr_sim_fiber_take(fiber);
	f->actor.fiber = fiber;
	equip(f, driver, k);
	orr_sim_private_enter(&f->actor);
	f->actor.head.stack_low = fiber->low;
	f->actor.head.stack_size = fiber->size;
	orr_sim_self = &f->actor.head;
	orrery_sim_asked |= 1;
	if ((f->inject = r->inject))
		begin_measuring(&f->actor, &f->cpu_us);
	int over = orr_sim_fiber_begin(fiber, func, buffers, cl_arg);
	orrery_sim_asked &= ~1;
	orr_sim_self = &driver->head;
	orr_sim_private_enter(driver);
	if (!over) {
		part(f, driver, k);
		return 1;
	}
	orr_sim_fiber_put(fiber);
	f->next = rank->kernels;
	rank->kernels = f;
	orr_assert(!f->actor.head.thread.later);
	if (r->inject)
		r->cpu_us = measured_us(&f->actor, f->cpu_us);
	driver->head.thread.debt_us = f->actor.head.thread.debt_us;
	driver->head.thread.ctx = f->actor.head.thread.ctx;
	return 0;
}

int orr_sys_kernel_start(struct orr_process *proc, struct orr_kernel *k,
			 void (*func)(void **, void *), void **buffers, void *cl_arg)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	struct run r = { 0 };
	orr_assert_no_lock();
	r.ran = executes(proc, k->task->cl, &r.inject) && func;
	if (r.ran && a != a->rank->driver)
		call_here(a, k, &r, func, buffers, cl_arg);
	else if (r.ran && call_apart(a, k, &r, func, buffers, cl_arg))
		return 1;
	double us = left_us(proc, k, &r);
	/* The runtime's work for this worker since the last kernel comes before it. */
	k->before_us = a->head.thread.debt_us;
	us += k->before_us;
	a->head.thread.debt_us = 0;
	k->after_us = 0;
	k->end_us = end_us(a->rank, k, &r, us);
	return us > 0;
}

/* The program takes its turns from whatever the worker does: by the clock, which books and traces
 * of real runs have, a kernel lasts longer by its part of them. The rest counts as the runtime's,
 * behind it. What the kernel takes by itself is known for models. */
static void divide_turns(struct orr_kernel *k)
{
	double own_us = k->end_us - orr_sys_now_us() - k->turns_us;
	double kernel_us = own_us - k->before_us - k->after_us;
	if (!(own_us > 0) || !(kernel_us > 0))
		return;
	k->after_us += k->turns_us * (own_us - kernel_us) / own_us;
	k->own_us = kernel_us;
}

void orr_sys_kernel_settle(struct orr_thread *self, struct orr_kernel *k)
{
	orr_assert(self == orr_thread_self() && self->debt_us >= 0);
	k->end_us += self->debt_us;
	k->after_us += self->debt_us;
	if (__builtin_expect(k->turns_us > 0, 0))
		divide_turns(k);
	self->debt_us = 0;
}

double orr_sys_convert_us(struct orr_process *proc, struct _starpu_data_state *h, unsigned memnode,
			  struct starpu_codelet *cl, void (*func)(void **, void *), void **buffers,
			  void *arg)
{
	enum orr_perf_source source = ORR_PERF_CALIBRATED;
	int inject, run = executes(proc, cl, &inject) && func;
	double us = run && inject ? -orr_sim_cpu_us() : 0;
	if (run)
		func(buffers, arg);
	if (run && inject)
		us += orr_sim_cpu_us();
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
		struct orr_sim_rank *r = proc->sys;
		int company = __builtin_expect(r->cores->company != NULL, 0);
		int sooner = company && orr_sim_company_leave(r, k);
		k->end_us = 0;
		orr_sim_cores_leave(r);
		if (sooner)
			orr_sim_company_wake(r);
	}
	orr_sim.tasks_done++;
	orr_sys_progress(proc);
}
