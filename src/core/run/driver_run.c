/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Workers that the program drives with a thread of its own (starpu_conf.not_launched_drivers).
 *
 * Invariant: only the worker of a group without a thread can be driven; the group's state machine
 * does not know who steps it. */
#include "core/worker/device.h"
#include "core/worker/worker.h"
#include "base/log.h"
#include "core/worker/core.h"
#include "core/run/group.h"
#include "core/worker/wake.h"

#include <errno.h>

/* Finds the worker that a description means. Returns 0 or -errno. */
static int find(const struct starpu_driver *d, struct orr_worker **out)
{
	struct orr_process *proc = orr_self();
	unsigned id;

	if (!d || !starpu_worker_archtype_is_valid(d->type))
		return -EINVAL;
	if (d->type == STARPU_CPU_WORKER)
		id = d->id.cpu_id;
	else if (d->type == STARPU_CUDA_WORKER)
		id = d->id.cuda_id;
	else
		return -EINVAL;
	for (unsigned i = 0; i < proc->core->nworkers; i++) {
		struct orr_worker *w = &proc->core->workers[i];

		if (w->arch != d->type || w->devid != (int) id)
			continue;
		if (w->group->thread) {
			orr_error(
				"%s has a thread already: name it in starpu_conf.not_launched_drivers to drive it yourself",
				w->name);
			return -ENODEV;
		}
		orr_assert(w->id == i && w->group->first <= i &&
			   i < w->group->first + w->group->nworkers);
		*out = w;
		return 0;
	}
	return -ENODEV;
}

void starpu_drivers_preinit(void) {}

int starpu_driver_init(struct starpu_driver *d)
{
	struct orr_worker *w;
	int ret = find(d, &w);

	return ret ? ret : w->driver->init(w);
}

int starpu_driver_run_once(struct starpu_driver *d)
{
	struct orr_worker *w;
	double next_us;
	int ret = find(d, &w);

	if (ret)
		return ret;
	int advanced = orr_group_step(w->group, &next_us);
	if (next_us >= 0) {
		/* In a simulated run a kernel has begun: the caller is busy until its end. */
		orr_sys_polled(next_us);
		orr_group_step(w->group, &next_us);
	} else if (!advanced) {
		orr_sys_polled(-1);
	}
	return 0;
}

int starpu_driver_deinit(struct starpu_driver *d)
{
	struct orr_worker *w;
	int ret = find(d, &w);

	if (ret == 0)
		w->driver->deinit(w);
	return ret;
}

int starpu_driver_run(struct starpu_driver *d)
{
	struct orr_worker *w;
	int ret = find(d, &w);

	if (ret == 0)
		orr_group_main(w->group);
	return ret;
}

void starpu_drivers_request_termination(void)
{
	struct orr_process *proc = orr_self();

	ORR_ATOMIC_STORE(&proc->core->stopping, 1);
	orr_wake_all(proc);
}
