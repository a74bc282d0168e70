/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A hash of bytes (FNV-1a, 64 bits), for names and texts that nobody chooses to collide.
 *
 * Invariant: the same bytes, in one piece or in several, have the same hash on all computers. */
#ifndef ORR_BASE_FNV_H
#define ORR_BASE_FNV_H

#include <stddef.h>
#include <stdint.h>

#define ORR_FNV_START 0xcbf29ce484222325ULL

/* [any] [locked] The hash of what h stands for (ORR_FNV_START: of nothing) and n bytes more. */
static inline uint64_t orr_fnv(uint64_t h, const void *bytes, size_t n)
{
	const unsigned char *p = (const unsigned char *) bytes;

	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * 0x100000001b3ULL;
	return h;
}

#endif
