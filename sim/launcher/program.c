/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The program: a shared object of which every rank gets a copy, so that its globals are its own.
 *
 * A copy lives in memory (memfd) and holds only what the loader maps: no debug sections. At 1,024
 * ranks making and loading copies of a program of 16 KB takes 0.08 s and 23 MB. With
 * ORR_SIM_KEEP_COPIES=DIR whole copies are left in DIR for debuggers.
 *
 * Invariant: the file is read once; no file descriptor stays open after a load; no two copies have
 * the same path. */
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
#include "launcher.h"

static struct {
	const char *path;
	char *image;
	size_t size, loaded; /* bytes in the file, bytes that the loader needs */
	const char *keep;
	unsigned ncopies;
} program;

static const char *const remedy = "build it for the simulated one with `orrery cc --sim`";

static void read_file(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		launcher_fail("%s: %s; build the program with `orrery cc --sim`", path,
			      strerror(errno));
	if (!S_ISREG(st.st_mode))
		launcher_fail("%s is not a file; name the program built with `orrery cc --sim`",
			      path);
	program.size = (size_t) st.st_size;
	program.image = malloc(program.size + sizeof(ElfW(Ehdr)));
	if (!program.image)
		launcher_fail("%s: out of memory", path);
	for (size_t at = 0; at < program.size;) {
		ssize_t n = read(fd, program.image + at, program.size - at);
		if (n <= 0)
			launcher_fail("%s: cannot read it: %s", path,
				      n ? strerror(errno) : "it became shorter");
		at += (size_t) n;
	}
	close(fd);
}

/* Sets program.loaded, and whether there is an interpreter or libraries of the real world. */
static void scan_segments(const ElfW(Ehdr) * h, int *interpreter)
{
	const ElfW(Phdr) *p = (const void *) (program.image + h->e_phoff);
	if (h->e_phoff > program.size || h->e_phnum > (program.size - h->e_phoff) / sizeof(*p))
		launcher_fail(
			"%s is damaged (its program headers lie outside of the file); %s again",
			program.path, remedy);
	program.loaded = h->e_phoff + h->e_phnum * sizeof(*p);
	for (int i = 0; i < h->e_phnum; i++) {
		if (p[i].p_type == PT_INTERP)
			*interpreter = 1;
		if (p[i].p_offset > program.size || p[i].p_filesz > program.size - p[i].p_offset)
			launcher_fail("%s is damaged (it was cut short); %s again", program.path,
				      remedy);
		if (p[i].p_offset + p[i].p_filesz > program.loaded)
			program.loaded = p[i].p_offset + p[i].p_filesz;
	}
}

void launcher_program_check(const char *path)
{
	int interpreter = 0;
	program.path = path;
	program.keep = getenv("ORR_SIM_KEEP_COPIES");
	read_file(path);
	ElfW(Ehdr) *h = (void *) program.image;
	if (program.size < sizeof(*h) || memcmp(h->e_ident, ELFMAG, SELFMAG))
		launcher_fail(
			"%s is not a compiled program; give the file that `orrery cc --sim` made",
			path);
	if (h->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
	    h->e_phentsize != sizeof(ElfW(Phdr)))
		launcher_fail("%s was compiled for another processor; %s on this machine", path,
			      remedy);
	scan_segments(h, &interpreter);
	if (h->e_type != ET_DYN || interpreter)
		launcher_fail("%s was built for the real world (it is an executable); %s", path,
			      remedy);
	if (!program.keep) {
		h->e_shoff = 0;
		h->e_shnum = h->e_shstrndx = 0;
	}
}

static int write_all(int fd, const char *p, size_t size)
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

/* A path of the memory file that was never used before: the loader takes equal names for the same
 * object. The number of the copy is spelled in "./" and ".//". */
static void name_memory(char *path, size_t room, int fd)
{
	int n = snprintf(path, room, "/proc/self/fd/");
	for (unsigned bits = program.ncopies; bits; bits >>= 1)
		n += snprintf(path + n, room - (size_t) n, bits & 1 ? ".//" : "./");
	snprintf(path + n, room - (size_t) n, "%d", fd);
}

static int make_copy(char *path, size_t room)
{
	int fd;
	if (program.keep) {
		snprintf(path, room, "%s/rank-%u.so", program.keep, program.ncopies);
		fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	} else {
		fd = memfd_create("rank", MFD_CLOEXEC);
		name_memory(path, room, fd);
	}
	if (fd < 0 || write_all(fd, program.image, program.keep ? program.size : program.loaded))
		launcher_fail("cannot make a copy of %s for rank %u: %s", program.path,
			      program.ncopies, strerror(errno));
	return fd;
}

int (*launcher_program_load(void))(int, char **)
{
	char path[PATH_MAX];
	int fd = make_copy(path, sizeof(path));
	void *object = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	if (!object) {
		const char *why = dlerror(), *cut = strstr(why, ": ");
		launcher_fail(
			"%s cannot be loaded for rank %u: %s; was it built by `orrery cc --sim`, with this version of Orrery?",
			program.path, program.ncopies, !program.keep && cut ? cut + 2 : why);
	}
	close(fd);
	if (dlsym(object, "ompi_mpi_comm_world"))
		launcher_fail("%s was built for the real world (it needs a real MPI); %s",
			      program.path, remedy);
	void *entry = dlsym(object, "smpi_simulated_main_");
	if (!entry)
		entry = dlsym(object, "main");
	if (!entry)
		launcher_fail("%s has no main function for the simulated world; %s", program.path,
			      remedy);
	program.ncopies++;
	return (int (*)(int, char **)) entry;
}
