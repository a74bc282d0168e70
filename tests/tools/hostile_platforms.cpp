// SPDX-License-Identifier: LGPL-2.1-or-later
// Changed platform files, in one process: this library comes before SimGrid (LD_PRELOAD), and takes
// the place of the function that makes its engine. For each change the process writes the file anew
// and forks; the child goes on with its simulated run, as if it had been started with that file
// (hostile.sh).
//
// HOSTILE_PLATFORM: the file; HOSTILE_CHANGES: how many; HOSTILE_SEED: which. A run that ends with
// status 0 is counted, by what it printed; so is one that ends with status 1 after lines that name
// the file. Any other end, more than 200 MB or 20 s, is a mistake, and so is another result while
// the file still has a line of its checksum: the file is left as hostile.crash, and the status
// is 1. Invariant: the same platform has the same changes.
#include <dlfcn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

namespace
{

constexpr long MOST_KIB = 200000;
constexpr unsigned LONGEST_S = 20;
uint64_t state = 0x9e3779b97f4a7c15ULL;

unsigned below(size_t n)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return n ? static_cast<unsigned>((state * 0x2545f4914f6cdd1dULL >> 32) % n) : 0;
}

// A number, a name or a word of XML: where it begins, and its length.
size_t word(const std::string &text, size_t *length)
{
	static const char ends[] = " \t\n<>='\"/";
	size_t at = below(text.size()), end;
	while (at > 0 && !strchr(ends, text[at - 1]))
		at--;
	for (end = at; end < text.size() && !strchr(ends, text[end]); end++)
		;
	*length = end - at;
	return at;
}

size_t line(const std::string &text, size_t *length)
{
	size_t at = text.rfind('\n', below(text.size())), end;
	at = at == std::string::npos ? 0 : at + 1;
	end = text.find('\n', at);
	*length = (end == std::string::npos ? text.size() : end + 1) - at;
	return at;
}

std::string changed(std::string text)
{
	static const char *const words[] = { "",           "0",       "-1",
					     "nan",        "inf",     "1e999",
					     "1e308",      "-1e308",  "99999999999999999999",
					     "4294967296", "x",       "1Gf",
					     "1GBps",      "1us",     "FATPIPE",
					     "Full",       "Nowhere", "node-0",
					     "node-1",     "id",      "speed",
					     "core",       "\x01",    "\xff",
					     "&lt;",       "<!--",    "]]>",
					     "<host",      "../x" };
	for (unsigned n = 1 + below(3); n && !text.empty(); n--) {
		size_t length, at;
		switch (below(9)) {
		case 0:
		case 1:
		case 2:
			at = word(text, &length);
			text.replace(at, length, words[below(sizeof(words) / sizeof(words[0]))]);
			break;
		case 3:
			at = line(text, &length);
			text.erase(at, length);
			break;
		case 4: {
			at = line(text, &length);
			const std::string copy = text.substr(at, length);
			text.insert(line(text, &length), copy);
			break;
		}
		case 5: text[below(text.size())] = static_cast<char>(below(256)); break;
		case 6: text.erase(below(text.size()), 1 + below(8)); break;
		case 7:
			at = text.find_first_of("0123456789", below(text.size()));
			if (at != std::string::npos)
				text[at] = static_cast<char>('0' + below(10));
			break;
		default:
			if (!below(8))
				text.resize(below(text.size()));
		}
	}
	return text;
}

std::string read(const std::string &path)
{
	std::ifstream in(path, std::ios::binary);
	std::ostringstream text;
	text << in.rdbuf();
	return text.str();
}

void write(const std::string &path, const std::string &text)
{
	std::ofstream(path, std::ios::binary) << text;
}

// The output of the last child goes. Standard output and error are these files, opened for
// appending; meanwhile, a file of the launcher, which is in memory, is standard error
// (launcher_judge()).
void forget()
{
	fflush(nullptr);
	if (truncate("child.out", 0) || truncate("child.err", 0) || ftruncate(2, 0) ||
	    lseek(2, 0, SEEK_SET))
		_exit(99);
}

[[noreturn]] void broken(const std::string &text, int status, long kib)
{
	write("hostile.crash", text);
	std::ofstream("report") << "a run ended with status " << status << " and " << kib
				<< " KiB; see hostile.crash:\n"
				<< read("child.err");
	_exit(1);
}

} // namespace

namespace
{

// In the process that goes on, and in each child, which returns.
void change_all(const std::string &file)
{
	const std::string good = read(file), name = file.substr(file.rfind('/') + 1);
	std::string first;
	const char *seed = getenv("HOSTILE_SEED");
	state *= 2 * (seed ? strtoull(seed, nullptr, 10) : 0) + 1;
	long counts[4] = { 0, 0, 0, 0 }, most = 0;
	const long n = atol(getenv("HOSTILE_CHANGES"));
	for (long i = 0; i <= n; i++) {
		const std::string text = i ? changed(good) : good;
		write(file, text);
		forget();
		const pid_t child = fork();
		if (!child) {
			alarm(LONGEST_S);
			return;
		}
		int status;
		struct rusage used;
		if (child < 0 || wait4(child, &status, 0, &used) != child)
			broken(text, -1, 0);
		const std::string err = read("child.err"), out = read("child.out");
		const int ended = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		most = used.ru_maxrss > most ? used.ru_maxrss : most;
		if (!i)
			first = out;
		if (used.ru_maxrss > MOST_KIB || ended > 1 || (!i && ended))
			broken(text, ended, used.ru_maxrss);
		if (ended && err.find(name) == std::string::npos)
			broken(text, ended, used.ru_maxrss);
		const bool checked = text.find("<!-- checksum ") != std::string::npos;
		const int which = ended ? 0 : out == first ? 1 : checked ? 3 : 2;
		counts[which]++;
		if (which == 3)
			broken(text, ended, used.ru_maxrss);
	}
	write(file, good);
	std::ofstream("report") << name << ": " << n << " files: " << counts[0] << " refused, "
				<< counts[1] << " the same, " << counts[2]
				<< " others, as by hand; at most " << most << " KiB\n";
	_exit(counts[0] ? 0 : 1);
}

} // namespace

namespace simgrid
{
namespace s4u
{

class Engine
{
      public:
	Engine(int *argc, char **argv);
};

Engine::Engine(int *argc, char **argv)
{
	using Make = void (*)(Engine *, int *, char **);
	const Make make = reinterpret_cast<Make>(
		dlsym(RTLD_NEXT, "_ZN7simgrid3s4u6EngineC1EPiPPc"));
	change_all(getenv("HOSTILE_PLATFORM"));
	make(this, argc, argv);
}

} // namespace s4u
} // namespace simgrid
