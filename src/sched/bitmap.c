/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bitmaps: sets of workers (starpu_bitmap.h).
 *
 * Invariant: bits outside of 0 .. STARPU_NMAXWORKERS-1 are never set; words are read and written
 * whole, so that readers need no lock. */
#include "base/assert.h"
#include "base/log.h"
#include "base/process.h"

#include <starpu_bitmap.h>

#include <stdlib.h>
#include <string.h>

#define BITS STARPU_BITMAP_WORD_BITS
#define NWORDS ((int) (sizeof(struct starpu_bitmap) / sizeof(unsigned long)))

static unsigned long bit(int e)
{
	return 1UL << e % BITS;
}

static int is_element(int e)
{
	return e >= 0 && e < STARPU_NMAXWORKERS;
}

static int bitmap_check(int e, const char *what)
{
	if (is_element(e))
		return 1;
	orr_error("%s: %d is no element of a bitmap, they are 0 to %d (STARPU_NMAXWORKERS)", what,
		  e, STARPU_NMAXWORKERS - 1);
	return 0;
}

static unsigned long load(const struct starpu_bitmap *b, int i)
{
	return ORR_ATOMIC_LOAD_RELAXED(&b->word[i]);
}

static void store(struct starpu_bitmap *b, int i, unsigned long word)
{
	ORR_ATOMIC_STORE_RELAXED(&b->word[i], word);
}

struct starpu_bitmap *starpu_bitmap_create(void)
{
	return calloc(1, sizeof(struct starpu_bitmap));
}

void starpu_bitmap_destroy(struct starpu_bitmap *b)
{
	free(b);
}

void starpu_bitmap_init(struct starpu_bitmap *b)
{
	memset(b, 0, sizeof(*b));
}

void starpu_bitmap_set(struct starpu_bitmap *b, int e)
{
	if (bitmap_check(e, "starpu_bitmap_set"))
		store(b, e / BITS, load(b, e / BITS) | bit(e));
}

void starpu_bitmap_unset(struct starpu_bitmap *b, int e)
{
	if (bitmap_check(e, "starpu_bitmap_unset"))
		store(b, e / BITS, load(b, e / BITS) & ~bit(e));
}

void starpu_bitmap_unset_all(struct starpu_bitmap *b)
{
	for (int i = 0; i < NWORDS; i++)
		store(b, i, 0);
}

int starpu_bitmap_get(struct starpu_bitmap *b, int e)
{
	return is_element(e) && (load(b, e / BITS) & bit(e));
}

void starpu_bitmap_unset_and(struct starpu_bitmap *a, struct starpu_bitmap *b,
			     struct starpu_bitmap *c)
{
	for (int i = 0; i < NWORDS; i++)
		store(a, i, load(b, i) & load(c, i));
}

void starpu_bitmap_or(struct starpu_bitmap *a, struct starpu_bitmap *b)
{
	for (int i = 0; i < NWORDS; i++)
		store(a, i, load(a, i) | load(b, i));
}

int starpu_bitmap_and_get(struct starpu_bitmap *b1, struct starpu_bitmap *b2, int e)
{
	return starpu_bitmap_get(b1, e) && starpu_bitmap_get(b2, e);
}

int starpu_bitmap_cardinal(struct starpu_bitmap *b)
{
	int n = 0;

	for (int i = 0; i < NWORDS; i++)
		n += __builtin_popcountl(load(b, i));
	return n;
}

int starpu_bitmap_first(struct starpu_bitmap *b)
{
	return starpu_bitmap_next(b, -1);
}

int starpu_bitmap_last(struct starpu_bitmap *b)
{
	for (int i = NWORDS; i-- > 0;) {
		unsigned long word = load(b, i);

		if (word)
			return i * BITS + BITS - 1 - __builtin_clzl(word);
	}
	return -1;
}

int starpu_bitmap_next(struct starpu_bitmap *b, int e)
{
	int from = e < 0 ? 0 : e < STARPU_NMAXWORKERS ? e + 1 : STARPU_NMAXWORKERS;

	for (int i = from / BITS; i < NWORDS; i++) {
		unsigned long word = load(b, i);

		if (i == from / BITS)
			word &= ~0UL << from % BITS;
		if (!word)
			continue;
		orr_assert(is_element(i * BITS + __builtin_ctzl(word)));
		return i * BITS + __builtin_ctzl(word);
	}
	return -1;
}

int starpu_bitmap_has_next(struct starpu_bitmap *b, int e)
{
	return starpu_bitmap_next(b, e) >= 0;
}
