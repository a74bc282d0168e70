/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waking groups of workers that sleep (see wake.h).
 *
 * Invariant: nobody wakes a group while holding a lock. */
#include "core/worker/wake.h"

static void ring_fenced(struct orr_group *g)
{
	void (*rung)(struct orr_process *) = ORR_ATOMIC_LOAD_RELAXED(&g->rung);

	orr_waitq_wake_fenced(&g->bell);
	if (__builtin_expect(rung != NULL, 0))
		rung(g->proc);
}

/* Takes a group out of those that sleep. Returns whether it still was one of them, so that of
 * several threads that want a sleeper each gets another one. */
static int wake_claim(struct orr_process *proc, unsigned index)
{
	uint64_t bit = 1ULL << index % 64;

	orr_assertf(index < proc->ngroups, "group %u of %u is woken", index, proc->ngroups);
	return (ORR_ATOMIC_FETCH_AND(&proc->core->idle_mask[index / 64], ~bit) & bit) != 0;
}

int orr_wake_claim_fenced(struct orr_process *proc, unsigned index)
{
	orr_assert_no_lock();
	if (!(ORR_ATOMIC_LOAD(&proc->core->idle_mask[index / 64]) >> index % 64 & 1) ||
	    !wake_claim(proc, index))
		return 0;
	ring_fenced(&proc->core->groups[index]);
	return 1;
}

void orr_wake_group_fenced(struct orr_process *proc, unsigned index)
{
	uint64_t bit = 1ULL << index % 64;

	orr_assertf(index < proc->ngroups, "group %u of %u is woken", index, proc->ngroups);
	orr_assert_no_lock();
	if (ORR_ATOMIC_LOAD_RELAXED(&proc->core->idle_mask[index / 64]) & bit)
		ORR_ATOMIC_AND(&proc->core->idle_mask[index / 64], ~bit);
	ring_fenced(&proc->core->groups[index]);
}

void orr_wake_worker(struct orr_worker *w)
{
	struct orr_process *proc = w->group->proc;

	ORR_ATOMIC_FENCE();
	orr_wake_group_fenced(proc, (unsigned) (w->group - proc->core->groups));
}

/* Wakes one of 64 groups, of which those in the mask were asleep just now. Returns whether one
 * still was. */
static int wake_one_of(struct orr_process *proc, unsigned first, uint64_t mask)
{
	for (; mask; mask &= mask - 1) {
		unsigned index = first + (unsigned) __builtin_ctzll(mask);

		if (!wake_claim(proc, index))
			continue; /* it is awake, or somebody else wakes it: the next one */
		ring_fenced(&proc->core->groups[index]);
		return 1;
	}
	return 0;
}

void orr_wake_one(struct orr_process *proc)
{
	orr_assert_no_lock();
	if (__builtin_expect(proc->arch_mask & (proc->arch_mask - 1), 0)) {
		/* Not every group can do what there is to do. */
		orr_wake_all(proc);
		return;
	}
	ORR_ATOMIC_FENCE();
	for (unsigned first = 0; first < proc->ngroups; first += 64) {
		uint64_t mask = ORR_ATOMIC_LOAD_RELAXED(&proc->core->idle_mask[first / 64]);

		if (mask && wake_one_of(proc, first, mask))
			return;
	}
}

void orr_wake_all(struct orr_process *proc)
{
	orr_assert_no_lock();
	ORR_ATOMIC_FENCE();
	for (unsigned i = 0; i < proc->ngroups; i++)
		orr_wake_group_fenced(proc, i);
}

static unsigned index_of(const struct orr_group *g)
{
	return (unsigned) (g - g->proc->core->groups);
}

int orr_wake_is_listed(const struct orr_group *g)
{
	unsigned index = index_of(g);

	return ORR_ATOMIC_LOAD(&g->proc->core->idle_mask[index / 64]) >> index % 64 & 1;
}

void orr_wake_enlist(struct orr_group *g)
{
	unsigned index = index_of(g);

	orr_assert(index < g->proc->ngroups);
	orr_assertf(!orr_wake_is_listed(g), "group %u goes to sleep twice", index);
	orr_assertf(!ORR_ATOMIC_LOAD(&g->sleeping), "group %u sleeps before others know", index);
	g->looks_again = 1;
	ORR_ATOMIC_OR(&g->proc->core->idle_mask[index / 64], 1ULL << index % 64);
}

void orr_wake_delist(struct orr_group *g)
{
	unsigned index = index_of(g);

	orr_assertf(!ORR_ATOMIC_LOAD(&g->sleeping),
		    "group %u leaves those that sleep while it sleeps", index);
	ORR_ATOMIC_AND(&g->proc->core->idle_mask[index / 64], ~(1ULL << index % 64));
}

void orr_wake_found_work(struct orr_group *g)
{
	orr_assert(g->looks_again);
	g->looks_again = 0;
	if (!wake_claim(g->proc, index_of(g)) && g->proc->ngroups > 1)
		orr_wake_one(g->proc);
}
