// SPDX-License-Identifier: LGPL-2.1-or-later
// The parts of SimGrid that sim/sys uses and that have a C++ interface only: actors with properties
// and stack sizes, turns of actors, the copies of SMPI.
//
// Invariant: actors are suspended and resumed, and virtual time is moved, without a simcall. This
// is correct because one system thread runs everything (contexts/nthreads is 1).
#include "actors/sim_glue.h"
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <smpi/smpi.h>
#include <simgrid/s4u.hpp>
#include <simgrid/kernel/resource/Model.hpp>
#include "simgrid_private.h"

// Set by the actor that ends, however it ends.
static bool an_actor_ended;

namespace
{
struct TellsOfItsEnd {
	~TellsOfItsEnd() { an_actor_ended = true; }
};
} // namespace

sg_actor_t orr_sim_glue_start(struct orr_sim_actor *a, const char *name, sg_host_t host,
			      const char *instance, int rank, size_t stack,
			      void (*code)(struct orr_sim_actor *))
{
	simgrid::s4u::ActorPtr actor = simgrid::s4u::Actor::init(name, host);
	if (instance) {
		actor->set_property("instance_id", instance);
		actor->set_property("rank", std::to_string(rank));
	}
	/* In KiB, whatever the header says: SimGrid multiplies by 1,024. */
	actor->set_stacksize(static_cast<unsigned>(stack >> 10));
	actor->set_data(a);
	actor->start([a, code] {
		TellsOfItsEnd end;
		code(a);
	});
	return actor.get();
}

void orr_sim_glue_suspend(sg_actor_t actor)
{
	actor->get_impl()->yield();
}

enum orr_sim_resumed orr_sim_glue_resume(sg_actor_t actor, void *context)
{
	simgrid::kernel::actor::ActorImpl *impl = actor->get_impl();
	an_actor_ended = false;
	static_cast<simgrid::kernel::context::SwappedContext *>(context)->resume();
	if (!an_actor_ended)
		return ORR_SIM_ACTOR_AWAY;
	impl->cleanup_from_kernel();
	return ORR_SIM_ACTOR_ENDED;
}

void orr_sim_glue_yield(struct orr_sim_actor *a)
{
	(void) a;
	simgrid::s4u::this_actor::yield();
}

void orr_sim_glue_pause(struct orr_sim_actor *a, double s)
{
	(void) a;
	simgrid::s4u::this_actor::sleep_for(s);
}

void orr_sim_glue_exit(void)
{
	simgrid::s4u::this_actor::exit();
}

void orr_sim_glue_outside(void) {}

void orr_sim_glue_serve_call(sg_actor_t actor)
{
	actor->get_impl()->simcall_handle(0);
}

void orr_sim_glue_run_soon(sg_actor_t actor)
{
	simgrid::s4u::Engine::get_instance()->get_impl()->add_actor_to_run_list_no_check(
		actor->get_impl());
}

// SimGrid's set of changes to come, whose name it hides; null until it has one.
static const simgrid::kernel::profile::FutureEvtSet *profiles;

void orrery_sim_profiles(const void *set)
{
	profiles = static_cast<const simgrid::kernel::profile::FutureEvtSet *>(set);
}

double orr_sim_glue_profile_next(void)
{
	return profiles ? profiles->next_date() : -1;
}

int orr_sim_glue_is_quiet(void)
{
	static const auto &models = simgrid::s4u::Engine::get_instance()->get_all_models();
	for (auto *model : models)
		if (!model->get_started_action_set()->empty() ||
		    !model->get_failed_action_set()->empty() ||
		    !model->get_finished_action_set()->empty())
			return 0;
	return 1;
}

void orr_sim_glue_clock_set(double date_s)
{
	orr_sim_glue_now_s = date_s;
}

SMPI_Comm *orr_sim_glue_world(void)
{
	return simgrid::s4u::Actor::self()
		->extension(simgrid::smpi::ActorExt::EXTENSION_ID)
		->comm_world();
}

void orr_sim_glue_allow_types(void)
{
	simgrid::s4u::Actor::self()
		->extension(simgrid::smpi::ActorExt::EXTENSION_ID)
		->mark_as_initialized();
}

// As launcher_world_find() does for the first processes.
void orr_sim_glue_world_find(const char *instance, sg_host_t host, SMPI_Comm **world)
{
	simgrid::s4u::ActorPtr actor = simgrid::s4u::Actor::init("world", host);
	actor->set_property("instance_id", instance);
	actor->set_property("rank", "0");
	actor->start([world] {
		simgrid::smpi::ActorExt::init();
		*world = orr_sim_glue_world();
	});
}

void orr_sim_glue_group_map(SMPI_Group *group, long actor, int rank)
{
	group->set_mapping(actor, rank);
}

long orr_sim_glue_group_pid(SMPI_Group *group, int rank)
{
	return group->actor(rank);
}

void orr_sim_glue_group_share(SMPI_Group *group)
{
	group->ref();
}

void *orr_sim_glue_context(void)
{
	return simgrid::kernel::context::Context::self();
}

SMPI_Comm *orr_sim_glue_comm_new(SMPI_Comm *all, const int *ranks, int n, int id)
{
	MPI_Group group, world;
	void *room = ::operator new(ORR_SIMGRID_COMM_ROOM, std::nothrow);
	if (!room)
		return MPI_COMM_NULL;
	PMPI_Comm_group(all, &group);
	if (ranks) {
		world = group;
		PMPI_Group_incl(world, n, ranks, &group);
		PMPI_Group_free(&world);
	}
	std::memset(room, 0, ORR_SIMGRID_COMM_ROOM);
	return new (room) simgrid::smpi::Comm(group, nullptr, false, id);
}

SMPI_Comm *orr_sim_glue_comm_of(SMPI_Group *group, int id)
{
	void *room = ::operator new(ORR_SIMGRID_COMM_ROOM, std::nothrow);
	if (!room)
		return MPI_COMM_NULL;
	std::memset(room, 0, ORR_SIMGRID_COMM_ROOM);
	return new (room) simgrid::smpi::Comm(group, nullptr, false, id);
}

void orr_sim_glue_comm_share(SMPI_Comm *comm)
{
	comm->ref();
}

void orr_sim_glue_comm_leave(SMPI_Comm *comm)
{
	simgrid::smpi::Comm::unref(comm);
}
