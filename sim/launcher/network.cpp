// SPDX-License-Identifier: LGPL-2.1-or-later
// The network of the platform as programs find it: a message takes the latency and the bandwidth of
// its route, and messages that share a link get equal parts of it, unless the platform or the
// command asks for something else.
//
// SMPI's own defaults are others: factors by size that were measured on a cluster of gigabit
// Ethernet, shares and windows of TCP in a wide area, and collective operations in which one rank
// exchanges a message with each of the others.
//
// Invariant: settings of the command and of the platform come before the defaults of this file.
#include "glue.h"
#include "named.h"
#include <cstdlib>
#include <set>
#include <string>
#include <vector>
#include <simgrid/s4u.hpp>
#include <xbt/config.hpp>

namespace s4u = simgrid::s4u;

namespace
{

void settle_settings(const char *like)
{
	const Named network = like ? launcher_named(like) : Named{ 0, 0, "0:1", "0:1" };
	simgrid::config::set_default("smpi/lat-factor", network.latency_factors);
	simgrid::config::set_default("smpi/bw-factor", network.bandwidth_factors);
	simgrid::config::set_default<std::string>("smpi/coll-selector", "ompi");
	// Open MPI's exchange in pairs, of messages to the next rank, the one behind it, and so on.
	// The selector takes an algorithm of that name which is for powers of two only.
	simgrid::config::set_default<std::string>("smpi/alltoallv", "ring");
	simgrid::config::set_default<double>("network/weight-S", 0);
	simgrid::config::set_default<double>("network/TCP-gamma", 0);
}

// The seconds that the host's property gives for a link between switches; negative without it.
double hop_latency(const s4u::Host *host)
{
	const char *text = host->get_property("hop_latency");
	if (!text)
		return -1;
	char *end = nullptr;
	double s = std::strtod(text, &end);
	if (end == text || *end || !(s >= 0) || s > 1)
		launcher_fail(
			"the host %s has the property hop_latency=\"%s\"; it takes seconds, a number between 0 and 1",
			host->get_cname(), text);
	return s;
}

// Adds the links that end at one of the two hosts, and those of a host to itself.
void add_ends(std::set<s4u::Link *> &ends, const s4u::Host *from, const s4u::Host *to)
{
	std::vector<s4u::Link *> route;
	from->route_to(to, route, nullptr);
	if (!route.empty())
		ends.insert({ route.front(), route.back() });
}

// A fat tree or a dragonfly of a platform file has one latency for all its links. The property
// gives those between switches another one.
void settle_hops(const std::vector<s4u::Host *> &hosts)
{
	std::set<s4u::Link *> ends;
	double s = hosts.empty() ? -1 : hop_latency(hosts[0]);
	if (s < 0)
		return;
	for (size_t i = 0; i < hosts.size(); i++) {
		const auto *next = hosts[(i + 1) % hosts.size()];
		add_ends(ends, hosts[i], next);
		add_ends(ends, next, hosts[i]);
		add_ends(ends, hosts[i], hosts[i]);
	}
	for (auto *link : s4u::Engine::get_instance()->get_all_links())
		if (!ends.count(link) && link->get_name() != "__loopback__")
			link->set_latency(s);
}

} // namespace

void launcher_network_settle(const std::vector<s4u::Host *> &hosts)
{
	settle_settings(hosts.empty() ? nullptr : hosts[0]->get_property("like"));
	settle_hops(hosts);
	if (!(simgrid::config::get_value<double>("network/weight-S") > 0))
		launcher_share_equally();
	launcher_early_start();
}
