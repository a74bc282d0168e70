// SPDX-License-Identifier: LGPL-2.1-or-later
// Background load: others take a share of the bandwidth of each link of the network. The share is
// drawn again for every period (sim/sys/sim_noise.h).
//
// All links change together, at multiples of the period, and only while messages are in flight.
// SimGrid's own profiles cannot be added to links that were read from a file, and a timer that
// never stops would hide that nothing else can happen.
//
// Invariant: while a message is in flight, every link has base * share of the present period.
#include "glue.h"
#include <cmath>
#include <exception>
#include <set>
#include <string>
#include <vector>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/s4u.hpp>
#include <xbt/config.hpp>
#include "net/sim_network.h"
#include "messages.h"
#include "sim_noise.h"

namespace s4u = simgrid::s4u;

namespace
{

// While this setting is not 0, a message whose latency has not passed when a bandwidth changes
// makes no progress before the next change (SimGrid 3.32).
constexpr const char *WEIGHT = "network/weight-S";

// A hash of the name (FNV-1a), so that a link's random numbers do not depend on other links.
uint64_t link_key(const std::string &name)
{
	uint64_t h = 0xcbf29ce484222325;
	for (unsigned char c : name)
		h = (h ^ c) * 0x100000001b3;
	return h;
}

// The links that connect a host with itself: memory, not network.
std::set<s4u::Link *> loopbacks()
{
	std::set<s4u::Link *> all;
	for (auto *host : s4u::Engine::get_instance()->get_all_hosts()) {
		std::vector<s4u::Link *> route;
		try {
			host->route_to(host, route, nullptr);
			all.insert(route.begin(), route.end());
		} catch (const std::exception &) {
			// The host has no route to itself, hence no loopback.
		}
	}
	return all;
}

class Background
{
	struct Entry {
		s4u::Link *link;
		uint64_t key;
		double base; // bandwidth without load
	};
	const orr_sim_noise *noise;
	simgrid::kernel::resource::Model *network = nullptr;
	std::vector<Entry> links;
	double weight = simgrid::config::get_value<double>(WEIGHT);
	double period = -1; // the links have the shares of this period
	bool armed = false; // a timer is set for the next period

	double period_s() const { return noise->period_us * 1e-6; }

	void enter(double p)
	{
		if (p == period)
			return;
		period = p;
		simgrid::config::set_value(WEIGHT, 0.0);
		for (auto &e : links)
			e.link->set_bandwidth(
				e.base *
				orr_sim_link_share(noise, e.key, static_cast<uint64_t>(p)));
		simgrid::config::set_value(WEIGHT, weight);
	}

	void arm()
	{
		armed = true;
		simgrid::kernel::timer::Timer::set((period + 1) * period_s(), [this] {
			armed = false;
			if (network->get_started_action_set()->empty() && !orr_sim_network_busy())
				return;
			enter(period + 1);
			arm();
		});
	}

      public:
	explicit Background(const orr_sim_noise *v) : noise(v)
	{
		if (!launcher_networks().empty())
			network = launcher_networks().back();
		if (!network)
			launcher_fail(
				"--background-load: this model of the network does not support it; leave --cfg=network/model out");
		const auto own = loopbacks();
		for (auto *link : s4u::Engine::get_instance()->get_all_links())
			if (!own.count(link) && link->get_name() != "__loopback__" &&
			    link->get_sharing_policy() != s4u::Link::SharingPolicy::WIFI)
				links.push_back({ link, link_key(link->get_name()),
						  link->get_bandwidth() });
	}

	void message()
	{
		if (armed)
			return;
		enter(std::fmax(period, std::floor(s4u::Engine::get_clock() / period_s())));
		arm();
	}
};

} // namespace

void (*launcher_background_start(const struct orr_sim_noise *v))(void)
{
	static Background *present;
	auto *background = new Background(v);
	present = background;
	launcher_on_message_start([background](const LauncherMessage &) { background->message(); });
	return [] { present->message(); };
}
