/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* starpu_malloc and its family, allocation on memory nodes, and their accounting (handbook 27.2).
 *
 * Invariant: memnode->used is the sum of the bytes that were handed out with STARPU_MALLOC_COUNT
 * and not given back; it exceeds memnode->total only by allocations made with
 * STARPU_MEMORY_OVERFLOW or STARPU_MALLOC_NORECLAIM. (The program may give back other amounts than
 * it took, so this is not asserted.) */
#include "data/malloc.h"
#include "data/data.h"
#include "data/memory.h"
#include "data/memory_trace.h"
#include "data/memnode.h"
#include "base/log.h"
#include "base/seam_memory.h"
#include "data/evict.h"
#include "data/pinned.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MIN_ALIGN 64

static size_t alignment(const struct orr_process *proc)
{
	return proc->data->malloc_align > MIN_ALIGN ? proc->data->malloc_align : MIN_ALIGN;
}

/* Large blocks are placed on their NUMA node, when these are told apart. Smaller ones would share
 * pages with others'. */
#define NUMA_BYTES ((size_t) 64 << 10)

static size_t whole_pages(size_t size)
{
	return (size + orr_sys_page() - 1) / orr_sys_page() * orr_sys_page();
}

static int is_placed(const struct orr_process *proc, size_t size)
{
	return proc->topo.nnuma > 1 && size >= NUMA_BYTES;
}

static void *alloc_placed(struct orr_process *proc, unsigned memnode, size_t size)
{
	size_t align = alignment(proc) > orr_sys_page() ? alignment(proc) : orr_sys_page(),
	       pages = whole_pages(size);
	void *p = orr_sys_mem_alloc(proc, pages, align);

	if (p)
		orr_sys_mem_bind(proc, p, pages, proc->data->memnodes[memnode]->devid);
	return p;
}

void *orr_malloc_hooked(struct orr_process *proc, unsigned memnode, size_t size, int flags)
{
	void *p = NULL;

	if (proc->data->malloc_hook && memnode == STARPU_MAIN_RAM)
		return proc->data->malloc_hook(memnode, &p, size, flags) == 0 ? p : NULL;
	if (flags & STARPU_MALLOC_PINNED)
		p = orr_pinned_alloc(proc, memnode, size, alignment(proc));
	if (p)
		return p;
	if (is_placed(proc, size))
		return alloc_placed(proc, memnode, size);
	return orr_sys_mem_alloc(proc, size ? size : 1, alignment(proc));
}

void orr_free_hooked(struct orr_process *proc, unsigned memnode, void *ptr, size_t size, int flags)
{
	if (proc->data->free_hook && memnode == STARPU_MAIN_RAM) {
		proc->data->free_hook(memnode, ptr, size, flags);
		return;
	}
	if (orr_pinned_free(proc, memnode, ptr, size))
		return;
	if (is_placed(proc, size))
		orr_sys_mem_bind(proc, ptr, whole_pages(size), -1);
	orr_sys_mem_free(proc, ptr, size ? size : 1);
}

void starpu_malloc_set_hooks(starpu_malloc_hook malloc_hook, starpu_free_hook free_hook)
{
	struct orr_process *proc = orr_self();

	proc->data->malloc_hook = malloc_hook;
	proc->data->free_hook = free_hook;
}

void starpu_malloc_set_align(size_t align)
{
	if (!align || (align & (align - 1)))
		orr_fatal("starpu_malloc_set_align(%zu): it takes a power of two", align);
	if (align > orr_self()->data->malloc_align)
		orr_self()->data->malloc_align = align;
}

/* ---- accounting ---- */

/* The memory node of that number; NULL after a message. */
static struct orr_memnode *memnode(struct orr_process *proc, unsigned i, const char *what)
{
	if (__builtin_expect(i < proc->data->nmemnodes, 1))
		return proc->data->memnodes[i];
	orr_error("%s: there is no memory node %u, there are %u", what, i, proc->data->nmemnodes);
	return NULL;
}

/* More than there can be in any memory: counts of bytes do not overflow. */
#define TOO_MUCH (SIZE_MAX / 4)

/* With or without the lock. */
static int fits(const struct orr_memnode *m, size_t size)
{
	return !m->total || (size <= m->total && ORR_ATOMIC_LOAD(&m->used) + size <= m->total);
}

/* Among flags: the program takes the memory, or gives it back. Buffers of data are no loans. */
#define LOAN (1 << 30)

static int is_loan(int flags)
{
	return flags & LOAN && !orr_thread_self()->under_datum;
}

/* Reserves size bytes. 0, or -ENOMEM when they do not fit. What is used and what is lent change
 * together: a task that finds no memory, and none that is lent, would take that for the end. */
static int reserve(struct orr_process *proc, struct orr_memnode *m, size_t size, int flags)
{
	int ret = 0, over = 0, force = (flags & STARPU_MEMORY_OVERFLOW) != 0;
	struct orr_trace_event e = { .kind = ORR_TRACE_NONE };

	orr_lock(&m->lock);
	if (size > TOO_MUCH || m->used > TOO_MUCH || (!force && !fits(m, size))) {
		ret = -ENOMEM;
	} else {
		ORR_ATOMIC_STORE_RELAXED(&m->used, m->used + size); /* looked at without the lock */
		if (is_loan(flags))
			ORR_ATOMIC_ADD(&m->lent, size);
		over = force && m->total && m->used > m->total;
		e = orr_memory_note(proc, m);
	}
	orr_unlock(&m->lock);
	orr_memory_record(proc, e);
	/* The groups put that right when a task ends (tidy.c). */
	if (over)
		ORR_ATOMIC_STORE(&proc->data->overflowed, 1);
	return ret;
}

static void give_back(struct orr_memnode *m, size_t size, int flags)
{
	struct orr_thread *self = orr_thread_self();

	orr_lock(&m->lock);
	if (is_loan(flags)) {
		size_t lent = ORR_ATOMIC_LOAD(&m->lent);
		ORR_ATOMIC_ADD(&m->lent, -(size < lent ? size : lent));
	}
	ORR_ATOMIC_STORE_RELAXED(&m->used, m->used - (size < m->used ? size : m->used));
	struct orr_trace_event e = orr_memory_note(self->proc, m);
	orr_unlock(&m->lock);
	orr_memory_record(self->proc, e);
	if (self->under_datum) {
		self->gave_back = 1; /* whoever unlocks the datum tells */
		return;
	}
	orr_waitq_wake(&m->freed);
	orr_memory_freed(self->proc);
}

/* Makes room. A thread that may wait does so while a write-back takes its time. Returns 1 if it is
 * worth trying again. */
static int evict(struct orr_process *proc, unsigned memnode, size_t size)
{
	struct orr_thread *self = orr_thread_self();
	unsigned key = orr_waitq_prepare(&proc->done);
	enum orr_room room = orr_memory_evict(proc, memnode, size);

	if (room == ORR_ROOM_LATER && !self->task && !self->worker && proc->ngroups) {
		orr_waitq_wait(&proc->done, key, 100); /* the end of a transfer rings */
		return 1;
	}
	orr_waitq_cancel(&proc->done);
	return room == ORR_ROOM_MADE;
}

/* Returns true, after a message, if so many bytes can never become free. */
static int hopeless(const struct orr_memnode *m, unsigned node, size_t size, const char *what)
{
	if (size <= TOO_MUCH && (!m->total || size <= m->total))
		return 0;
	orr_error(
		"%s: waiting for %zu bytes on memory node %u has no end, it has %zu in all; raise its limit or ask for less",
		what, size, node, m->total);
	return 1;
}

/* Reserves size bytes, evicting others' if the flags allow. */
static int reserve_or_evict(struct orr_process *proc, unsigned node, size_t size, int flags)
{
	struct orr_memnode *m = proc->data->memnodes[node];

	do {
		if (reserve(proc, m, size, flags) == 0)
			return 0;
	} while (!(flags & STARPU_MALLOC_NORECLAIM) && evict(proc, node, size));
	return -ENOMEM;
}

/* [waits] Until done(...) holds, which may evict. The thread is counted among those that wait for
 * memory, so that it is told when data can be evicted, too, and not only when memory is given back.
 */
static void await(struct orr_process *proc, unsigned node, size_t size, int flags,
		  int (*done)(struct orr_process *, unsigned, size_t, int))
{
	orr_waitq_t *q = &proc->data->memnodes[node]->freed;

	ORR_ATOMIC_ADD(&proc->data->nstarving, 1);
	for (;;) {
		unsigned key = orr_waitq_prepare(q);

		if (done(proc, node, size, flags)) {
			orr_waitq_cancel(q);
			break;
		}
		orr_waitq_wait(q, key, -1);
	}
	ORR_ATOMIC_ADD(&proc->data->nstarving, -1);
}

static int is_reserved(struct orr_process *proc, unsigned node, size_t size, int flags)
{
	return reserve_or_evict(proc, node, size, flags) == 0;
}

static int allocate(struct orr_process *proc, unsigned node, size_t size, int flags)
{
	if (reserve_or_evict(proc, node, size, flags) == 0)
		return 0;
	if (!(flags & STARPU_MEMORY_WAIT) ||
	    hopeless(proc->data->memnodes[node], node, size, "starpu_memory_allocate"))
		return -ENOMEM;
	await(proc, node, size, flags, is_reserved);
	return 0;
}

int starpu_memory_allocate(unsigned node, size_t size, int flags)
{
	struct orr_process *proc = orr_self();
	struct orr_memnode *m = memnode(proc, node, __func__);

	return m ? allocate(proc, node, size, flags | LOAN) : -EINVAL;
}

void starpu_memory_deallocate(unsigned node, size_t size)
{
	struct orr_memnode *m = memnode(orr_self(), node, __func__);

	if (m)
		give_back(m, size, LOAN);
}

static int is_available(struct orr_process *proc, unsigned node, size_t size, int flags)
{
	const struct orr_memnode *m = proc->data->memnodes[node];

	(void) flags;
	while (!fits(m, size))
		if (!evict(proc, node, size))
			return fits(m, size);
	return 1;
}

void starpu_memory_wait_available(unsigned node, size_t size)
{
	struct orr_memnode *m = memnode(orr_self(), node, __func__);

	if (m && !fits(m, size) && !hopeless(m, node, size, __func__))
		await(orr_self(), node, size, 0, is_available);
}

starpu_ssize_t starpu_memory_get_total(unsigned node)
{
	struct orr_memnode *m = memnode(orr_self(), node, __func__);
	size_t total = m ? m->total : 0;

	return total ? (starpu_ssize_t) total : -1;
}

size_t starpu_memory_get_used(unsigned node)
{
	struct orr_memnode *m = memnode(orr_self(), node, __func__);
	size_t used;

	if (!m)
		return 0;
	/* Buffers kept for reuse are as good as free. */
	orr_lock(&m->lock);
	used = m->used > m->cache_bytes ? m->used - m->cache_bytes : 0;
	orr_unlock(&m->lock);
	return used;
}

starpu_ssize_t starpu_memory_get_available(unsigned node)
{
	starpu_ssize_t total = starpu_memory_get_total(node),
		       used = (starpu_ssize_t) starpu_memory_get_used(node);

	return total < 0 ? -1 : total > used ? total - used : 0;
}

starpu_ssize_t starpu_memory_get_total_all_nodes(void)
{
	starpu_ssize_t sum = 0;

	for (unsigned i = 0; i < orr_self()->data->nmemnodes; i++) {
		starpu_ssize_t n = starpu_memory_get_total(i);

		if (n < 0)
			return -1;
		sum += n;
	}
	return sum;
}

starpu_ssize_t starpu_memory_get_available_all_nodes(void)
{
	starpu_ssize_t sum = 0;

	for (unsigned i = 0; i < orr_self()->data->nmemnodes; i++) {
		starpu_ssize_t n = starpu_memory_get_available(i);

		if (n < 0)
			return -1;
		sum += n;
	}
	return sum;
}

size_t starpu_memory_get_used_all_nodes(void)
{
	size_t sum = 0;

	for (unsigned i = 0; i < orr_self()->data->nmemnodes; i++)
		sum += starpu_memory_get_used(i);
	return sum;
}

/* Counts an allocation. One that may not evict overflows instead of failing, unless it may wait for
 * what others evict. 0 or -ENOMEM. */
static int count(unsigned node, size_t size, int flags)
{
	if ((flags & STARPU_MALLOC_NORECLAIM) && !(flags & STARPU_MEMORY_WAIT))
		flags |= STARPU_MEMORY_OVERFLOW;
	return allocate(orr_self(), node, size, flags);
}

/* ---- memory nodes ---- */

static int default_flags(const struct orr_process *proc, unsigned memnode)
{
	const struct orr_memnode *m = memnode < STARPU_MAXNODES ? proc->data->memnodes[memnode]
								: NULL;

	return m && m->has_malloc_flags ? m->malloc_flags
					: STARPU_MALLOC_PINNED | STARPU_MALLOC_COUNT;
}

void starpu_malloc_on_node_set_default_flags(unsigned node, int flags)
{
	struct orr_memnode *m = memnode(orr_self(), node, __func__);

	if (!m)
		return;
	m->malloc_flags = flags;
	m->has_malloc_flags = 1;
}

uintptr_t starpu_malloc_on_node_flags(unsigned dst_node, size_t size, int flags)
{
	struct orr_process *proc = orr_self();

	struct orr_memnode *m = memnode(proc, dst_node, "allocation");
	if (!m)
		return 0;
	if ((flags & STARPU_MALLOC_COUNT) && count(dst_node, size, flags))
		return 0;
	uintptr_t p = m->ops->alloc(proc, dst_node, size, flags);
	if (!p && (flags & STARPU_MALLOC_COUNT))
		give_back(m, size, 0);
	return p;
}

uintptr_t starpu_malloc_on_node(unsigned dst_node, size_t size)
{
	return starpu_malloc_on_node_flags(dst_node, size, default_flags(orr_self(), dst_node));
}

void starpu_free_on_node_flags(unsigned dst_node, uintptr_t addr, size_t size, int flags)
{
	struct orr_process *proc = orr_self();

	if (!addr)
		return;
	struct orr_memnode *m = memnode(proc, dst_node, "freeing an allocation");
	if (!m)
		return;
	m->ops->release(proc, dst_node, addr, size, flags);
	if (flags & STARPU_MALLOC_COUNT)
		give_back(m, size, 0);
}

void starpu_free_on_node(unsigned dst_node, uintptr_t addr, size_t size)
{
	starpu_free_on_node_flags(dst_node, addr, size, default_flags(orr_self(), dst_node));
}

/* ---- the program's buffers ---- */

/* Pinned, if the flags and a device ask for it: in pages of its own. */
static void *user_alloc(struct orr_process *proc, size_t size, int flags)
{
	size_t align = alignment(proc);

	if (!proc->data->pinned || !(flags & STARPU_MALLOC_PINNED) || size < orr_sys_page() ||
	    size > TOO_MUCH)
		return orr_sys_user_alloc(proc, size ? size : 1, align);
	size = whole_pages(size);
	void *p = orr_sys_user_alloc(proc, size, align > orr_sys_page() ? align : orr_sys_page());

	if (p)
		orr_pinned_add(proc, p, size); /* without, copies are slower */
	orr_sys_settle(orr_thread_self());
	return p;
}

int starpu_malloc_flags(void **A, size_t dim, int flags)
{
	struct orr_process *proc = orr_self();
	void *p = NULL;
	int counted = (flags & STARPU_MALLOC_COUNT) && proc->data->nmemnodes;

	if (!A) {
		orr_error(
			"starpu_malloc: there is nowhere to put the address; give a pointer to a pointer");
		return -EINVAL;
	}
	if (counted && count(STARPU_MAIN_RAM, dim, flags | LOAN))
		return -ENOMEM;
	if (proc->data->malloc_hook) {
		if (proc->data->malloc_hook(STARPU_MAIN_RAM, &p, dim, flags))
			p = NULL;
	} else {
		p = user_alloc(proc, dim, flags);
	}
	if (!p) {
		if (counted)
			give_back(proc->data->memnodes[STARPU_MAIN_RAM], dim, LOAN);
		return -ENOMEM;
	}
	*A = p;
	return 0;
}

int starpu_malloc(void **A, size_t dim)
{
	return starpu_malloc_flags(A, dim, STARPU_MALLOC_PINNED);
}

int starpu_free_flags(void *A, size_t dim, int flags)
{
	struct orr_process *proc = orr_self();

	if (!A)
		return 0;
	if (proc->data->free_hook) {
		proc->data->free_hook(STARPU_MAIN_RAM, A, dim, flags);
	} else {
		size_t pinned = orr_pinned_drop(proc, A);

		orr_sys_user_free(proc, A, pinned ? pinned : dim ? dim : 1);
	}
	if ((flags & STARPU_MALLOC_COUNT) && proc->data->nmemnodes)
		starpu_memory_deallocate(STARPU_MAIN_RAM, dim);
	return 0;
}

int starpu_free_noflag(void *A, size_t dim)
{
	return starpu_free_flags(A, dim, STARPU_MALLOC_PINNED);
}
int starpu_free(void *A)
{
	return starpu_free_flags(A, 0, STARPU_MALLOC_PINNED);
}

/* Pinning helps devices that copy asynchronously; there is nothing to do without one. */
int starpu_memory_pin(void *addr, size_t size)
{
	if (!addr)
		return -EINVAL;
	int ret = orr_pinned_add(orr_self(), addr, size);

	if (ret)
		orr_error("starpu_memory_pin: %zu bytes at %p cannot be pinned: %s%s", size, addr,
			  strerror(-ret),
			  ret == -EBUSY ? " (they are, or share a page with memory that is)" : "");
	orr_sys_settle(orr_thread_self());
	return ret;
}

int starpu_memory_unpin(void *addr, size_t size)
{
	struct orr_process *proc = orr_self();

	if (!addr)
		return -EINVAL;
	if (!size || !proc->data->pinned || orr_pinned_drop(proc, addr))
		return 0;
	orr_error("starpu_memory_unpin: there is no pinned memory that begins at %p", addr);
	return -EINVAL;
}
