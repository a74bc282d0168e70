// SPDX-License-Identifier: LGPL-2.1-or-later
// The file of a platform: its checksum, where it has one, and a zone around a cluster that is a
// torus, a fat tree or a dragonfly without one. SimGrid 4.0 crashes while it reads such a cluster,
// though it reads it in a zone. So it reads a copy in memory. It also reads a copy of what can be
// read only once, such as a pipe.
//
// Invariant: lines keep their numbers, and all else of the file stays as it is; files that the
// platform names are looked for beside it.
#include "glue.h"
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xbt/config.hpp>
#include "simgrid_names.h"

extern "C" {
#include "base/checksum.h"
}

namespace
{

const size_t LONGEST = 1 << 30; // bytes
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

// The whole file; false: it cannot be read, as SimGrid will say. *once: nobody can read it again.
bool read_all(const char *file, std::string &text, bool *once)
{
	char part[65536];
	struct stat about;
	ssize_t n = -1;
	const int fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	*once = fstat(fd, &about) || !S_ISREG(about.st_mode);
	while ((n = read(fd, part, sizeof(part))) > 0) {
		text.append(part, static_cast<size_t>(n));
		if (text.length() > LONGEST)
			launcher_fail("--platform %s: longer than %zu bytes, so it is no platform",
				      file, LONGEST);
	}
	close(fd);
	return n == 0;
}

void check_sum(const char *file, const std::string &text)
{
	struct orr_checksum sum;
	if (orr_checksum_fits_xml(text.data(), text.length(), &sum) > 0)
		return;
	const char *remedy =
		"write it anew, or, if you changed it, put one line `<!-- checksum none -->' in place of its lines `<!-- checksum'";
	if (!sum.there)
		launcher_fail(
			"--platform %s:%u: the checksum is missing, which its begin announces: the file was damaged or cut off; %s",
			file, sum.line, remedy);
	launcher_fail(
		"--platform %s:%u: the checksum is %08x, and that of the lines before it %08x: the file was damaged or changed; %s",
		file, sum.line, static_cast<unsigned>(sum.says), static_cast<unsigned>(sum.has),
		remedy);
}

} // namespace

std::string launcher_platform_file(const char *file)
{
	const std::string path = file;
	std::string text;
	bool once;
	if (!read_all(file, text, &once))
		return path;
	check_sum(file, text);
	const std::string zoned = ORR_SIMGRID_LONE_CLUSTER ? text : with_zone(text);
	if (zoned == text && !once)
		return path; // a library, too
	const size_t slash = path.rfind('/');
	if (slash != std::string::npos)
		simgrid::config::set_value("path", path.substr(0, slash + 1));
	return in_memory(zoned);
}
