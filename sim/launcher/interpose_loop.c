/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Our part in SimGrid's main loop (sim/sys/sim_turns.h) and in its messages (early.cpp):
 * functions that the library calls through the loader's table, which belong to the executable, as
 * interpose.c explains.
 *
 * Invariant: SimGrid's own end of a round is always called; its own search for the next event is
 * left out while an event of ours comes first. */
#include "interpose.h"
#include "simgrid_private.h"

double simgrid_solve(const void *engine, double max_s) __asm__(ORR_SIMGRID_SOLVE);
void simgrid_end_actions(const void *engine) __asm__(ORR_SIMGRID_END_ACTIONS);
/* The result is an object of C++, whose address comes as if it were the first argument. */
#ifndef __x86_64__
#error "find out how this processor's functions return objects of C++ (doc/leaning.md)"
#endif
void *simgrid_isend(void *result, void *message) __asm__(ORR_SIMGRID_ISEND);
void simgrid_add_event(void *set, double date_s, void *event) __asm__(ORR_SIMGRID_ADD_EVENT);

double simgrid_solve(const void *engine, double max_s)
{
	static double (*own)(const void *, double);
	if (!own)
		own = (double (*)(const void *, double)) interpose_simgrid(ORR_SIMGRID_SOLVE);
	return orrery_sim_advance(engine, max_s, own);
}

void simgrid_end_actions(const void *engine)
{
	static void (*own)(const void *);
	if (!own)
		own = (void (*)(const void *)) interpose_simgrid(ORR_SIMGRID_END_ACTIONS);
	own(engine);
	orrery_sim_round_ended();
}

void *simgrid_isend(void *result, void *message)
{
	static void *(*own)(void *, void *);
	if (!own)
		own = (void *(*) (void *, void *) ) interpose_simgrid(ORR_SIMGRID_ISEND);
	return orrery_sim_isend(result, message, own);
}

void simgrid_add_event(void *set, double date_s, void *event)
{
	static void (*own)(void *, double, void *);
	if (!own)
		own = (void (*)(void *, double, void *)) interpose_simgrid(ORR_SIMGRID_ADD_EVENT);
	orrery_sim_profiles(set);
	own(set, date_s, event);
}
