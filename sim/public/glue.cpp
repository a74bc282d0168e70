// SPDX-License-Identifier: LGPL-2.1-or-later
// The calls of sim_glue.h by SimGrid's installed headers alone, but for those of turns.c.
//
// Invariant: what cannot be done so was refused at the start of the run (refusals.cpp).
#include "actors/sim_glue.h"
#include <cstdint>
#include <memory>
#include <string>
#include <smpi/smpi.h>
#include <simgrid/s4u.hpp>
#include "launcher/glue.h"
#include "public/public.h"
extern "C" {
#include "base/log.h"
}

namespace s4u = simgrid::s4u;

static sg_actor_t conductor;

void orr_sim_public_stack(size_t bytes)
{
	static size_t present;
	if (bytes == present)
		return;
	present = bytes;
	s4u::Engine::set_config("contexts/stack-size:" + std::to_string(bytes >> 10));
}

// The conductor is the only process of an instance of SMPI, whose functions for datatypes and for
// packing take no others.
static void start_conductor(sg_host_t host)
{
	SMPI_app_instance_register("conductor", nullptr, 1);
	s4u::ActorPtr actor = s4u::Actor::init("conductor", host);
	actor->set_property("instance_id", "conductor");
	actor->set_property("rank", "0");
	conductor = actor.get();
	actor->start([] {
		PMPI_Init(nullptr, nullptr);
		orr_sim_public_conduct();
	});
}

sg_actor_t orr_sim_glue_start(struct orr_sim_actor *a, const char *name, sg_host_t host,
			      const char *instance, int rank, size_t stack,
			      void (*code)(struct orr_sim_actor *))
{
	if (!conductor) {
		orr_sim_public_stack(stack);
		start_conductor(host);
	}
	if (!instance) {
		if (!orr_sim_public_thread(a, stack, code))
			orr_fatal("out of memory for the stack of another thread");
		return conductor;
	}
	orr_sim_public_stack(stack);
	s4u::ActorPtr actor = s4u::Actor::init(name, host);
	actor->set_property("instance_id", instance);
	actor->set_property("rank", std::to_string(rank));
	actor->start([a, code] {
		orr_sim_public_arrive(a);
		code(a);
	});
	return actor.get();
}

void orr_sim_glue_outside(void)
{
	orr_sim_public_outside();
}

void *orr_sim_glue_context(void)
{
	return __builtin_frame_address(0);
}

SMPI_Comm *orr_sim_glue_world(void)
{
	return MPI_COMM_WORLD;
}

void launcher_world_find(const char *) {}

void launcher_world_await(void)
{
	orr_sim_public_init();
}

// ---- what refusals.cpp has refused ----

static void __attribute__((noreturn)) refused()
{
	orr_fatal("this needs private names of SimGrid, and was not refused");
}

SMPI_Comm *orr_sim_glue_comm_new(SMPI_Comm *, const int *, int, int)
{
	refused();
}

SMPI_Comm *orr_sim_glue_comm_of(SMPI_Group *, int)
{
	refused();
}

void orr_sim_glue_comm_share(SMPI_Comm *)
{
	refused();
}

void orr_sim_glue_comm_leave(SMPI_Comm *)
{
	refused();
}

void orr_sim_glue_world_find(const char *, sg_host_t, SMPI_Comm **)
{
	refused();
}

void orr_sim_glue_group_map(SMPI_Group *, long, int)
{
	refused();
}

long orr_sim_glue_group_pid(SMPI_Group *, int)
{
	refused();
}

void orr_sim_glue_group_share(SMPI_Group *)
{
	refused();
}
