/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The account of a process's work (see work.h). */
#include "core/front/work.h"

#include "base/about.h"
#include "core/worker/core.h"
#include "core/task/task_count.h"

void orr_work_tell(struct orr_process *proc)
{
	struct orr_run_work w = { 0 };

	if (proc->state != ORR_PROCESS_UP)
		return;
	w.tasks = orr_task_ncompleted(proc);
	w.nworkers = proc->core->nworkers;
	w.timed = ORR_ATOMIC_LOAD_RELAXED(&proc->cfg->profiling) != 0;
	if (w.timed)
		orrery_worker_times(-1, &w.times);
	w.joules = starpu_energy_used();
	orr_sys_run_work(proc, &w);
}
