/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names that are private, or other ones, in SimGrid 3.32 alone (simgrid_private.h has the rest).
 *
 * configure reads here which releases it takes.
 *
 * Invariant: defines the same macros and functions as the file of every other release. */
#ifndef ORR_SIMGRID_3_32_H
#define ORR_SIMGRID_3_32_H

/* The release whose insides these are. */
#define ORR_SIMGRID_KNOWN "3.32"
/* Those with which simulations work, with blanks in between: configure takes these alone. */
#define ORR_SIMGRID_TESTED "3.32"

/* CommImpl::post(), called when a message has ended, by the table of virtual functions. */
#define ORR_SIMGRID_COMM_END "_ZN7simgrid6kernel8activity8CommImpl4postEv"
#define ORR_SIMGRID_COMM_END_NAME "CommImpl::post()"

/* simcall_run_object_access(), by which an actor sets something; 3.32 has none in its library. */
#define ORR_SIMGRID_ACCESS \
	"_Z25simcall_run_object_accessRKSt8functionIFvvEEPN7simgrid6kernel5actor23ObjectAccessSimcallItemE"
#define ORR_SIMGRID_HAS_ACCESS 0
/* A platform may be a torus, a fat tree or a dragonfly alone. */
#define ORR_SIMGRID_LONE_CLUSTER 1

#ifdef __cplusplus
#include <string>
#include <vector>
#include <simgrid/s4u.hpp>

/* Hosts in the order in which they were created, in that of their declaration: it is the same. */
inline void orr_simgrid_order(std::vector<simgrid::s4u::Host *> &hosts)
{
	(void) hosts;
}

/* Bytes per second that a link gives now. */
inline double orr_simgrid_rate(const simgrid::s4u::Link *link)
{
	return link->get_usage();
}

/* A platform made by calls: a star below the root, and what is in it. */
inline simgrid::s4u::NetZone *orr_simgrid_star(const std::string &name)
{
	return simgrid::s4u::create_star_zone(name);
}
inline simgrid::s4u::Host *orr_simgrid_host(simgrid::s4u::NetZone *zone, const std::string &name,
					    double flops)
{
	return zone->create_host(name, flops);
}
inline simgrid::s4u::SplitDuplexLink *orr_simgrid_duplex(simgrid::s4u::NetZone *zone,
							 const std::string &name,
							 double bytes_per_s)
{
	return zone->create_split_duplex_link(name, bytes_per_s);
}
inline simgrid::s4u::Link *orr_simgrid_link(simgrid::s4u::NetZone *zone, const std::string &name,
					    double bytes_per_s)
{
	return zone->create_link(name, bytes_per_s);
}
/* From a host to another one, or to the hub (null). */
inline void orr_simgrid_route(simgrid::s4u::NetZone *zone, const simgrid::s4u::Host *from,
			      const simgrid::s4u::Host *to,
			      const std::vector<simgrid::s4u::LinkInRoute> &links, bool both)
{
	zone->add_route(from->get_netpoint(), to ? to->get_netpoint() : nullptr, nullptr, nullptr,
			links, both);
}
#endif

#endif
