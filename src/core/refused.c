/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls of the interface that are declared and refuse, with a message that names what to do
 * instead. tests/headers/interface.py finds them here for the table in doc/interface.md.
 *
 * Invariant: no function of this file succeeds. */
#include "starpu.h"

#include <errno.h>

#include "base/log.h"

static int refuse(const char *function, const char *instead)
{
	orr_error("%s is not supported: %s", function, instead);
	return -ENOSYS;
}

/* ---- contexts ---- */

void starpu_sched_ctx_stop_task_submission(void)
{
	refuse(__func__, "call starpu_sched_ctx_finished_submit for the context");
}

void starpu_sched_ctx_set_priority(int *workers, int nworkers, unsigned sched_ctx_id,
				   unsigned priority)
{
	(void) workers;
	(void) nworkers;
	(void) sched_ctx_id;
	(void) priority;
	refuse(__func__, "a worker looks at its contexts in turn; give tasks priorities instead");
}

int starpu_sched_ctx_book_workers_for_task(unsigned sched_ctx_id, int *workerids, int nworkers)
{
	(void) sched_ctx_id;
	(void) workerids;
	(void) nworkers;
	return refuse(__func__, "submit the task to a combined worker, or to a context of its own");
}

void starpu_sched_ctx_unbook_workers_for_task(unsigned sched_ctx_id, int master)
{
	(void) sched_ctx_id;
	(void) master;
	refuse(__func__, "nothing can be booked");
}

void starpu_sched_ctx_revert_task_counters_ctx_locked(unsigned sched_ctx_id, double flops)
{
	(void) sched_ctx_id;
	(void) flops;
	refuse(__func__, "the runtime counts tasks of contexts itself");
}

void starpu_sched_ctx_move_task_to_ctx_locked(struct starpu_task *task, unsigned sched_ctx,
					      unsigned with_repush)
{
	(void) task;
	(void) sched_ctx;
	(void) with_repush;
	refuse(__func__, "choose the context when the task is submitted");
}

/* ---- workers and tasks ---- */

void starpu_worker_get_current_task_exp_end(unsigned workerid, struct timespec *date)
{
	(void) workerid;
	if (date)
		date->tv_sec = date->tv_nsec = 0;
	refuse(__func__, "ask starpu_task_expected_length for the length of a task");
}

void starpu_parallel_task_barrier_init(struct starpu_task *task, int workerid)
{
	(void) task;
	(void) workerid;
	refuse(__func__,
	       "give a parallel task to its combined worker; the runtime joins its members");
}

void starpu_parallel_task_barrier_init_n(struct starpu_task *task, int worker_size)
{
	(void) task;
	(void) worker_size;
	refuse(__func__,
	       "give a parallel task to its combined worker; the runtime joins its members");
}

void starpu_task_notify_ready_soon_register(starpu_notify_ready_soon_func f, void *data)
{
	(void) f;
	(void) data;
	refuse(__func__, "ends of tasks are not predicted for that; use push_task of a policy");
}

/* ---- models ---- */

static const char tool[] = "`orrery perfmodel' prints models";

void starpu_perfmodel_print(struct starpu_perfmodel *model, struct starpu_perfmodel_arch *arch,
			    unsigned nimpl, char *parameter, uint32_t *footprint, FILE *output)
{
	(void) model;
	(void) arch;
	(void) nimpl;
	(void) parameter;
	(void) footprint;
	(void) output;
	refuse(__func__, tool);
}

int starpu_perfmodel_print_all(struct starpu_perfmodel *model, char *arch, char *parameter,
			       uint32_t *footprint, FILE *output)
{
	(void) model;
	(void) arch;
	(void) parameter;
	(void) footprint;
	(void) output;
	return refuse(__func__, tool);
}

int starpu_perfmodel_print_estimations(struct starpu_perfmodel *model, uint32_t footprint,
				       FILE *output)
{
	(void) model;
	(void) footprint;
	(void) output;
	return refuse(__func__, tool);
}

int starpu_perfmodel_list_combs(FILE *output, struct starpu_perfmodel *model)
{
	(void) output;
	(void) model;
	return refuse(__func__, tool);
}

/* ---- traces of StarPU ---- */

static const char trace[] = "set ORRERY_TRACE for a trace";

void starpu_fxt_options_init(struct starpu_fxt_options *options)
{
	(void) options;
	refuse(__func__, trace);
}

void starpu_fxt_options_shutdown(struct starpu_fxt_options *options)
{
	(void) options;
	refuse(__func__, trace);
}

void starpu_fxt_generate_trace(struct starpu_fxt_options *options)
{
	(void) options;
	refuse(__func__, trace);
}

void starpu_fxt_write_data_trace(char *filename_in)
{
	(void) filename_in;
	refuse(__func__, trace);
}

void starpu_fxt_write_data_trace_in_dir(char *filename_in, char *dir)
{
	(void) filename_in;
	(void) dir;
	refuse(__func__, trace);
}
