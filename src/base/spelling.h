/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The likeness of two names, for messages that suggest the name that was meant.
 *
 * Invariant: the distance is 0 exactly for names that are equal but for upper and lower case. */
#ifndef ORR_BASE_SPELLING_H
#define ORR_BASE_SPELLING_H

/* The number of characters to insert, remove or replace to make b of a, two neighbours that change
 * places counting as one; UINT_MAX if one of them has more than 255 characters. */
unsigned orr_spelling_distance(const char *a, const char *b);

/* The names nearest to one, out of those that are offered. */
#define ORR_SPELLING_BEST 3
struct orr_spelling {
	unsigned limit; /* a greater distance is too far */
	unsigned room;  /* keep so many at most, ORR_SPELLING_BEST or less */
	unsigned n;
	struct {
		char name[256];
		unsigned distance;
	} best[ORR_SPELLING_BEST]; /* nearest first; of the equally near the first offered */
};

/* Offers a name, which is kept if it is among the nearest and none of them yet. Returns 1 if it is
 * the nearest so far. */
int orr_spelling_offer(struct orr_spelling *s, const char *name, unsigned distance);

#endif
