/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bitmaps: sets of workers, for policies.
 *
 * Invariant: an element is a number from 0 to STARPU_NMAXWORKERS-1. A bitmap may be read while one
 * thread changes it: each element is then seen as before or as after. Two threads must not change
 * one bitmap at a time. A call with a number outside of that range prints a message and changes
 * nothing; reading such an element gives 0.
 */
#ifndef STARPU_BITMAP_H
#define STARPU_BITMAP_H

#include <limits.h>
#include <starpu_config.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define STARPU_BITMAP_WORD_BITS (CHAR_BIT * (int) sizeof(unsigned long))

/* The field is private to the functions below. */
struct starpu_bitmap {
	unsigned long
		word[(STARPU_NMAXWORKERS + STARPU_BITMAP_WORD_BITS - 1) / STARPU_BITMAP_WORD_BITS];
};

/* An empty bitmap that the caller frees by starpu_bitmap_destroy(); NULL when memory is exhausted.
 */
struct starpu_bitmap *starpu_bitmap_create(void);
void starpu_bitmap_destroy(struct starpu_bitmap *b);
/* Make a bitmap that the caller has declared empty. Nothing needs to be freed afterwards. */
void starpu_bitmap_init(struct starpu_bitmap *b);

/* Add or remove element e; remove all. */
void starpu_bitmap_set(struct starpu_bitmap *b, int e);
void starpu_bitmap_unset(struct starpu_bitmap *b, int e);
void starpu_bitmap_unset_all(struct starpu_bitmap *b);
/* Non-zero when b has element e. */
int starpu_bitmap_get(struct starpu_bitmap *b, int e);

/* a becomes what b and c have in common; a may be one of them. */
void starpu_bitmap_unset_and(struct starpu_bitmap *a, struct starpu_bitmap *b,
			     struct starpu_bitmap *c);
/* a gets all elements of b, too. */
void starpu_bitmap_or(struct starpu_bitmap *a, struct starpu_bitmap *b);
/* Non-zero when both have element e. */
int starpu_bitmap_and_get(struct starpu_bitmap *b1, struct starpu_bitmap *b2, int e);

/* Number of elements. */
int starpu_bitmap_cardinal(struct starpu_bitmap *b);
/* The smallest and the largest element; -1 when the bitmap is empty. */
int starpu_bitmap_first(struct starpu_bitmap *b);
int starpu_bitmap_last(struct starpu_bitmap *b);
/* The smallest element above e, which may be -1; -1 when there is none. And whether there is one.
 *	for (w = starpu_bitmap_first(b); w != -1; w = starpu_bitmap_next(b, w)) */
int starpu_bitmap_next(struct starpu_bitmap *b, int e);
int starpu_bitmap_has_next(struct starpu_bitmap *b, int e);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
