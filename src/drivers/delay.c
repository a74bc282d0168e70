/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Delays of fake devices (see delay.h).
 *
 * Invariant: what enters a queue ends after all that entered it before. */
#include "drivers/delay.h"

#include <errno.h>
#include <stdlib.h>

#include "core/worker/device.h"
#include "data/data.h"
#include "base/seam_memory.h"

struct orr_delay *orr_delay_new(const struct orr_process *proc)
{
	struct orr_delay *d = calloc(1, sizeof(*d));

	if (d) {
		d->copy_mbs = proc->cfg->fake_copy_mbs;
		d->kernel_us = proc->cfg->fake_kernel_us;
	}
	return d;
}

static struct orr_delay *delay_of(const struct orr_process *proc, unsigned memnode)
{
	return proc->data->memnodes[memnode]->ops_arg;
}

void orr_delay_exit(struct orr_process *proc, unsigned memnode)
{
	free(delay_of(proc, memnode));
	proc->data->memnodes[memnode]->ops_arg = NULL;
}

/* Enters something that takes that long; the instant at which it is over. */
static double enter(uint64_t *queue_ns, double us)
{
	uint64_t now = (uint64_t) (orr_sys_now_us() * 1e3), old = ORR_ATOMIC_LOAD(queue_ns), end;

	do
		end = (old > now ? old : now) + (uint64_t) (us * 1e3);
	while (!ORR_ATOMIC_CAS(queue_ns, &old, end));
	return (double) end * 1e-3;
}

/* ---- copies ---- */

static void move(struct orr_process *proc, const struct orr_delay_blocks *b)
{
	for (size_t i = 0; i < b->count; i++)
		orr_sys_memcpy(proc, b->dst + i * b->ld_dst, b->src + i * b->ld_src, b->size);
}

static double copy_end_us(struct orr_delay *d, int out, const struct orr_delay_blocks *b)
{
	if (!d || !(d->copy_mbs > 0))
		return 0;
	return enter(out ? &d->out_ns : &d->in_ns,
		     (double) b->size * (double) b->count / d->copy_mbs);
}

int orr_delay_copy(struct orr_process *proc, unsigned memnode, int out,
		   const struct orr_delay_blocks *b, struct orr_copy_channel *chan)
{
	double end_us = copy_end_us(delay_of(proc, memnode), out, b);
	struct orr_delay_blocks *later = chan ? malloc(sizeof(*later)) : NULL;

	if (!later) {
		double us = end_us - orr_sys_now_us();

		if (us > 0)
			orr_sys_sleep_us(us);
		move(proc, b);
		return 0;
	}
	*later = *b;
	later->end_us = end_us;
	later->next = chan->own;
	chan->own = later;
	chan->pending++;
	return -EAGAIN;
}

int orr_delay_test(struct orr_process *proc, struct orr_copy_channel *chan)
{
	double now = orr_sys_now_us();
	struct orr_delay_blocks **p = (struct orr_delay_blocks **) &chan->own, *b;

	chan->due_us = 0;
	while ((b = *p)) {
		if (b->end_us > now) {
			if (b->end_us > chan->due_us)
				chan->due_us = b->end_us;
			p = &b->next;
			continue;
		}
		*p = b->next;
		move(proc, b);
		free(b);
		chan->pending--;
	}
	return chan->pending == 0;
}

void orr_delay_wait(struct orr_process *proc, struct orr_copy_channel *chan)
{
	double us = chan->due_us - orr_sys_now_us();

	(void) proc;
	if (us > 0)
		orr_sys_sleep_us(us);
}

/* ---- kernels ---- */

int orr_delay_queues(struct orr_worker *w, int asynchronous)
{
	const struct orr_delay *d = delay_of(w->group->proc, w->memnode);

	return asynchronous && d && d->kernel_us > 0;
}

enum orr_started orr_delay_start(struct orr_worker *w, int ran, int asynchronous,
				 struct orr_launch *l)
{
	struct orr_delay *d = delay_of(w->group->proc, w->memnode);

	if (ran != ORR_STARTED_RAN || !orr_delay_queues(w, asynchronous))
		return ran ? ORR_STARTED_TIMED : ORR_STARTED_RAN;
	l->due_us = enter(&d->kernel_ns, d->kernel_us);
	return ORR_STARTED_LATER;
}

int orr_delay_kernel_test(struct orr_worker *w, struct orr_launch *l)
{
	(void) w;
	return l->due_us <= orr_sys_now_us();
}
