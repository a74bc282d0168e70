/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Start and stop of the runtime in a process.
 *
 * Invariant: starpu_init either leaves everything running or nothing at all; calls nest, the last
 * starpu_shutdown stops. One thread at a time starts or stops the runtime: the one that changed
 * proc->state, or set proc->closing, under proc->lock. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/config.h"
#include "core/front/knob.h"
#include "core/front/statistics.h"
#include "core/worker/wake.h"
#include "core/front/work.h"
#include "core/worker/worker.h"
#include "data/data.h"
#include "data/prefetch.h"
#include "drivers/slave.h"
#include "start/shared_conf.h"
#include "start/stages.h"

/* A thread looks again at this interval while another one starts or stops the runtime. */
#define POLL_US 100

/* Of all simulated ranks: they start with the same environment. */
int _starpu_silent;

int starpu_conf_init(struct starpu_conf *conf)
{
	if (!conf)
		return -EINVAL;
	memset(conf, 0, sizeof(*conf));
	conf->magic = ORRERY_CONF_MAGIC;
	conf->ncpus = conf->ncuda = conf->nopencl = conf->nmpi_ms = conf->ntcpip_ms = -1;
	conf->reserve_ncpus = -1;
	conf->calibrate = conf->bus_calibrate = -1;
	conf->catch_signals = 1;
	conf->global_sched_ctx_min_priority = conf->global_sched_ctx_max_priority = INT_MIN;
	conf->driver_spinning_backoff_min = 1;
	conf->driver_spinning_backoff_max = 32;
	return 0;
}

int starpu_conf_noworker(struct starpu_conf *conf)
{
	if (!conf || conf->magic != ORRERY_CONF_MAGIC) {
		int ret = starpu_conf_init(conf);

		if (ret)
			return ret;
	}
	conf->ncpus = conf->ncuda = conf->nopencl = conf->nmpi_ms = conf->ntcpip_ms = 0;
	return 0;
}

static int check_conf(const struct starpu_conf *conf)
{
	if (conf->magic == ORRERY_CONF_MAGIC)
		return 0;
	orr_error("starpu_init: the configuration was not set up with starpu_conf_init");
	return -EINVAL;
}

/* Makes the calling thread the one that starts the runtime, and returns 1; or counts its call in,
 * and returns 0, because the runtime is up. [waits] while another thread starts or stops it. */
static int begin_start(struct orr_process *proc)
{
	for (;;) {
		orr_lock(&proc->lock);
		enum orr_process_state state = proc->state;
		if (state == ORR_PROCESS_UP)
			proc->init_count++;
		else if (state == ORR_PROCESS_DOWN)
			ORR_ATOMIC_STORE(&proc->state, ORR_PROCESS_STARTING);
		orr_unlock(&proc->lock);
		if (state == ORR_PROCESS_UP || state == ORR_PROCESS_DOWN)
			return state == ORR_PROCESS_DOWN;
		orr_sys_sleep_us(POLL_US);
	}
}

/* Does the program choose devices other than the first ones? */
static int names_other_devices(const struct orr_process *proc)
{
	const struct starpu_conf *c = proc->conf;
	unsigned ncuda = c->use_explicit_workers_cuda_gpuid ? starpu_cuda_worker_get_count() : 0,
		 nopencl = c->use_explicit_workers_opencl_gpuid ? starpu_opencl_worker_get_count()
								: 0;

	for (unsigned i = 0; i < ncuda && !proc->cuda; i++)
		if (c->workers_cuda_gpuid[i] != i)
			return 1;
	for (unsigned i = 0; i < nopencl && !proc->opencl; i++)
		if (c->workers_opencl_gpuid[i] != i)
			return 1;
	return 0;
}

/* Messages that the program may want to see at its start. */
static void say_hello(struct orr_process *proc)
{
	if (orr_worker_main_unit(proc) >= 0)
		starpu_bind_thread_on(orr_worker_main_unit(proc), STARPU_THREAD_ACTIVE, "main");
	if (proc->cfg->bus_calibrate || proc->conf->bus_calibrate > 0)
		orr_info(
			"programs measure no buses: run `orrery calibrate' for that, and unset STARPU_BUS_CALIBRATE");
	if (names_other_devices(proc))
		orr_warn(
			"workers_cuda_gpuid and workers_opencl_gpuid of struct starpu_conf have no effect on fake and simulated devices: they are taken in their order");
	if (proc->cfg->display_bindings)
		starpu_display_bindings();
}

/* The master has stopped, and the slave's program has nothing else to do. */
static void end_slave(struct orr_process *proc)
{
	(void) proc;
	starpu_shutdown();
	exit(0);
}

int starpu_init(struct starpu_conf *conf)
{
	struct orr_process *proc = orr_self();
	int ret = 0;

	if (!begin_start(proc))
		return 0;
	if (conf)
		ret = check_conf(conf);
	if (!ret && (ret = orr_conf_begin(proc, conf)))
		orr_error("starpu_init: not enough memory (configuration)");
	if (!ret)
		ret = orr_stages_enter(proc, orr_stages, orr_nstages);
	orr_lock(&proc->lock);
	proc->init_count = !ret;
	ORR_ATOMIC_STORE(&proc->state, ret ? ORR_PROCESS_DOWN : ORR_PROCESS_UP);
	orr_unlock(&proc->lock);
	if (ret)
		return ret;
	_starpu_silent = proc->cfg->silent;
	orr_sys_catch_signals(
		proc, orr_config_long("STARPU_CATCH_SIGNALS", proc->conf->catch_signals) != 0);
	say_hello(proc);
	if (orr_slaves_serve(proc))
		end_slave(proc);
	return 0;
}

int starpu_initialize(struct starpu_conf *user_conf, int *argc, char ***argv)
{
	(void) argc;
	(void) argv;
	return starpu_init(user_conf);
}

/* Work that nobody waits for: reductions and ends of data whose unregistration was submitted,
 * prefetches, which are not begun any more. */
static int is_quiet(struct orr_process *proc)
{
	orr_prefetch_cancel_all(proc);
	return ORR_ATOMIC_LOAD(&proc->data->nbackground) == 0;
}

/* Warn after so many microseconds: shutdown may be waiting for data that the program still holds.
 */
#define TELL_AFTER_US 5e6

static void wait_quiet(struct orr_process *proc)
{
	double limit = TELL_AFTER_US;

	while (!is_quiet(proc)) {
		unsigned key = orr_waitq_prepare(&proc->done);

		if (is_quiet(proc)) {
			orr_waitq_cancel(&proc->done);
		} else if (orr_waitq_wait(&proc->done, key, limit)) {
			orr_warn(
				"starpu_shutdown waits for data given to starpu_data_unregister_submit, or on their way: release what is acquired");
			limit = -1;
		}
	}
}

/* Takes back one call of starpu_init. Returns how many are left, -1 if there was none. */
static int leave_call(struct orr_process *proc)
{
	int left = -1;

	orr_lock(&proc->lock);
	if (proc->state == ORR_PROCESS_UP && proc->init_count)
		left = (int) --proc->init_count;
	orr_unlock(&proc->lock);
	return left;
}

/* Makes the calling thread the one that stops the runtime, and returns 1; or returns 0, since the
 * runtime is needed again, or another thread has stopped it. [waits] while another thread tries. */
static int begin_close(struct orr_process *proc)
{
	for (;;) {
		orr_lock(&proc->lock);
		int busy = proc->closing || proc->state == ORR_PROCESS_STOPPING;
		int mine = !busy && proc->state == ORR_PROCESS_UP && !proc->init_count;
		if (mine)
			proc->closing = 1;
		orr_unlock(&proc->lock);
		if (!busy)
			return mine;
		orr_sys_sleep_us(POLL_US);
	}
}

/* Returns 0 if another thread has called starpu_init meanwhile: the runtime stays up for it. */
static int begin_stop(struct orr_process *proc)
{
	orr_lock(&proc->lock);
	int stops = !proc->init_count;
	orr_assert(proc->closing && proc->state == ORR_PROCESS_UP);
	if (stops)
		ORR_ATOMIC_STORE(&proc->state, ORR_PROCESS_STOPPING);
	proc->closing = 0;
	orr_unlock(&proc->lock);
	return stops;
}

void starpu_shutdown(void)
{
	struct orr_process *proc = orr_self();

	int count = leave_call(proc);
	if (count < 0)
		orr_error("starpu_shutdown without starpu_init");
	if (count || !begin_close(proc))
		return;
	while (starpu_is_paused())
		starpu_resume();
	orr_knob_enable_all(proc);
	starpu_sched_ctx_set_context(NULL);
	starpu_task_wait_for_all();
	wait_quiet(proc);
	ORR_ATOMIC_STORE_RELAXED(&proc->quiet_ns, (int64_t) (orr_sys_now_us() * 1e3));
	starpu_display_stats();
	orr_statistics_write(proc);
	orr_work_tell(proc);
	if (!begin_stop(proc)) {
		ORR_ATOMIC_STORE_RELAXED(&proc->quiet_ns, 0);
		return;
	}
	orr_sys_catch_signals(proc, 0);
	orr_stages_leave(proc, orr_stages, orr_nstages);
	ORR_ATOMIC_STORE(&proc->state, ORR_PROCESS_DOWN);
}

int starpu_is_initialized(void)
{
	return ORR_ATOMIC_LOAD(&orr_self()->state) == ORR_PROCESS_UP;
}

void starpu_wait_initialized(void)
{
	while (ORR_ATOMIC_LOAD(&orr_self()->state) != ORR_PROCESS_UP)
		orr_sys_sleep_us(POLL_US);
}

void starpu_pause(void)
{
	ORR_ATOMIC_ADD(&orr_self()->core->paused, 1);
}

void starpu_resume(void)
{
	struct orr_process *proc = orr_self();

	if (ORR_ATOMIC_LOAD(&proc->core->paused) && ORR_ATOMIC_ADD(&proc->core->paused, -1) == 0)
		orr_wake_all(proc);
}

int starpu_is_paused(void)
{
	return ORR_ATOMIC_LOAD(&orr_self()->core->paused) != 0;
}
