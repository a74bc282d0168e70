/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A shared object in memory, of which copies are made that need other copies.
 *
 * Invariant: what the loader does with a copy differs from the original in nothing but which
 * libraries it needs, and how many maps it makes (segments.h). */
#ifndef ORR_LAUNCHER_IMAGE_H
#define ORR_LAUNCHER_IMAGE_H

#include <link.h>
#include <stddef.h>
#include "segments.h"

enum { IMAGE_SLOT = 256 }; /* room for the path of a need */

struct image {
	const char *path;
	char *bytes;
	size_t size; /* those that copies have */
	ElfW(Dyn) * dynamic;
	const char *strings;
	size_t nstrings;
	const ElfW(Sym) * symbols; /* NULL if it is not known how many */
	size_t nsymbols;
	char *slots;   /* of image_make_slots() */
	size_t *needs; /* where the original's names of needs are among the strings */
	int nneeds, writable;
	struct segments_shared shared; /* of its copies */
};

/* Reads a file into memory of malloc(), which has room for a head even if the file is shorter.
 * Returns 0 or an errno. */
int image_read_file(const char *path, char **bytes, size_t *size);
/* Reads and examines the file. Returns 0 or an errno. whole: copies keep what only debuggers read.
 */
int image_read(struct image *i, const char *path, int whole);
/* The original's name of that need. NULL: there are no more. */
const char *image_need(const struct image *i, int which);
/* Makes a place for a path of each need; 0 if the object has no room for that. */
int image_make_slots(struct image *i);
/* The need becomes that path, of at most IMAGE_SLOT - 1 bytes. */
void image_set_need(struct image *i, int which, const char *path);

#endif
