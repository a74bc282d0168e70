// SPDX-License-Identifier: LGPL-2.1-or-later
// The load of links where SimGrid's own model carries the messages (`maxmin`, `smpi`). When time
// has moved on, its solver still has the rates of the step that is over. Only links of messages
// that are under way are asked.
//
// Invariant: a link is among those that are asked from the start of a message on it until it gives
// nothing and the latency of all of its messages is over.
#include "glue.h"
#include <algorithm>
#include <map>
#include <utility>
#include <vector>
#include <simgrid/s4u.hpp>
#include "messages.h"
extern "C" {
#include "net/sim_link.h"
#include "net/sim_network_glue.h"
}

namespace s4u = simgrid::s4u;
namespace resource = simgrid::kernel::resource;

namespace
{

constexpr double TICK_S = 1e-9;

struct Asked {
	double until_s = 0; // messages may begin to use it until then
	bool listed = false;
};

class Loads
{
	std::vector<Asked> links; // by number
	std::vector<unsigned> list;
	std::map<std::pair<s4u::Host *, s4u::Host *>, std::vector<unsigned>> routes;

	const std::vector<unsigned> &route(s4u::Host *from, s4u::Host *to)
	{
		const auto [at, fresh] = routes.try_emplace({ from, to });
		if (fresh) {
			struct orr_sim_glue_path path;
			orr_sim_glue_path(from, to, &path);
			at->second.assign(path.links, path.links + path.n);
		}
		return at->second;
	}

      public:
	void add(const resource::NetworkAction &message)
	{
		const double until_s = s4u::Engine::get_clock() +
				       std::max(message.latency_, message.lat_current_) + TICK_S;
		for (unsigned i : route(message.src_, message.dst_)) {
			if (i >= links.size())
				links.resize(i + 1);
			links[i].until_s = std::max(links[i].until_s, until_s);
			if (links[i].listed)
				continue;
			links[i].listed = true;
			list.push_back(i);
		}
	}

	void tell(double step_s)
	{
		const double now_s = s4u::Engine::get_clock();
		size_t kept = 0;
		for (unsigned i : list) {
			const double rate = orr_sim_glue_link_rate(i);
			if (rate > 0)
				orr_sim_load_gave(orr_sim_link(i), now_s - step_s, now_s, rate);
			if (rate > 0 || now_s <= links[i].until_s)
				list[kept++] = i;
			else
				links[i].listed = false;
		}
		list.resize(kept);
	}
};

} // namespace

void launcher_loads_start()
{
	static Loads loads;
	launcher_on_message_start([](const LauncherMessage &message) {
		const auto *action = launcher_message_action(message);
		if (orr_sim_loads_watched && action)
			loads.add(*static_cast<const resource::NetworkAction *>(action));
	});
	s4u::Engine::on_time_advance_cb([](double step_s) {
		if (orr_sim_loads_watched)
			loads.tell(step_s);
	});
}
