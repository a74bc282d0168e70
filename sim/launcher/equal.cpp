// SPDX-License-Identifier: LGPL-2.1-or-later
// Equal shares of links for the messages of SimGrid's own model (network.cpp says why).
//
// Invariant: a message has its share from its start on.
#include "glue.h"
#include "messages.h"
#include <xbt/config.hpp>
#include "simgrid_private.h"

namespace resource = simgrid::kernel::resource;

// SimGrid's solver gives messages shares in inverse proportion to the latency of their route, and
// bounds each by the bandwidth that its links had at its start. A message that has just started is
// the last one of its model.
void launcher_share_equally(void)
{
	const bool window = simgrid::config::get_value<double>("network/TCP-gamma") > 0;
	launcher_on_message_start([window](const LauncherMessage &started) {
		auto &message = static_cast<resource::NetworkAction &>(
			*launcher_message_action(started));
		if (message.sharing_penalty_ != 1 &&
		    message.sharing_penalty_ != message.lat_current_)
			launcher_fail(
				"a message of this SimGrid has other members than those of " ORR_SIMGRID_KNOWN
				"; install that release");
		message.sharing_penalty_ = 1;
		if (!window)
			message.set_bound(-1);
	});
}
