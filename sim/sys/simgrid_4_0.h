/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names that are private, or other ones, in SimGrid 4.0 and 4.1 (simgrid_private.h has the rest).
 *
 * Invariant: defines the same macros and functions as the file of every other release. */
#ifndef ORR_SIMGRID_4_0_H
#define ORR_SIMGRID_4_0_H

/* The releases whose insides these are. */
#define ORR_SIMGRID_KNOWN "4.0 or 4.1"
/* Those with which simulations work, with blanks in between: configure takes these alone. */
#define ORR_SIMGRID_TESTED "4.0 4.1"

/* CommImpl::finish(), called when a message has ended, by the table of virtual functions. */
#define ORR_SIMGRID_COMM_END "_ZN7simgrid6kernel8activity8CommImpl6finishEv"
#define ORR_SIMGRID_COMM_END_NAME "CommImpl::finish()"

/* simcall_run_object_access(), by which an actor sets something. */
#define ORR_SIMGRID_ACCESS \
	"_Z25simcall_run_object_accessRKSt8functionIFvvEEPN7simgrid6kernel5actor23ObjectAccessSimcallItemE"
#define ORR_SIMGRID_HAS_ACCESS 1
/* A platform file that is a torus, a fat tree or a dragonfly alone crashes its reader. */
#define ORR_SIMGRID_LONE_CLUSTER 0

#ifdef __cplusplus
#include <algorithm>
#include <string>
#include <utility>
#include <vector>
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/s4u.hpp>

/* The numbers of the zones around a host, from the root on, and its own. */
inline std::vector<unsigned long> orr_simgrid_place(const simgrid::s4u::Host *host)
{
	const auto *root = simgrid::s4u::Engine::get_instance()->get_netzone_root();
	std::vector<unsigned long> place{ host->get_netpoint()->id() };
	for (const auto *zone = host->get_englobing_zone(); zone && zone != root;
	     zone = zone->get_parent())
		place.push_back(zone->get_netpoint()->id());
	std::reverse(place.begin(), place.end());
	return place;
}
/* Hosts as they were told of, which is in the order of their names (node-10 before node-2) for a
 * file, and twice for those made by calls: in that of their declaration, each once. */
inline void orr_simgrid_order(std::vector<simgrid::s4u::Host *> &hosts)
{
	std::vector<std::pair<std::vector<unsigned long>, simgrid::s4u::Host *>> placed;
	for (auto *host : hosts)
		placed.emplace_back(orr_simgrid_place(host), host);
	std::sort(placed.begin(), placed.end());
	placed.erase(std::unique(placed.begin(), placed.end()), placed.end());
	hosts.clear();
	for (const auto &host : placed)
		hosts.push_back(host.second);
}

/* Bytes per second that a link gives now. */
inline double orr_simgrid_rate(const simgrid::s4u::Link *link)
{
	return link->get_load();
}

/* A platform made by calls: a star below the root, and what is in it. */
inline simgrid::s4u::NetZone *orr_simgrid_star(const std::string &name)
{
	return simgrid::s4u::Engine::get_instance()->get_netzone_root()->add_netzone_star(name);
}
inline simgrid::s4u::Host *orr_simgrid_host(simgrid::s4u::NetZone *zone, const std::string &name,
					    double flops)
{
	return zone->add_host(name, flops);
}
inline simgrid::s4u::SplitDuplexLink *orr_simgrid_duplex(simgrid::s4u::NetZone *zone,
							 const std::string &name,
							 double bytes_per_s)
{
	return zone->add_split_duplex_link(name, bytes_per_s);
}
inline simgrid::s4u::Link *orr_simgrid_link(simgrid::s4u::NetZone *zone, const std::string &name,
					    double bytes_per_s)
{
	return zone->add_link(name, bytes_per_s);
}
/* From a host to another one, or to the hub (null). */
inline void orr_simgrid_route(simgrid::s4u::NetZone *zone, const simgrid::s4u::Host *from,
			      const simgrid::s4u::Host *to,
			      const std::vector<simgrid::s4u::LinkInRoute> &links, bool both)
{
	zone->add_route(from, to, links, both);
}
#endif

#endif
