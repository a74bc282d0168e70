/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions of liborrery-sim that the executable orrery-sim-launcher calls, as a table.
 *
 * The executable is not linked with the library, but loads it for itself. The libraries that a
 * linked program needs are found before all that is loaded later: SimGrid's (ns-3, GSL with its
 * BLAS, SQLite, Boost), hwloc and OpenCL would take the place of the program's own. So nothing is
 * in front of a program but what the executable defines (interpose.c) and the C library.
 *
 * Invariant: the library fills every entry (calls.c); sources of the executable call nothing else
 * of the library. */
#ifndef ORR_LAUNCHER_TABLE_H
#define ORR_LAUNCHER_TABLE_H

#include <smpi/smpi.h>
#include "calls.h"
#include "simgrid_names.h"
#include "actors/sim_glue.h"
#include "actors/sim_own.h"
#include "actors/sim_stacks.h"
#include "actors/sim_turns.h"

#define ORR_SIM_CALLS(CALL) \
	ORR_SIM_CALLS_FOR_SIMGRID(CALL) \
	CALL(orrery_sim_abort) \
	CALL(orrery_sim_alarm) \
	CALL(orrery_sim_alarm_left) \
	CALL(orrery_sim_asked) \
	CALL(orrery_sim_chdir) \
	CALL(orrery_sim_clock_gettime) \
	CALL(orrery_sim_command_line) \
	CALL(orrery_sim_default_signal) \
	CALL(orrery_sim_tell_handled) \
	CALL(orrery_sim_exit) \
	CALL(orrery_sim_exit_now) \
	CALL(orrery_sim_gettimeofday) \
	CALL(orrery_sim_handled) \
	CALL(orrery_sim_in_rank) \
	CALL(orrery_sim_init) \
	CALL(orrery_sim_is_main) \
	CALL(orrery_sim_is_simulator) \
	CALL(orrery_sim_main) \
	CALL(orrery_sim_member) \
	CALL(orrery_sim_my_rank) \
	CALL(orrery_sim_now_us) \
	CALL(orrery_sim_own) \
	CALL(orrery_sim_polled) \
	CALL(orrery_sim_program) \
	CALL(orrery_sim_quick_exit) \
	CALL(orrery_sim_rank_of_pid) \
	CALL(orrery_sim_sent) \
	CALL(orrery_sim_setlocale) \
	CALL(orrery_sim_signal_came) \
	CALL(orrery_sim_signal_handled) \
	CALL(orrery_sim_signal_send) \
	CALL(orrery_sim_signal_wait) \
	CALL(orrery_sim_stack) \
	CALL(orrery_sim_switched) \
	CALL(orrery_sim_time) \
	CALL(orrery_sim_too_large) \
	CALL(orrery_sim_umask) \
	CALL(orrery_sim_who) \
	CALL(PMPI_Iprobe) \
	CALL(PMPI_Test) \
	CALL(PMPI_Testall) \
	CALL(PMPI_Testany) \
	CALL(PMPI_Testsome)

#define ORR_SIM_CALL_MEMBER(name) __typeof__(&(name)) name##_;
struct orr_sim_calls {
	ORR_SIM_CALLS(ORR_SIM_CALL_MEMBER)
};

#pragma GCC visibility push(default)
extern const struct orr_sim_calls orrery_sim_calls;
#pragma GCC visibility pop

#endif
