/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A program sees its own libraries, and of ours no more than liborrery-sim and SimGrid.
 *
 * Each program for the simulated world needs these two, so the loader would look for its names in
 * all that they need, too: ns-3, GSL with its BLAS, SQLite, Boost, hwloc, OpenCL. It goes level by
 * level through the needs of needs, so such a library stands before one that the program's own
 * libraries need further down. The launcher has them all when the first program comes; so the
 * lists of needs are emptied, in memory. Programs load faster that way, too.
 *
 * An object that a program loads while it runs need not be linked with the two: in the real world
 * they are in the global scope with the program. A library that needs just the two brings them
 * there.
 *
 * Invariant: the two are never unloaded, and have found all that they need before. */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <simgrid/forward.h>
#include <simgrid/version.h>
#include "calls.h"
#include "launcher.h"

/* A kind of entry that nothing knows, so that all readers pass over it. */
#define UNKNOWN_ENTRY DT_LOOS

/* Empties the list of needs of the library that holds the function. The executable has no name in
 * the loader's list; a function of its own in the place of the library's would lead there. */
static void forget_needs(const void *function)
{
	struct link_map *map;
	Dl_info info;
	if (!dladdr1(function, &info, (void **) &map, RTLD_DL_LINKMAP) || !*map->l_name)
		launcher_fail("the loader does not know a library that it has loaded");
	size_t n = 0;
	while (map->l_ld[n].d_tag != DT_NULL)
		n++;
	/* The loader has made it read-only; it may stay writable. */
	uintptr_t page = (uintptr_t) sysconf(_SC_PAGESIZE), first = (uintptr_t) map->l_ld & -page;
	if (mprotect((void *) first, (uintptr_t) &map->l_ld[n] - first, PROT_READ | PROT_WRITE))
		launcher_fail("%s: mprotect: %s; the system must allow it", info.dli_fname,
			      strerror(errno));
	for (size_t i = 0; i < n; i++)
		if (map->l_ld[i].d_tag == DT_NEEDED)
			map->l_ld[i].d_tag = UNKNOWN_ENTRY;
}

/* The path of a library in a folder beside ours. */
static void beside(char path[PATH_MAX], const char *folder, const char *name)
{
	Dl_info here;
	const char *end = NULL;
	if (dladdr((const void *) orrery_sim_main, &here))
		end = strrchr(here.dli_fname, '/');
	if (!end || snprintf(path, PATH_MAX, "%.*s/%s%s", (int) (end - here.dli_fname),
			     here.dli_fname, folder, name) >= PATH_MAX)
		launcher_fail("the loader does not say where liborrery-sim is");
}

/* Loads a library that nothing is linked with. It is installed in a folder of its own; in the
 * build tree it stands beside ours. */
static void load_global(const char *name)
{
	char path[PATH_MAX];
	beside(path, "orrery/", name);
	if (access(path, F_OK))
		beside(path, "", name);
	if (!dlopen(path, RTLD_LAZY | RTLD_GLOBAL))
		launcher_fail("%s; build or install Orrery again", dlerror());
}

void launcher_scope_narrow(void)
{
	forget_needs((const void *) orrery_sim_main);
	forget_needs((const void *) sg_version_get); /* nobody takes its place */
	load_global("liborrery-sim-scope.so");
}
