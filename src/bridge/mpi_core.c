/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The core as liborrery-mpi sees it: functions of the core's internal names that call it through
 * its table (see core_table.h). Only liborrery-mpi contains this file.
 *
 * Invariant: the table is there before any other function of this library runs: a constructor gets
 * it, after those of liborrery. */
#include <config.h>
#include "bridge/core_table.h"
#include "base/seam_memory.h"
#include "base/config.h"

#include <unistd.h>

#ifndef ORR_REAL_CORE_IS_HERE

static struct orrery_core core;
struct orr_process *orr_real_process;
__thread struct orr_thread *orr_real_thread __attribute__((tls_model("initial-exec")));

/* Other constructors of this library call the core. */
__attribute__((constructor(101))) static void meet_core(void)
{
	const struct orrery_build here = orr_build_here();
	const struct orrery_core *table = orrery_core_interface(&here, sizeof(here));

	if (!table)
		_exit(1);
	core = *table;
	orr_real_process = core.process;
}

struct orr_thread *orr_real_thread_enter(void)
{
	return orr_real_thread = core.thread();
}

/* ---- locks, event counts, time ---- */

void orr_sys_lock_slow(orr_sys_lock_t *l)
{
	core.orr_sys_lock_slow(l);
}

void orr_sys_unlock_slow(orr_sys_lock_t *l)
{
	core.orr_sys_unlock_slow(l);
}

int orr_waitq_wait(orr_waitq_t *q, unsigned key, double timeout_us)
{
	return core.orr_waitq_wait(q, key, timeout_us);
}

void orr_waitq_wake_slow(orr_waitq_t *q)
{
	core.orr_waitq_wake_slow(q);
}

double orr_sys_now_us(void)
{
	return core.orr_sys_now_us();
}

double orr_sys_origin_us(void)
{
	return core.orr_sys_origin_us();
}

void orr_sys_sleep_us(double us)
{
	core.orr_sys_sleep_us(us);
}

/* ---- the process ---- */

double orr_sys_spin_us(struct orr_process *proc)
{
	return core.orr_sys_spin_us(proc);
}

unsigned orr_sys_cores(struct orr_process *proc)
{
	return core.orr_sys_cores(proc);
}

double orr_sys_stall_us(const struct orr_process *proc)
{
	return core.orr_sys_stall_us(proc);
}

int orr_sys_only_threads(struct orr_process *proc, unsigned nthreads)
{
	return core.orr_sys_only_threads(proc, nthreads);
}

int orr_sys_has_payload(struct orr_process *proc)
{
	return core.orr_sys_has_payload(proc);
}

double orr_sys_copy_start(struct orr_process *proc, const struct orr_copy *c, uint64_t *number)
{
	return core.orr_sys_copy_start(proc, c, number);
}

void orr_sys_memcpy(struct orr_process *proc, void *dst, const void *src, size_t size)
{
	core.orr_sys_memcpy(proc, dst, src, size);
}

orr_sys_thread_t *orr_sys_thread_start(struct orr_process *proc, enum orr_role role,
				       const char *name, int cpu, void *(*fn)(void *), void *arg)
{
	return core.orr_sys_thread_start(proc, role, name, cpu, fn, arg);
}

void *orr_sys_thread_join(orr_sys_thread_t *t)
{
	return core.orr_sys_thread_join(t);
}

void orr_sys_yield(void)
{
	core.orr_sys_yield();
}

void orr_sys_abort(void)
{
	core.orr_sys_abort();
	__builtin_unreachable();
}

void orr_real_on_abort(void (*end_all)(void))
{
	core.orr_real_on_abort(end_all);
}

void *orr_sys_chunk_alloc(size_t bytes)
{
	return core.orr_sys_chunk_alloc(bytes);
}

void orr_sys_chunk_free(void *chunk, size_t bytes)
{
	core.orr_sys_chunk_free(chunk, bytes);
}

/* ---- data ---- */

int orr_acquire_start(struct orr_acquire *a, starpu_data_handle_t handle, int node,
		      enum starpu_data_access_mode mode, int sequential, int prio,
		      void (*granted)(struct orr_acquire *))
{
	return core.orr_acquire_start(a, handle, node, mode, sequential, prio, granted);
}

void orr_acquire_release(struct orr_acquire *a)
{
	core.orr_acquire_release(a);
}

void orr_acquire_share(struct orr_acquire *a, const struct orr_acquire *from)
{
	core.orr_acquire_share(a, from);
}

int orr_handle_device_with_value(starpu_data_handle_t h, int alone)
{
	return core.orr_handle_device_with_value(h, alone);
}

int orr_handle_pack(starpu_data_handle_t h, unsigned node, void **ptr, starpu_ssize_t *count)
{
	return core.orr_handle_pack(h, node, ptr, count);
}

int orr_handle_unpack(starpu_data_handle_t h, unsigned node, void *ptr, size_t count)
{
	return core.orr_handle_unpack(h, node, ptr, count);
}

void orr_handle_record_slow(struct orr_process *proc, starpu_data_handle_t h, int ends)
{
	core.orr_handle_record_slow(proc, h, ends);
}

const char *orr_handle_name(starpu_data_handle_t h)
{
	return core.orr_handle_name(h);
}

int orr_memory_has_room(struct orr_process *proc, unsigned memnode, size_t size)
{
	return core.orr_memory_has_room(proc, memnode, size);
}

/* ---- tasks ---- */

void orr_poll_hook_set(struct orr_process *proc, void (*hook)(struct orr_process *, int idle))
{
	core.orr_poll_hook_set(proc, hook);
}

void orr_times_foreign(struct orr_process *proc, double us)
{
	core.orr_times_foreign(proc, us);
}

struct orr_group *orr_lend_begin(struct orr_process *proc, unsigned cpu,
				 void (*rung)(struct orr_process *))
{
	return core.orr_lend_begin(proc, cpu, rung);
}

void orr_lend_end(struct orr_group *g)
{
	core.orr_lend_end(g);
}

int orr_lend_run(struct orr_group *g, unsigned tasks)
{
	return core.orr_lend_run(g, tasks);
}

void orr_lend_sleeps(struct orr_group *g)
{
	core.orr_lend_sleeps(g);
}

void orr_lend_wakes(struct orr_group *g)
{
	core.orr_lend_wakes(g);
}

int orr_worker_engine_unit(const struct orr_process *proc)
{
	return core.orr_worker_engine_unit(proc);
}

int orr_task_insert_parse(struct starpu_task *task, struct starpu_codelet *cl, va_list ap)
{
	return core.orr_task_insert_parse(task, cl, ap);
}

struct orr_marker_skipped orr_marker_skip(int marker, va_list *ap)
{
	return core.orr_marker_skip(marker, ap);
}

int orr_task_insert_list(struct starpu_task *task, struct starpu_codelet *cl, void **list)
{
	return core.orr_task_insert_list(task, cl, list);
}

unsigned orr_marker_elements(int marker)
{
	return core.orr_marker_elements(marker);
}

uint64_t orr_task_npending(struct orr_process *proc)
{
	return core.orr_task_npending(proc);
}

uint64_t orr_task_ncompleted(struct orr_process *proc)
{
	return core.orr_task_ncompleted(proc);
}

void orr_work_tell(struct orr_process *proc)
{
	core.orr_work_tell(proc);
}

void orr_statistics_add(struct orr_process *proc, const char *text, size_t size)
{
	core.orr_statistics_add(proc, text, size);
}

void orr_sys_live_layer(struct orr_process *proc, int on)
{
	core.orr_sys_live_layer(proc, on);
}

int orr_real_live(void)
{
	return core.orr_real_live();
}

void orr_sys_run_describe(struct orr_process *proc, char *text, size_t size)
{
	core.orr_sys_run_describe(proc, text, size);
}

void orr_real_run_own(struct orr_process *proc, struct orr_run_totals *t)
{
	core.orr_real_run_own(proc, t);
}

void orr_real_run_all(const struct orr_run_totals *t)
{
	core.orr_real_run_all(t);
}

void orr_graph_message(struct orr_process *proc, starpu_data_handle_t h, int ordered,
		       const struct orr_graph_message *m)
{
	core.orr_graph_message(proc, h, ordered, m);
}

void orr_trace_add_now(struct orr_process *proc, struct orr_trace_event *e)
{
	core.orr_trace_add_now(proc, e);
}

void orr_trace_waited(struct orr_process *proc, double since_us, const char *call, uint64_t cause)
{
	core.orr_trace_waited(proc, since_us, call, cause);
}

uint64_t orr_access_comes_after(const struct orr_access *a)
{
	return core.orr_access_comes_after(a);
}

void orr_link_register(const struct orr_link_ops *ops)
{
	core.orr_link_register(ops);
}

void orr_trace_clock(struct orr_process *proc, const struct orr_trace_clock *clock)
{
	core.orr_trace_clock(proc, clock);
}

void orr_trace_place(struct orr_process *proc, const struct orr_trace_clock *clock)
{
	core.orr_trace_place(proc, clock);
}

#endif

int orr_output_prepare(const char *variable, const char *path)
{
	return core.orr_output_prepare(variable, path);
}

FILE *orr_output_open(const char *variable, const char *path)
{
	return core.orr_output_open(variable, path);
}

int orr_output_close(FILE *f, const char *variable, const char *path)
{
	return core.orr_output_close(f, variable, path);
}

long orr_config_long(const char *name, long dflt)
{
	return core.orr_config_long(name, dflt);
}

void orr_slab_foreach(struct orr_slab *s, void (*f)(void *obj, void *arg), void *arg)
{
	core.orr_slab_foreach(s, f, arg);
}
