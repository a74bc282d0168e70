// SPDX-License-Identifier: LGPL-2.1-or-later
// Messages of the runtime in SimGrid's own model, started by its main loop.
//
// Invariant: a flow is told once that its message has arrived.
#include "net/sim_network_glue.h"
#include <unordered_map>
#include <utility>
#include <simgrid/s4u.hpp>

namespace s4u = simgrid::s4u;

void orr_sim_glue_comm_start(struct orr_sim_flow *f, sg_host_t from, sg_host_t to, size_t bytes)
{
	static std::unordered_map<const s4u::Activity *, std::pair<s4u::CommPtr, orr_sim_flow *>>
		under_way;
	static const bool listens = [] {
		// The argument is an activity in SimGrid 3, and a message in 4.
		s4u::Comm::on_completion_cb([](auto const &a) {
			// SimGrid still looks at it after this call.
			static s4u::CommPtr &last = *new s4u::CommPtr;
			auto at = under_way.find(&a);
			if (at == under_way.end())
				return;
			auto *flow = at->second.second;
			last = std::move(at->second.first);
			under_way.erase(at);
			orr_sim_network_comm_ended(flow);
		});
		return true;
	}();
	(void) listens;
	s4u::CommPtr comm = s4u::Comm::sendto_init(from, to);
	comm->set_payload_size(bytes);
	under_way.emplace(comm.get(), std::make_pair(comm, f));
	comm->start();
}
