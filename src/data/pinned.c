/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pool of pinned main memory (see pinned.h).
 *
 * A shape has the blocks of one size on one NUMA node. Its first slab has one block, each further
 * one as many as the shape has already, up to SLAB_BYTES: a program with few buffers pins what it
 * uses, one with many does so seldom. Free blocks are kept up to ORRERY_PINNED_KEEP bytes; slabs
 * beyond that are given back when their last block is free.
 *
 * Where payloads do not exist, all buffers have one address. So blocks are counted beside the
 * memory, never in it.
 *
 * Invariant: p->idle is the sum of the sizes of all free blocks. */
#include "data/pinned.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/log.h"
#include "base/map.h"
#include "base/poison.h"
#include "base/seam_memory.h"
#include "data/data.h"

#define SLAB_BYTES ((size_t) 32 << 20)
#define SMALLEST ((size_t) 256)
#define MOST (SIZE_MAX / 4)
#define LISTS 64

struct slab {
	struct slab *next;
	char *base;
	unsigned n, nused;
	unsigned *unused; /* numbers of free blocks, n - nused of them */
	uint8_t *used;    /* by number */
};

struct shape {
	struct shape *next;
	size_t size;
	unsigned memnode, nblocks;
	struct slab *slabs;
};

/* Memory of the program. */
struct range {
	uint64_t addr;
	size_t size;
};

struct orr_pinned {
	unsigned by; /* the memory node whose back end pins */
	int refused; /* atomic: it did not pin a slab, which was told */
	orr_lock_t lock;
	size_t keep, idle; /* bytes of free blocks: at most, now */
	struct shape *shapes[LISTS];
	struct orr_map ranges;
};

static size_t round_up(size_t n, size_t unit)
{
	return (n + unit - 1) / unit * unit;
}

/* The size of the blocks for buffers of that size: whole pages, or a power of two. */
static size_t block_size(size_t size)
{
	size_t block = SMALLEST;

	if (size > orr_sys_page() / 2)
		return round_up(size, orr_sys_page());
	while (block < size)
		block *= 2;
	return block;
}

/* ---- pinning ---- */

static const struct orr_memnode_ops *ops_of(struct orr_process *proc, const struct orr_pinned *p)
{
	return proc->data->memnodes[p->by]->ops;
}

static int pin(struct orr_process *proc, struct orr_pinned *p, void *addr, size_t size)
{
	int ret = ops_of(proc, p)->pin(proc, p->by, addr, size);

	if (ret && !ORR_ATOMIC_XCHG(&p->refused, 1))
		orr_warn(
			"%zu bytes of main memory cannot be pinned (%s), so copies from and to it are slower; raise the limit of locked memory, or set STARPU_DISABLE_PINNING=1",
			size, strerror(-ret));
	return ret;
}

static void unpin(struct orr_process *proc, const struct orr_pinned *p, void *addr, size_t size)
{
	ops_of(proc, p)->unpin(proc, p->by, addr, size);
}

/* ---- slabs ---- */

static void slab_free(struct orr_process *proc, struct slab *s, size_t bytes)
{
	if (s->base && orr_sys_has_payload(proc))
		ORR_UNPOISON(s->base, bytes);
	if (s->base) {
		orr_sys_mem_bind(proc, s->base, bytes, ORR_NUMA_ANY);
		orr_sys_mem_free(proc, s->base, bytes);
	}
	free(s->unused);
	free(s->used);
	free(s);
}

static struct slab *slab_new(struct orr_process *proc, struct orr_pinned *p, unsigned memnode,
			     size_t size, unsigned n)
{
	struct slab *s = calloc(1, sizeof(*s));
	size_t bytes = round_up(size * n, orr_sys_page());

	if (!s)
		return NULL;
	s->n = n;
	s->unused = malloc(n * sizeof(*s->unused));
	s->used = calloc(n, 1);
	s->base = s->unused && s->used ? orr_sys_mem_alloc(proc, bytes, orr_sys_page()) : NULL;
	/* Memory that devices copy from and to is beside them if main memory is one node. */
	if (s->base)
		orr_sys_mem_bind(proc, s->base, bytes,
				 proc->topo.nnuma > 1 ? proc->data->memnodes[memnode]->devid
						      : ORR_NUMA_OF_DEVICES);
	if (!s->base || pin(proc, p, s->base, bytes)) {
		slab_free(proc, s, bytes);
		return NULL;
	}
	for (unsigned i = 0; i < n; i++)
		s->unused[i] = n - 1 - i;
	if (orr_sys_has_payload(proc))
		ORR_POISON(s->base, bytes);
	return s;
}

static void slab_end(struct orr_process *proc, struct orr_pinned *p, const struct shape *shape,
		     struct slab *s)
{
	size_t bytes = round_up(shape->size * s->n, orr_sys_page());

	unpin(proc, p, s->base, bytes);
	slab_free(proc, s, bytes);
}

/* ---- shapes; under the lock ---- */

static struct shape *shape_of(struct orr_pinned *p, unsigned memnode, size_t size)
{
	struct shape **list = &p->shapes[orr_mix64(size) % LISTS], *s = *list;

	while (s && (s->size != size || s->memnode != memnode))
		s = s->next;
	if (s || !(s = calloc(1, sizeof(*s))))
		return s;
	s->size = size;
	s->memnode = memnode;
	s->next = *list;
	*list = s;
	return s;
}

/* The number of blocks of the next slab. */
static unsigned growth(const struct orr_pinned *p, const struct shape *shape)
{
	size_t most = SLAB_BYTES / shape->size,
	       least = shape->size < orr_sys_page() ? orr_sys_page() / shape->size : 1,
	       n = shape->nblocks;

	if (!p->keep || n < least)
		return (unsigned) least;
	return (unsigned) (most < 1 ? 1 : n < most ? n : most);
}

static void *pinned_take(struct orr_process *proc, struct orr_pinned *p, const struct shape *shape)
{
	struct slab *s = shape->slabs;

	orr_assert_locked(&p->lock);
	while (s && s->nused == s->n)
		s = s->next;
	if (!s)
		return NULL;
	unsigned i = s->unused[s->n - ++s->nused];
	char *block = s->base + i * shape->size;

	orr_assert(!s->used[i] && p->idle >= shape->size);
	s->used[i] = 1;
	p->idle -= shape->size;
	if (orr_sys_has_payload(proc))
		ORR_UNPOISON(block, shape->size);
	return block;
}

/* The link to the slab that has the used block; to NULL if none has it. */
static struct slab **find(struct shape *shape, const char *block)
{
	struct slab **s = &shape->slabs;

	for (; *s; s = &(*s)->next) {
		size_t at = (size_t) (block - (*s)->base);

		if (block >= (*s)->base && at < (*s)->n * shape->size &&
		    (*s)->used[at / shape->size])
			break;
	}
	return s;
}

/* Returns true if the slab is to be given back. */
static int put(struct orr_process *proc, struct orr_pinned *p, const struct shape *shape,
	       struct slab *s, char *block)
{
	unsigned i = (unsigned) ((size_t) (block - s->base) / shape->size);

	orr_assert(s->used[i] && s->nused > 0);
	s->used[i] = 0;
	s->unused[s->n - s->nused--] = i;
	p->idle += shape->size;
	if (orr_sys_has_payload(proc))
		ORR_POISON(block, shape->size);
	return !s->nused && p->idle > p->keep;
}

/* ---- buffers for data ---- */

/* A new slab, and a block of it; NULL without memory, or if it cannot be pinned. */
static void *grow(struct orr_process *proc, struct orr_pinned *p, struct shape *shape, unsigned n)
{
	struct slab *s = slab_new(proc, p, shape->memnode, shape->size, n);

	if (!s)
		return NULL;
	orr_lock(&p->lock);
	s->next = shape->slabs;
	shape->slabs = s;
	shape->nblocks += n;
	p->idle += n * shape->size;
	void *block = pinned_take(proc, p, shape);
	orr_unlock(&p->lock);
	return block;
}

void *orr_pinned_alloc(struct orr_process *proc, unsigned memnode, size_t size, size_t align)
{
	struct orr_pinned *p = proc->data->pinned;

	if (!p || ORR_ATOMIC_LOAD_RELAXED(&p->refused) || size > MOST)
		return NULL;
	size_t rounded = block_size(size);

	if (align > (rounded < orr_sys_page() ? rounded : orr_sys_page()))
		return NULL;
	orr_lock(&p->lock);
	struct shape *shape = shape_of(p, memnode, rounded);
	void *block = shape ? pinned_take(proc, p, shape) : NULL;
	unsigned n = shape ? growth(p, shape) : 0;
	orr_unlock(&p->lock);
	return block || !n ? block : grow(proc, p, shape, n);
}

int orr_pinned_free(struct orr_process *proc, unsigned memnode, void *ptr, size_t size)
{
	struct orr_pinned *p = proc->data->pinned;
	struct slab **at, *s = NULL, *over = NULL;

	if (!p || !ptr || size > MOST)
		return 0;
	orr_lock(&p->lock);
	struct shape *shape = shape_of(p, memnode, block_size(size));

	if (shape)
		s = *(at = find(shape, ptr));
	if (s && put(proc, p, shape, s, ptr)) {
		over = s;
		*at = s->next;
		shape->nblocks -= s->n;
		p->idle -= s->n * shape->size;
	}
	orr_unlock(&p->lock);
	if (over)
		slab_end(proc, p, shape, over);
	return s != NULL;
}

/* ---- memory of the program ---- */

int orr_pinned_add(struct orr_process *proc, void *addr, size_t size)
{
	struct orr_pinned *p = proc->data->pinned;

	if (!p || !size)
		return 0;
	struct range *r = malloc(sizeof(*r));
	int ret = r ? ops_of(proc, p)->pin(proc, p->by, addr, size) : -ENOMEM;

	if (!ret) {
		*r = (struct range){ .addr = (uintptr_t) addr, .size = size };
		orr_lock(&p->lock);
		ret = orr_map_insert(&p->ranges, r);
		orr_unlock(&p->lock);
		if (ret)
			unpin(proc, p, addr, size);
	}
	if (ret)
		free(r);
	return ret;
}

size_t orr_pinned_drop(struct orr_process *proc, void *addr)
{
	struct orr_pinned *p = proc->data->pinned;

	if (!p)
		return 0;
	orr_lock(&p->lock);
	struct range *r = orr_map_find(&p->ranges, (uintptr_t) addr);

	if (r)
		orr_map_remove(&p->ranges, r);
	orr_unlock(&p->lock);
	size_t size = r ? r->size : 0;

	if (r)
		unpin(proc, p, addr, size);
	free(r);
	return size;
}

/* ---- begin and end ---- */

int orr_pinned_begin(struct orr_process *proc, unsigned memnode)
{
	const struct orr_memnode_ops *ops = proc->data->memnodes[memnode]->ops;

	if (proc->data->pinned || proc->cfg->disable_pinning || ops->pin(proc, memnode, NULL, 0))
		return 0;
	struct orr_pinned *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->by = memnode;
	/* Freed blocks make room if main memory is limited. */
	p->keep = proc->data->memnodes[STARPU_MAIN_RAM]->total ? 0 : proc->cfg->pinned_keep;
	orr_lock_init(&p->lock, ORR_RANK_PINNED);
	orr_map_init(&p->ranges, offsetof(struct range, addr));
	proc->data->pinned = p;
	return 0;
}

static void ranges_end(struct orr_process *proc, struct orr_pinned *p)
{
	for (uint32_t i = 0; i < p->ranges.cap; i++) {
		struct range *r = orr_map_at(&p->ranges, i);

		if (r)
			unpin(proc, p, (void *) (uintptr_t) r->addr, r->size);
		free(r);
	}
	orr_map_exit(&p->ranges);
}

static void shape_end(struct orr_process *proc, struct orr_pinned *p, struct shape *shape)
{
	for (struct slab *s = shape->slabs, *next; s; s = next) {
		next = s->next;
		slab_end(proc, p, shape, s);
	}
	free(shape);
}

void orr_pinned_exit(struct orr_process *proc)
{
	struct orr_pinned *p = proc->data->pinned;

	if (!p)
		return;
	ranges_end(proc, p);
	for (unsigned i = 0; i < LISTS; i++)
		for (struct shape *s = p->shapes[i], *next; s; s = next) {
			next = s->next;
			shape_end(proc, p, s);
		}
	free(p);
	proc->data->pinned = NULL;
}
