/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The real world's inline half of the seam (contract: base/seam.h): locks and event counts on
 * futexes, C11-style atomics, and the context in static storage.
 *
 * Invariant: an uncontended lock, an atomic and orr_self() never enter the kernel. */
#ifndef ORR_SYS_TYPES_H
#define ORR_SYS_TYPES_H

#include <stdint.h>

/* Alignments of what threads write that run at once: a line of the cache, and two, as processors
 * fetch the neighbour of a line with it. */
#define ORR_LINE 64
#define ORR_LINES 128

/* ---- atomics ---- */

/* An operation that reads and writes is a full barrier on x86-64. Elsewhere C11 promises none, even
 * of sequentially consistent ones: on ARM a later load may pass the store of such an operation
 * (tests/litmus). */
#ifdef __x86_64__
#define ORR_FULL(operation) (operation)
#else
#define ORR_FULL(operation) \
	__extension__({ \
		__typeof__(operation) orr_full_result = (operation); \
		__atomic_thread_fence(__ATOMIC_SEQ_CST); \
		orr_full_result; \
	})
#endif
#define ORR_ATOMIC_LOAD(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define ORR_ATOMIC_LOAD_RELAXED(p) __atomic_load_n((p), __ATOMIC_RELAXED)
#define ORR_ATOMIC_STORE(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define ORR_ATOMIC_STORE_RELAXED(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define ORR_ATOMIC_ADD(p, v) ORR_FULL(__atomic_add_fetch((p), (v), __ATOMIC_SEQ_CST))
#define ORR_ATOMIC_ADD_RELAXED(p, v) __atomic_add_fetch((p), (v), __ATOMIC_RELAXED)
#define ORR_ATOMIC_OR(p, v) ORR_FULL(__atomic_or_fetch((p), (v), __ATOMIC_SEQ_CST))
#define ORR_ATOMIC_AND(p, v) ORR_FULL(__atomic_and_fetch((p), (v), __ATOMIC_SEQ_CST))
#define ORR_ATOMIC_FETCH_AND(p, v) ORR_FULL(__atomic_fetch_and((p), (v), __ATOMIC_SEQ_CST))
#define ORR_ATOMIC_XCHG(p, v) ORR_FULL(__atomic_exchange_n((p), (v), __ATOMIC_SEQ_CST))
#define ORR_ATOMIC_CAS(p, old, v) \
	ORR_FULL(__atomic_compare_exchange_n((p), (old), (v), 0, __ATOMIC_SEQ_CST, \
					     __ATOMIC_ACQUIRE))
#define ORR_ATOMIC_FENCE() __atomic_thread_fence(__ATOMIC_SEQ_CST)

/* ---- clock and world ---- */

double orr_sys_now_us(void);
int64_t orr_sys_now_ns(void);
static inline int orr_sys_is_simulated(void)
{
	return 0;
}

/* ---- locks (base/lock.h): 0 free, 1 held, 2 held with sleepers ---- */
typedef struct {
	uint32_t state;
} orr_sys_lock_t;

void orr_sys_lock_slow(orr_sys_lock_t *l);
void orr_sys_unlock_slow(orr_sys_lock_t *l);

static inline void orr_sys_lock_init(orr_sys_lock_t *l)
{
	l->state = 0;
}

static inline int orr_sys_trylock(orr_sys_lock_t *l)
{
	uint32_t free = 0;
	return __atomic_compare_exchange_n(&l->state, &free, 1, 0, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

static inline void orr_sys_lock(orr_sys_lock_t *l)
{
	if (__builtin_expect(!orr_sys_trylock(l), 0))
		orr_sys_lock_slow(l);
}

static inline void orr_sys_unlock(orr_sys_lock_t *l)
{
	if (__builtin_expect(__atomic_exchange_n(&l->state, 0, __ATOMIC_RELEASE) == 2, 0))
		orr_sys_unlock_slow(l);
}

#include "base/lock.h"

/* ---- event counts ---- */
typedef struct {
	uint32_t seq;
	uint32_t waiters;
} orr_waitq_t;

int orr_waitq_wait(orr_waitq_t *q, unsigned key, double timeout_us);
void orr_waitq_wake_slow(orr_waitq_t *q);

static inline int orr_waitq_recess(orr_waitq_t *q, unsigned key, double timeout_us)
{
	orr_waitq_wait(q, key, timeout_us);
	return 0;
}

static inline void orr_waitq_init(orr_waitq_t *q)
{
	q->seq = 0;
	q->waiters = 0;
}
static inline void orr_waitq_destroy(orr_waitq_t *q)
{
	(void) q;
	orr_assertf(!q->waiters, "%u threads wait on an event count that ends", q->waiters);
}

static inline unsigned orr_waitq_prepare(orr_waitq_t *q)
{
	__atomic_add_fetch(&q->waiters, 1, __ATOMIC_SEQ_CST);
	return __atomic_load_n(&q->seq, __ATOMIC_SEQ_CST);
}

static inline void orr_waitq_cancel(orr_waitq_t *q)
{
	uint32_t waiters = __atomic_sub_fetch(&q->waiters, 1, __ATOMIC_SEQ_CST);

	(void) waiters;
	orr_assertf(waiters != UINT32_MAX, "a wait ends that was not prepared");
}

static inline void orr_waitq_wake(orr_waitq_t *q)
{
	orr_assert_no_lock(); /* in the simulated world, the woken may run at once */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__builtin_expect(__atomic_load_n(&q->waiters, __ATOMIC_RELAXED) != 0, 0))
		orr_waitq_wake_slow(q);
}

/* The same after an ORR_ATOMIC_ADD/XCHG/CAS that already was a full barrier. */
static inline void orr_waitq_wake_fenced(orr_waitq_t *q)
{
	orr_assert_no_lock();
	if (__builtin_expect(__atomic_load_n(&q->waiters, __ATOMIC_SEQ_CST) != 0, 0))
		orr_waitq_wake_slow(q);
}

/* ---- who am I ---- */

/* liborrery-mpi does not see the variables of liborrery, where they are hidden; it keeps pointers
 * to them (bridge/mpi_core.c). Static libraries hide nothing: libtool defines PIC for shared ones.
 */
#if !defined(ORR_MPI_LIBRARY) || !defined(PIC)
#define ORR_REAL_CORE_IS_HERE
#endif

#ifdef ORR_REAL_CORE_IS_HERE
extern struct orr_process orr_the_process; /* start/the_process.c */
extern __thread struct orr_thread orr_the_thread __attribute__((tls_model("initial-exec")));

static inline struct orr_process *orr_self(void)
{
	return &orr_the_process;
}

static inline struct orr_thread *orr_thread_self(void)
{
	struct orr_thread *self = &orr_the_thread;
#ifdef __SANITIZE_ADDRESS__
	/* Else GCC compares the address with NULL by the flags of the addition that makes it, for
	 * which the linker puts an instruction without flags into programs linked statically. */
	__asm__("" : "+r"(self));
#endif
	return self;
}
#else
extern struct orr_process *orr_real_process; /* set before any other function runs */
extern __thread struct orr_thread *orr_real_thread __attribute__((tls_model("initial-exec")));
struct orr_thread *orr_real_thread_enter(void); /* sets orr_real_thread */

static inline struct orr_process *orr_self(void)
{
	return orr_real_process;
}

static inline struct orr_thread *orr_thread_self(void)
{
	struct orr_thread *t = orr_real_thread;
	return __builtin_expect(t != NULL, 1) ? t : orr_real_thread_enter();
}
#endif

static inline struct orr_thread *orr_thread_self_ahead(void)
{
	return orr_thread_self();
}

/* ---- the end in error ---- */

/* process.c: orr_sys_abort calls this function first, which ends the processes of all ranks; NULL:
 * none, there is no MPI. Called by the real world's half of MPI, which is another library. */
void orr_real_on_abort(void (*end_all)(void));
/* live.c: threads that answer `orrery top`, 0 or 1; they do nothing else. */
int orr_real_live(void);

struct orr_process;
struct orr_run_totals;
/* [main] The runtime starts in this process (sys/run.c). */
void orr_real_run_begin(const struct orr_process *proc);
/* [main] What this process did so far, as one rank (sys/run.c). */
void orr_real_run_own(struct orr_process *proc, struct orr_run_totals *t);
/* [main] What all ranks did so far: this process reports it at its end. NULL: another one does. */
void orr_real_run_all(const struct orr_run_totals *t);

/* ---- virtual costs: none ---- */
#define ORR_SYS_CHARGES 0
static inline void orr_sys_charge(struct orr_thread *t, enum orr_cost c)
{
	(void) t;
	(void) c;
}
static inline void orr_sys_charge_times(struct orr_thread *t, enum orr_cost c, unsigned n)
{
	(void) t;
	(void) c;
	(void) n;
}
static inline void orr_sys_charge_copy(struct orr_thread *t, size_t bytes)
{
	(void) t;
	(void) bytes;
}
static inline int orr_sys_reloads(struct orr_thread *t)
{
	(void) t;
	return 0;
}
static inline void orr_sys_charge_reload(struct orr_thread *t, size_t bytes)
{
	(void) t;
	(void) bytes;
}
static inline void orr_sys_settle(struct orr_thread *t)
{
	(void) t;
	orr_assert_no_lock(); /* the simulated world may wait here */
}
static inline void orr_sys_settle_later(struct orr_thread *t)
{
	orr_sys_settle(t);
}
static inline int orr_sys_settle_recess(struct orr_thread *t)
{
	orr_sys_settle(t);
	return 0;
}

/* A pause in a spin loop. */
static inline void orr_sys_relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

#endif
