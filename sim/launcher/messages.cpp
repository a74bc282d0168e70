// SPDX-License-Identifier: LGPL-2.1-or-later
// The start and the end of each message in SimGrid's own model. SimGrid 4 tells of them where a
// message was made by its public interface only, which SMPI does not use. So the executable takes
// the place of the functions that start and end a message (interpose_loop.c), in all releases; and
// of the one by which an actor sets something.
//
// Invariant: a message that starts is the last one of its model, and was not before.
#include "messages.h"
#include <vector>
#include <simgrid/s4u.hpp>
#include "actors/sim_guard.h"
extern "C" {
#include "calls.h"
}

namespace s4u = simgrid::s4u;
namespace resource = simgrid::kernel::resource;

static std::vector<std::function<void(const LauncherMessage &)>> start_listeners, end_listeners;

const std::vector<resource::Model *> &launcher_networks()
{
	static const std::vector<resource::Model *> networks = [] {
		std::vector<resource::Model *> found;
		for (auto *model : s4u::Engine::get_instance()->get_all_models())
			if (model->get_name().rfind("Network_", 0) == 0)
				found.push_back(model);
		return found;
	}();
	return networks;
}

void launcher_on_message_start(const std::function<void(const LauncherMessage &)> &f)
{
	start_listeners.push_back(f);
}

void launcher_on_message_end(const std::function<void(const LauncherMessage &)> &f)
{
	end_listeners.push_back(f);
}

resource::Action *launcher_message_action(const LauncherMessage &message)
{
	for (auto *model : launcher_networks()) {
		auto *started = model->get_started_action_set();
		if (!started->empty() &&
		    static_cast<const void *>(started->back().get_activity()) ==
			    static_cast<const void *>(&message))
			return &started->back();
	}
	return nullptr;
}

void *orrery_sim_comm_start(void *message, void *(*own)(void *) )
{
	const auto &started = *static_cast<const LauncherMessage *>(message);
	const bool under_way = launcher_message_action(started);
	void *result = own(message);
	orr_sim_called.comm_start = 1;
	if (!under_way && launcher_message_action(started))
		for (const auto &listener : start_listeners)
			listener(started);
	return result;
}

void orrery_sim_access(const void *code)
{
	orr_sim_called.access = 1;
	(*static_cast<const std::function<void()> *>(code))();
}

void orrery_sim_comm_end(void *message, void (*own)(void *))
{
	orr_sim_called.comm_end = 1;
	for (const auto &listener : end_listeners)
		listener(*static_cast<const LauncherMessage *>(message));
	own(message);
}
