/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The progression engine's thread executes tasks (see engine_work.h).
 *
 * While messages are expected, the thread looks for them STARPU_MPI_DRIVER_CALL_FREQUENCY times,
 * then executes STARPU_MPI_DRIVER_TASK_FREQUENCY tasks in a row; while none are, it executes tasks
 * only.
 *
 * Invariant: the worker is in the list of those that sleep whenever the thread is about to; whoever
 * takes it out sets work_rung before ringing, and the thread clears that before it enters the list.
 */
#include "mpi/carry/engine_work.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "base/config.h"
#include "core/run/lend.h"
#include "mpi/carry/message_trace.h"

static long calls_between(void)
{
	return orr_config_long("STARPU_MPI_DRIVER_CALL_FREQUENCY", 0);
}

/* The lowest number of a CPU worker that the program does not drive itself. */
static unsigned free_cpu(const struct starpu_conf *conf)
{
	for (unsigned cpu = 0;; cpu++) {
		unsigned i = 0;
		while (i < conf->n_not_launched_drivers &&
		       (conf->not_launched_drivers[i].type != STARPU_CPU_WORKER ||
			conf->not_launched_drivers[i].id.cpu_id != cpu))
			i++;
		if (i == conf->n_not_launched_drivers)
			return cpu;
	}
}

int orr_mpi_work_reserve(const struct starpu_conf *conf, struct starpu_conf **reserved,
			 unsigned *cpu)
{
	struct orr_process *proc = orr_self();

	if (calls_between() <= 0)
		return 0;
	if (proc->state == ORR_PROCESS_UP) {
		orr_warn(
			"STARPU_MPI_DRIVER_CALL_FREQUENCY has no effect: the runtime was started before starpu_mpi_init_conf(), so all workers have threads");
		return 0;
	}
	unsigned n = conf ? conf->n_not_launched_drivers : 0;
	struct starpu_conf *own = malloc(sizeof(*own));
	struct starpu_driver *list = calloc(n + 1, sizeof(*list));
	if (!own || !list) {
		orr_error("out of memory for the list of drivers");
		free(own);
		free(list);
		return -ENOMEM;
	}
	if (conf)
		*own = *conf;
	else
		starpu_conf_init(own);
	if (n)
		memcpy(list, own->not_launched_drivers, n * sizeof(*list));
	*cpu = free_cpu(own);
	list[n].type = STARPU_CPU_WORKER;
	list[n].id.cpu_id = *cpu;
	own->not_launched_drivers = list;
	own->n_not_launched_drivers = n + 1;
	*reserved = own;
	return 0;
}

static void rung(struct orr_process *proc)
{
	struct orr_mpi *mpi = ORR_ATOMIC_LOAD(&proc->mpi);

	if (!mpi)
		return;
	ORR_ATOMIC_STORE(&mpi->work.rung, 1);
	ORR_ATOMIC_FENCE();
	orr_waitq_wake(&mpi->rest.bell);
	mpi->transport->wake(proc);
}

void orr_mpi_work_begin(struct orr_mpi *mpi)
{
	long tasks = orr_config_long("STARPU_MPI_DRIVER_TASK_FREQUENCY", 1);

	if (!mpi->work.drivers)
		return;
	mpi->work.calls_between = (unsigned) calls_between();
	mpi->work.tasks_in_row = tasks > 0 ? (unsigned) tasks : 1;
	mpi->work.thread = orr_thread_self();
	mpi->work.group = orr_lend_begin(mpi->proc, mpi->work.cpu, rung);
	if (mpi->work.group)
		orr_sys_mpi_engine_computes(mpi->proc);
	else
		orr_warn(
			"STARPU_MPI_DRIVER_CALL_FREQUENCY has no effect: there is no CPU worker that the progression thread could be");
}

void orr_mpi_work_end(struct orr_mpi *mpi)
{
	if (mpi->work.group)
		orr_lend_end(mpi->work.group);
	mpi->work.group = NULL;
}

static int run_tasks(struct orr_mpi *mpi)
{
	double since_us = orr_mpi_is_timed(mpi) ? orr_mpi_turn_us() : 0;
	int some = orr_lend_run(mpi->work.group, mpi->work.tasks_in_row);

	if (some)
		orr_mpi_trace_turn(mpi, ORR_TURN_TASKS, since_us, 0, 0);
	return some;
}

int orr_mpi_work(struct orr_mpi *mpi, int busy)
{
	if (!mpi->work.group)
		return 0;
	if (busy && ++mpi->work.npolls < mpi->work.calls_between)
		return 1;
	mpi->work.npolls = 0;
	return run_tasks(mpi);
}

int orr_mpi_work_sleeps(struct orr_mpi *mpi)
{
	if (!mpi->work.group)
		return 0;
	ORR_ATOMIC_STORE(&mpi->work.rung, 0);
	orr_lend_sleeps(mpi->work.group);
	if (!run_tasks(mpi))
		return 0;
	orr_lend_wakes(mpi->work.group);
	return 1;
}

void orr_mpi_work_wakes(struct orr_mpi *mpi)
{
	if (mpi->work.group)
		orr_lend_wakes(mpi->work.group);
}
