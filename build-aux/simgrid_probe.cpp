// SPDX-License-Identifier: LGPL-2.1-or-later
// A program that needs every private name of simgrid_private.h. configure links it; it is never
// run and is no part of the library.
//
// Invariant: a name that is missing in the installed SimGrid makes the link fail with that name.
#include "simgrid_private.h"

extern "C" {
double solve(const void *engine, double max_s) __asm__(ORR_SIMGRID_SOLVE);
void end_actions(const void *engine) __asm__(ORR_SIMGRID_END_ACTIONS);
void set_current(void *context) __asm__(ORR_SIMGRID_SET_CURRENT);
void *isend(void *result, void *message) __asm__(ORR_SIMGRID_ISEND);
void *comm_start(void *message) __asm__(ORR_SIMGRID_COMM_START);
void comm_end(void *message) __asm__(ORR_SIMGRID_COMM_END);
void *context_self(void) __asm__(ORR_SIMGRID_SELF);
void *actor_self(void) __asm__(ORR_SIMGRID_ACTOR_SELF);
long get_pid(void) __asm__(ORR_SIMGRID_GET_PID);
void *host_self(void) __asm__(ORR_SIMGRID_HOST_SELF);
void add_event(void *set, double date_s, void *event) __asm__(ORR_SIMGRID_ADD_EVENT);
extern double now_s __asm__(ORR_SIMGRID_NOW);
}

using namespace simgrid;

template <typename T> static void need(T name)
{
	T volatile kept = name;
	(void) kept;
}

int main()
{
	need(&solve);
	need(&end_actions);
	need(&set_current);
	need(&isend);
	need(&comm_start);
	need(&comm_end);
	need(&context_self);
	need(&actor_self);
	need(&get_pid);
	need(&host_self);
	need(&add_event);
	need(&now_s);
	need(&smpi::ActorExt::EXTENSION_ID);
	need(&smpi::ActorExt::init);
	need(&smpi::ActorExt::comm_world);
	need(&smpi::ActorExt::mark_as_initialized);
	need(&smpi::Group::set_mapping);
	need(&smpi::Group::actor);
	need(&smpi::Group::ref);
	need(&smpi::Comm::ref);
	need(&smpi::Comm::unref);
	need(&smpi::Comm::init_smp);
	need(&smpi::Comm::set_leaders_comm);
	need(&smpi::Comm::get_leaders_comm);
	need(&smpi::Comm::get_intra_comm);
	need(&smpi::Comm::get_leaders_map);
	new (::operator new(ORR_SIMGRID_COMM_ROOM)) smpi::Comm(nullptr, nullptr, false, 0);
	need(&kernel::context::Context::self);
	need(&kernel::context::SwappedContext::resume);
	need(&kernel::actor::ActorImpl::yield);
	need(&kernel::actor::ActorImpl::simcall_handle);
	need(&kernel::actor::ActorImpl::cleanup_from_kernel);
	need(&kernel::EngineImpl::add_actor_to_run_list_no_check);
	need(&kernel::profile::FutureEvtSet::next_date);
	return 0;
}
