/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The addresses behind MPI_COMM_WORLD and its relatives in programs (sim/include/mpi.h). Each
 * symbol is an indirect one: when the loader meets it in a copy of the program, it calls the
 * resolver here and stores the result, which is the address of SMPI's object.
 *
 * Invariant: a copy is loaded by the main actor of its rank, after launcher_world_find(). In a
 * program that is started by itself (alone.c), SimGrid is not initialised and not called. */
#include <stdint.h>
#include <smpi/smpi.h>
#include "actors/sim_actor.h"
#include "actors/sim_rank.h"

typedef void handle_symbol(void);

/* The dynamic linker calls them while it loads a program, by names that some compilers do not see.
 */
#define RESOLVER __attribute__((used, no_sanitize("address", "undefined"))) static handle_symbol *

RESOLVER resolve_world(void)
{
	struct orr_sim_actor *a = MPI_COMM_WORLD ? orr_sim_actor_self() : NULL;
	if (a && a->rank->world) /* of a process that was added to the run */
		return (handle_symbol *) a->rank->world;
	return (handle_symbol *) (uintptr_t) MPI_COMM_WORLD;
}
RESOLVER resolve_self(void)
{
	return (handle_symbol *) (uintptr_t) (MPI_COMM_WORLD ? MPI_COMM_SELF : NULL);
}
RESOLVER resolve_env(void)
{
	return (handle_symbol *) (uintptr_t) (MPI_COMM_WORLD ? MPI_INFO_ENV : NULL);
}

#pragma GCC visibility push(default)
handle_symbol orrery_sim_comm_world __attribute__((ifunc("resolve_world")));
handle_symbol orrery_sim_comm_self __attribute__((ifunc("resolve_self")));
handle_symbol orrery_sim_info_env __attribute__((ifunc("resolve_env")));
#pragma GCC visibility pop
