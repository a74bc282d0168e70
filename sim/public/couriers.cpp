// SPDX-License-Identifier: LGPL-2.1-or-later
// Messages of the runtime in SimGrid's own model. SimGrid tells of the end of a message to the
// actor that waits for it. So each message has an actor, the courier, which sends it and waits; it
// carries others later.
//
// Invariant: only the conductor hands messages to couriers, and tells flows that theirs have
// arrived: nobody has a turn then.
#include "net/sim_network_glue.h"
#include <deque>
#include <vector>
#include <simgrid/s4u.hpp>
#include "public/public.h"

namespace s4u = simgrid::s4u;

namespace
{

struct Message {
	orr_sim_flow *flow;
	sg_host_t from, to;
	size_t bytes;
};

struct Courier {
	s4u::SemaphorePtr asked = s4u::Semaphore::create(0);
	Message message{};
};

std::deque<Message> leaving;
std::deque<orr_sim_flow *> arrived;
std::vector<Courier *> unused;

void carry(Courier *courier)
{
	for (;;) {
		const auto &message = courier->message;
		orr_sim_public_waits(1);
		s4u::Comm::sendto(message.from, message.to, message.bytes);
		orr_sim_public_waits(-1);
		arrived.push_back(message.flow);
		unused.push_back(courier);
		orr_sim_public_outside();
		courier->asked->acquire();
	}
}

} // namespace

void orr_sim_glue_comm_start(struct orr_sim_flow *f, sg_host_t from, sg_host_t to, size_t bytes)
{
	leaving.push_back({ f, from, to, bytes });
}

int orr_sim_public_any_arrived(void)
{
	return !arrived.empty();
}

void orr_sim_public_arrived(void)
{
	while (!arrived.empty()) {
		auto *flow = arrived.front();
		arrived.pop_front();
		orr_sim_network_comm_ended(flow);
	}
}

void orr_sim_public_leave(void)
{
	while (!leaving.empty()) {
		const auto message = leaving.front();
		leaving.pop_front();
		if (unused.empty()) {
			auto *courier = new Courier;
			courier->message = message;
			orr_sim_public_stack(size_t{ 256 } << 10);
			s4u::Actor::init("courier", message.from)->start([courier] {
				carry(courier);
			});
		} else {
			auto *courier = unused.back();
			unused.pop_back();
			courier->message = message;
			courier->asked->release();
		}
	}
}
