/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared objects that users bring (STARPU_SCHED_LIB): each rank gets a copy in memory, as of the
 * program, so that their variables are its own.
 *
 * Invariant: a rank that asks for the same file again gets the same copy; no two copies have the
 * same path, which the loader would take for the same object, nor that of a copy of the program
 * (launcher/program.c). */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>
#include "actors/sim_rank.h"
#include "run/sim_copy.h"
#include "base/assert.h"
#include "base/link.h"

struct orr_sim_library {
	struct orr_sim_library *next;
	char *path;
	void *object;
};

/* The file's contents as a file in memory, or -errno. */
static int copy_to_memory(const char *file)
{
	int from = open(file, O_RDONLY | O_CLOEXEC), to = memfd_create("library", MFD_CLOEXEC),
	    err = 0;
	struct stat st = { 0 };
	if (from < 0 || to < 0 || fstat(from, &st))
		err = -errno;
	for (off_t at = 0; !err && at < st.st_size;)
		if (sendfile(to, from, &at, (size_t) (st.st_size - at)) <= 0)
			err = errno ? -errno : -EIO;
	if (from >= 0)
		close(from);
	if (err && to >= 0)
		close(to);
	return err ? err : to;
}

static void *open_copy(const char *file, const char **why)
{
	char path[PATH_MAX];
	int fd = copy_to_memory(file);
	if (fd < 0) {
		*why = strerror(-fd);
		return NULL;
	}
	/* Copies of programs and of their libraries do not have these slashes. */
	orr_sim_copy_name(path, sizeof(path), "fd//", ++orr_sim.nlibraries, fd);
	void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!object)
		*why = dlerror();
	close(fd);
	return object;
}

void *orr_sys_symbol(struct orr_process *proc, const char *name)
{
	struct orr_sim_rank *r = proc->sys;
	return dlsym(r->object, name);
}

int orr_sys_link_load(struct orr_process *proc)
{
	(void) proc;
	orr_assert(orr_link_known()); /* there is one library, with MPI in it */
	return 0;
}

void *orr_sys_library_open(struct orr_process *proc, const char *path, const char **why)
{
	struct orr_sim_rank *r = proc->sys;
	struct orr_sim_library *l;
	struct link_map *map;
	for (l = r->libraries; l; l = l->next)
		if (!strcmp(l->path, path))
			return l->object;
	/* The original says what is wrong with it, and where it was found. A single rank needs no
	 * copy. */
	void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!object)
		*why = dlerror();
	if (!object || orr_sim.nranks == 1)
		return object;
	*why = "out of memory";
	l = calloc(1, sizeof(*l));
	if (!l || !(l->path = strdup(path)) || dlinfo(object, RTLD_DI_LINKMAP, &map) ||
	    !(l->object = open_copy(map->l_name, why))) {
		if (l)
			free(l->path);
		free(l);
		return NULL;
	}
	l->next = r->libraries;
	r->libraries = l;
	return l->object;
}
