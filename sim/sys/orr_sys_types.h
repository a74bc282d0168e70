/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The simulated world's inline half of the seam (contract: base/seam.h). Actors are scheduled
 * cooperatively on one system thread, so locks compile to nothing, atomics are plain operations,
 * and waking costs a load when nobody waits.
 *
 * Invariant: orr_sim_self either describes the running actor, or the running actor's stack lies
 * outside of the bounds that it holds: no two actors have the same stack at a time, and one that
 * has none holds no bounds (sim_turns.h). So one comparison with the stack pointer tells whether
 * the cached pointer is right, whoever switched actors since (0.6 ns; asking SimGrid takes 6 ns).
 */
#ifndef ORR_SYS_TYPES_H
#define ORR_SYS_TYPES_H

#include <stddef.h>
#include <stdint.h>

/* All ranks share the memory that chunks come from (sim_chunks.c). */
#define ORR_CHUNK_MOST ((size_t) 8 << 10)

/* No two threads run at once: what other worlds keep apart lies side by side. */
#define ORR_LINE _Alignof(double)
#define ORR_LINES ORR_LINE

#include "sim_clock.h"

/* ---- atomics: nobody else runs between two statements ---- */
#define ORR_ATOMIC_LOAD(p) (*(p))
#define ORR_ATOMIC_LOAD_RELAXED(p) (*(p))
#define ORR_ATOMIC_STORE(p, v) ((void) (*(p) = (v)))
#define ORR_ATOMIC_STORE_RELAXED(p, v) ((void) (*(p) = (v)))
#define ORR_ATOMIC_ADD(p, v) (*(p) += (v))
#define ORR_ATOMIC_ADD_RELAXED(p, v) (*(p) += (v))
#define ORR_ATOMIC_OR(p, v) (*(p) |= (v))
#define ORR_ATOMIC_AND(p, v) (*(p) &= (v))
#define ORR_ATOMIC_FETCH_AND(p, v) \
	__extension__({ \
		__auto_type orr_p_ = (p); \
		__typeof__(*orr_p_) orr_old_ = *orr_p_; \
		*orr_p_ &= (v); \
		orr_old_; \
	})
#define ORR_ATOMIC_XCHG(p, v) \
	__extension__({ \
		__auto_type orr_p_ = (p); \
		__typeof__(*orr_p_) orr_old_ = *orr_p_; \
		*orr_p_ = (v); \
		orr_old_; \
	})
#define ORR_ATOMIC_CAS(p, old, v) \
	__extension__({ \
		__auto_type orr_p_ = (p); \
		__auto_type orr_o_ = (old); \
		int orr_same_ = *orr_p_ == *orr_o_; \
		if (orr_same_) \
			*orr_p_ = (v); \
		else \
			*orr_o_ = *orr_p_; \
		orr_same_; \
	})
#define ORR_ATOMIC_FENCE() ((void) 0)

/* ---- who am I ---- */

extern struct orr_process orr_the_process; /* start/the_process.c: no rank's, the launcher's own */

/* The head of what sim/sys knows of an actor; the rest is in actors/sim_actor.h. */
struct orr_sim_actor_head {
	struct orr_thread thread; /* first: a thread's address is its actor's */
	uintptr_t stack_low;      /* the actor's stack is [stack_low, stack_low + stack_size) */
	size_t stack_size;
	size_t owes; /* the actor has put sleeps off: stack_size, which is 0 meanwhile; else 0 */
	const double *costs; /* the process's: proc->costs */
	unsigned
		carries_debt; /* its debt is paid by the next kernel's end instead of by sleeping */
};

/* The actor that ran last when somebody asked. Never NULL. */
extern struct orr_sim_actor_head *orr_sim_self;
extern double orr_sim_quantum_us;
/* Looks the running actor up and stores it in orr_sim_self. One that owes sleeps has them first:
 * that is why it has no bounds then. */
struct orr_sim_actor_head *orr_sim_self_slow(void);
/* The same for who takes a lock. */
void orr_sim_catch_up(void);
void orr_sim_settle_slow(struct orr_thread *t);
void orr_sim_settle_later_slow(struct orr_thread *t);
int orr_sim_settle_recess(struct orr_thread *t);
/* The same for a thread that waits for something else meanwhile: returns the virtual time until
 * which its debt occupies it, and takes the debt; negative: none. */
double orr_sim_settle_ahead(struct orr_thread *t);

static inline struct orr_sim_actor_head *orr_sim_actor_head(void)
{
	struct orr_sim_actor_head *a = orr_sim_self;
	if (__builtin_expect((uintptr_t) __builtin_frame_address(0) - a->stack_low < a->stack_size,
			     1))
		return a;
	return orr_sim_self_slow();
}

static inline struct orr_thread *orr_thread_self(void)
{
	return &orr_sim_actor_head()->thread;
}
static inline struct orr_thread *orr_thread_self_ahead(void)
{
	struct orr_sim_actor_head *a = orr_sim_self;
	uintptr_t depth = (uintptr_t) __builtin_frame_address(0) - a->stack_low;
	return &(__builtin_expect(depth < (a->stack_size | a->owes), 1) ? a : orr_sim_self_slow())
			->thread;
}
static inline struct orr_process *orr_self(void)
{
	return orr_sim_actor_head()->thread.proc;
}

/* ---- clock and world ---- */

static inline double orr_sys_now_us(void)
{
	return orr_sim_clock_s() * 1e6;
}
static inline int64_t orr_sys_now_ns(void)
{
	return (int64_t) (orr_sys_now_us() * 1e3 + 0.5);
}
static inline int orr_sys_is_simulated(void)
{
	return 1;
}

/* ---- locks (base/lock.h): one byte, nearly free of cost ---- */
typedef struct {
	uint8_t held;
} orr_sys_lock_t;

static inline void orr_sys_lock_init(orr_sys_lock_t *l)
{
	l->held = 0;
}
#ifdef ORR_DEBUG
/* Nobody else runs while a lock is held, unless its holder gave the processor away. */
void orr_sys_lock(orr_sys_lock_t *l);
int orr_sys_trylock(orr_sys_lock_t *l);
void orr_sys_unlock(orr_sys_lock_t *l);
#else
static inline void orr_sys_lock(orr_sys_lock_t *l)
{
	(void) l;
	if (__builtin_expect(orr_sim_self->owes != 0, 0))
		orr_sim_catch_up();
}
static inline int orr_sys_trylock(orr_sys_lock_t *l)
{
	orr_sys_lock(l);
	return 1;
}
static inline void orr_sys_unlock(orr_sys_lock_t *l)
{
	(void) l;
}
#endif

#include "base/lock.h"

/* ---- event counts ---- */
typedef struct {
	uint32_t seq;
	uint32_t waiters;
	struct orr_sim_actor *blocked;
} orr_waitq_t;

int orr_waitq_wait(orr_waitq_t *q, unsigned key, double timeout_us);
int orr_waitq_recess(orr_waitq_t *q, unsigned key, double timeout_us);
void orr_waitq_wake_slow(orr_waitq_t *q);

static inline void orr_waitq_init(orr_waitq_t *q)
{
	q->seq = 0;
	q->waiters = 0;
	q->blocked = NULL;
}
static inline void orr_waitq_destroy(orr_waitq_t *q)
{
	(void) q;
	orr_assertf(!q->waiters && !q->blocked, "actors wait on an event count that ends");
}
static inline unsigned orr_waitq_prepare(orr_waitq_t *q)
{
	q->waiters++;
	return q->seq;
}
static inline void orr_waitq_cancel(orr_waitq_t *q)
{
	orr_assertf(q->waiters > 0, "a wait ends that was not prepared");
	q->waiters--;
}

static inline void orr_waitq_wake(orr_waitq_t *q)
{
	orr_assert_no_lock();
	if (__builtin_expect(q->waiters != 0, 0))
		orr_waitq_wake_slow(q);
}

static inline void orr_waitq_wake_fenced(orr_waitq_t *q)
{
	orr_waitq_wake(q);
}

/* ---- virtual costs ---- */
#define ORR_SYS_CHARGES 1
static inline void orr_sys_charge(struct orr_thread *t, enum orr_cost c)
{
	t->debt_us += ((struct orr_sim_actor_head *) t)->costs[c];
}

static inline void orr_sys_charge_times(struct orr_thread *t, enum orr_cost c, unsigned n)
{
	t->debt_us += n * ((struct orr_sim_actor_head *) t)->costs[c];
}

static inline void orr_sys_charge_copy(struct orr_thread *t, size_t bytes)
{
	const double mib_us = ((struct orr_sim_actor_head *) t)->costs[ORR_COST_BUFFER];
	t->debt_us += mib_us * (double) bytes / (1 << 20);
}

static inline int orr_sys_reloads(struct orr_thread *t)
{
	const double *costs = ((struct orr_sim_actor_head *) t)->costs;
	return costs[ORR_COST_RELOAD] > 0 || costs[ORR_COST_RELOAD_LARGE] > 0;
}

void orr_sys_charge_reload(struct orr_thread *t, size_t bytes);

static inline void orr_sys_settle(struct orr_thread *t)
{
	orr_assert_no_lock();
	if (__builtin_expect(t->debt_us > orr_sim_quantum_us, 0))
		orr_sim_settle_slow(t);
}

static inline void orr_sys_settle_later(struct orr_thread *t)
{
	orr_assert_no_lock();
	if (__builtin_expect(t->debt_us > orr_sim_quantum_us, 0))
		orr_sim_settle_later_slow(t);
}

static inline int orr_sys_settle_recess(struct orr_thread *t)
{
	orr_assert_no_lock();
	return __builtin_expect(t->debt_us > orr_sim_quantum_us, 0) && orr_sim_settle_recess(t);
}

/* A pause in a spin loop; the simulated world has none. */
static inline void orr_sys_relax(void) {}

#endif
