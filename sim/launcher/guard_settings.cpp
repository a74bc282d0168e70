// SPDX-License-Identifier: LGPL-2.1-or-later
// The tests of the SimGrid that the launcher meets which need no private names of it.
//
// Invariant: stated in guard.h.
#include "guard.h"
#include <string>
#include <simgrid/s4u.hpp>
#include <simgrid/version.h>
#include <xbt/config.hpp>
#include "glue.h"

void launcher_guard_version(void)
{
	int major, minor, patch;
	sg_version_get(&major, &minor, &patch);
	if (major != SIMGRID_VERSION_MAJOR || minor != SIMGRID_VERSION_MINOR)
		launcher_fail(
			"this is the library of SimGrid %d.%d, and Orrery was built for %d.%d; "
			"configure and build Orrery again",
			major, minor, SIMGRID_VERSION_MAJOR, SIMGRID_VERSION_MINOR);
}

void launcher_guard_settings(void)
{
	const std::string factory = simgrid::config::get_value<std::string>("contexts/factory");
	if (factory == "thread")
		launcher_fail("--cfg=contexts/factory:thread: actors must not be threads of the "
			      "system here; leave the setting out");
	int threads = simgrid::config::get_value<int>("contexts/nthreads");
	if (threads != 1)
		launcher_fail("--cfg=contexts/nthreads:%d: one thread runs all actors here; leave "
			      "the setting out",
			      threads);
	launcher_guard_interface();
}
