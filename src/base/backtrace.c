/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions that a thread was in (see backtrace.h). Names come from the symbol tables of the
 * files, where functions that are not exported have one, too. */
#include "base/backtrace.h"
#include "starpu_util.h"

#include <dlfcn.h>
#include <elf.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#define FRAMES 64

void orr_backtrace_prepare(void)
{
	void *frame;

	backtrace(&frame, 1);
}

/* The place of the signal; 0: not known. */
static uintptr_t place_of(const ucontext_t *u)
{
#if defined(__x86_64__)
	return u ? (uintptr_t) u->uc_mcontext.gregs[REG_RIP] : 0;
#elif defined(__aarch64__)
	return u ? (uintptr_t) u->uc_mcontext.pc : 0;
#else
	(void) u;
	return 0;
#endif
}

/* The function at that offset of a mapped file; NULL: not known. */
static const char *function_in(const char *image, size_t size, size_t at)
{
	const ElfW(Ehdr) *h = (const void *) image;
	const ElfW(Shdr) *sections = (const void *) (image + h->e_shoff);

	if (size < sizeof(*h) || h->e_shoff + h->e_shnum * sizeof(*sections) > size)
		return NULL;
	for (int i = 0; i < h->e_shnum; i++) {
		if (sections[i].sh_type != SHT_SYMTAB || sections[i].sh_link >= h->e_shnum)
			continue;
		const ElfW(Sym) *s = (const void *) (image + sections[i].sh_offset);
		const char *names = image + sections[sections[i].sh_link].sh_offset;
		for (size_t n = sections[i].sh_size / sizeof(*s); n > 0; n--, s++)
			if (ELF64_ST_TYPE(s->st_info) == STT_FUNC && at >= s->st_value &&
			    at < s->st_value + s->st_size)
				return names + s->st_name;
	}
	return NULL;
}

int orr_backtrace_name(const char *path, size_t at, char *name, size_t size)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const char *found = NULL;

	if (fd < 0)
		return 0;
	if (!fstat(fd, &st) && st.st_size > 0) {
		char *image = mmap(NULL, (size_t) st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (image != MAP_FAILED) {
			found = function_in(image, (size_t) st.st_size, at);
			if (found)
				snprintf(name, size, "%s", found);
			munmap(image, (size_t) st.st_size);
		}
	}
	close(fd);
	return found != NULL;
}

/* The name of the object's file begins so. */
static int is_called(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return !strncmp(slash ? slash + 1 : path, name, strlen(name));
}

void orr_backtrace_write(char *text, size_t size, const void *context, unsigned max,
			 const char *(*path_of)(const void *object))
{
	void *frames[FRAMES];
	int n = backtrace(frames, FRAMES), i = 0;
	uintptr_t place = place_of(context);
	size_t used = 0;
	unsigned shown = 0, of_program = 0;

	while (place && i < n && (uintptr_t) frames[i] != place)
		i++;
	if (i == n)
		i = 1; /* behind this function */
	*text = '\0';
	for (; i < n && shown < max && used + 1 < size; i++) {
		struct link_map *object = NULL;
		Dl_info info;
		char name[160] = "?";

		if (!dladdr1(frames[i], &info, (void **) &object, RTLD_DL_LINKMAP) || !object)
			continue;
		const char *path = path_of ? path_of(object) : NULL;
		if (!path)
			path = *object->l_name ? object->l_name : "/proc/self/exe";
		int of_runtime = is_called(path, "liborrery");
		if (of_runtime && of_program)
			break;
		if (of_runtime && shown)
			continue;
		of_program += !of_runtime && !is_called(path, "libc.");
		/* A return address may be behind the end of its function. */
		size_t at = (size_t) ((uintptr_t) frames[i] - object->l_addr) - (shown > 0);
		if (!orr_backtrace_name(path, at, name, sizeof(name)) && info.dli_sname)
			snprintf(name, sizeof(name), "%s", info.dli_sname);
		used += (size_t) snprintf(text + used, size - used, "  %2u  %s() in %s\n", shown++,
					  name, info.dli_fname && !path_of ? info.dli_fname : path);
	}
	text[size - 1] = '\0';
}

void orrery_dump_backtrace(void)
{
	void *functions[FRAMES];
	int n = backtrace(functions, FRAMES);

	fflush(stderr);
	backtrace_symbols_fd(functions, n, 2);
}
