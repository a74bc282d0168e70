/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The program: a shared object. Every rank gets a copy with its own global variables.
 *
 * A copy lives in memory (memfd) without the debug sections, which the loader does not map. At
 * 1,024 ranks, writing and loading the copies of a program of 16 KB takes 0.08 s and 23 MB. With
 * ORR_SIM_KEEP_COPIES=DIR whole copies stay in DIR for debuggers.
 *
 * A copy is loaded by the main actor of its rank, so its constructors run as part of that rank.
 *
 * Invariant: the file is read once, and once more if libraries are copied with it (libraries.c); no
 * file descriptor stays open after a load; no two copies have the same path. */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "image.h"
#include "launcher.h"
#include "segments.h"
#include "run/sim_copy.h"
#include "actors/sim_private.h"

static struct {
	const char *path;
	char *image;
	size_t size, loaded; /* bytes in the file, bytes that the loader needs */
	const char *keep;    /* folder where copies stay, or NULL */
	int ncopies;
	struct segments_shared shared; /* of copies that need no copies of libraries */
} program;

static const char *const program_remedy = "build it for the simulated one with `orrery cc --sim`";

static void program_read(const char *path)
{
	struct stat st;
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		launcher_fail("%s is not a file; name the program built with `orrery cc --sim`",
			      path);
	int err = image_read_file(path, &program.image, &program.size);
	if (err)
		launcher_fail("%s: %s; build the program with `orrery cc --sim`", path,
			      strerror(err));
}

/* True if the dynamic section says that the file is an executable, which the loader refuses. */
static int program_is_pie(const ElfW(Phdr) * p)
{
	const ElfW(Dyn) *d = (const void *) (program.image + p->p_offset);
	for (size_t i = 0; i < p->p_filesz / sizeof(*d) && d[i].d_tag != DT_NULL; i++)
		if (d[i].d_tag == DT_FLAGS_1)
			return (d[i].d_un.d_val & DF_1_PIE) != 0;
	return 0;
}

/* Sets program.loaded, and *pie to 1 if the file is an executable. */
static void program_scan_segments(const ElfW(Ehdr) * h, int *pie)
{
	const ElfW(Phdr) *p = (const void *) (program.image + h->e_phoff);
	if (h->e_phoff > program.size || h->e_phnum > (program.size - h->e_phoff) / sizeof(*p))
		launcher_fail(
			"%s is damaged (its program headers lie outside of the file); %s again",
			program.path, program_remedy);
	program.loaded = h->e_phoff + h->e_phnum * sizeof(*p);
	for (int i = 0; i < h->e_phnum; i++) {
		if (p[i].p_offset > program.size || p[i].p_filesz > program.size - p[i].p_offset)
			launcher_fail("%s is damaged (it was cut short); %s again", program.path,
				      program_remedy);
		if (p[i].p_type == PT_DYNAMIC)
			*pie = program_is_pie(&p[i]);
		if (p[i].p_offset + p[i].p_filesz > program.loaded)
			program.loaded = p[i].p_offset + p[i].p_filesz;
	}
}

/* Copies that no debugger reads have no sections, and few segments. */
static void program_shorten(ElfW(Ehdr) * h)
{
	h->e_shoff = 0;
	h->e_shnum = h->e_shstrndx = 0;
	segments_join(program.image);
	size_t more = segments_grow(program.image, program.loaded);
	program.image = realloc(program.image, program.loaded + more);
	if (!program.image)
		launcher_fail("out of memory for %s", program.path);
	memset(program.image + program.loaded, 0, more);
	program.loaded += more;
}

void launcher_program_check(const char *path)
{
	int pie = 0;
	program.path = path;
	orr_sim.program = realpath(path, NULL);
	if (!orr_sim.program)
		orr_sim.program = path;
	program.keep = getenv("ORR_SIM_KEEP_COPIES");
	program_read(path);
	ElfW(Ehdr) *h = (void *) program.image;
	if (program.size < sizeof(*h) || memcmp(h->e_ident, ELFMAG, SELFMAG))
		launcher_fail(
			"%s is not a compiled program; give the file that `orrery cc --sim` made",
			path);
	if (h->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
	    h->e_phentsize != sizeof(ElfW(Phdr)))
		launcher_fail("%s was compiled for another processor; %s on this machine", path,
			      program_remedy);
	program_scan_segments(h, &pie);
	if (h->e_type != ET_DYN || pie)
		launcher_fail("%s was built for the real world (it is an executable); %s", path,
			      program_remedy);
	if (!program.keep)
		program_shorten(h);
}

long launcher_program_maps(void)
{
	return segments_maps(program.image);
}

int launcher_copy_write(int fd, const char *p, size_t size)
{
	while (size) {
		ssize_t n = write(fd, p, size);
		if (n < 0)
			return -1;
		p += n;
		size -= (size_t) n;
	}
	return 0;
}

int launcher_copy_open(char *path, size_t room, const char *folder, int number, const char *keep,
		       int copy, const char *name)
{
	if (!keep) {
		int fd = memfd_create("rank", MFD_CLOEXEC);
		if (fd < 0 && (errno == EPERM || errno == EACCES || errno == ENOSYS))
			launcher_fail(
				"memfd_create(2) for the copies of the program: %s; a sandbox that filters system calls must allow it, or ORR_SIM_KEEP_COPIES=FOLDER keep them in files",
				strerror(errno));
		orr_sim_copy_name(path, room, folder, (unsigned) number, fd);
		return fd;
	}
	if ((size_t) snprintf(path, room, "%s/rank-%d%s%s", keep, copy, *name == '.' ? "" : "-",
			      name) >= room) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
}

/* A copy's file, and what it holds. */
struct copy {
	int number, fd;
	const char *bytes;
	size_t size;
	struct segments_shared *shared;
};

/* Copies have numbers, because several processes of an elastic run may be the same rank. */
static void copy_create(struct copy *c, const struct orr_sim_rank *r, char *path, size_t room)
{
	c->number = program.ncopies++;
	struct image *image = c->number ? launcher_libraries_copy(program.keep, c->number) : NULL;
	c->bytes = image ? image->bytes : program.image;
	c->size = image ? image->size : program.keep ? program.size : program.loaded;
	c->shared = image ? &image->shared : &program.shared;
	c->fd = launcher_copy_open(path, room, "fd", c->number, program.keep, c->number, ".so");
	if (c->fd < 0 || launcher_copy_write(c->fd, c->bytes, c->size))
		launcher_fail("cannot make a copy of %s for rank %d: %s", program.path, r->rank,
			      strerror(errno));
}

/* The copy was loaded as that object. */
static void copy_loaded(const struct copy *c, struct orr_sim_rank *r, void *object)
{
	const struct link_map *map = object;
	if (!program.keep)
		segments_share(c->shared, c->bytes, c->size, c->fd, map->l_addr);
	close(c->fd);
	if (c->number)
		launcher_libraries_loaded(r, c->number, program.keep != NULL);
	else
		launcher_libraries_find(r, object, program.path, program.keep != NULL);
}

int (*launcher_program_load(struct orr_sim_rank *r))(int, char **)
{
	char path[PATH_MAX];
	struct copy copy;
	copy_create(&copy, r, path, sizeof(path));
	void *object = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	if (!object) {
		const char *why = dlerror(), *cut = strstr(why, ": ");
		launcher_fail(
			"%s cannot be loaded for rank %d: %s; was it built by `orrery cc --sim`, with this version of Orrery?",
			program.path, r->rank, !program.keep && cut ? cut + 2 : why);
	}
	copy_loaded(&copy, r, object);
	if (dlsym(object, "ompi_mpi_comm_world"))
		launcher_fail("%s was built for the real world (it needs a real MPI); %s",
			      program.path, program_remedy);
	r->object = object;
	orr_sim_variables_find(r);
	r->exit_functions = (void (*)(void)) dlsym(object, "orrery_sim_exit_functions");
	void *entry = dlsym(object, "smpi_simulated_main_");
	if (!entry)
		entry = dlsym(object, "main");
	if (!entry)
		launcher_fail("%s has no main function for the simulated world; %s", program.path,
			      program_remedy);
	return (int (*)(int, char **)) entry;
}
