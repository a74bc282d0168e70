/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The execution of a task by a worker: from the moment when its data are there to its completion.
 *
 * Invariant: only the thread of the worker's group comes here, and nothing here blocks. */
#include "core/run/execute.h"

#include <string.h>

#include "base/log.h"
#include "base/seam_kernel.h"
#include "core/run/energy.h"
#include "core/task/expect.h"
#include "core/task/footprint.h"
#include "core/worker/group_heap.h"
#include "core/run/inputs.h"
#include "core/flow/monitor.h"
#include "core/flow/parallel.h"
#include "core/flow/profiling.h"
#include "core/task/task_impl.h"
#include "core/flow/task_state.h"
#include "core/task/task_trace.h"
#include "core/worker/device.h"
#include "core/worker/wake.h"
#include "core/worker/worker.h"
#include "core/task/task_life.h"
#include "core/flow/team.h"
#include "core/task/times.h"
#include "data/data.h"
#include "data/handle.h"
#include "data/scratch.h"
#include "data/thresholds.h"

void orr_execute_prepare(struct orr_worker *w, struct orr_task *t)
{
	struct starpu_task *task = t->pub;
	int impl = 0;

	orr_worker_assert_mine(w);
	orr_task_pass(t, ORR_TASK_OF_POLICY, ORR_TASK_OF_WORKER);
	orr_assertf(!t->worker, "task %s comes to two workers", orr_task_name(task));

	if (!(w->arch == STARPU_CPU_WORKER && task->cl->cpu_funcs[0] && !task->cl->can_execute &&
	      !t->forced_impl))
		impl = orr_task_first_impl(w, task);
	if (impl < 0)
		orr_fatal("scheduling policy gave task %s to worker %s, which cannot execute it",
			  orr_task_name(task), w->name);
	if (!t->impl_chosen)
		t->nimpl = (uint8_t) impl;
	orr_assertf(t->nimpl < STARPU_MAXIMPLEMENTATIONS, "implementation %u of task %s is chosen",
		    t->nimpl, orr_task_name(task));
	t->worker = w;
	t->interfaces = t->owner.naccess > STARPU_NMAXBUFS ? task->dyn_interfaces
							   : task->interfaces;
}

/* The data of the task that another worker used last; from now on it is this one. */
static inline unsigned take_over_data(const struct orr_task *t, const struct orr_worker *w)
{
	const uint8_t user = ORR_USER(w->id);
	unsigned n = 0;
	for (unsigned i = 0; i < t->owner.naccess; i++) {
		starpu_data_handle_t h = t->owner.access[i].handle;
		n += h->last_user && h->last_user != user;
		h->last_user = user;
	}
	return n;
}

/* The time that the runtime takes to choose, start and complete the task. */
static inline void charge_task(const struct orr_task *t, const struct orr_worker *w,
			       struct orr_thread *self)
{
	if (__builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&self->proc->cfg->profiling), 0))
		orr_sys_charge(self, ORR_COST_PROFILE);
	if (ORR_SYS_CHARGES)
		orr_sys_charge_times(self, ORR_COST_SHARED_DATUM, take_over_data(t, w));
	if (orr_sys_reloads(self))
		orr_sys_charge_reload(self, orr_footprint_bytes(t->pub));
	orr_sys_charge(self, ORR_COST_SCHED);
	orr_sys_charge(self, ORR_COST_COMPLETE);
	orr_sys_charge_times(self, ORR_COST_DATUM, t->owner.naccess);
}

/* The kernel ends later. The runtime's own work comes on top of it. */
static void run_on(struct orr_worker *w, struct orr_thread *self)
{
	charge_task(w->task, w, self);
	orr_sys_kernel_settle(self, &w->kernel);
	orr_group_heap_push(w->group, w);
	self->task = NULL;
}

/* The kernel took no time: the worker owes the runtime's work, as it does after other work. */
static inline void finish_at_once(struct orr_worker *w, struct orr_thread *self)
{
	charge_task(w->task, w, self);
	w->kernel.before_us = w->kernel.after_us = 0;
	orr_execute_finish(w, self);
}

/* The kernel of a parallel task, in its leader. */
static void start_parallel(struct orr_worker *w, struct orr_thread *self)
{
	switch (orr_parallel_start(w, self)) {
	case 0: finish_at_once(w, self); break;
	case 1: run_on(w, self); break;
	default: self->task = NULL;
	}
}

/* Before the kernel is started: where it finds its data, and what the program wants to be told. */
static inline void set_up(struct orr_worker *w, struct orr_task *t, struct orr_thread *self)
{
	struct starpu_task *task = t->pub;
	struct starpu_sched_policy *policy = self->proc->core->ctx[t->ctx]->policy;

	for (unsigned i = 0; i < t->owner.naccess; i++) {
		struct orr_access *a = &t->owner.access[i];
		void *iface;

		if (a->scratch || a->node < 0)
			continue;
		iface = a->node == STARPU_MAIN_RAM
				? orr_handle_iface(a->handle)
				: starpu_data_get_interface_on_node(a->handle, (unsigned) a->node);
		t->interfaces[i] = iface;
	}
	orr_task_assert_of(t, ORR_TASK_OF_WORKER);
	orr_assertf(!ORR_ATOMIC_LOAD(&t->starved) && !ORR_ATOMIC_LOAD(&t->owner.nprefetch),
		    "task %s starts before its data are there", orr_task_name(task));
	orr_task_go(t, ORR_TASK_RUNNING);
	task->status = STARPU_TASK_RUNNING;
	task->workerid = w->id;
	self->task = t;
	if (__builtin_expect(task->prologue_callback_pop_func != NULL, 0)) {
		double since_us = orr_task_trace_calls(self);

		task->prologue_callback_pop_func(task->prologue_callback_pop_arg);
		if (__builtin_expect(since_us >= 0, 0))
			orr_task_trace_called(self->proc, ORR_CALLBACK_TAKEN, t->job_id, since_us);
	}
	if (__builtin_expect(policy->pre_exec_hook != NULL, 0))
		policy->pre_exec_hook(task, t->ctx);
}

/* The kernel of w->task begins after the work that its worker's thread still owes (debt_us, which
 * is always 0 in a real run). */
static inline void note_start(struct orr_worker *w, struct orr_task *t, struct orr_process *proc,
			      double debt_us)
{
	if (__builtin_expect(proc->perf_timing, 0)) {
		double now_us = orr_sys_now_us();

		orr_times_change(w, proc, w->waits & 1 ? ORR_TIME_DATA : ORR_TIME_RUNTIME,
				 t->copies ? ORR_TIME_DATA : ORR_TIME_KERNEL, now_us);
		w->start_us = now_us + debt_us;
	}
	if (t->pub->profiling_info)
		orr_profiling_stamp(t, offsetof(struct starpu_profiling_task_info, start_time),
				    proc->perf_timing ? w->start_us : orr_sys_now_us() + debt_us);
	orr_task_trace(proc, ORR_TRACE_START, t, (int) w->id, debt_us);
	orr_worker_go(w, ORR_WORKER_RUNNING);
	if (orr_monitor_wants(proc, t))
		orr_monitor_start_slow(proc, t);
}

/* The device runs the kernel of w->task. */
static void run_on_device(struct orr_worker *w)
{
	orr_assert(!w->later && w->pipeline && w->group->nlater < w->group->nworkers);
	w->later = 1;
	w->group->nlater++;
}

void orr_execute_start(struct orr_worker *w, struct orr_thread *self)
{
	struct orr_task *t = w->task;

	orr_assertf(t && t->worker == w, "worker %u starts the task of another one", w->id);
	orr_wake_before_work(w->group);
	set_up(w, t, self);
	note_start(w, t, self->proc, self->debt_us);
	if (__builtin_expect(w->starving, 0))
		orr_inputs_stop_starving(w, self->proc);
	if (__builtin_expect(w->member != NULL, 0)) {
		start_parallel(w, self);
		return;
	}
	switch (w->driver->start(w, t, &w->launch)) {
	case ORR_STARTED_RAN: finish_at_once(w, self); break;
	case ORR_STARTED_TIMED: run_on(w, self); break;
	case ORR_STARTED_LATER: run_on_device(w); self->task = NULL;
	}
}

int orr_execute_queue(struct orr_worker *w, struct orr_thread *self)
{
	struct orr_launch *l = &w->ahead[w->nahead];
	struct orr_task *t = w->next;

	orr_assert(w->later && w->nahead + 1 < w->pipeline);
	*l = (struct orr_launch){ .task = t };
	set_up(w, t, self);
	if (w->driver->start(w, t, l) != ORR_STARTED_LATER)
		orr_fatal("the driver %s has executed task %s out of turn", w->driver->name,
			  orr_task_name(t->pub));
	w->next = NULL;
	w->nahead++;
	self->task = NULL;
	return 1;
}

/* The first of the kernels that were started behind another one is the one that runs. */
static void advance_queue(struct orr_worker *w, struct orr_process *proc)
{
	orr_assert(w->nahead > 0 && w->nahead < w->pipeline && !w->later);
	w->launch = w->ahead[0];
	w->nahead--;
	memmove(w->ahead, w->ahead + 1, w->nahead * sizeof(*w->ahead));
	ORR_ATOMIC_STORE_RELAXED(&w->task, w->launch.task);
	w->waits &= 2;
	orr_task_assert_of(w->task, ORR_TASK_OF_WORKER);
	orr_assert(w->task->worker == w &&
		   ORR_ATOMIC_LOAD_RELAXED(&w->task->state) == ORR_TASK_RUNNING);
	note_start(w, w->task, proc, 0);
	run_on_device(w);
}

/* The kernel of a device's worker is over: the next task's turn. Without its data, because memory
 * was exhausted, it asks for them again. */
static void promote(struct orr_worker *w, struct orr_process *proc)
{
	struct orr_task *t = w->next;

	if (w->nahead) {
		advance_queue(w, proc);
	} else if (t) {
		w->next = NULL;
		ORR_ATOMIC_STORE_RELAXED(&w->task, t);
		orr_worker_go(w, ORR_WORKER_FETCHING);
		orr_inputs_promote(t, proc);
		w->waits = w->waits & 2 || ORR_ATOMIC_LOAD(&t->nfetching) != 0;
	}
}

/* The kind of time of a worker that has completed a task. */
static enum orr_time present_of(const struct orr_worker *w)
{
	switch (w->state) {
	case ORR_WORKER_FETCHING: return w->waits & 1 ? ORR_TIME_DATA : ORR_TIME_RUNTIME;
	case ORR_WORKER_RUNNING: return w->task->copies ? ORR_TIME_DATA : ORR_TIME_KERNEL;
	default: return ORR_TIME_IDLE;
	}
}

/* The driver's last words about a kernel that is over. */
static inline void end_kernel(struct orr_worker *w, struct orr_task *t)
{
	int later = w->later;

	if (__builtin_expect(later, 0))
		w->launch.own_us = 0;
	w->driver->finish(w, t, &w->launch);
	if (__builtin_expect(later, 0)) {
		orr_assert(w->group->nlater > 0);
		w->group->nlater--;
		w->later = 0;
		w->kernel.own_us = w->launch.own_us;
	}
}

void orr_execute_finish(struct orr_worker *w, struct orr_thread *self)
{
	struct orr_process *proc = self->proc;
	struct orr_task *t = w->task;
	struct starpu_task *task = t->pub;
	double us = 0, now_us = 0;

	orr_assertf(t && t->worker == w && ORR_ATOMIC_LOAD_RELAXED(&t->state) == ORR_TASK_RUNNING,
		    "worker %u finishes a task that it does not run", w->id);
	/* Their ends come soon; in a simulation much else has been done since they began. */
	for (unsigned i = 0; i < t->owner.naccess; i++)
		__builtin_prefetch(t->owner.access[i].handle);
	orr_wake_before_work(w->group);
	self->task = t;
	end_kernel(w, t);
	if (__builtin_expect(proc->perf_timing, 0)) {
		now_us = orr_sys_now_us();
		orr_times_kernel(w, proc, now_us);
		us = now_us - w->kernel.after_us - w->start_us;
		if (us > 0)
			ORR_ATOMIC_ADD_RELAXED(&w->busy_ns, (uint64_t) (us * 1e3));
		if (proc->cfg->calibrate && task->cl->model)
			orr_expect_learn(proc, orr_worker_arch(w), task, t->nimpl,
					 w->kernel.own_us > 0 ? w->kernel.own_us : us);
	}
	if (__builtin_expect(task->cl->energy_model || proc->watts[w->arch] > 0, 0))
		orr_energy_task(w, t,
				proc->perf_timing ? us + w->kernel.before_us + w->kernel.after_us
						  : 0);
	if (orr_monitor_wants(proc, t))
		orr_monitor_end_slow(proc, t, w);
	if (task->profiling_info) {
		orr_profiling_stamp(t, offsetof(struct starpu_profiling_task_info, end_time),
				    (proc->perf_timing ? now_us : orr_sys_now_us()) -
					    w->kernel.after_us);
		task->profiling_info->workerid = (int) w->id;
	}
	if (__builtin_expect(proc->cfg->profiling, 0))
		w->prof.executed_tasks++;
	if (__builtin_expect(proc->cfg->codelet_profiling, 1)) {
		/* Only this worker writes its place; whoever displays them reads them all. */
		unsigned long *n = &task->cl->per_worker_stats[w->id];

		ORR_ATOMIC_STORE_RELAXED(n, *n + 1);
	}
	orr_task_trace(proc, ORR_TRACE_END, t, (int) w->id, -w->kernel.after_us);
	if (__builtin_expect(proc->core->ctx[t->ctx]->policy->post_exec_hook != NULL, 0))
		proc->core->ctx[t->ctx]->policy->post_exec_hook(task, t->ctx);
	orr_scratch_release(&t->owner, w->id, t->interfaces);
	self->task = NULL;
	ORR_ATOMIC_STORE_RELAXED(&w->task, NULL);
	orr_worker_go(w, ORR_WORKER_IDLE);
	if (__builtin_expect(w->member != NULL, 0))
		orr_parallel_finish(w, t, us);
	if (__builtin_expect(t->team != 0, 0))
		orr_team_over(proc, t);
	if (__builtin_expect(w->pipeline, 0))
		promote(w, proc);
	if (__builtin_expect(proc->data->limited, 0)) {
		if (t->owner.naccess) {
			orr_assert(ORR_ATOMIC_LOAD(&proc->data->nbusy) > 0);
			ORR_ATOMIC_ADD(&proc->data->nbusy, -1);
		}
		orr_task_complete(t, w);
		orr_memory_kick(proc);
	} else
		orr_task_complete(t, w);
	if (__builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&proc->cfg->profiling), 0))
		orr_times_change(w, proc, ORR_TIME_RUNTIME, present_of(w), orr_sys_now_us());
}
