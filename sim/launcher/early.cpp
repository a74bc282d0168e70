// SPDX-License-Identifier: LGPL-2.1-or-later
// Messages of the program's own MPI that travel before their receive is posted.
//
// SMPI starts a message when both sides are there. A message for which MPI_Send() does not wait has
// left by then. So where no receive has been posted, its bytes travel at once as a message of their
// own, the carrier, and the message itself, once it is matched, ends when its carrier does. If that
// has arrived by then, the message lies in a buffer of the MPI that is meant, and the receiver
// copies it, one after the other. The sender has copied it into one: it owes that time, and spends
// it when its call of MPI ends (calls.c).
//
// SMPI's own way, smpi/async-small-thresh, keeps small and large messages apart. There a receive of
// the one kind overtakes a receive of the other kind, which MPI forbids.
//
// Invariant: a message that was not matched has at most one carrier; a message that waits for its
// carrier, or is copied, takes no part of any link.
#include "glue.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <vector>
#include <simgrid/s4u.hpp>
#include "actors/sim_guard.h"
#include "messages.h"
#include "net/sim_network_glue.h"
#include "simgrid_private.h"
extern "C" {
#include "actors/sim_event.h"
#include "base/assert.h"
#include "calls.h"
#include "sim_clock.h"
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
	const s4u::Mailbox *to;
	double copy_s;
};

// The copy of a message out of a buffer.
struct Reading {
	orr_sim_event end; // first
	std::shared_ptr<Carrier> carrier;
};

struct Route {
	double latency_s, bytes_per_s;
};

// By their message, until it is matched; by the message that waits; by what carries them.
std::unordered_map<const void *, std::shared_ptr<Carrier>> unmatched, waiting, under_way;
std::unordered_map<const void *, s4u::Host *> host_of;  // by actor
std::unordered_map<const void *, double> sends_until_s; // likewise
std::unordered_map<const s4u::Mailbox *, double> reads_until_s;
std::unordered_map<const s4u::Mailbox *, s4u::Host *> host_of_box; // while no actor ends
enum { NOTHING, SENDING, DEPARTING } doing = NOTHING;
bool matched; // by the message that is being sent

constexpr double LEAST_S = 1e-7; // copies add up to that before they take time
constexpr double TEST_BYTES = 12345;
const char TEST_MAILBOX[] = "orrery-test";
bool tested;

// The time of a copy into a buffer, or out of it.
double copy_s(s4u::Host *host, double bytes)
{
	static std::unordered_map<const s4u::Host *, double> byte_s;
	const auto [at, fresh] = byte_s.emplace(host, 0);
	if (fresh)
		at->second = 1e-6 * launcher_buffer_us(host, 1);
	return at->second * bytes;
}

// The time of a message on its way, without others.
double alone_s(s4u::Host *from, const s4u::Host *to, double bytes)
{
	static std::unordered_map<const s4u::Host *, std::unordered_map<const s4u::Host *, Route>>
		routes;
	auto [at, fresh] = routes[from].emplace(to, Route{ 0, INFINITY });
	Route &route = at->second;
	if (fresh) {
		std::vector<s4u::Link *> links;
		from->route_to(to, links, &route.latency_s);
		for (const auto *link : links)
			route.bytes_per_s = std::min(route.bytes_per_s, link->get_bandwidth());
	}
	return route.latency_s * orr_sim_glue_factor(ORR_SIM_LATENCY, bytes) +
	       bytes / (route.bytes_per_s * orr_sim_glue_factor(ORR_SIM_BANDWIDTH, bytes));
}

void read(orr_sim_event *e)
{
	const std::unique_ptr<Reading> reading(reinterpret_cast<Reading *>(e));
	Carrier &carrier = *reading->carrier;
	if (!carrier.waits)
		return;
	waiting.erase(carrier.message);
	carrier.waits->finish(resource::Action::State::FINISHED);
}

// The message is here, and its receiver copies it.
void start_reading(const std::shared_ptr<Carrier> &carrier)
{
	double &until_s = reads_until_s[carrier->to];
	until_s = std::max(until_s, orr_sim_clock_s()) + carrier->copy_s;
	auto *reading = new Reading{ {}, carrier };
	reading->end.fire = read;
	if (until_s - orr_sim_clock_s() < LEAST_S)
		read(&reading->end);
	else
		orr_sim_event_set(&reading->end, until_s);
}

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
	carrier->message = &message;
	carrier->waits = action;
	waiting[&message] = carrier;
	if (!carrier->comm)
		start_reading(carrier);
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

void depart(const CommIsendSimcall *message, s4u::Host *from, s4u::Host *to,
	    const s4u::Mailbox *mailbox, double copying_s)
{
	// A message of no bytes would never start.
	const auto bytes = static_cast<uint64_t>(message->payload_size_);
	const auto carrier = std::make_shared<Carrier>();
	carrier->to = mailbox;
	carrier->copy_s = copying_s;
	doing = DEPARTING;
	carrier->comm = s4u::Comm::sendto_async(from, to, bytes ? bytes : 1);
	doing = NOTHING;
	unmatched[message->comm_] = carrier;
	under_way[carrier->comm->get_impl()] = carrier;
}

// A message has been sent.
void sent(const CommIsendSimcall *message)
{
	// A mailbox begins with the object that stands for it in public.
	const auto *mailbox = reinterpret_cast<const s4u::Mailbox *>(message->mbox_);
	const char *name = mailbox->get_cname();
	if (!tested) {
		tested = std::strcmp(name, TEST_MAILBOX) == 0 && !message->detached_ &&
			 message->payload_size_ == TEST_BYTES;
		return;
	}
	if (!message->detached_)
		return;
	auto *&to = host_of_box[mailbox];
	if (!to && !(to = host_of_mailbox(name)))
		return;
	auto *from = host_of_actor(message->issuer_);
	orr_assert(from);
	// The platform's word for a host to itself has the copies in it.
	const double bytes = from == to ? 0 : message->payload_size_;
	if (!matched)
		depart(message, from, to, mailbox, copy_s(to, bytes));
	double own_s = copy_s(from, bytes);
	if (!(own_s > 0))
		return;
	// The bytes leave as they are copied.
	if (own_s > LEAST_S)
		own_s = std::min(own_s, alone_s(from, to, bytes));
	double &until_s = sends_until_s[message->issuer_];
	until_s = std::max(until_s, orr_sim_clock_s()) + own_s;
}

} // namespace

void *orrery_sim_isend(void *result, void *call, void *(*own)(void *, void *) )
{
	const auto *message = static_cast<const CommIsendSimcall *>(call);
	orr_assert(doing == NOTHING);
	orr_sim_called.isend = 1;
	matched = false;
	doing = SENDING;
	own(result, call);
	doing = NOTHING;
	// Another message may have been at its address.
	if (!matched)
		unmatched.erase(message->comm_);
	sent(message);
	return result;
}

double launcher_early_owed_us(void)
{
	if (sends_until_s.empty())
		return 0;
	const auto *self = s4u::Actor::self();
	auto at = self ? sends_until_s.find(self->get_impl()) : sends_until_s.end();
	if (at == sends_until_s.end())
		return 0;
	const double owed_us = 1e6 * (at->second - orr_sim_clock_s());
	sends_until_s.erase(at);
	return owed_us;
}

void launcher_early_start(void)
{
	launcher_on_message_start(message_starts);
	launcher_on_message_end(message_ends);
	s4u::Actor::on_destruction_cb([](s4u::Actor const &actor) {
		host_of.erase(actor.get_impl());
		sends_until_s.erase(actor.get_impl());
		host_of_box.clear();
	});
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
