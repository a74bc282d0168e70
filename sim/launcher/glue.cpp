// SPDX-License-Identifier: LGPL-2.1-or-later
// The launcher's view of SimGrid's C++ interface: settings, platform, main loop.
//
// Invariant: no exception of SimGrid leaves this file; each becomes a message that names what the
// user gave.
#include <cstdarg>
#include <algorithm>
#include <exception>
#include <string>
#include <vector>
#include <simgrid/s4u.hpp>
#include <simgrid/Exception.hpp>
#include <xbt/config.hpp>

extern "C" {
void launcher_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
void launcher_deadlock(void);
void launcher_engine_init(const char *const *settings, int n);
void launcher_settle_locale(void);
size_t launcher_platform_load(const char *file, int n);
sg_host_t launcher_host(size_t i);
void launcher_run(void);
}

namespace s4u = simgrid::s4u;

// The first line of what SimGrid has to say; lists of all settings may follow.
static std::string first_line(const std::exception &e)
{
	std::string what = e.what();
	return what.substr(0, what.find('\n'));
}

// In the order of their declaration, which the engine forgets.
static std::vector<s4u::Host *> hosts;

// Where the digits that begin at `at` end.
static size_t after_digits(const std::string &text, size_t at)
{
	return std::min(text.find_first_not_of("0123456789", at), text.length());
}

// "1.25" becomes "125e-2", which is the same number in every locale.
static std::string without_points(const std::string &text)
{
	std::string out;
	size_t from = 0, dot;
	while ((dot = text.find('.', from)) != std::string::npos) {
		size_t end = after_digits(text, dot + 1);
		std::string fraction = text.substr(dot + 1, end - dot - 1);
		long exponent = -static_cast<long>(fraction.length());
		if (end < text.length() && (text[end] == 'e' || text[end] == 'E')) {
			size_t sign = end + 1,
			       digits = std::min(text.find_first_not_of("+-", sign), sign + 1);
			size_t stop = std::min(after_digits(text, digits), digits + 9);
			if (stop > digits) {
				exponent += std::stol(text.substr(sign, stop - sign));
				end = stop;
			}
		}
		out += text.substr(from, dot - from) + fraction + "e" + std::to_string(exponent);
		from = end;
	}
	return out + text.substr(from);
}

// SimGrid reads these settings when the first message comes, in the locale that the program has
// chosen by then.
void launcher_settle_locale(void)
{
	for (const char *key : { "smpi/bw-factor", "smpi/lat-factor", "smpi/os", "smpi/or",
				 "smpi/ois", "smpi/IB-penalty-factors" })
		simgrid::config::set_value(
			key, without_points(simgrid::config::get_value<std::string>(key)));
}

void launcher_engine_init(const char *const *settings, int n)
{
	std::vector<std::string> words{ "orrery-sim", "--log=root.thresh:warning",
					"--log=xbt_cfg.thresh:warning", "--log=no_loc",
					// Its word on a stall is replaced by ours.
					"--log=ker_engine.app:file:/dev/null" };
	std::vector<char *> argv;
	for (auto &w : words)
		argv.push_back(w.data());
	int argc = static_cast<int>(argv.size());
	argv.push_back(nullptr);
	new s4u::Engine(&argc, argv.data());
	for (int i = 0; i < n; i++) {
		try {
			s4u::Engine::set_config(std::string(settings[i]));
		} catch (const std::exception &e) {
			launcher_fail("--cfg=%s: SimGrid does not accept it: %s", settings[i],
				      first_line(e).c_str());
		}
	}
	s4u::Host::on_creation_cb([](s4u::Host &h) { hosts.push_back(&h); });
	s4u::Engine::on_deadlock_cb(launcher_deadlock);
}

// A crossbar: every host has its own link to a switch without limits. 12.5 GBps and 1 us end to
// end, 25 GBps and 100 ns to itself.
static void default_cluster(int n)
{
	auto *zone = s4u::create_star_zone("cluster");
	for (int i = 0; i < n; i++) {
		std::string name = "node-" + std::to_string(i);
		auto *host = zone->create_host(name, 1e9)->seal();
		auto *link = zone->create_split_duplex_link(name + "-link", 12.5e9)
				     ->set_latency(0.5e-6)
				     ->seal();
		auto *loop = zone->create_link(name + "-loop", 25e9)
				     ->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE)
				     ->set_latency(100e-9)
				     ->seal();
		zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
				{ { dynamic_cast<const s4u::SplitDuplexLink *>(link),
				    s4u::LinkInRoute::Direction::UP } },
				true);
		zone->add_route(host->get_netpoint(), host->get_netpoint(), nullptr, nullptr,
				{ s4u::LinkInRoute(loop) }, false);
	}
	zone->seal();
}

size_t launcher_platform_load(const char *file, int n)
{
	try {
		if (file)
			s4u::Engine::get_instance()->load_platform(file);
		else
			default_cluster(n);
	} catch (const std::exception &e) {
		launcher_fail(
			"--platform %s: SimGrid cannot use it: %s; correct the file or write a new one with `orrery platform`",
			file ? file : "(default)", first_line(e).c_str());
	}
	return hosts.size();
}

sg_host_t launcher_host(size_t i)
{
	return hosts[i];
}

void launcher_run(void)
{
	try {
		s4u::Engine::get_instance()->run();
	} catch (const std::exception &e) {
		launcher_fail("the simulation stopped: %s", first_line(e).c_str());
	}
}
