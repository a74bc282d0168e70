/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The simulation must fit into the memory of this computer. A run that does not would be ended by
 * the system without a word, or make the computer useless for minutes.
 *
 * Before the ranks are made their part is known: the address space of their stacks, and what a rank
 * takes of memory that has no data yet. While the run goes on, the thread of the watch looks at the
 * memory that is in use.
 *
 * Invariant: the thread of the watch touches no state of the simulation; what it compares with is
 * written before it starts. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "launcher.h"
#include "base/assert.h"

/* The memory of a rank that has no tasks yet: 1,024 ranks of the Cholesky example take that much
 * more than 16, divided by the difference. */
#define RANK_BYTES 105e3
/* Maps of memory that the simulator makes while it runs: threads, large blocks of memory. */
#define SPARE_MAPS 200
/* With more ranks than that no stack has a guard. */
#define GUARDED_RANKS 8000
/* Ends the run when less than that part of the computer's memory is left. */
#define LEFT_PART 0.01

static double limit_bytes; /* that the simulation may take; 0: until little is left */

int launcher_read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, size - 1) : -1;

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
	return n > 0;
}

/* The bytes that a line of /proc/meminfo says, negative: not known. */
static double line_of(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtod(at + strlen(name), NULL) * 1024 : -1;
}

/* The memory of the computer, and the part of it, and of its swap, that is free. Returns whether
 * that is known. Calls only what the thread of the watch may call. */
static int memory_of_computer(double *total, double *left)
{
	char text[4096];

	if (!launcher_read_text("/proc/meminfo", text, sizeof(text)))
		return 0;
	double memory = line_of(text, "MemAvailable:"), disk = line_of(text, "SwapFree:");
	*total = line_of(text, "MemTotal:");
	*left = memory + (disk > 0 ? disk : 0);
	return *total > 0 && memory >= 0;
}

/* The memory that this process has in use, 0: not known. */
static double memory_in_use(void)
{
	char text[128];
	long pages = 0;

	if (!launcher_read_text("/proc/self/statm", text, sizeof(text)))
		return 0;
	return sscanf(text, "%*d %ld", &pages) == 1 ? (double) pages * (double) getpagesize() : 0;
}

/* Stacks of a rank beside that of its main actor. */
static int small_stacks(void)
{
	return orr_sim.share_stacks ? 0 : 2;
}

static void check_address_space(int n)
{
	struct rlimit most;
	size_t each = orr_sim.stack_main + (size_t) small_stacks() * orr_sim.stack_small;
	double stacks = (double) n * (double) each;

	if (getrlimit(RLIMIT_AS, &most) || most.rlim_cur == RLIM_INFINITY)
		return;
	if (stacks + n * RANK_BYTES > (double) most.rlim_cur)
		launcher_fail(
			"-n %d: the ranks need %.1f GB of address space, %.1f GB of it for stacks, but the limit is %.1f GB; raise it (ulimit -v), ask for smaller stacks (--stack KIB), or simulate fewer nodes",
			n, (stacks + n * RANK_BYTES) / 1e9, stacks / 1e9,
			(double) most.rlim_cur / 1e9);
}

/* The number that a file of the system holds, -1: not known. */
static long number_in(const char *path)
{
	char text[64];

	return launcher_read_text(path, text, sizeof(text)) ? strtol(text, NULL, 10) : -1;
}

static long maps_in_use(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	long n = 0;
	int c;

	while (maps && (c = getc(maps)) != EOF)
		n += c == '\n';
	if (maps)
		fclose(maps);
	return n;
}

/* The system counts the maps of a process: pieces of memory with rights of their own. Returns how
 * many it allows, -1: not known; *used: those that are no rank's. */
static long maps_allowed(long *used)
{
	*used = maps_in_use() + SPARE_MAPS;
	return number_in("/proc/sys/vm/max_map_count");
}

/* A stack with a guard is two maps; those without are one piece together. */
int launcher_fit_guards(int n)
{
	long used, most = maps_allowed(&used), stacks = 1 + small_stacks();

	return n <= GUARDED_RANKS &&
	       (most < 0 || used + n * (launcher_program_maps() + 2 * stacks) <= most);
}

static void check_maps(int n)
{
	long used, most = maps_allowed(&used), each = launcher_program_maps(),
		   need = used + n * each;

	if (most > 0 && need > most)
		launcher_fail(
			"-n %d: the ranks need %ld maps of memory (%ld each), but the system allows %ld to a process; raise it as root (sysctl -w vm.max_map_count=%ld), or simulate at most %ld nodes",
			n, need, each, most, need, most > used ? (most - used) / each : 0);
}

void launcher_fit_check(const struct launcher_options *o)
{
	double total, left, need = o->n * RANK_BYTES;

	limit_bytes = o->memory_mib * 1048576.0;
	check_address_space(o->n);
	check_maps(o->n);
	if (limit_bytes > 0)
		left = limit_bytes;
	else if (!memory_of_computer(&total, &left))
		return;
	if (need > left)
		launcher_fail(
			"-n %d: the ranks take %.2f GB of memory before they have data or tasks, but %s %.2f GB; simulate at most %ld nodes, or use a computer with more memory",
			o->n, need / 1e9,
			limit_bytes > 0 ? "--memory allows" : "this computer has only", left / 1e9,
			(long) (left / RANK_BYTES));
}

void launcher_fit_look(void)
{
	double total, left, used = memory_in_use();

	if (limit_bytes > 0 ? used <= limit_bytes
			    : !memory_of_computer(&total, &left) || left >= LEFT_PART * total)
		return;
	fflush(stdout);
	fprintf(stderr,
		"orrery sim: the simulation does not fit: it takes %.2f GB of memory, and %s; have fewer tasks in flight (STARPU_LIMIT_MAX_SUBMITTED_TASKS=100 STARPU_LIMIT_MIN_SUBMITTED_TASKS=60), simulate fewer nodes, or use a computer with more memory\n",
		used / 1e9,
		limit_bytes > 0 ? "--memory allows no more" : "the computer has hardly any left");
	_exit(EXIT_FAILURE);
}
