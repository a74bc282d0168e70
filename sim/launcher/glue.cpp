// SPDX-License-Identifier: LGPL-2.1-or-later
// The parts of SimGrid that the launcher uses and that have a C++ interface only: settings,
// platform, main loop.
//
// Invariant: no exception of SimGrid leaves this file; each becomes a message that names the option
// or file at fault.
#include "glue.h"
#include <algorithm>
#include <exception>
#include <regex>
#include <string>
#include <vector>
#include <simgrid/s4u.hpp>
#include <simgrid/Exception.hpp>
#include <smpi/smpi.h>
#include <xbt/config.hpp>
#include "named.h"
#include "simgrid_names.h"

namespace s4u = simgrid::s4u;

/* root_zone.cpp: the file to load instead. */
std::string launcher_platform_file(const char *file);
/* network.cpp */
void launcher_network_settle(const std::vector<s4u::Host *> &hosts);

static const char *const SETTINGS = "SimGrid's manual lists the settings (Configuring SimGrid)";

// The first line of SimGrid's explanation; lists of all settings may follow.
static std::string first_line(const std::exception &e)
{
	std::string what = e.what();
	return what.substr(0, what.find('\n'));
}

// In the order of their declaration, which the engine does not keep.
static std::vector<s4u::Host *> hosts;

// The place where the digits that begin at `at` end.
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

// Lists SIZE:VALUE;SIZE:VALUE:VALUE... that SimGrid parses when the first message starts, too late
// for us: in the locale that the program has chosen by then, and with a crash if a value is
// missing.
static void settle_factors()
{
	static const std::regex list("([0-9]+[^:;]*(:[-+.]?[0-9][^:;]*)+;*)*");
	for (const char *key :
	     { "smpi/bw-factor", "smpi/lat-factor", "smpi/os", "smpi/or", "smpi/ois" }) {
		const std::string value = simgrid::config::get_value<std::string>(key);
		if (!std::regex_match(value, list))
			launcher_refused((std::string(key) + ":" + value +
					  ": expected SIZE:VALUE or several of these with "
					  "semicolons in between")
						 .c_str());
		simgrid::config::set_value(key, without_points(value));
	}
	const char *penalties = "smpi/IB-penalty-factors";
	simgrid::config::set_value(
		penalties, without_points(simgrid::config::get_value<std::string>(penalties)));
}

void launcher_engine_init(void)
{
	std::vector<std::string> words{ "orrery-sim", "--log=root.thresh:warning",
					"--log=xbt_cfg.thresh:warning", "--log=no_loc",
					// Our message on a stall replaces SimGrid's.
					"--log=ker_engine.app:file:/dev/null" };
	std::vector<char *> argv;
	for (auto &w : words)
		argv.push_back(w.data());
	int argc = static_cast<int>(argv.size());
	argv.push_back(nullptr);
	new s4u::Engine(&argc, argv.data());
	s4u::Host::on_creation_cb([](s4u::Host &h) { hosts.push_back(&h); });
	s4u::Engine::on_deadlock_cb(launcher_deadlock);
}

void launcher_engine_configure(const char *const *settings, int n)
{
	// Declares the rest of SMPI's settings, among them the algorithms of collectives.
	smpi_init_options();
	for (int i = 0; i < n; i++) {
		const std::string culprit = std::string("--cfg=") + settings[i];
		launcher_judge(culprit.c_str(), SETTINGS);
		try {
			s4u::Engine::set_config(std::string(settings[i]));
		} catch (const std::exception &e) {
			launcher_refused(first_line(e).c_str());
		}
		launcher_accepted();
	}
}

// A crossbar: every host has its own link to a switch without limits. 12.5 GBps and 1 us between
// two hosts, or those of a network with a name, 25 GBps and 100 ns from a host to itself.
static void default_cluster(const char *like, int n)
{
	const Named network = like ? launcher_named(like) : Named{ 1e-6, 12.5e9, "", "" };
	auto *zone = orr_simgrid_star("cluster");
	for (int i = 0; i < n; i++) {
		std::string name = "node-" + std::to_string(i);
		auto *host = orr_simgrid_host(zone, name, 1e9)->seal();
		if (like)
			host->set_property("like", like);
		auto *link = orr_simgrid_duplex(zone, name + "-link", network.bytes_per_s)
				     ->set_latency(network.latency_s / 2)
				     ->seal();
		auto *loop = orr_simgrid_link(zone, name + "-loop", 25e9)
				     ->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE)
				     ->set_latency(100e-9)
				     ->seal();
		orr_simgrid_route(zone, host, nullptr,
				  { { dynamic_cast<const s4u::SplitDuplexLink *>(link),
				      s4u::LinkInRoute::Direction::UP } },
				  true);
		orr_simgrid_route(zone, host, host, { s4u::LinkInRoute(loop) }, false);
	}
	zone->seal();
}

// The mistake in the numbers of a platform, which SimGrid takes as they come: "" if they are
// believable.
static std::string platform_mistake()
{
	const double most = 1e18, latest_s = 1e6;
	auto outside = [](double value, double least, double greatest) {
		return !(value >= least && value <= greatest);
	};
	auto says = [](const char *what, const std::string &name, const char *has, double value,
		       const char *unit) {
		char number[64];
		snprintf(number, sizeof(number), "%g %s", value, unit);
		return what + name + has + number;
	};
	for (const s4u::Link *link : s4u::Engine::get_instance()->get_all_links()) {
		if (outside(link->get_bandwidth(), 1, most))
			return says("the link ", link->get_name(), " has a bandwidth of ",
				    link->get_bandwidth(), "B/s");
		if (outside(link->get_latency(), 0, latest_s))
			return says("the link ", link->get_name(), " has a latency of ",
				    link->get_latency(), "s");
	}
	for (const s4u::Host *host : hosts)
		if (outside(host->get_speed(), 1, most))
			return says("the host ", host->get_name(), " has a speed of ",
				    host->get_speed(), "f/s");
	return "";
}

size_t launcher_platform_load(const char *file, const char *like, int n)
{
	const std::string culprit = std::string("--platform ") + (file ? file : "(default)");
	const std::string path = file ? launcher_platform_file(file) : "";
	launcher_judge(culprit.c_str(),
		       "correct the file or write a new one with `orrery platform`");
	try {
		if (file)
			s4u::Engine::get_instance()->load_platform(path);
		else
			default_cluster(like, n);
		orr_simgrid_order(hosts);
		const std::string mistake = platform_mistake();
		if (!mistake.empty())
			launcher_refused(mistake.c_str());
		// SimGrid 4 aborts when it is asked for a route of a Dijkstra zone before this,
		// which tells of hosts once more. The engine's own seal does nothing then.
		const auto told = hosts;
		s4u::Engine::get_instance()->get_netzone_root()->seal();
		hosts = told;
		launcher_network_settle(hosts);
	} catch (const std::exception &e) {
		launcher_refused(first_line(e).c_str());
	}
	launcher_accepted();
	return hosts.size();
}

// SMPI checks most of its settings only here, after the platform, which may contain settings, too.
void launcher_smpi_start(void)
{
	launcher_judge("a setting of SMPI (--cfg=smpi/...)", SETTINGS);
	settle_factors();
	try {
		SMPI_init();
	} catch (const std::exception &e) {
		launcher_refused(first_line(e).c_str());
	}
	launcher_accepted();
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
