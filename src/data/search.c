/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Searches for memory by several threads at a time (see search.h).
 *
 * Invariant: proc->data->searches counts the searches in progress; its bit ASKED is set only while
 * there is one, and whoever ends one clears it and wakes those that wait. */
#include "data/search.h"

#include "data/data.h"
#include "data/thresholds.h"

#define ASKED (1U << 31)

static uint32_t in_progress(struct orr_process *proc)
{
	return ORR_ATOMIC_LOAD(&proc->data->searches) & ~ASKED;
}

void orr_search_begin(struct orr_process *proc, struct orr_search *s)
{
	struct orr_thread *self = orr_thread_self();

	s->nested = self->searching++ != 0;
	if (s->nested)
		return;
	ORR_ATOMIC_ADD(&proc->data->searches, 1);
	s->seq = ORR_ATOMIC_ADD(&proc->data->nsearches, 1);
	/* Behind the count of beginnings: a search that begins later changes it. */
	s->alone = in_progress(proc) == 1;
}

/* Another search was in progress at some moment of this one. */
static int was_disturbed(struct orr_process *proc, const struct orr_search *s)
{
	return !s->alone || ORR_ATOMIC_LOAD(&proc->data->nsearches) != s->seq;
}

int orr_search_end(struct orr_process *proc, struct orr_search *s, int failed)
{
	struct orr_thread *self = orr_thread_self();
	uint32_t old, others;
	int disturbed;

	orr_assert(self->searching > 0);
	if (s->nested) {
		self->searching--;
		return 0;
	}
	do {
		disturbed = failed && was_disturbed(proc, s);
		old = ORR_ATOMIC_LOAD(&proc->data->searches);
		orr_assert((old & ~ASKED) > 0);
		others = (old & ~ASKED) - 1;
		if (disturbed && !others) {
			s->seq = ORR_ATOMIC_LOAD(&proc->data->nsearches);
			s->alone = in_progress(proc) == 1;
			if (s->alone)
				return 1;
		}
	} while ((disturbed && !others) ||
		 !ORR_ATOMIC_CAS(&proc->data->searches, &old, others | (disturbed ? ASKED : 0)));
	self->searching--;
	if (old & ASKED)
		orr_memory_kick(proc);
	return 0;
}

int orr_search_in_progress(struct orr_process *proc)
{
	uint32_t old = ORR_ATOMIC_LOAD(&proc->data->searches);

	while (old & ~ASKED)
		if (ORR_ATOMIC_CAS(&proc->data->searches, &old, old | ASKED))
			return 1;
	return 0;
}
