// SPDX-License-Identifier: LGPL-2.1-or-later
// Refusals, by name and at the start of the run, of all that needs private names of SimGrid; and
// the launcher's test of the SimGrid that it meets, of which little is left then.
//
// Invariant: no run ends with status 0 that would have taken another virtual time with private
// names, unless its command asked for that.
#include <cstdlib>
#include <string>
#include <simgrid/s4u.hpp>
#include <simgrid/forward.h>
#include <simgrid/version.h>
#include <xbt/config.hpp>
#include "launcher/glue.h"
#include "launcher/guard.h"
#include "public/public.h"
#include "simgrid_names.h" // before C's own: it has templates
extern "C" {
#include "run/sim_dyn.h"
#include "sim.h"
}

namespace s4u = simgrid::s4u;

int orr_sim_public_late;

static const char REMEDY[] =
	"this Orrery was built without private names of SimGrid; build it with "
	"--with-simgrid-interface=private and a release of SimGrid that it knows";

void launcher_guard_interface(void)
{
	const char *own_mpi = std::getenv("ORRERY_SIM_OWN_MPI");
	orr_sim_public_late = own_mpi && std::string(own_mpi) == "late";
	if (own_mpi && *own_mpi && !orr_sim_public_late)
		launcher_fail("ORRERY_SIM_OWN_MPI=%s: expected late", own_mpi);
	if (orr_sim_dyn.on)
		launcher_fail("process sets that change: %s", REMEDY);
}

// SimGrid's solver gives messages shares in inverse proportion to the latency of their route: equal
// ones where all routes are alike.
static void check_latencies()
{
	double latency_s = -1;
	for (int i = 0; i < orr_sim.nranks; i++)
		for (int j = 0; j < orr_sim.nranks; j++) {
			const double s = i == j ? latency_s
						: sg_host_get_route_latency(
							  launcher_host(static_cast<size_t>(i)),
							  launcher_host(static_cast<size_t>(j)));
			if (latency_s < 0)
				latency_s = s;
			if (i != j &&
			    !(s > 0 && s > latency_s * 0.999999 && s < latency_s * 1.000001))
				launcher_fail(
					"--network maxmin on a platform with routes of different latencies (%s to %s): %s",
					sg_host_get_name(launcher_host(static_cast<size_t>(i))),
					sg_host_get_name(launcher_host(static_cast<size_t>(j))),
					REMEDY);
		}
}

void launcher_guard_clock(void)
{
	if (orr_sim.network == ORR_SIM_SMPI)
		launcher_fail("--network smpi: %s", REMEDY);
	if (orr_sim.network == ORR_SIM_MAXMIN &&
	    !(simgrid::config::get_value<double>("network/weight-S") > 0))
		check_latencies();
	s4u::Link::on_bandwidth_change_cb([](const s4u::Link &link) {
		launcher_fail(
			"the platform changes the bandwidth of the link %s during the run: %s",
			link.get_cname(), REMEDY);
	});
}

void launcher_guard_round(SMPI_Comm *) {}

void launcher_guard_stall(void) {}

void launcher_share_equally(void) {}

void (*launcher_background_start(const struct orr_sim_noise *))(void)
{
	launcher_fail("--background-load: %s", REMEDY);
}

/* A report says so of a run without loads of links. */
void launcher_loads_start(void) {}

void launcher_early_start(void) {}

double launcher_early_owed_us(void)
{
	return 0;
}

int launcher_early_waits(void)
{
	return 0;
}
