/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is private, or otherwise named, in SimGrid 4.0 alone (simgrid_private.h has the rest).
 *
 * configure does not take 4.0 yet: of 20 simulations (tests/bench/sim_releases.sh) 5 end in
 * Comm::unref() of MPI_Finalize(), and 3 take 0.7 to 1 % longer or shorter than with 3.32.
 * --enable-any-simgrid builds with it.
 *
 * Invariant: defines the same macros and functions as the file of every other release. */
#ifndef ORR_SIMGRID_4_0_H
#define ORR_SIMGRID_4_0_H

/* The release whose insides these are. */
#define ORR_SIMGRID_KNOWN "4.0"
/* Those with which simulations work, with blanks in between: configure takes these alone. */
#define ORR_SIMGRID_TESTED ""

/* CommImpl::finish(), called when a message has ended, by the table of virtual functions. */
#define ORR_SIMGRID_COMM_END "_ZN7simgrid6kernel8activity8CommImpl6finishEv"
#define ORR_SIMGRID_COMM_END_NAME "CommImpl::finish()"

#ifdef __cplusplus
#include <string>
#include <vector>
#include <simgrid/s4u.hpp>

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
