// SPDX-License-Identifier: LGPL-2.1-or-later
// The world of an instance of SMPI before its ranks have called MPI_Init().
//
// Invariant: set once, before the first program is loaded.
#include "glue.h"
#include <smpi/smpi.h>
#include <simgrid/s4u.hpp>
#include "actors/sim_glue.h"
#include "guard.h"
#include "simgrid_private.h"

namespace s4u = simgrid::s4u;

static bool world_found;

// SMPI tells the world of an instance to actors that take part in it, and one cannot take part
// twice. So an actor that does nothing else takes the place of rank 0, until that calls MPI_Init().
void launcher_world_find(const char *instance)
{
	s4u::ActorPtr actor = s4u::Actor::init("world", launcher_host(0));
	actor->set_property("instance_id", instance);
	actor->set_property("rank", "0");
	actor->start([] {
		simgrid::smpi::ActorExt::init();
		MPI_COMM_WORLD = orr_sim_glue_world();
		world_found = true;
		launcher_guard_round(MPI_COMM_WORLD);
	});
}

// The search takes SimGrid's first round in 3.32 and some more in 4.0.
void launcher_world_await(void)
{
	enum { MANY = 100 };
	for (int rounds = 0; !world_found; rounds++) {
		if (rounds == MANY)
			launcher_fail(
				"this SimGrid tells no process of an MPI instance its world in %d "
				"rounds; install SimGrid " ORR_SIMGRID_KNOWN " as Debian builds it",
				MANY);
		s4u::this_actor::yield();
	}
}
