/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The free parts of a memory that is somewhere else, so that nothing can be written into them:
 * extents in the order of addresses, of which the first that fits is taken.
 *
 * Invariant: extents do not overlap and do not touch; addresses and sizes are multiples of GRAIN.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/log.h"
#include "drivers/slave_own.h"

#define GRAIN 256

struct orr_extent {
	struct orr_extent *next;
	uintptr_t at;
	size_t bytes;
};

static size_t grains(size_t bytes)
{
	return ((bytes ? bytes : 1) + GRAIN - 1) / GRAIN * GRAIN;
}

static struct orr_extent *extent(uintptr_t at, size_t bytes, struct orr_extent *next)
{
	struct orr_extent *e = malloc(sizeof(*e));

	if (e)
		*e = (struct orr_extent){ .next = next, .at = at, .bytes = bytes };
	return e;
}

int orr_arena_init(struct orr_arena *a, uintptr_t base, size_t bytes)
{
	orr_assert(base % GRAIN == 0);
	a->first = bytes >= GRAIN ? extent(base, bytes / GRAIN * GRAIN, NULL) : NULL;
	return bytes >= GRAIN && !a->first ? -ENOMEM : 0;
}

void orr_arena_exit(struct orr_arena *a)
{
	struct orr_extent *e;

	while ((e = a->first)) {
		a->first = e->next;
		free(e);
	}
}

uintptr_t orr_arena_take(struct orr_arena *a, size_t bytes)
{
	size_t need = grains(bytes);
	struct orr_extent **p = &a->first, *e;

	while ((e = *p) && e->bytes < need)
		p = &e->next;
	if (!e)
		return 0;
	uintptr_t at = e->at;
	e->at += need;
	e->bytes -= need;
	if (!e->bytes) {
		*p = e->next;
		free(e);
	}
	return at;
}

/* Joins e with the extent behind it if they touch. */
static void join(struct orr_extent *e)
{
	struct orr_extent *next = e->next;

	if (!next || e->at + e->bytes != next->at)
		return;
	e->bytes += next->bytes;
	e->next = next->next;
	free(next);
}

void orr_arena_give(struct orr_arena *a, uintptr_t at, size_t bytes)
{
	struct orr_extent *before = NULL, *e, *next = a->first;

	while (next && next->at < at) {
		before = next;
		next = next->next;
	}
	bytes = grains(bytes);
	orr_assert(!next || at + bytes <= next->at);
	orr_assert(!before || before->at + before->bytes <= at);
	e = extent(at, bytes, next);
	if (!e)
		orr_fatal("out of memory for the list of what is free in the memory of a slave");
	if (before)
		before->next = e;
	else
		a->first = e;
	join(e);
	if (before)
		join(before);
}
