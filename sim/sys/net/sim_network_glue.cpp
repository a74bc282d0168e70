// SPDX-License-Identifier: LGPL-2.1-or-later
// Questions of the models of the network (sim_network.c) to SimGrid: routes and SMPI's
// factors.
//
// Invariant: links have the numbers 0, 1, ... in the order in which routes use them first.
#include "net/sim_network_glue.h"
#include "actors/sim_glue.h"
#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>
#include <simgrid/s4u.hpp>
#include <xbt/config.hpp>
#include "simgrid_names.h"

namespace s4u = simgrid::s4u;

namespace
{

std::unordered_map<const s4u::Link *, unsigned> numbers;
std::vector<const s4u::Link *> by_number;

// The name that SimGrid gives to the limiter_link of a cluster.
bool is_limit(const std::string &name)
{
	static const std::string end = "_limiter";
	return name.length() > end.length() &&
	       !name.compare(name.length() - end.length(), end.length(), end);
}

unsigned number_of(const s4u::Link *link)
{
	static const bool listens = [] {
		s4u::Link::on_bandwidth_change_cb([](s4u::Link const &l) {
			auto at = numbers.find(&l);
			if (at != numbers.end())
				orr_sim_network_bandwidth(at->second, l.get_bandwidth());
			orr_sim_glue_outside();
		});
		return true;
	}();
	(void) listens;
	const auto [at, fresh] = numbers.emplace(link, static_cast<unsigned>(numbers.size()));
	if (fresh) {
		by_number.push_back(link);
		orr_sim_network_link(at->second, link->get_bandwidth(),
				     link->get_sharing_policy() !=
					     s4u::Link::SharingPolicy::FATPIPE,
				     is_limit(link->get_name()));
	}
	return at->second;
}

// A list SIZE:VALUE;SIZE:VALUE:VALUE... of SMPI, by size. In seconds, bytes and factors the
// launcher has written all numbers so that no locale matters.
class Steps
{
	struct Step {
		double size;
		std::vector<double> values;
	};
	std::vector<Step> all;

      public:
	explicit Steps(const char *key)
	{
		std::istringstream list(simgrid::config::get_value<std::string>(key));
		for (std::string entry; std::getline(list, entry, ';');) {
			std::istringstream words(entry);
			std::vector<double> numbers_of_entry;
			for (std::string word; std::getline(words, word, ':');)
				numbers_of_entry.push_back(std::strtod(word.c_str(), nullptr));
			if (numbers_of_entry.size() > 1)
				all.push_back({ numbers_of_entry[0],
						{ numbers_of_entry.begin() + 1,
						  numbers_of_entry.end() } });
		}
		std::stable_sort(all.begin(), all.end(),
				 [](const Step &a, const Step &b) { return a.size < b.size; });
	}

	// The values of the last step that is smaller than so many bytes, or null.
	const std::vector<double> *find(double bytes) const
	{
		const std::vector<double> *found = nullptr;
		for (const auto &step : all) {
			if (bytes <= step.size)
				break;
			found = &step.values;
		}
		return found;
	}

	// True if the value is that one for all sizes.
	bool is_always(double value) const
	{
		return std::all_of(all.begin(), all.end(), [value](const Step &s) {
			return s.values.front() == value &&
			       (s.values.size() == 1 || s.values[1] == 0);
		});
	}
};

} // namespace

void orr_sim_glue_path(sg_host_t from, sg_host_t to, struct orr_sim_glue_path *path)
{
	static const double weight = simgrid::config::get_value<double>("network/weight-S");
	static const double gamma = simgrid::config::get_value<double>("network/TCP-gamma");
	static std::vector<s4u::Link *> links;
	static std::vector<unsigned> found;
	double latency = 0;
	links.clear();
	found.clear();
	from->route_to(to, links, &latency);
	for (const auto *link : links)
		found.push_back(number_of(link));
	path->links = found.data();
	path->n = static_cast<unsigned>(found.size());
	path->latency_s = latency;
	path->weight = weight;
	path->most = gamma > 0 && latency > 0 ? gamma / (2 * latency) : 1e300;
}

const char *orr_sim_glue_link_name(unsigned i)
{
	return by_number[i]->get_cname();
}

double orr_sim_glue_link_rate(unsigned i)
{
	return orr_simgrid_rate(by_number[i]);
}

struct orr_sim_sizes orr_sim_sizes;

double orr_sim_glue_factor_of(enum orr_sim_factor kind, double bytes)
{
	static const Steps lists[] = { Steps("smpi/bw-factor"), Steps("smpi/lat-factor") };
	const auto *values = lists[kind].find(bytes);
	if (lists[kind].is_always(1))
		orr_sim_sizes.unit_factors |= 1U << kind;
	return values ? values->front() : 1;
}

double orr_sim_glue_overhead_of(enum orr_sim_overhead kind, double bytes)
{
	static const Steps lists[] = { Steps("smpi/ois"), Steps("smpi/or") };
	const auto *values = lists[kind].find(bytes);
	if (lists[kind].is_always(0))
		orr_sim_sizes.no_overheads |= 1U << kind;
	if (!values)
		return 0;
	return values->front() + (values->size() > 1 ? (*values)[1] * bytes : 0);
}

size_t orr_sim_glue_read_eager_bytes(void)
{
	const int bytes = simgrid::config::get_value<int>("smpi/send-is-detached-thresh");
	orr_sim_sizes.eager_bytes = 1 + (bytes > 0 ? static_cast<size_t>(bytes) : 0);
	return orr_sim_sizes.eager_bytes - 1;
}
