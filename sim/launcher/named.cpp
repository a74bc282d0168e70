// SPDX-License-Identifier: LGPL-2.1-or-later
// Networks with a name (networks.def): a latency, a bandwidth, and factors by size, so that a
// ping-pong of plain MPI between two nodes takes what was published.
//
// At each published size it takes exactly that. A message between two sizes takes as much less than
// the larger one as the line between the two says, but its bytes are not faster than the link, and
// its latency is not negative. Beyond the last size, each byte takes its time at full bandwidth.
//
// Invariant: factors of bandwidth are at most 1, so messages together never exceed a link.
#include "named.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include "glue.h"
extern "C" {
#include "base/assert.h"
}

namespace
{

constexpr double HEADER = 16; // bytes that each message has in addition

struct Entry {
	const char *name;
	double bytes_per_s;
	const char *points, *source;
};

const Entry entries[] = {
#define NETWORK(name, bytes_per_s, points, source) { name, bytes_per_s, points, source },
#include "networks.def"
};

// The cost of messages of more than `above` bytes: latency, and seconds for each byte.
struct Piece {
	double above, latency_s, byte_s;
};

std::vector<Piece> pieces_of(const Entry &e)
{
	std::vector<Piece> pieces;
	const double fastest = 1 / e.bytes_per_s;
	double before = 0, before_s = 0;
	for (const char *p = e.points; *p;) {
		char *end = nullptr;
		const double size = std::strtod(p, &end) + HEADER;
		const double s = std::strtod(end + 1, &end) * 1e-6;
		const double most = s / size;
		orr_assert(fastest <= most);
		const double line = before > 0 ? (s - before_s) / (size - before) : 0;
		const double byte_s = std::min(std::max(line, fastest), most);
		pieces.push_back({ before, s - byte_s * size, byte_s });
		before = size;
		before_s = s;
		p = end + std::strspn(end, " ");
	}
	pieces.push_back({ before, before_s - fastest * before, fastest });
	return pieces;
}

void append(std::string &list, double above, double factor)
{
	char text[64];
	std::snprintf(text, sizeof(text), "%s%.0f:%.9g", list.empty() ? "" : ";", above, factor);
	list += text;
}

} // namespace

Named launcher_named(const char *name)
{
	for (const auto &e : entries) {
		if (std::strcmp(e.name, name) != 0)
			continue;
		const auto pieces = pieces_of(e);
		Named n{ pieces[0].latency_s, e.bytes_per_s, "", "" };
		for (const auto &p : pieces) {
			append(n.latency_factors, p.above, p.latency_s / n.latency_s);
			append(n.bandwidth_factors, p.above, 1 / (p.byte_s * e.bytes_per_s));
		}
		return n;
	}
	std::string known;
	for (const auto &e : entries)
		known += std::string(" ") + e.name;
	launcher_fail("a network like %s is unknown; there are:%s", name, known.c_str());
}
