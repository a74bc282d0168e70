// SPDX-License-Identifier: LGPL-2.1-or-later
// The start and the end of each message in SimGrid's own model, for those files of the launcher
// that change messages (early.cpp, network.cpp, background.cpp).
//
// Invariant: all listeners hear of a start before anything else happens to the message, in the
// order in which they were added.
#ifndef ORR_LAUNCHER_MESSAGES_H
#define ORR_LAUNCHER_MESSAGES_H

#include <functional>
#include <simgrid/kernel/resource/Model.hpp>
#include "simgrid_private.h"

using LauncherMessage = simgrid::kernel::activity::CommImpl;

// SimGrid's models of the network. The platform must be complete.
const std::vector<simgrid::kernel::resource::Model *> &launcher_networks();
// Listeners. A message may end again, when somebody waits for it.
void launcher_on_message_start(const std::function<void(const LauncherMessage &)> &f);
void launcher_on_message_end(const std::function<void(const LauncherMessage &)> &f);
// The action of a message that starts: the last one of its model. Null for other messages.
simgrid::kernel::resource::Action *launcher_message_action(const LauncherMessage &message);

#endif
