// SPDX-License-Identifier: LGPL-2.1-or-later
// Platform files that are a torus, a fat tree or a dragonfly without a zone around it. SimGrid 4.0
// crashes while it reads them, though it reads them in a zone. So it reads a copy in memory, in
// which such a cluster is in a zone.
//
// Invariant: lines keep their numbers, and all else of the file stays as it is; files that the
// platform names are looked for beside it.
#include "glue.h"
#include <fstream>
#include <sstream>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <xbt/config.hpp>
#include "simgrid_private.h"

namespace
{

const std::string OPEN = "<zone id=\"orrery-root\" routing=\"Full\">", CLOSE = "</zone>";

struct Tag {
	size_t from, to; // in the text, `to` is behind it
	std::string name;
	bool begins, ends;
};

bool starts(const std::string &text, size_t at, const char *with)
{
	return text.compare(at, std::string(with).length(), with) == 0;
}

// Behind the next `what`; the end of the text without it.
size_t behind(const std::string &text, size_t at, const std::string &what)
{
	const size_t found = text.find(what, at);
	return found == std::string::npos ? text.length() : found + what.length();
}

// Behind the tag that begins at `at`: a > in quotes does not end it.
size_t behind_tag(const std::string &text, size_t at)
{
	char quote = 0;
	for (; at < text.length(); at++) {
		const char c = text[at];
		if (quote)
			quote = c == quote ? 0 : quote;
		else if (c == '"' || c == '\'')
			quote = c;
		else if (c == '>')
			return at + 1;
	}
	return at;
}

// The next tag of an element, if there is one: comments and declarations are none.
bool next_tag(const std::string &text, size_t at, Tag &tag)
{
	while ((at = text.find('<', at)) != std::string::npos) {
		if (starts(text, at, "<!--")) {
			at = behind(text, at, "-->");
		} else if (starts(text, at, "<?")) {
			at = behind(text, at, "?>");
		} else if (starts(text, at, "<!")) {
			at = behind_tag(text, at);
		} else {
			tag.from = at;
			tag.to = behind_tag(text, at);
			tag.begins = text[at + 1] != '/';
			tag.ends = !tag.begins || starts(text, tag.to - 2, "/>");
			const size_t name = at + (tag.begins ? 1 : 2);
			tag.name = text.substr(name, text.find_first_of(" \t\r\n/>", name) - name);
			return true;
		}
	}
	return false;
}

// Has it a topology of several switches?
bool has_topology(const std::string &tag)
{
	return tag.find("TORUS") != std::string::npos ||
	       tag.find("FAT_TREE") != std::string::npos ||
	       tag.find("DRAGONFLY") != std::string::npos;
}

// The text with a zone around such a cluster that is in none.
std::string with_zone(const std::string &text)
{
	std::string out;
	size_t done = 0;
	int depth = 0; // 1 in the platform
	bool open = false;
	Tag tag;
	while (next_tag(text, done, tag)) {
		const std::string cluster = text.substr(tag.from, tag.to - tag.from);
		out += text.substr(done, tag.from - done);
		if (depth == 1 && tag.begins && tag.name == "cluster" && has_topology(cluster)) {
			out += OPEN;
			open = true;
		}
		depth += tag.begins - tag.ends;
		out += cluster;
		if (depth == 1 && open) {
			out += CLOSE;
			open = false;
		}
		done = tag.to;
	}
	return out + text.substr(done);
}

// A file in memory; it stays open.
std::string in_memory(const std::string &text)
{
	const int fd = memfd_create("platform", MFD_CLOEXEC);
	size_t at = 0;
	while (fd >= 0 && at < text.length()) {
		const ssize_t n = write(fd, text.data() + at, text.length() - at);
		if (n <= 0)
			break;
		at += static_cast<size_t>(n);
	}
	if (fd < 0 || at < text.length())
		launcher_fail("out of memory for a copy of the platform file");
	return "/proc/self/fd/" + std::to_string(fd);
}

} // namespace

std::string launcher_platform_file(const char *file)
{
	const std::string path = file;
	if (ORR_SIMGRID_LONE_CLUSTER)
		return path;
	std::ifstream in(path);
	std::stringstream all;
	all << in.rdbuf();
	const std::string text = all.str(), zoned = with_zone(text);
	if (zoned == text)
		return path; // a library, too
	const size_t slash = path.rfind('/');
	if (slash != std::string::npos)
		simgrid::config::set_value("path", path.substr(0, slash + 1));
	return in_memory(zoned);
}
