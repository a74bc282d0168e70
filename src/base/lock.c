/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The checks of locks in debug builds (see lock.h).
 *
 * Invariant: a thread's list names exactly the locks that it holds. The order is checked before the
 * thread waits for the lock, so that what would be a deadlock becomes a message. */
#include "base/process.h"
#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef ORR_DEBUG

static const struct {
	const char *name, *lock;
	unsigned flags;
} ranks[] = { [ORR_RANK_NONE] = { "NONE", "no lock", 0 },
#define X(rank, flags, lock, protects, after, never) [ORR_RANK_##rank] = { #rank, lock, flags },
	      ORR_LOCK_RANKS(X)
#undef X
};

static struct orr_held *mine(void)
{
	struct orr_held *held = &orr_thread_self()->held;

	if (!held->v) {
		held->v = held->inl;
		held->cap = sizeof(held->inl) / sizeof(held->inl[0]);
	}
	return held;
}

/* The place of a lock in the list, or -1. A thread that holds very many locks asks for one after
 * the other. */
static int place(struct orr_held *held, const void *lock)
{
	for (unsigned i = held->found; i < held->n && i <= held->found + 1; i++)
		if (held->v[i].lock == lock) {
			held->found = i;
			return (int) i;
		}
	for (unsigned i = held->n; i-- > 0;)
		if (held->v[i].lock == lock) {
			held->found = i;
			return (int) i;
		}
	return -1;
}

int orr_lock_is_mine(const orr_lock_t *l)
{
	return place(mine(), l) >= 0;
}

/* May a lock be taken after the one held? */
static int above(const orr_lock_t *l, const struct orr_held_lock *held)
{
	if (l->rank != held->rank)
		return l->rank > held->rank;
	return (ranks[l->rank].flags & ORR_LOCK_BY_ADDRESS) &&
	       (uintptr_t) l > (uintptr_t) held->lock;
}

/* The last lock held that stands in the way of l, or NULL. */
static const struct orr_held_lock *obstacle(const struct orr_held *held, const orr_lock_t *l)
{
	for (unsigned i = held->n; i-- > 0;) {
		if (!above(l, &held->v[i]))
			return &held->v[i];
		if (held->v[i].in_order)
			return NULL; /* it is above all that are before it */
	}
	return NULL;
}

static void check_rank(const orr_lock_t *l, const char *file, unsigned line, const char *function)
{
	if (l->rank == ORR_RANK_NONE || l->rank >= ORR_NRANKS)
		orr_assert_failed(file, line, function, "lock->rank", "lock %p has no rank: %s",
				  (const void *) l,
				  "it was not initialised, or its memory is something else's");
}

static void push(struct orr_held *held, const orr_lock_t *l, const char *file, unsigned line)
{
	int in_order = obstacle(held, l) == NULL;

	if (held->n == held->cap) {
		struct orr_held_lock *v = malloc(2 * held->cap * sizeof(*v));

		orr_assertf(v, "out of memory for %u locks", held->n);
		memcpy(v, held->v, held->n * sizeof(*v));
		if (held->v != held->inl)
			free(held->v);
		held->v = v;
		held->cap *= 2;
	}
	held->v[held->n++] = (struct orr_held_lock){ .lock = l,
						     .file = file,
						     .line = line,
						     .rank = l->rank,
						     .in_order = (uint8_t) in_order };
}

void orr_lock_take(orr_lock_t *l, const char *file, unsigned line, const char *function)
{
	struct orr_held *held = mine();

	check_rank(l, file, line, function);
	const struct orr_held_lock *o = obstacle(held, l);
	if (o && o->lock == l)
		orr_assert_failed(file, line, function, "lock order",
				  "%s is taken by the thread that holds it since %s:%u",
				  ranks[l->rank].name, o->file, o->line);
	if (o)
		orr_assert_failed(file, line, function, "lock order",
				  "%s (%s) is taken while %s (%s) is held since %s:%u; %s",
				  ranks[l->rank].name, ranks[l->rank].lock, ranks[o->rank].name,
				  ranks[o->rank].lock, o->file, o->line,
				  "base/lockrank.h has the order");
	orr_sys_lock(&l->word);
	push(held, l, file, line);
}

int orr_lock_try(orr_lock_t *l, const char *file, unsigned line, const char *function)
{
	struct orr_held *held = mine();

	check_rank(l, file, line, function);
	if (place(held, l) >= 0)
		orr_assert_failed(file, line, function, "lock order",
				  "%s is tried by the thread that holds it", ranks[l->rank].name);
	if (!orr_sys_trylock(&l->word))
		return 0;
	push(held, l, file, line);
	return 1;
}

static void forget(struct orr_held *held, unsigned i)
{
	memmove(&held->v[i], &held->v[i + 1], (held->n - i - 1) * sizeof(*held->v));
	if (--held->n == 0 && held->v != held->inl) {
		free(held->v);
		held->v = NULL;
	}
}

void orr_lock_give(orr_lock_t *l, const char *file, unsigned line, const char *function)
{
	struct orr_held *held = mine();
	int i = place(held, l);

	check_rank(l, file, line, function);
	if (i < 0)
		orr_assert_failed(file, line, function, "orr_lock_is_mine",
				  "%s (%s) is released by a thread that does not hold it",
				  ranks[l->rank].name, ranks[l->rank].lock);
	forget(held, (unsigned) i);
	orr_sys_unlock(&l->word);
}

void orr_lock_check_none(const char *file, unsigned line, const char *function)
{
	const struct orr_held *held = mine();

	if (held->n)
		orr_assert_failed(file, line, function, "no lock is held",
				  "%s (%s) is held since %s:%u", ranks[held->v[0].rank].name,
				  ranks[held->v[0].rank].lock, held->v[0].file, held->v[0].line);
}

void orr_lock_abandon(void)
{
	struct orr_held *held = mine();

	while (held->n) {
		orr_lock_t *l = (orr_lock_t *) (uintptr_t) held->v[held->n - 1].lock;

		forget(held, held->n - 1);
		held = mine();
		orr_sys_unlock(&l->word);
	}
}

#endif
