// SPDX-License-Identifier: LGPL-2.1-or-later
// Messages of the program's own MPI that travel before their receive is posted.
//
// SMPI starts a message when both sides are there. A message for which MPI_Send() does not wait has
// left by then. So where no receive has been posted, its bytes travel at once as a message of their
// own, the carrier, and the message itself, once it is matched, ends when its carrier does.
//
// SMPI's own way, smpi/async-small-thresh, keeps small and large messages apart. There a receive of
// the one kind overtakes a receive of the other kind, which MPI forbids.
//
// Invariant: a message that was not matched has at most one carrier; a message that waits for its
// carrier takes no part of any link.
#include "glue.h"
#include <cstdlib>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <vector>
#include <simgrid/s4u.hpp>
#include "actors/sim_guard.h"
#include "messages.h"
#include "simgrid_private.h"
extern "C" {
#include "base/assert.h"
#include "calls.h"
}

namespace s4u = simgrid::s4u;
namespace resource = simgrid::kernel::resource;
using simgrid::kernel::activity::CommImpl;
using simgrid::kernel::actor::CommIsendSimcall;

namespace
{

struct Carrier {
	s4u::CommPtr comm;       // null once it has arrived
	const void *message;     // that was matched and waits
	resource::Action *waits; // its action
};

// By their message, until it is matched; by the message that waits; by what carries them.
std::unordered_map<const void *, std::shared_ptr<Carrier>> unmatched, waiting, under_way;
std::unordered_map<const void *, s4u::Host *> host_of; // by actor
enum { NOTHING, SENDING, DEPARTING } doing = NOTHING;
bool matched; // by the message that is being sent

constexpr double TEST_BYTES = 12345;
const char TEST_MAILBOX[] = "orrery-test";
bool tested;

void message_starts(const CommImpl &message)
{
	if (doing == SENDING)
		matched = true;
	if (doing != NOTHING)
		return;
	auto at = unmatched.find(&message);
	if (at == unmatched.end())
		return;
	const auto carrier = at->second;
	unmatched.erase(at);
	auto *action = launcher_message_action(message);
	orr_assert(action);
	action->suspend();
	if (!carrier->comm) {
		action->finish(resource::Action::State::FINISHED);
		return;
	}
	carrier->message = &message;
	carrier->waits = action;
	waiting[&message] = carrier;
}

void message_ends(const CommImpl &message)
{
	auto waits = waiting.find(&message);
	if (waits != waiting.end()) { // it was cancelled
		waits->second->waits = nullptr;
		waiting.erase(waits);
	}
	auto at = under_way.find(&message);
	if (at == under_way.end())
		return;
	const auto carrier = at->second;
	under_way.erase(at);
	// SimGrid still looks at it after this call.
	static s4u::CommPtr &last = *new s4u::CommPtr;
	last = std::move(carrier->comm);
	carrier->comm = nullptr;
	if (!carrier->waits)
		return;
	waiting.erase(carrier->message);
	carrier->waits->finish(resource::Action::State::FINISHED);
}

// The host of the process that a mailbox of SMPI belongs to; null for other mailboxes.
s4u::Host *host_of_mailbox(const char *name)
{
	if (std::strncmp(name, "SMPI-", 5) != 0)
		return nullptr;
	const auto actor = s4u::Actor::by_pid(std::strtol(name + 5, nullptr, 10));
	return actor ? actor->get_host() : nullptr;
}

s4u::Host *host_of_actor(const void *impl)
{
	if (!host_of.count(impl))
		for (const auto &actor : s4u::Engine::get_instance()->get_all_actors())
			host_of[actor->get_impl()] = actor->get_host();
	auto at = host_of.find(impl);
	return at == host_of.end() ? nullptr : at->second;
}

void depart(const CommIsendSimcall *message)
{
	// A mailbox begins with the object that stands for it in public.
	const auto *mailbox = reinterpret_cast<const s4u::Mailbox *>(message->mbox_);
	const char *name = mailbox->get_cname();
	if (!tested) {
		tested = std::strcmp(name, TEST_MAILBOX) == 0 && !message->detached_ &&
			 message->payload_size_ == TEST_BYTES;
		return;
	}
	auto *to = host_of_mailbox(name);
	if (!message->detached_ || !to)
		return;
	auto *from = host_of_actor(message->issuer_);
	orr_assert(from);
	// A message of no bytes would never start.
	const auto bytes = static_cast<uint64_t>(message->payload_size_);
	const auto carrier = std::make_shared<Carrier>();
	doing = DEPARTING;
	carrier->comm = s4u::Comm::sendto_async(from, to, bytes ? bytes : 1);
	doing = NOTHING;
	unmatched[message->comm_] = carrier;
	under_way[carrier->comm->get_impl()] = carrier;
}

} // namespace

void *orrery_sim_isend(void *result, void *message, void *(*own)(void *, void *) )
{
	const auto *sent = static_cast<const CommIsendSimcall *>(message);
	orr_assert(doing == NOTHING);
	orr_sim_called.isend = 1;
	matched = false;
	doing = SENDING;
	own(result, message);
	doing = NOTHING;
	if (!matched) {
		// Another message may have been at its address.
		unmatched.erase(sent->comm_);
		depart(sent);
	}
	return result;
}

void launcher_early_start(void)
{
	launcher_on_message_start(message_starts);
	launcher_on_message_end(message_ends);
	s4u::Actor::on_destruction_cb(
		[](s4u::Actor const &actor) { host_of.erase(actor.get_impl()); });
}

void launcher_early_test(void)
{
	static char payload;
	// Never freed: in SimGrid 4 it would take the actor with it that sends it, which is the
	// loop.
	auto &message = *new s4u::CommPtr(
		s4u::Mailbox::by_name(TEST_MAILBOX)->put_init(&payload, TEST_BYTES));
	message->start()->cancel();
	if (orr_sim_called.isend && !tested)
		launcher_fail(
			"this SimGrid describes messages otherwise than that of " ORR_SIMGRID_KNOWN
			"; install that release as Debian builds it");
}

int launcher_early_waits(void)
{
	return !under_way.empty();
}
