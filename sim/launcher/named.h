// SPDX-License-Identifier: LGPL-2.1-or-later
// The networks that `--like` and the property `like` of a host know by name.
//
// Invariant: the numbers are those of networks.def, which names their sources.
#ifndef ORR_LAUNCHER_NAMED_H
#define ORR_LAUNCHER_NAMED_H

#include <string>

struct Named {
	double latency_s, bytes_per_s;                  // of the route between two nodes
	std::string latency_factors, bandwidth_factors; // settings of SMPI
};

// The network with that name. Fails with the list of names where there is none.
Named launcher_named(const char *name);

#endif
