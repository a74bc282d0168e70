/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Declarations that the sources of the executable orrery-sim-launcher share (interpose.c): the
 * functions of liborrery-sim, which it loads, by their usual names, and those of the C library.
 *
 * Invariant: until the library is loaded, functions do what they do in any process. */
#ifndef ORR_LAUNCHER_INTERPOSE_H
#define ORR_LAUNCHER_INTERPOSE_H

#include <dlfcn.h>
#include <stdlib.h>
#include "table.h"
#include "actors/sim_own.h"

/* The C library's function of that name. */
#define REAL(name) ((__typeof__(&(name))) interpose_real(#name))

static inline void *interpose_real(const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);
	if (!f)
		abort();
	return f;
}

/* The library's functions: the table, and the library as dlopen() names it. */
extern const struct orr_sim_calls *interpose_calls __attribute__((visibility("hidden")));
extern void *interpose_library __attribute__((visibility("hidden")));
/* True in the thread that runs main(), and all actors. */
extern __thread int interpose_main_thread __attribute__((visibility("hidden")));

/* SimGrid's function of that name. */
static inline void *interpose_simgrid(const char *name)
{
	void *f = interpose_library ? dlsym(interpose_library, name) : NULL;
	if (!f)
		abort();
	return f;
}

/* SMPI's function or constant of that name, for what is called in its place. */
static inline void *interpose_smpi(const char *name)
{
	void *f = dlsym(ORR_SIMGRID_MPI_AT, name);
	return f ? f : interpose_simgrid(name);
}

#define orrery_sim_abort (*interpose_calls->orrery_sim_abort_)
#define orrery_sim_access (*interpose_calls->orrery_sim_access_)
#define orrery_sim_advance (*interpose_calls->orrery_sim_advance_)
#define orrery_sim_alarm (*interpose_calls->orrery_sim_alarm_)
#define orrery_sim_alarm_left (*interpose_calls->orrery_sim_alarm_left_)
#define orrery_sim_asked (*interpose_calls->orrery_sim_asked_)
#define orrery_sim_chdir (*interpose_calls->orrery_sim_chdir_)
#define orrery_sim_clock_gettime (*interpose_calls->orrery_sim_clock_gettime_)
#define orrery_sim_comm_end (*interpose_calls->orrery_sim_comm_end_)
#define orrery_sim_comm_start (*interpose_calls->orrery_sim_comm_start_)
#define orrery_sim_command_line (*interpose_calls->orrery_sim_command_line_)
#define orrery_sim_tell_handled (*interpose_calls->orrery_sim_tell_handled_)
#define orrery_sim_default_signal (*interpose_calls->orrery_sim_default_signal_)
#define orrery_sim_exit (*interpose_calls->orrery_sim_exit_)
#define orrery_sim_exit_now (*interpose_calls->orrery_sim_exit_now_)
#define orrery_sim_gettimeofday (*interpose_calls->orrery_sim_gettimeofday_)
#define orrery_sim_handled (*interpose_calls->orrery_sim_handled_)
#define orrery_sim_in_rank (*interpose_calls->orrery_sim_in_rank_)
#define orrery_sim_init (*interpose_calls->orrery_sim_init_)
#define orrery_sim_flat_firsts (*interpose_calls->orrery_sim_flat_firsts_)
#define orrery_sim_flat_node (*interpose_calls->orrery_sim_flat_node_)
#define orrery_sim_flat_nodes (*interpose_calls->orrery_sim_flat_nodes_)
#define orrery_sim_is_single (*interpose_calls->orrery_sim_is_single_)
#define orrery_sim_isend (*interpose_calls->orrery_sim_isend_)
#define orrery_sim_is_main (*interpose_calls->orrery_sim_is_main_)
#define orrery_sim_is_simulator (*interpose_calls->orrery_sim_is_simulator_)
#define orrery_sim_main (*interpose_calls->orrery_sim_main_)
#define orrery_sim_member (*interpose_calls->orrery_sim_member_)
#define orrery_sim_my_rank (*interpose_calls->orrery_sim_my_rank_)
#define orrery_sim_now_us (*interpose_calls->orrery_sim_now_us_)
#define orrery_sim_own (*interpose_calls->orrery_sim_own_)
#define orrery_sim_polled (*interpose_calls->orrery_sim_polled_)
#define orrery_sim_profiles (*interpose_calls->orrery_sim_profiles_)
#define orrery_sim_program (*interpose_calls->orrery_sim_program_)
#define orrery_sim_quick_exit (*interpose_calls->orrery_sim_quick_exit_)
#define orrery_sim_rank_of_pid (*interpose_calls->orrery_sim_rank_of_pid_)
#define orrery_sim_round_ended (*interpose_calls->orrery_sim_round_ended_)
#define orrery_sim_sent (*interpose_calls->orrery_sim_sent_)
#define orrery_sim_setlocale (*interpose_calls->orrery_sim_setlocale_)
#define orrery_sim_signal_came (*interpose_calls->orrery_sim_signal_came_)
#define orrery_sim_signal_handled (*interpose_calls->orrery_sim_signal_handled_)
#define orrery_sim_signal_send (*interpose_calls->orrery_sim_signal_send_)
#define orrery_sim_signal_wait (*interpose_calls->orrery_sim_signal_wait_)
#define orrery_sim_stack (*interpose_calls->orrery_sim_stack_)
#define orrery_sim_switched (*interpose_calls->orrery_sim_switched_)
#define orrery_sim_time (*interpose_calls->orrery_sim_time_)
#define orrery_sim_too_large (*interpose_calls->orrery_sim_too_large_)
#define orrery_sim_umask (*interpose_calls->orrery_sim_umask_)
#define orrery_sim_who (*interpose_calls->orrery_sim_who_)
#define PMPI_Iprobe (*interpose_calls->PMPI_Iprobe_)
#define PMPI_Test (*interpose_calls->PMPI_Test_)
#define PMPI_Testall (*interpose_calls->PMPI_Testall_)
#define PMPI_Testany (*interpose_calls->PMPI_Testany_)
#define PMPI_Testsome (*interpose_calls->PMPI_Testsome_)

#endif
