/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Segments of copies (segments.h).
 *
 * Linkers make four segments of a usual program: names, code, constants, variables. The loader
 * divides the last one after it has filled tables of addresses, and puts variables without values
 * into a map of their own. The system counts maps, and 65,530 of them are few for ten thousand
 * ranks. So the first three become one map, and the rest another.
 *
 * A copy is a file in memory, of which the loader maps private pages. The code's are the same in
 * all copies: they are mapped again from one file, so that they are in memory, and in the caches of
 * the processor, once. Pages of variables become the rank's own by a write to each. After that
 * nobody needs the copy's file.
 *
 * Invariant: pages of a copy's file are given back only where each page that is mapped from it was
 * written, or is all zeros. */
#include "segments.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "launcher.h"

/* Variables without values that come from the file: more of them have a map of their own, because
 * pages of files that are read before they are written take memory twice. */
#define MOST_GROWTH 65536

static const ElfW(Phdr) * headers_of(const char *bytes)
{
	return (const void *) (bytes + ((const ElfW(Ehdr) *) (const void *) bytes)->e_phoff);
}

static ElfW(Phdr) * headers(char *bytes)
{
	return (ElfW(Phdr) *) (void *) (bytes + ((ElfW(Ehdr) *) (void *) bytes)->e_phoff);
}

static int nheaders(const char *bytes)
{
	return ((const ElfW(Ehdr) *) (const void *) bytes)->e_phnum;
}

static size_t page_size(void)
{
	return (size_t) sysconf(_SC_PAGESIZE);
}

static size_t down(size_t n)
{
	return n & ~(page_size() - 1);
}

static size_t up(size_t n)
{
	return down(n + page_size() - 1);
}

/* True if the loader writes into segments that are not writable. */
static int code_changes(const char *bytes)
{
	const ElfW(Phdr) *p = headers_of(bytes);
	for (int i = 0; i < nheaders(bytes); i++) {
		if (p[i].p_type != PT_DYNAMIC)
			continue;
		const ElfW(Dyn) *d = (const void *) (bytes + p[i].p_offset);
		for (size_t k = 0; k < p[i].p_filesz / sizeof(*d) && d[k].d_tag != DT_NULL; k++)
			if (d[k].d_tag == DT_TEXTREL ||
			    (d[k].d_tag == DT_FLAGS && d[k].d_un.d_val & DF_TEXTREL))
				return 1;
	}
	return 0;
}

/* True if b continues a: the same distance of file and addresses, no page between them. */
static int follows(const ElfW(Phdr) * a, const ElfW(Phdr) * b)
{
	return !(a->p_flags & PF_W) && !(b->p_flags & PF_W) && a->p_filesz == a->p_memsz &&
	       b->p_vaddr >= a->p_vaddr + a->p_memsz &&
	       b->p_vaddr - a->p_vaddr == b->p_offset - a->p_offset &&
	       down(b->p_vaddr) <= up(a->p_vaddr + a->p_memsz);
}

void segments_join(char *bytes)
{
	ElfW(Phdr) *p = headers(bytes), *last = NULL;
	if (code_changes(bytes))
		return;
	for (int i = 0; i < nheaders(bytes); i++) {
		if (p[i].p_type == PT_GNU_RELRO)
			p[i].p_type = PT_NULL;
		if (p[i].p_type != PT_LOAD)
			continue;
		if (!last || !follows(last, &p[i])) {
			last = &p[i];
			continue;
		}
		last->p_filesz = p[i].p_vaddr + p[i].p_filesz - last->p_vaddr;
		last->p_memsz = p[i].p_vaddr + p[i].p_memsz - last->p_vaddr;
		last->p_flags |= p[i].p_flags;
		p[i].p_type = PT_NULL;
	}
}

size_t segments_grow(char *bytes, size_t size)
{
	ElfW(Phdr) *p = headers(bytes), *last = NULL;
	for (int i = 0; i < nheaders(bytes); i++)
		if (p[i].p_type == PT_LOAD)
			last = &p[i];
	if (!last || !(last->p_flags & PF_W) || last->p_offset + last->p_filesz != size ||
	    last->p_memsz - last->p_filesz > MOST_GROWTH)
		return 0;
	size_t more = last->p_memsz - last->p_filesz;
	last->p_filesz = last->p_memsz;
	return more;
}

long segments_maps(const char *bytes)
{
	const ElfW(Phdr) *p = headers_of(bytes);
	size_t end = 0;
	long maps = 0;
	for (int i = 0; i < nheaders(bytes); i++) {
		maps += p[i].p_type == PT_GNU_RELRO;
		if (p[i].p_type != PT_LOAD)
			continue;
		/* A hole before it, itself, and what is behind its part of the file. */
		maps += (end && down(p[i].p_vaddr) > end) + 1 +
			(p[i].p_vaddr + p[i].p_memsz > up(p[i].p_vaddr + p[i].p_filesz));
		end = up(p[i].p_vaddr + p[i].p_memsz);
	}
	return maps;
}

/* True if the file is there that holds the common pages. A program may have closed it. */
static int is_open(const struct segments_shared *s)
{
	struct stat st;
	return s->fd > 0 && !fstat(s->fd, &st) && st.st_dev == s->device && st.st_ino == s->file;
}

static int open_shared(struct segments_shared *s, const char *bytes, size_t size)
{
	struct stat st;
	if (is_open(s))
		return 0;
	s->fd = memfd_create("code", MFD_CLOEXEC);
	if (s->fd < 0)
		return -1;
	if (launcher_copy_write(s->fd, bytes, size) || fstat(s->fd, &st)) {
		close(s->fd);
		s->fd = 0;
		return -1;
	}
	s->device = st.st_dev;
	s->file = st.st_ino;
	return 0;
}

/* The code's pages come from the common file. */
static int map_shared(const struct segments_shared *s, const ElfW(Phdr) * p, size_t address)
{
	size_t begin = address + down(p->p_vaddr);
	size_t n = address + up(p->p_vaddr + p->p_filesz) - begin;
	int rights = (p->p_flags & PF_R ? PROT_READ : 0) | (p->p_flags & PF_X ? PROT_EXEC : 0);
	return mmap((void *) begin, n, rights, MAP_PRIVATE | MAP_FIXED, s->fd,
		    (off_t) down(p->p_offset)) == MAP_FAILED;
}

/* The byte may lie between two variables. */
__attribute__((no_sanitize("address"))) static void write_same(size_t address)
{
	volatile char *byte = (volatile char *) address;

	*byte = *byte;
}

/* A write makes a page of variables the rank's own. One that is all zeros in the file is so
 * without it, too, once the file has a hole there. */
static void own_pages(const ElfW(Phdr) * p, const char *bytes, size_t size, size_t address)
{
	size_t page = page_size(), end = p->p_offset + p->p_filesz;
	for (size_t at = down(p->p_offset); at < end; at += page) {
		size_t n = size - at < page ? size - at : page;
		if (!bytes[at] && !memcmp(bytes + at, bytes + at + 1, n - 1))
			continue;
		write_same(address + (p->p_vaddr - p->p_offset) + at);
	}
}

void segments_share(struct segments_shared *shared, const char *bytes, size_t size, int copy_fd,
		    size_t address)
{
	const ElfW(Phdr) *p = headers_of(bytes);
	size_t needed = size; /* the copy's file from here on */
	if (code_changes(bytes) || open_shared(shared, bytes, size))
		return;
	for (int i = 0; i < nheaders(bytes); i++) {
		if (p[i].p_type != PT_LOAD)
			continue;
		if (p[i].p_flags & PF_W)
			own_pages(&p[i], bytes, size, address);
		else if (!(p[i].p_flags & PF_X) || map_shared(shared, &p[i], address))
			needed = down(p[i].p_offset) < needed ? down(p[i].p_offset) : needed;
	}
	/* A failure costs memory, and nothing else. */
	if (needed)
		(void) fallocate(copy_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
				 (off_t) up(needed));
}
