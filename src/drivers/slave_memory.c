/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The memory of slaves, as the master sees it. Addresses are the slave's. A copy is a payload
 * between two ranks, the master or slaves, that are both told of it.
 *
 * Invariant: the link's thread alone counts the parts of a copy that are not over, and does not
 * touch the copy after the last of them. Whoever asks for the copy finds it over and frees it. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/park.h"
#include "data/data.h"
#include "data/flight.h"
#include "drivers/slave_own.h"

struct copy {
	struct orr_letter take, give, payload;
	struct orr_slave_note take_note, give_note;
	struct copy *next; /* of the channel */
	unsigned memnode;  /* of a slave that takes part */
	unsigned nparts;   /* that are not over */
	unsigned over;     /* atomic */
};

static struct orr_slave *slave_of(struct orr_process *proc, unsigned memnode)
{
	return proc->data->memnodes[memnode]->ops_arg;
}

static int is_remote(const struct orr_process *proc, unsigned memnode)
{
	return proc->data->memnodes[memnode]->kind == STARPU_MPI_MS_RAM;
}

/* ---- buffers ---- */

static uintptr_t slave_alloc(struct orr_process *proc, unsigned memnode, size_t size, int flags)
{
	struct orr_slave *s = slave_of(proc, memnode);

	(void) flags;
	ORR_ATOMIC_STORE_RELAXED(&s->memnode, memnode);
	orr_lock(&s->lock);
	uintptr_t at = orr_arena_take(&s->arena, size);
	orr_unlock(&s->lock);
	return at;
}

static void slave_release(struct orr_process *proc, unsigned memnode, uintptr_t addr, size_t size,
			  int flags)
{
	struct orr_slave *s = slave_of(proc, memnode);

	(void) flags;
	orr_lock(&s->lock);
	orr_arena_give(&s->arena, addr, size);
	orr_unlock(&s->lock);
}

/* ---- the parts of a copy; by the link's thread ---- */

static void part_over(struct orr_process *proc, struct copy *c)
{
	unsigned memnode = c->memnode;

	orr_assert(c->nparts > 0);
	if (--c->nparts)
		return;
	ORR_ATOMIC_ADD(&proc->slaves->nringing, 1);
	ORR_ATOMIC_STORE(&c->over, 1);
	orr_flight_ring(proc, memnode);
	ORR_ATOMIC_ADD(&proc->slaves->nringing, -1);
	orr_waitq_wake(&proc->slaves->bell);
}

static void take_sent(struct orr_process *proc, struct orr_letter *l)
{
	part_over(proc, (struct copy *) ((char *) l - offsetof(struct copy, take)));
}

static void give_sent(struct orr_process *proc, struct orr_letter *l)
{
	part_over(proc, (struct copy *) ((char *) l - offsetof(struct copy, give)));
}

static void payload_over(struct orr_process *proc, struct orr_letter *l)
{
	part_over(proc, (struct copy *) ((char *) l - offsetof(struct copy, payload)));
}

void orr_slave_took(struct orr_process *proc, const struct orr_slave_note *note)
{
	part_over(proc, (struct copy *) note->id);
}

/* ---- copies ---- */

/* Has a slave take part: `what` is its part, `peer` the other side. */
static void slave_tell(struct orr_process *proc, struct copy *c, unsigned memnode,
		       enum orr_slave_what what, int peer, const struct orr_rows *rows)
{
	int gives = what == ORR_SLAVE_GIVE;
	struct orr_letter *l = gives ? &c->give : &c->take;
	struct orr_slave_note *note = gives ? &c->give_note : &c->take_note;

	*l = (struct orr_letter){ .done = gives ? give_sent : take_sent };
	note->what = what;
	note->peer = peer;
	note->tag = c->payload.tag;
	note->id = (uintptr_t) c;
	note->rows = *rows;
	orr_slave_post(proc, l, slave_of(proc, memnode)->rank, note, 0);
}

/* Each part of the copy is counted before the first is posted. */
static void start(struct orr_process *proc, struct copy *c, unsigned src_node, unsigned dst_node,
		  const struct orr_rows *src, const struct orr_rows *dst)
{
	int from = is_remote(proc, src_node), to = is_remote(proc, dst_node),
	    me = proc->slaves->rank;

	c->nparts = from && to ? 3 : from ? 2 : 3;
	c->payload.tag = orr_slave_tag(proc->slaves);
	c->payload.done = payload_over;
	if (src_node == dst_node) {
		c->nparts = 2;
		c->take_note.from = *src;
		slave_tell(proc, c, dst_node, ORR_SLAVE_MOVE, me, dst);
		return;
	}
	if (!to) {
		c->payload.kind = ORR_LETTER_IN;
		c->payload.peer = slave_of(proc, src_node)->rank;
		c->payload.rows = *dst;
		proc->slaves->link->post(proc, &c->payload);
		slave_tell(proc, c, src_node, ORR_SLAVE_GIVE, me, src);
		return;
	}
	int sender = from ? slave_of(proc, src_node)->rank : me;
	if (from) {
		int taker = slave_of(proc, dst_node)->rank;

		slave_tell(proc, c, dst_node, ORR_SLAVE_TAKE, sender, dst);
		slave_tell(proc, c, src_node, ORR_SLAVE_GIVE, taker, src);
		return;
	}
	c->payload.kind = ORR_LETTER_OUT;
	c->payload.peer = slave_of(proc, dst_node)->rank;
	c->payload.rows = *src;
	proc->slaves->link->post(proc, &c->payload);
	slave_tell(proc, c, dst_node, ORR_SLAVE_TAKE, sender, dst);
}

static int copy_rows(struct orr_process *proc, unsigned src_node, unsigned dst_node,
		     const struct orr_rows *src, const struct orr_rows *dst,
		     struct orr_copy_channel *chan)
{
	struct copy *c;

	if (!src->size || !src->count)
		return 0;
	if (starpu_asynchronous_copy_disabled() || starpu_asynchronous_mpi_ms_copy_disabled())
		chan = NULL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->memnode = is_remote(proc, dst_node) ? dst_node : src_node;
	start(proc, c, src_node, dst_node, src, dst);
	if (chan) {
		c->next = chan->own;
		chan->own = c;
		chan->pending++;
		chan->due_us = INFINITY;
		return -EAGAIN;
	}
	ORR_WAIT_UNTIL(&proc->slaves->bell, ORR_ATOMIC_LOAD(&c->over));
	free(c);
	return 0;
}

static int slave_copy(struct orr_process *proc, uintptr_t src, size_t src_offset, unsigned src_node,
		      uintptr_t dst, size_t dst_offset, unsigned dst_node, size_t size,
		      struct orr_copy_channel *chan)
{
	struct orr_rows from = { src + src_offset, size, 1, size },
			to = { dst + dst_offset, size, 1, size };

	return copy_rows(proc, src_node, dst_node, &from, &to, chan);
}

static int slave_copy2d(struct orr_process *proc, uintptr_t src, size_t src_offset,
			unsigned src_node, uintptr_t dst, size_t dst_offset, unsigned dst_node,
			size_t blocksize, size_t numblocks, size_t ld_src, size_t ld_dst,
			struct orr_copy_channel *chan)
{
	struct orr_rows from = { src + src_offset, blocksize, numblocks, ld_src },
			to = { dst + dst_offset, blocksize, numblocks, ld_dst };

	return copy_rows(proc, src_node, dst_node, &from, &to, chan);
}

static int slave_test(struct orr_process *proc, struct orr_copy_channel *chan)
{
	struct copy **p = (struct copy **) &chan->own, *c;

	(void) proc;
	while ((c = *p)) {
		if (!ORR_ATOMIC_LOAD(&c->over)) {
			p = &c->next;
			continue;
		}
		*p = c->next;
		free(c);
		chan->pending--;
	}
	chan->due_us = INFINITY;
	return chan->pending == 0;
}

static void slave_wait(struct orr_process *proc, struct orr_copy_channel *chan)
{
	const struct copy *first = chan->own;

	if (first)
		ORR_WAIT_UNTIL(&proc->slaves->bell, ORR_ATOMIC_LOAD(&first->over));
}

const struct orr_memnode_ops orr_slave_memory = {
	.name = "slave",
	.addressable = 0,
	.cpu_format = 1,
	.alloc = slave_alloc,
	.release = slave_release,
	.copy = slave_copy,
	.copy2d = slave_copy2d,
	.stream = orr_memnode_stream_none,
	.test = slave_test,
	.wait = slave_wait,
	.map = orr_memnode_map_none,
	.pin = orr_memnode_pin_none,
	.unpin = orr_memnode_unpin_none,
	.exit = orr_memnode_exit_none,
};
