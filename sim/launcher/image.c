/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared objects in memory (image.h).
 *
 * Paths of copies are longer than names of libraries, so a copy has a table of strings of its own:
 * the original's, then a slot for each need. It is a segment behind the others, whose entry in the
 * program headers takes the place of a note's.
 *
 * Invariant: all offsets were checked against the size of the file before their use. */
#include "image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static size_t round_up(size_t n)
{
	size_t page = (size_t) sysconf(_SC_PAGESIZE);
	return (n + page - 1) / page * page;
}

static ElfW(Ehdr) * head(const struct image *i)
{
	return (ElfW(Ehdr) *) (void *) i->bytes;
}

static ElfW(Phdr) * segments(const struct image *i)
{
	return (ElfW(Phdr) *) (void *) (i->bytes + head(i)->e_phoff);
}

/* The bytes that the loader puts at that address, NULL if there are fewer than n. */
static char *at_address(const struct image *i, size_t address, size_t n)
{
	const ElfW(Phdr) *p = segments(i);
	for (int k = 0; k < head(i)->e_phnum; k++)
		if (p[k].p_type == PT_LOAD && address >= p[k].p_vaddr &&
		    address - p[k].p_vaddr <= p[k].p_filesz &&
		    n <= p[k].p_filesz - (address - p[k].p_vaddr))
			return i->bytes + p[k].p_offset + (address - p[k].p_vaddr);
	return NULL;
}

static int read_all(int fd, char **bytes, size_t *size)
{
	struct stat st;
	if (fstat(fd, &st))
		return errno;
	*size = (size_t) st.st_size;
	*bytes = malloc(*size + sizeof(ElfW(Ehdr)));
	if (!*bytes)
		return ENOMEM;
	for (size_t at = 0; at < *size;) {
		ssize_t n = read(fd, *bytes + at, *size - at);
		if (n <= 0)
			return n ? errno : EIO;
		at += (size_t) n;
	}
	return 0;
}

int image_read_file(const char *path, char **bytes, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int err = fd < 0 ? errno : read_all(fd, bytes, size);
	if (fd >= 0)
		close(fd);
	return err;
}

/* Finds the end of what the loader needs, and the dynamic section. */
static int scan_segments(struct image *i, size_t *loaded)
{
	const ElfW(Ehdr) *h = head(i);
	const ElfW(Phdr) *p = segments(i), *d = NULL;
	if (i->size < sizeof(*h) || memcmp(h->e_ident, ELFMAG, SELFMAG) ||
	    h->e_phentsize != sizeof(*p) || h->e_phoff > i->size ||
	    h->e_phnum > (i->size - h->e_phoff) / sizeof(*p))
		return ENOEXEC;
	*loaded = h->e_phoff + h->e_phnum * sizeof(*p);
	for (int k = 0; k < h->e_phnum; k++) {
		if (p[k].p_offset > i->size || p[k].p_filesz > i->size - p[k].p_offset)
			return ENOEXEC;
		if (p[k].p_type == PT_DYNAMIC)
			d = &p[k];
		if (p[k].p_offset + p[k].p_filesz > *loaded)
			*loaded = p[k].p_offset + p[k].p_filesz;
	}
	if (!d || d->p_filesz < sizeof(ElfW(Dyn)))
		return ENOEXEC;
	i->dynamic = (void *) (i->bytes + d->p_offset);
	return 0;
}

static ElfW(Dyn) * entry_of(const struct image *i, ElfW(Sxword) tag)
{
	ElfW(Dyn) *d = i->dynamic;
	while (d->d_tag != DT_NULL && d->d_tag != tag)
		d++;
	return d->d_tag == tag ? d : NULL;
}

static ElfW(Dyn) * need(const struct image *i, int which)
{
	for (ElfW(Dyn) *d = i->dynamic; d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_NEEDED && !which--)
			return d;
	return NULL;
}

static int find_needs(struct image *i)
{
	while (need(i, i->nneeds))
		i->nneeds++;
	i->needs = calloc((size_t) i->nneeds + 1, sizeof(*i->needs));
	for (int k = 0; i->needs && k < i->nneeds; k++)
		i->needs[k] = need(i, k)->d_un.d_val;
	return i->needs ? 0 : -1;
}

/* ---- sections ---- */

/* True if the section has variables, and not only what the compiler puts into each library: the
 * handle of the library, and a flag that its destructors were called. */
static int holds_variables(const ElfW(Shdr) * s, const char *name)
{
	static const char *const tables[] = { ".got",     ".got.plt",        ".data.rel.ro",
					      ".dynamic", ".tm_clone_table", ".eh_frame" };
	if (!(s->sh_flags & SHF_WRITE) || !s->sh_size ||
	    (s->sh_type != SHT_PROGBITS && s->sh_type != SHT_NOBITS))
		return 0;
	for (size_t k = 0; k < sizeof(tables) / sizeof(*tables); k++)
		if (!strcmp(name, tables[k]) || !strncmp(name, ".data.rel.ro.", 13))
			return 0;
	if (!strcmp(name, ".data"))
		return s->sh_size > sizeof(void *);
	return strcmp(name, ".bss") || s->sh_size > 1;
}

/* A section of variables that the loader fills with 0 is padded to 8 bytes: its symbols say whether
 * anything is there. */
static int only_the_flag(const struct image *i, const ElfW(Shdr) * s, const ElfW(Shdr) * all, int n)
{
	if (s->sh_size > sizeof(void *) || s->sh_type != SHT_NOBITS || s->sh_flags & SHF_TLS)
		return 0;
	for (int k = 0; k < n; k++) {
		if (all[k].sh_type != SHT_SYMTAB || all[k].sh_link >= (unsigned) n ||
		    all[k].sh_offset > i->size || all[k].sh_size > i->size - all[k].sh_offset)
			continue;
		const ElfW(Sym) *y = (const void *) (i->bytes + all[k].sh_offset);
		int objects = 0;
		for (size_t e = 0; e < all[k].sh_size / sizeof(*y); e++)
			objects += y[e].st_shndx < n && &all[y[e].st_shndx] == s &&
				   ELF64_ST_TYPE(y[e].st_info) == STT_OBJECT;
		return objects <= 1;
	}
	return 0;
}

/* Without sections the object is taken for one with variables. */
static void scan_sections(struct image *i)
{
	const ElfW(Ehdr) *h = head(i);
	const ElfW(Shdr) *s = (const void *) (i->bytes + h->e_shoff);
	i->writable = 1;
	if (!h->e_shoff || h->e_shentsize != sizeof(*s) || h->e_shoff > i->size ||
	    h->e_shnum > (i->size - h->e_shoff) / sizeof(*s) || h->e_shstrndx >= h->e_shnum ||
	    s[h->e_shstrndx].sh_offset >= i->size)
		return;
	const char *names = i->bytes + s[h->e_shstrndx].sh_offset;
	size_t room = i->size - s[h->e_shstrndx].sh_offset;
	int writable = 0;
	for (int k = 0; k < h->e_shnum; k++) {
		if (s[k].sh_name >= room || !memchr(names + s[k].sh_name, 0, room - s[k].sh_name))
			return;
		if (s[k].sh_type == SHT_DYNSYM && s[k].sh_offset <= i->size &&
		    s[k].sh_size <= i->size - s[k].sh_offset) {
			i->symbols = (const void *) (i->bytes + s[k].sh_offset);
			i->nsymbols = s[k].sh_size / sizeof(*i->symbols);
		}
		writable |= holds_variables(&s[k], names + s[k].sh_name) &&
			    !only_the_flag(i, &s[k], s, h->e_shnum);
	}
	i->writable = writable || !i->symbols;
}

/* Makes room for so many bytes; those behind the present ones are 0. Returns 0 or an errno. */
static int resize(struct image *i, size_t size)
{
	size_t dynamic = (size_t) ((char *) i->dynamic - i->bytes),
	       strings = (size_t) (i->strings - i->bytes),
	       symbols = i->symbols ? (size_t) ((const char *) i->symbols - i->bytes) : 0;
	char *bytes = realloc(i->bytes, size);
	if (!bytes)
		return ENOMEM;
	if (i->symbols)
		i->symbols = (const void *) (bytes + symbols);
	i->bytes = bytes;
	i->dynamic = (void *) (bytes + dynamic);
	i->strings = bytes + strings;
	if (size > i->size)
		memset(bytes + i->size, 0, size - i->size);
	i->size = size;
	return 0;
}

/* Copies that no debugger reads have no sections, and few segments. */
static int shorten(struct image *i, size_t loaded)
{
	head(i)->e_shoff = head(i)->e_shnum = head(i)->e_shstrndx = 0;
	i->size = loaded;
	segments_join(i->bytes);
	return resize(i, loaded + segments_grow(i->bytes, loaded));
}

int image_read(struct image *i, const char *path, int whole)
{
	size_t loaded = 0;
	*i = (struct image){ .path = path };
	int err = image_read_file(path, &i->bytes, &i->size);
	if (!err)
		err = scan_segments(i, &loaded);
	if (err)
		return err;
	ElfW(Dyn) *at = entry_of(i, DT_STRTAB), *size = entry_of(i, DT_STRSZ);
	if (at && size) {
		i->nstrings = size->d_un.d_val;
		i->strings = at_address(i, at->d_un.d_ptr, i->nstrings);
	}
	if (!i->strings || !i->nstrings || i->strings[i->nstrings - 1])
		return ENOEXEC;
	if (find_needs(i))
		return ENOMEM;
	scan_sections(i);
	return whole ? 0 : shorten(i, loaded);
}

/* ---- needs ---- */

const char *image_need(const struct image *i, int which)
{
	return which < i->nneeds && i->needs[which] < i->nstrings ? i->strings + i->needs[which]
								  : NULL;
}

/* Moves the program header of a note, or an unused one, behind that of the last segment, and makes
 * it one for that file range. Returns its address, 0 if there is no such header. */
static size_t add_segment(struct image *i, size_t offset, size_t size)
{
	ElfW(Phdr) *p = segments(i);
	int n = head(i)->e_phnum, note = -1, last = 0;
	size_t end = 0;
	for (int k = 0; k < n; k++) {
		if (p[k].p_type == PT_NOTE || p[k].p_type == PT_NULL)
			note = k;
		if (p[k].p_type != PT_LOAD)
			continue;
		last = k;
		if (p[k].p_vaddr + p[k].p_memsz > end)
			end = p[k].p_vaddr + p[k].p_memsz;
	}
	if (note < 0)
		return 0;
	if (note > last)
		memmove(&p[last + 2], &p[last + 1], (size_t) (note - last - 1) * sizeof(*p));
	else
		memmove(&p[note], &p[note + 1], (size_t) (last - note) * sizeof(*p));
	end = round_up(end);
	p[note > last ? last + 1 : last] = (ElfW(Phdr)){ .p_type = PT_LOAD,
							 .p_flags = PF_R,
							 .p_offset = offset,
							 .p_vaddr = end,
							 .p_paddr = end,
							 .p_filesz = size,
							 .p_memsz = size,
							 .p_align = round_up(1) };
	return end;
}

/* The loader has one object for all copies of what C++ wants to be unique in the process (inline
 * variables, static ones of templates): each copy gets its own. */
static void share_nothing(struct image *i)
{
	ElfW(Sym) *y = (ElfW(Sym) *) (void *) (i->bytes + ((const char *) i->symbols - i->bytes));
	for (size_t k = 0; i->symbols && k < i->nsymbols; k++)
		if (ELF64_ST_BIND(y[k].st_info) == STB_GNU_UNIQUE)
			y[k].st_info = ELF64_ST_INFO(STB_GLOBAL, ELF64_ST_TYPE(y[k].st_info));
}

int image_make_slots(struct image *i)
{
	share_nothing(i);
	size_t offset = round_up(i->size), size = i->nstrings + (size_t) i->nneeds * IMAGE_SLOT;
	if (resize(i, offset + size))
		return 0;
	i->symbols = NULL;
	memcpy(i->bytes + offset, i->strings, i->nstrings);
	i->strings = i->bytes + offset;
	i->slots = i->bytes + offset + i->nstrings;
	size_t address = add_segment(i, offset, size);
	if (!address)
		return 0;
	entry_of(i, DT_STRTAB)->d_un.d_ptr = address;
	entry_of(i, DT_STRSZ)->d_un.d_val = size;
	return 1;
}

void image_set_need(struct image *i, int which, const char *path)
{
	char *slot = i->slots + which * IMAGE_SLOT;
	strcpy(slot, path);
	need(i, which)->d_un.d_val = (size_t) (slot - i->strings);
}
