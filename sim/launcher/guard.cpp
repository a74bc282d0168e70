// SPDX-License-Identifier: LGPL-2.1-or-later
// The launcher's test of the SimGrid that it meets. What a link cannot show is tried here: that
// SimGrid calls the functions that we interpose, that sizes fit, that our variables are its own.
//
// Each failed test ends the run with a message that names the cause. Without it, blocked actors
// would wait for ever, or ranks would share what each has of its own.
//
// Invariant: a run that ends with status 0 has passed all tests.
#include "guard.h"
#include <cstring>
#include <malloc.h>
#include <simgrid/s4u.hpp>
#include <simgrid/forward.h>
#include <simgrid/version.h>
#include <xbt/config.hpp>
#include "glue.h"
#include "actors/sim_glue.h"
#include "actors/sim_guard.h"
#include "simgrid_private.h"

namespace s4u = simgrid::s4u;

static void interposed(bool called, const char *name)
{
	if (!called)
		launcher_fail(
			"this SimGrid never calls our %s: it was linked so that its own "
			"functions are found first (-Bsymbolic-functions, -Bsymbolic); install "
			"Debian's libsimgrid or link SimGrid without that option",
			name);
}

void launcher_guard_interface(void) {}

void launcher_guard_clock(void)
{
	const double before = orr_sim_clock_s();
	orr_sim_glue_clock_set(before + 1);
	const bool same = s4u::Engine::get_clock() == before + 1;
	orr_sim_glue_clock_set(before);
	if (!same)
		launcher_fail("this SimGrid keeps its time elsewhere than in EngineImpl::now_; "
			      "install SimGrid " ORR_SIMGRID_KNOWN " as Debian builds it");
	launcher_early_test();
	interposed(orr_sim_called.isend, "CommImpl::isend()");
	interposed(orr_sim_called.comm_start, "CommImpl::start()");
	s4u::Engine::on_time_advance_cb(
		[](double) { interposed(orr_sim_called.solve, "EngineImpl::solve()"); });
}

// Settings by an actor go by a function that we take the place of, in the releases that have it.
static void guard_access()
{
	const auto links = s4u::Engine::get_instance()->get_all_links();
	if (!ORR_SIMGRID_HAS_ACCESS || links.empty())
		return;
	links[0]->set_latency(links[0]->get_latency());
	interposed(orr_sim_called.access, "simcall_run_object_access()");
}

void launcher_guard_round(SMPI_Comm *world)
{
	interposed(orr_sim_called.set_current, "Context::set_current()");
	sg_actor_self();
	interposed(orr_sim_called.context_self, "Context::self()");
	interposed(orr_sim_called.actor_self, "Actor::self()");
	sg_actor_self_get_pid();
	interposed(orr_sim_called.get_pid, "this_actor::get_pid()");
	char name[MPI_MAX_PROCESSOR_NAME];
	int length;
	PMPI_Get_processor_name(name, &length);
	interposed(orr_sim_called.host_self, "sg_host_self()");
	guard_access();
	const size_t room = malloc_usable_size(world);
	if (room > ORR_SIMGRID_COMM_ROOM)
		launcher_fail(
			"this SimGrid's communicators have %zu bytes, and Orrery has room for "
			"%zu; install SimGrid " ORR_SIMGRID_KNOWN " as Debian builds it",
			room, ORR_SIMGRID_COMM_ROOM);
	s4u::this_actor::yield();
	interposed(orr_sim_called.end_actions, "EngineImpl::handle_ended_actions()");
}

void launcher_guard_stall(void)
{
	interposed(orr_sim_called.set_current, "Context::set_current()");
	interposed(orr_sim_called.end_actions, "EngineImpl::handle_ended_actions()");
	interposed(orr_sim_called.solve, "EngineImpl::solve()");
	interposed(orr_sim_called.comm_end || !launcher_early_waits(), ORR_SIMGRID_COMM_END_NAME);
}
