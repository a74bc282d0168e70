/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A library for LD_PRELOAD that makes a program believe that pages have 64 KiB: it tells their
 * size, places maps at multiples of it, and refuses what a system with such pages would refuse.
 *
 * Invariant: what is refused here, with a message, is refused there. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE ((uintptr_t) 65536)
#define VISIBLE __attribute__((visibility("default")))

VISIBLE long sysconf(int name);
VISIBLE int getpagesize(void);
VISIBLE void *mmap(void *at, size_t n, int rights, int flags, int fd, off_t offset);
VISIBLE void *mmap64(void *at, size_t n, int rights, int flags, int fd, off_t offset);
VISIBLE int munmap(void *at, size_t n);
VISIBLE int mprotect(void *at, size_t n, int rights);

static void *next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

static int refuse(const char *call, uintptr_t number)
{
	fprintf(stderr, "64 KiB pages: %s refuses %#jx\n", call, (uintmax_t) number);
	errno = EINVAL;
	return -1;
}

long sysconf(int name)
{
	long (*own)(int) = (long (*)(int)) next("sysconf");

	return name == _SC_PAGESIZE ? (long) PAGE : own(name);
}

int getpagesize(void)
{
	return (int) PAGE;
}

static void *map(const char *name, void *at, size_t n, int rights, int flags, int fd, off_t offset)
{
	void *(*own)(void *, size_t, int, int, int,
		     off_t) = (void *(*) (void *, size_t, int, int, int, off_t)) next(name);

	if ((uintptr_t) offset % PAGE) {
		refuse("mmap of an offset", (uintptr_t) offset);
		return MAP_FAILED;
	}
	if (flags & MAP_FIXED && (uintptr_t) at % PAGE) {
		refuse("mmap of an address", (uintptr_t) at);
		return MAP_FAILED;
	}
	if (flags & MAP_FIXED)
		return own(at, n, rights, flags, fd, offset);
	/* Room for a map that begins at a multiple. What is left stays reserved. */
	char *room = own(NULL, n + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			 -1, 0);

	if (room == MAP_FAILED)
		return MAP_FAILED;
	return own((void *) (((uintptr_t) room + PAGE - 1) / PAGE * PAGE), n, rights,
		   flags | MAP_FIXED, fd, offset);
}

void *mmap(void *at, size_t n, int rights, int flags, int fd, off_t offset)
{
	return map("mmap", at, n, rights, flags, fd, offset);
}

void *mmap64(void *at, size_t n, int rights, int flags, int fd, off_t offset)
{
	return map("mmap64", at, n, rights, flags, fd, offset);
}

int munmap(void *at, size_t n)
{
	int (*own)(void *, size_t) = (int (*)(void *, size_t)) next("munmap");

	return (uintptr_t) at % PAGE ? refuse("munmap", (uintptr_t) at) : own(at, n);
}

int mprotect(void *at, size_t n, int rights)
{
	int (*own)(void *, size_t, int) = (int (*)(void *, size_t, int)) next("mprotect");

	return (uintptr_t) at % PAGE ? refuse("mprotect", (uintptr_t) at) : own(at, n, rights);
}
