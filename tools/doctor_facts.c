/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The facts of a host for `orrery doctor`: lines "NAME VALUE".
 *
 *      host NAME              as the host calls itself
 *      self TEXT              tells hosts apart that have several names
 *      address ADDRESS        that its own name has, once for each; none: the name is unknown
 *      cores USABLE ONLINE    hardware threads that this process may use, and that there are
 *      quota CORES            of the control group, where it has one
 *      limit NAME SOFT HARD   of a process, -1: none
 *      maps N                 vm.max_map_count
 *      memory BYTES           of the host
 *      shm BYTES FREE         of /dev/shm; 0 0: there is none
 *      tmp FREE FOLDER        bytes free in the folder for temporary files; -1: cannot be written
 *      reach yes|no           a process reads its neighbour's memory, as the transport shm does
 *      processor TEXT         its model
 *      load AVERAGE           of the last minute
 *      fabric NAME            a device of InfiniBand, once for each
 *      library PATH CHECKSUM  of liborrery
 *      home PATH              of the user
 *      models FOLDER NAME     where the calibration of this host lies
 *      bus FILE LINE          the line of a file there that says what it is of
 *
 * Invariant: nothing on the host is changed, but a file made and removed in the folder for
 * temporary files. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <netdb.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "doctor_host.h"

enum { LINE = 4096, CPUS = 1 << 16 };

/* The first line of a file, without its end; "" if it cannot be read. */
static void first_line(const char *path, char line[LINE])
{
	FILE *f = fopen(path, "r");

	line[0] = 0;
	if (f && fgets(line, LINE, f))
		line[strcspn(line, "\n")] = 0;
	if (f)
		fclose(f);
}

/* ---- names ---- */

static void tell_names(void)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *all = NULL;
	char name[256] = "", boot[LINE], text[NI_MAXHOST];
	struct stat net = { 0 };

	gethostname(name, sizeof(name) - 1);
	printf("host %s\n", name);
	first_line("/proc/sys/kernel/random/boot_id", boot);
	stat("/proc/self/ns/net", &net);
	printf("self %s-%s-%llu\n", boot, name, (unsigned long long) net.st_ino);
	if (getaddrinfo(name, NULL, &hints, &all))
		return;
	for (struct addrinfo *a = all; a; a = a->ai_next)
		if (!getnameinfo(a->ai_addr, a->ai_addrlen, text, sizeof(text), NULL, 0,
				 NI_NUMERICHOST))
			printf("address %s\n", text);
	freeaddrinfo(all);
}

/* ---- cores ---- */

static void tell_cores(void)
{
	cpu_set_t *set = CPU_ALLOC(CPUS);
	size_t size = CPU_ALLOC_SIZE(CPUS);
	long online = sysconf(_SC_NPROCESSORS_ONLN);

	if (set && !sched_getaffinity(0, size, set))
		printf("cores %d %ld\n", CPU_COUNT_S(size, set), online);
	CPU_FREE(set);
}

/* The path of this process in the hierarchy with that controller; "0" is that of cgroup v2. */
static int own_group(const char *controller, char path[LINE])
{
	char line[LINE];
	FILE *f = fopen("/proc/self/cgroup", "r");
	int found = 0;

	while (f && !found && fgets(line, sizeof(line), f)) {
		char *names = strchr(line, ':'), *at = names ? strchr(names + 1, ':') : NULL;
		if (!at)
			continue;
		*at++ = 0;
		at[strcspn(at, "\n")] = 0;
		names++;
		found = *controller ? !!strstr(names, controller) : !*names;
		if (found)
			snprintf(path, LINE, "%s", at);
	}
	if (f)
		fclose(f);
	return found;
}

/* Cores that one group has, or 0: no limit, or no such group here. */
static double quota_at(const char *root, const char *group, int second)
{
	char path[3 * LINE], line[LINE];
	double quota = 0, period = 0;

	snprintf(path, sizeof(path), "%s%s/%s", root, group,
		 second ? "cpu.max" : "cpu.cfs_quota_us");
	first_line(path, line);
	if (second)
		return sscanf(line, "%lf %lf", &quota, &period) == 2 && period > 0 ? quota / period
										   : 0;
	quota = atof(line);
	snprintf(path, sizeof(path), "%s%s/cpu.cfs_period_us", root, group);
	first_line(path, line);
	period = atof(line);
	return quota > 0 && period > 0 ? quota / period : 0;
}

static void tell_quota(void)
{
	char group[LINE] = "";
	double least = 0;

	for (int second = 0; second < 2; second++) {
		if (!own_group(second ? "" : "cpu", group))
			continue;
		/* A group is bound by those around it. */
		for (char *end = group + strlen(group);; end = strrchr(group, '/')) {
			if (!end)
				break;
			*end = 0;
			double q = quota_at(second ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu", group,
					    second);
			if (q > 0 && (least <= 0 || q < least))
				least = q;
			if (end == group)
				break;
		}
	}
	if (least > 0)
		printf("quota %.3g\n", least);
}

/* ---- limits and memory ---- */

static void tell_limits(void)
{
	static const struct {
		const char *name;
		int which;
	} all[] = { { "memlock", RLIMIT_MEMLOCK }, { "nofile", RLIMIT_NOFILE },
		    { "nproc", RLIMIT_NPROC },     { "stack", RLIMIT_STACK },
		    { "as", RLIMIT_AS },           { "fsize", RLIMIT_FSIZE } };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct rlimit r;
		if (!getrlimit((__rlimit_resource_t) all[i].which, &r))
			printf("limit %s %lld %lld\n", all[i].name,
			       r.rlim_cur == RLIM_INFINITY ? -1LL : (long long) r.rlim_cur,
			       r.rlim_max == RLIM_INFINITY ? -1LL : (long long) r.rlim_max);
	}
}

static void tell_memory(void)
{
	struct statvfs fs = { 0 };
	char line[LINE];

	first_line("/proc/sys/vm/max_map_count", line);
	if (*line)
		printf("maps %s\n", line);
	printf("memory %lld\n",
	       (long long) sysconf(_SC_PHYS_PAGES) * (long long) sysconf(_SC_PAGESIZE));
	if (statvfs("/dev/shm", &fs))
		fs.f_blocks = fs.f_bavail = 0;
	printf("shm %lld %lld\n", (long long) (fs.f_blocks * fs.f_frsize),
	       (long long) (fs.f_bavail * fs.f_frsize));
}

static void tell_tmp(void)
{
	const char *folder = getenv("TMPDIR");
	struct statvfs fs = { 0 };
	char path[LINE];

	folder = folder && *folder ? folder : "/tmp";
	snprintf(path, sizeof(path), "%s/.orrery-doctor-XXXXXX", folder);
	int fd = mkstemp(path);
	if (fd >= 0) {
		close(fd);
		unlink(path);
		statvfs(folder, &fs);
	}
	printf("tmp %lld %s\n", fd < 0 ? -1LL : (long long) (fs.f_bavail * fs.f_frsize), folder);
}

/* A child reads a word of this process, as a rank does of its neighbour (src/sys/mpi_shm.c). */
static void tell_reach(void)
{
	static const uint64_t word = 0x6f727265727921ULL;
	pid_t parent = getpid(), child;
	int status = 1;

	fflush(stdout);
	child = fork();
	if (!child) {
		uint64_t copy = 0;
		struct iovec here = { &copy, sizeof(copy) },
			     there = { (void *) &word, sizeof(word) };
		ssize_t n = process_vm_readv(parent, &here, 1, &there, 1, 0);
		_exit(n != (ssize_t) sizeof(copy) || copy != word);
	}
	if (child > 0)
		waitpid(child, &status, 0);
	printf("reach %s\n", child > 0 && !status ? "yes" : "no");
}

/* ---- the machine ---- */

static void tell_processor(void)
{
	char line[LINE];
	FILE *f = fopen("/proc/cpuinfo", "r");

	while (f && fgets(line, sizeof(line), f)) {
		char *at = strchr(line, ':');
		if (strncmp(line, "model name", 10) || !at)
			continue;
		at += 1 + strspn(at + 1, " ");
		at[strcspn(at, "\n")] = 0;
		printf("processor %s\n", at);
		break;
	}
	if (f)
		fclose(f);
	first_line("/proc/loadavg", line);
	printf("load %.2f\n", atof(line));
}

static void tell_fabrics(void)
{
	DIR *folder = opendir("/sys/class/infiniband");
	struct dirent *e;

	while (folder && (e = readdir(folder)))
		if (e->d_name[0] != '.')
			printf("fabric %s\n", e->d_name);
	if (folder)
		closedir(folder);
}

/* ---- calibration ---- */

/* The first line of the file that begins with a mark, and holds the word. */
static void tell_line(const char *base, const char *suffix, const char *word)
{
	char path[3 * LINE], line[LINE];
	snprintf(path, sizeof(path), "%s.%s", base, suffix);
	FILE *f = fopen(path, "r");

	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		if (!strstr(line, word))
			continue;
		printf("bus %s %s\n", suffix, line);
		break;
	}
	if (f)
		fclose(f);
}

static void tell_models(void)
{
	const char *folder = getenv("STARPU_PERF_MODEL_DIR"), *home = getenv("STARPU_HOME"),
		   *name = getenv("STARPU_HOSTNAME");
	char place[LINE], base[2 * LINE], host[256] = "";

	printf("home %s\n", getenv("HOME") ? getenv("HOME") : "");
	gethostname(host, sizeof(host) - 1);
	if (strchr(host, '.'))
		*strchr(host, '.') = 0;
	home = home && *home ? home : getenv("HOME");
	if (folder && *folder)
		snprintf(place, sizeof(place), "%s", folder);
	else
		snprintf(place, sizeof(place), "%s/.starpu/sampling", home ? home : ".");
	name = name && *name ? name : host;
	printf("models %s %s\n", place, name);
	snprintf(base, sizeof(base), "%s/bus/%s", place, name);
	tell_line(base, "config", "CPUs");
	tell_line(base, "costs", "measured by");
}

void doctor_facts(void)
{
	tell_names();
	tell_cores();
	tell_quota();
	tell_limits();
	tell_memory();
	tell_tmp();
	tell_reach();
	tell_processor();
	tell_fabrics();
	doctor_library("liborrery");
	tell_models();
}
