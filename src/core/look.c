/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Workers lend their threads to a component that has none of its own (see look.h). */
#include "core/look.h"

void orr_look_call(struct orr_process *proc, int idle)
{
	void (*func)(struct orr_process *, int);

	ORR_ATOMIC_ADD(&proc->core->nlooking, 1);
	func = ORR_ATOMIC_LOAD(&proc->core->look);
	if (func)
		func(proc, idle);
	ORR_ATOMIC_ADD(&proc->core->nlooking, -1);
}

void orr_look_set(struct orr_process *proc, void (*func)(struct orr_process *, int idle))
{
	ORR_ATOMIC_STORE(&proc->core->look, func);
	ORR_ATOMIC_FENCE();
	while (!func && ORR_ATOMIC_LOAD(&proc->core->nlooking))
		orr_sys_sleep_us(1);
}
