/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The libraries that the program is linked with and that are not the system's: each rank has copies
 * with variables of their own, as of the program.
 *
 * The first rank loads the originals, which shows where the loader finds them. A library is copied
 * if it has variables, if it needs one that is copied, or if it has or uses a name of the program
 * or of one that is copied. A copy of the program needs the copies by their paths (image.h), so the
 * loader finds names in the same order as in any process.
 *
 * Invariant: nothing is copied for a run of one rank. Of the libraries that the launcher has loaded
 * before, only that of Fortran is copied, for programs that need it. */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "image.h"
#include "launcher.h"
#include "run/sim_dyn.h"
#include "actors/sim_own.h"

#undef malloc
#undef calloc
#undef free

/* One that the first rank has loaded. */
struct library {
	struct image image;
	const struct link_map *map; /* until the first rank ends */
	char *soname, *given;       /* the loader's names for it; soname may be NULL */
	char *path;
	int copied, fd;
	char name[IMAGE_SLOT]; /* of the last copy */
};

static struct {
	struct library *all;
	int n, ncopied, found;
	struct image program;
	int counted; /* copies of libraries so far */
	int last;    /* the copy of the program that they were made for */
} libraries;

/* The one library of the system that is a part of the program: the runtime library of Fortran has
 * the units, with what is not written yet. (That of OpenMP keeps its state in variables of threads
 * of the static kind, which have room for a few copies only; that of C++ is one with SimGrid, so
 * its streams are exchanged: sim_streams.h.) */
static int is_fortran(const char *path)
{
	const char *base = strrchr(path, '/');
	return !strncmp(base ? base + 1 : path, "libgfortran.so", strlen("libgfortran.so"));
}

static int is_system(const char *path)
{
	static const char *const folders[] = { "/lib/",     "/lib32/",     "/lib64/",
					       "/usr/lib/", "/usr/lib32/", "/usr/lib64/" };
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		if (!strncmp(path, folders[i], strlen(folders[i])))
			return !is_fortran(path);
	return 0;
}

static const char *strings_of(const struct link_map *map)
{
	for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_STRTAB)
			return (const char *) d->d_un.d_ptr;
	return NULL;
}

/* True if the object names that library as one that it needs. */
static int map_needs(const struct link_map *map, const char *name)
{
	const char *strings = strings_of(map);
	for (const ElfW(Dyn) *d = map->l_ld; strings && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_NEEDED && !strcmp(strings + d->d_un.d_val, name))
			return 1;
	return 0;
}

static char *soname_of(const struct link_map *map)
{
	const char *strings = strings_of(map);
	size_t at = 0;
	for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_SONAME)
			at = d->d_un.d_val;
	return strings && at ? strdup(strings + at) : NULL;
}

static void add(const struct link_map *map, int whole)
{
	char *path = realpath(map->l_name, NULL);
	if (!path || is_system(path)) {
		free(path);
		return;
	}
	struct library *l = realloc(libraries.all,
				    ((size_t) libraries.n + 1) * sizeof(*libraries.all));
	if (!l)
		launcher_fail("out of memory for the libraries of the program");
	libraries.all = l;
	l += libraries.n++;
	*l = (struct library){
		.map = map, .soname = soname_of(map), .given = strdup(map->l_name), .path = path
	};
	if (!l->given)
		launcher_fail("out of memory for the libraries of the program");
	int err = image_read(&l->image, path, whole);
	if (err)
		launcher_fail("%s cannot be copied for each rank: %s", path, strerror(err));
}

/* SimGrid's library needs that of Fortran, so the launcher has it: the first rank's is that one. */
static void add_fortran(const struct link_map *program, int whole)
{
	int n = libraries.n;
	for (const struct link_map *m = program->l_prev; m; m = m->l_prev) {
		char *name = is_fortran(m->l_name) ? soname_of(m) : NULL;
		int needed = name && map_needs(program, name);
		for (int i = 0; name && i < n; i++)
			needed |= map_needs(libraries.all[i].map, name);
		free(name);
		if (needed)
			add(m, whole);
	}
}

static struct library *find(const char *name)
{
	for (int i = 0; i < libraries.n; i++) {
		struct library *l = &libraries.all[i];
		const char *base = strrchr(l->given, '/');
		if ((l->soname && !strcmp(l->soname, name)) || !strcmp(l->given, name) ||
		    (base && !strcmp(base + 1, name)))
			return l;
	}
	return NULL;
}

static int needs_copy(const struct image *image)
{
	const char *name;
	for (int i = 0; (name = image_need(image, i)); i++) {
		const struct library *l = find(name);
		if (l && l->copied)
			return 1;
	}
	return 0;
}

/* True if one of the library's names belongs to the program or to a library that is copied. */
static int meets_copy(const struct library *l, void *program)
{
	for (size_t i = 0; i < l->image.nsymbols; i++) {
		const ElfW(Sym) *y = &l->image.symbols[i];
		struct link_map *map = NULL;
		Dl_info info;
		if (!y->st_name || y->st_name >= l->image.nstrings)
			continue;
		void *at = dlsym(program, l->image.strings + y->st_name);
		if (!at || !dladdr1(at, &info, (void **) &map, RTLD_DL_LINKMAP) || map == l->map)
			continue;
		if (map == program)
			return 1;
		for (int k = 0; k < libraries.n; k++)
			if (libraries.all[k].map == map && libraries.all[k].copied)
				return 1;
	}
	return 0;
}

static void choose(void *program)
{
	int more = 1;
	for (int i = 0; i < libraries.n; i++)
		libraries.all[i].copied = libraries.all[i].image.writable;
	while (more) {
		more = 0;
		for (int i = 0; i < libraries.n; i++) {
			struct library *l = &libraries.all[i];
			if (!l->copied && (needs_copy(&l->image) || meets_copy(l, program)))
				l->copied = more = 1;
		}
	}
	for (int i = 0; i < libraries.n; i++)
		libraries.ncopied += libraries.all[i].copied;
}

/* The rank's libraries that have destructors of their own to call: all of a single rank. */
static void set_objects(struct orr_sim_rank *r, int originals)
{
	free(r->objects);
	r->objects = calloc((size_t) libraries.n + 1, sizeof(*r->objects));
	if (!r->objects)
		launcher_fail("out of memory for rank %d", r->rank);
	for (int i = 0, n = 0; i < libraries.n; i++) {
		struct library *l = &libraries.all[i];
		if (originals && (l->copied || !libraries.ncopied))
			r->objects[n++] = l->map;
		if (originals || !l->copied)
			continue;
		void *object = dlopen(l->name, RTLD_LAZY | RTLD_NOLOAD);
		if (object) {
			r->objects[n++] = object;
			dlclose(object); /* the program holds it */
		}
	}
}

static void make_ready(const char *program, int whole)
{
	int err = image_read(&libraries.program, program, whole);
	if (err)
		launcher_fail("%s: %s", program, strerror(err));
	int fine = image_make_slots(&libraries.program);
	for (int i = 0; i < libraries.n; i++)
		if (libraries.all[i].copied)
			fine &= image_make_slots(&libraries.all[i].image);
	if (!fine)
		launcher_fail(
			"the libraries of %s cannot be copied for each rank; link the program and its libraries again with -Wl,--build-id, or link the libraries statically",
			program);
}

void launcher_libraries_find(struct orr_sim_rank *r, void *object, const char *program, int whole)
{
	const struct link_map *map = object;
	orr_sim_own_streams = map_needs(map, "libstdc++.so.6");
	for (const struct link_map *m = map->l_next; m; m = m->l_next)
		add(m, whole);
	for (int i = 0; i < libraries.n; i++)
		orr_sim_own_streams |= map_needs(libraries.all[i].map, "libstdc++.so.6");
	add_fortran(map, whole);
	choose(object);
	if (libraries.ncopied && (orr_sim.nranks > 1 || orr_sim_dyn.on))
		make_ready(program, whole);
	else
		libraries.ncopied = 0;
	set_objects(r, 1);
	libraries.found = 1;
}

/* Files for the copies: they need one another, so all have their names before one is written. */
static void open_copies(const char *keep, int copy)
{
	for (int i = 0; i < libraries.n; i++) {
		struct library *l = &libraries.all[i];
		if (!l->copied)
			continue;
		l->fd = launcher_copy_open(l->name, sizeof(l->name), "./fd", ++libraries.counted,
					   keep, copy, strrchr(l->path, '/') + 1);
		if (l->fd < 0)
			launcher_fail("cannot make a copy of %s for rank %d: %s", l->path, copy,
				      strerror(errno));
	}
}

static void set_needs(struct image *image)
{
	const char *name;
	for (int i = 0; (name = image_need(image, i)); i++) {
		const struct library *l = find(name);
		if (l && l->copied)
			image_set_need(image, i, l->name);
	}
}

struct image *launcher_libraries_copy(const char *keep, int copy)
{
	while (!libraries.found) /* a constructor of the first rank waits */
		orr_sys_sleep_us(0.1);
	if (!libraries.ncopied)
		return NULL;
	libraries.last = copy;
	open_copies(keep, copy);
	set_needs(&libraries.program);
	for (int i = 0; i < libraries.n; i++) {
		struct library *l = &libraries.all[i];
		if (!l->copied)
			continue;
		set_needs(&l->image);
		if (launcher_copy_write(l->fd, l->image.bytes, l->image.size))
			launcher_fail("cannot make a copy of %s for rank %d: %s", l->path, copy,
				      strerror(errno));
	}
	return &libraries.program;
}

/* The code of that copy is the one of all. */
static void share(struct library *l)
{
	void *object = dlopen(l->name, RTLD_LAZY | RTLD_NOLOAD);
	if (!object)
		return;
	const struct link_map *map = object;
	segments_share(&l->image.shared, l->image.bytes, l->image.size, l->fd, map->l_addr);
	dlclose(object); /* the program holds it */
}

void launcher_libraries_loaded(struct orr_sim_rank *r, int copy, int whole)
{
	if (!libraries.ncopied)
		return;
	set_objects(r, 0);
	for (int i = 0; i < libraries.n; i++) {
		struct library *l = &libraries.all[i];
		if (!l->copied)
			continue;
		/* Another rank's copies may have been made while a constructor of this one's
		 * waited. */
		if (!whole && libraries.last == copy)
			share(l);
		close(l->fd);
	}
}
