/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How alike two names are, for messages that suggest the name that was meant.
 *
 * Invariant: the distance is 0 exactly for names that are equal but for upper and lower case. */
#ifndef ORR_BASE_SPELLING_H
#define ORR_BASE_SPELLING_H

/* The number of characters to insert, remove or replace to make b of a, two neighbours that change
 * places counting as one; UINT_MAX if one of them has more than 255 characters. */
unsigned orr_spelling_distance(const char *a, const char *b);

#endif
