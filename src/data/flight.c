/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copies that a device makes by itself (see flight.h).
 *
 * Invariant: after a back end has rung, some thread asks all flights once more: data->rung is set
 * before the group is woken, and cleared before the flights are asked. */
#include "data/flight.h"

#include <math.h>

#include "base/park.h"
#include "data/data.h"

static int is_over(struct orr_process *proc, struct orr_flight *f)
{
	orr_assert_locked(&proc->lock);
	f->over = f->over || f->ops->test(proc, &f->chan);
	return f->over;
}

void orr_flight_ring(struct orr_process *proc, unsigned memnode)
{
	int group = proc->data->memnodes[memnode]->group;

	ORR_ATOMIC_STORE(&proc->data->rung, 1);
	if (group >= 0 && proc->ngroups)
		orr_park_wake_group(proc, (unsigned) group);
}

void orr_flight_begin(struct orr_process *proc, struct orr_flight *f)
{
	orr_lock(&proc->lock);
	f->next = proc->data->flights;
	ORR_ATOMIC_STORE(&proc->data->flights, f);
	/* If it ended before it was in the list, nobody rings any more. */
	int ring = is_over(proc, f) || isfinite(f->chan.due_us);
	if (f->chan.due_us < proc->data->flight_due_us || !f->next)
		proc->data->flight_due_us = f->chan.due_us;
	unsigned memnode = f->memnode;
	orr_unlock(&proc->lock);
	if (ring)
		orr_flight_ring(proc, memnode);
}

/* Moves those that are over to *landed. Returns when to ask the others. Under proc->lock. */
static double sort_out(struct orr_process *proc, struct orr_flight **landed)
{
	struct orr_flight **p = &proc->data->flights, *f;
	double due = INFINITY;

	orr_assert_locked(&proc->lock);
	while ((f = *p)) {
		if (is_over(proc, f)) {
			ORR_ATOMIC_STORE(p, f->next);
			f->next = *landed;
			*landed = f;
			continue;
		}
		due = fmin(due, f->chan.due_us);
		p = &f->next;
	}
	return due;
}

struct orr_flight *orr_flight_landed(struct orr_process *proc, double *due_us)
{
	struct orr_flight *landed = NULL;

	orr_lock(&proc->lock);
	if (ORR_ATOMIC_LOAD(&proc->data->rung) || proc->data->flight_due_us <= orr_sys_now_us()) {
		ORR_ATOMIC_XCHG(&proc->data->rung, 0);
		proc->data->flight_due_us = sort_out(proc, &landed);
	}
	*due_us = proc->data->flights && isfinite(proc->data->flight_due_us)
			  ? proc->data->flight_due_us
			  : -1;
	orr_unlock(&proc->lock);
	return landed;
}

struct orr_flight *orr_flight_wait(struct orr_process *proc, const void *datum)
{
	struct orr_flight **p, *f;

	if (!ORR_ATOMIC_LOAD_RELAXED(&proc->data->flights))
		return NULL;
	orr_lock(&proc->lock);
	for (p = &proc->data->flights; (f = *p) && datum && f->datum != datum; p = &f->next)
		;
	if (f)
		ORR_ATOMIC_STORE(p, f->next);
	orr_unlock(&proc->lock);
	if (f && !f->over)
		orr_flight_settle(proc, f->ops, &f->chan);
	return f;
}

void orr_flight_settle(struct orr_process *proc, const struct orr_memnode_ops *ops,
		       struct orr_copy_channel *chan)
{
	while (!ops->test(proc, chan))
		ops->wait(proc, chan);
}
