/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The actor that runs: functions of SimGrid's that tell it, or are told (sim/launcher/member.c).
 * They belong to the executable, as interpose.c explains.
 *
 * Invariant: stated in member.c. */
#include "interpose.h"
#include "simgrid_private.h"

void simgrid_set_current(void *context) __asm__(ORR_SIMGRID_SET_CURRENT);

/* SimGrid calls it for each change of actors, through the loader's table. */
void simgrid_set_current(void *context)
{
	static void (*set)(void *);
	if (!set)
		set = (void (*)(void *)) interpose_simgrid(ORR_SIMGRID_SET_CURRENT);
	set(context);
	orrery_sim_switched(context);
}

/* SMPI finds out by its actor which rank calls it. Kernels, callbacks and threads of a rank are the
 * rank's main actor for it (orrery_sim_member). */

void *simgrid_self(void) __asm__(ORR_SIMGRID_SELF);
sg_actor_t simgrid_actor_self(void) __asm__(ORR_SIMGRID_ACTOR_SELF);
long simgrid_get_pid(void) __asm__(ORR_SIMGRID_GET_PID);
sg_host_t simgrid_host_self(void) __asm__(ORR_SIMGRID_HOST_SELF);

void *simgrid_self(void)
{
	static void *(*own)(void);
	if (!own)
		own = (void *(*) (void) ) interpose_simgrid(ORR_SIMGRID_SELF);
	if (orrery_sim_asked || !interpose_main_thread)
		orrery_sim_who();
	return own();
}

sg_actor_t simgrid_actor_self(void)
{
	static sg_actor_t (*own)(void);
	struct orr_sim_member m;
	if (!own)
		own = (sg_actor_t(*)(void)) interpose_simgrid(ORR_SIMGRID_ACTOR_SELF);
	return orrery_sim_member(ORR_SIM_ASKS_ACTOR, &m) ? m.actor : own();
}

long simgrid_get_pid(void)
{
	static long (*own)(void);
	struct orr_sim_member m;
	if (!own)
		own = (long (*)(void)) interpose_simgrid(ORR_SIMGRID_GET_PID);
	return orrery_sim_member(ORR_SIM_ASKS_PID, &m) ? m.pid : own();
}

sg_host_t simgrid_host_self(void)
{
	static sg_host_t (*own)(void);
	struct orr_sim_member m;
	if (!own)
		own = (sg_host_t(*)(void)) interpose_simgrid(ORR_SIMGRID_HOST_SELF);
	return orrery_sim_member(ORR_SIM_ASKS_HOST, &m) ? m.host : own();
}
