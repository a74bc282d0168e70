/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory and copies of a real run: the C library's, and blocks that the runtime has freed and will
 * want again.
 *
 * The C library gives large blocks back to the system when they are freed, and each page of a new
 * one costs a fault: receiving a tile into such memory takes five times as long as into memory that
 * was used before (0.5 ms per MiB instead of 0.1 in a virtual machine). So blocks of RECYCLE_MIN
 * bytes and more that the runtime itself frees are kept for the next one of that size, at most
 * RECYCLE_MAX bytes, unless the program has limited its memory.
 *
 * Invariant: what is allocated here is freed here; kept blocks are in exactly one list and sum up
 * to `bytes`; payloads always exist, and a copy is over when it returns. */
#include "sys/real.h"
#include "base/assert.h"
#include "base/poison.h"
#include "base/seam_memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECYCLE_MIN ((size_t) 32 << 10)
#define RECYCLE_MAX ((size_t) 256 << 20)
#define LISTS ORR_REAL_KEPT_LISTS

static void *allocate(size_t size, size_t align)
{
	void *ptr;

	if (align < 64)
		align = 64;
	return posix_memalign(&ptr, align, size ? size : 1) ? NULL : ptr;
}

/* ---- blocks that are kept; under the lock ---- */

/* At the beginning of the block itself. */
struct kept {
	struct kept *next;
	size_t size;
};

static unsigned list_of(size_t size)
{
	return (unsigned) ((size * 0x9E3779B97F4A7C15ull) >> 56);
}

static void *unlink_kept(struct orr_real_memory *m, struct kept **at)
{
	struct kept *k = *at;

	orr_assert_locked(&m->lock);
	orr_assert(m->bytes >= k->size);
	*at = k->next;
	m->bytes -= k->size;
	ORR_UNPOISON(k, k->size);
	return k;
}

static void *memory_take(struct orr_real_memory *m, size_t size, size_t align)
{
	struct kept **at;

	for (at = &m->kept[list_of(size)]; *at; at = &(*at)->next)
		if ((*at)->size == size && (uintptr_t) *at % align == 0)
			return unlink_kept(m, at);
	return NULL;
}

/* Gives kept blocks of all sizes in turn back to the C library, until at most `bytes` are left. */
static void shrink(struct orr_real_memory *m, size_t bytes)
{
	while (m->bytes > bytes) {
		m->hand = (m->hand + 1) % LISTS;
		if (m->kept[m->hand])
			free(unlink_kept(m, &m->kept[m->hand]));
	}
}

static void keep(struct orr_real_memory *m, void *ptr, size_t size)
{
	struct kept *k = ptr, **list = &m->kept[list_of(size)];

	orr_assert(size >= RECYCLE_MIN && size <= RECYCLE_MAX && *list != k);
	shrink(m, RECYCLE_MAX - size);
	k->size = size;
	k->next = *list;
	*list = k;
	m->bytes += size;
	ORR_POISON(k + 1, size - sizeof(*k));
}

void orr_real_memory_exit(struct orr_real *real)
{
	orr_lock(&real->memory.lock);
	shrink(&real->memory, 0);
	orr_assert(!real->memory.bytes);
	for (unsigned i = 0; i < LISTS; i++)
		orr_assert(!real->memory.kept[i]);
	orr_unlock(&real->memory.lock);
}

/* ---- the seam ---- */

size_t orr_sys_page(void)
{
	return (size_t) sysconf(_SC_PAGESIZE);
}

void *orr_sys_chunk_alloc(size_t bytes)
{
	orr_assert(bytes && bytes % 64 == 0);
	return aligned_alloc(64, bytes);
}

void orr_sys_chunk_free(void *chunk, size_t bytes)
{
	(void) bytes;
	free(chunk);
}

/* Freed blocks make room where memory is limited. */
static int recycled(const struct orr_real *real, size_t size)
{
	return real && !ORR_ATOMIC_LOAD_RELAXED(&real->memory.keep_none) && size >= RECYCLE_MIN &&
	       size <= RECYCLE_MAX;
}

void orr_sys_mem_keep_none(struct orr_process *proc)
{
	struct orr_real *real = proc->sys;

	if (real)
		ORR_ATOMIC_STORE_RELAXED(&real->memory.keep_none, 1);
}

void *orr_sys_mem_alloc(struct orr_process *proc, size_t size, size_t align)
{
	struct orr_real *real = proc->sys;
	void *ptr = NULL;

	if (recycled(real, size)) {
		orr_lock(&real->memory.lock);
		ptr = memory_take(&real->memory, size, align);
		orr_unlock(&real->memory.lock);
	}
	if (!ptr)
		ptr = allocate(size, align);
	if (!ptr && real) {
		orr_real_memory_exit(real);
		ptr = allocate(size, align);
	}
	return ptr;
}

void orr_sys_mem_free(struct orr_process *proc, void *ptr, size_t size)
{
	struct orr_real *real = proc->sys;

	if (!ptr || !recycled(real, size)) {
		free(ptr);
		return;
	}
	orr_lock(&real->memory.lock);
	keep(&real->memory, ptr, size);
	orr_unlock(&real->memory.lock);
}

void orr_sys_mem_bind(struct orr_process *proc, void *ptr, size_t size, int numa)
{
	orr_real_bind_memory(proc, ptr, size, numa);
}

void *orr_sys_user_alloc(struct orr_process *proc, size_t size, size_t align)
{
	(void) proc;
	return allocate(size, align);
}

void orr_sys_user_free(struct orr_process *proc, void *ptr, size_t size)
{
	(void) proc;
	(void) size;
	free(ptr);
}

int orr_sys_has_payload(struct orr_process *proc)
{
	(void) proc;
	return 1;
}

void orr_sys_memcpy(struct orr_process *proc, void *dst, const void *src, size_t size)
{
	(void) proc;
	if (size)
		memcpy(dst, src, size);
}

int orr_sys_drives_devices(void)
{
	return 1;
}

/* Drivers find the devices of a real machine. */
int orr_sys_devices(struct orr_process *proc, struct orr_world_device *v, unsigned max, long ncuda,
		    long nopencl)
{
	(void) proc;
	(void) v;
	(void) max;
	(void) ncuda;
	(void) nopencl;
	proc->machine = NULL;
	return 0;
}

void orr_sys_device_alloc_charge(struct orr_process *proc, unsigned memnode)
{
	(void) proc;
	(void) memnode;
}

void orr_sys_pin_charge(struct orr_process *proc, size_t size)
{
	(void) proc;
	(void) size;
}

double orr_sys_copy_start(struct orr_process *proc, const struct orr_copy *c, uint64_t *number)
{
	(void) proc;
	(void) c;
	*number = 0;
	return 0;
}

double orr_sys_copy_end_us(struct orr_process *proc, uint64_t number)
{
	(void) proc;
	(void) number;
	return 0;
}
