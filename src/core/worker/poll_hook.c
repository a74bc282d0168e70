/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Workers lend their threads to a component that has none of its own (see poll_hook.h). */
#include "core/worker/poll_hook.h"

void orr_poll_hook_run(struct orr_process *proc, int idle)
{
	void (*func)(struct orr_process *, int);

	orr_assert_no_lock();
	ORR_ATOMIC_ADD(&proc->core->npolling, 1);
	func = ORR_ATOMIC_LOAD(&proc->core->poll_hook);
	if (func)
		func(proc, idle);
	orr_assert(ORR_ATOMIC_LOAD(&proc->core->npolling) > 0);
	ORR_ATOMIC_ADD(&proc->core->npolling, -1);
}

void orr_poll_hook_set(struct orr_process *proc, void (*func)(struct orr_process *, int idle))
{
	ORR_ATOMIC_STORE(&proc->core->poll_hook, func);
	ORR_ATOMIC_FENCE();
	while (!func && ORR_ATOMIC_LOAD(&proc->core->npolling))
		orr_sys_sleep_us(1);
}
