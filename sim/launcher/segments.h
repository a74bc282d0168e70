/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Segments of copies of shared objects: few maps, and pages that are the same in all copies once.
 *
 * Invariant: a program finds the same bytes at the same addresses of a copy as the loader alone
 * would have put there; only what may be done with read-only pages differs. */
#ifndef ORR_LAUNCHER_SEGMENTS_H
#define ORR_LAUNCHER_SEGMENTS_H

#include <link.h>
#include <stddef.h>

/* The head and program headers at the beginning of bytes were checked by the caller. All of these
 * change or look at program headers there. */

/* Joins segments without variables that follow one another in the file into one, which may be
 * executed, and gives up that the loader makes parts of variables read-only: a map for each
 * remains. Nothing is joined in an object whose code the loader changes. */
void segments_join(char *bytes);
/* The bytes by which a file of that many has to grow, filled with 0, so that variables without
 * values come from it and need no map of their own; the last segment is changed accordingly. 0:
 * they are many, or something follows them. */
size_t segments_grow(char *bytes, size_t size);
/* The number of maps that the loader makes for it. */
long segments_maps(const char *bytes);

/* The pages that all copies of an object have in common. Zero at first. */
struct segments_shared {
	int fd;                          /* a memory file that holds them, 0: none yet */
	unsigned long long device, file; /* of it */
};

/* The copy was loaded at that address from the memory file copy_fd, which has those bytes: its code
 * comes from *shared from now on, its variables from memory, and the file's is given back. What
 * cannot be shared stays as it is. */
void segments_share(struct segments_shared *shared, const char *bytes, size_t size, int copy_fd,
		    size_t address);

#endif
