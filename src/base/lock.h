/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Locks: short critical sections, never held across a wait. Included by base/seam.h, by way
 * of the world.
 *
 * The world provides the primitive, orr_sys_lock_t. In a debug build each lock also has a rank
 * (base/lockrank.h), and each thread a list of the locks that it holds: an acquisition against the
 * order, the release of a lock that the caller does not hold, and a wait with a lock held end the
 * program with a message that names the locks and the places where they were taken. Other builds
 * keep neither; locks cost and weigh there what the primitive does.
 *
 * Invariant: a lock is initialised with its rank before its first use. All-zero is unlocked in
 * builds without debugging only. */
#ifndef ORR_BASE_LOCK_H
#define ORR_BASE_LOCK_H

#include "base/assert.h"
#include "base/lockrank.h"

#ifdef ORR_DEBUG

typedef struct {
	orr_sys_lock_t word;
	uint8_t rank; /* enum orr_rank */
} orr_lock_t;

/* lock.c. The places are those of the caller, for messages. */
void orr_lock_take(orr_lock_t *l, const char *file, unsigned line, const char *function);
int orr_lock_try(orr_lock_t *l, const char *file, unsigned line, const char *function);
void orr_lock_give(orr_lock_t *l, const char *file, unsigned line, const char *function);
/* Does the calling thread hold it? */
int orr_lock_is_mine(const orr_lock_t *l);
/* Ends the program unless the calling thread holds no lock. */
void orr_lock_check_none(const char *file, unsigned line, const char *function);
/* The calling thread ends in the middle of something (a simulated program called exit): it gives
 * back what it holds. */
void orr_lock_abandon(void);

#define ORR_LOCK_INIT(name) \
	{ \
		.rank = ORR_RANK_##name \
	}
#define orr_lock(l) orr_lock_take((l), __FILE__, __LINE__, __func__)
#define orr_trylock(l) orr_lock_try((l), __FILE__, __LINE__, __func__)
#define orr_unlock(l) orr_lock_give((l), __FILE__, __LINE__, __func__)
/* The calling thread holds the lock; it holds no lock at all, as before a wait or a callback. */
#define orr_assert_locked(l) orr_assert(orr_lock_is_mine(l))
#define orr_assert_no_lock() orr_lock_check_none(__FILE__, __LINE__, __func__)

static inline void orr_lock_init(orr_lock_t *l, enum orr_rank rank)
{
	orr_assert(rank > ORR_RANK_NONE && rank < ORR_NRANKS);
	orr_sys_lock_init(&l->word);
	l->rank = (uint8_t) rank;
}

#else

typedef orr_sys_lock_t orr_lock_t;

/* A lock of static storage: ORR_LOCK_INIT(PROCESS). */
#define ORR_LOCK_INIT(name) \
	{ \
		0 \
	}
#define orr_assert_locked(l) ((void) sizeof(l))
#define orr_assert_no_lock() ((void) 0)

static inline void orr_lock_init(orr_lock_t *l, enum orr_rank rank)
{
	(void) rank;
	orr_sys_lock_init(l);
}

static inline void orr_lock(orr_lock_t *l)
{
	orr_sys_lock(l);
}

/* 1 when the lock was taken, 0 when somebody holds it. */
static inline int orr_trylock(orr_lock_t *l)
{
	return orr_sys_trylock(l);
}

static inline void orr_unlock(orr_lock_t *l)
{
	orr_sys_unlock(l);
}

static inline void orr_lock_abandon(void) {}

#endif
#endif
