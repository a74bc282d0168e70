/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Chunks of the runtime's own objects (tasks, handles, requests) in a simulated run, cut from
 * regions that all ranks share.
 *
 * A simulation goes from rank to rank at every event, so nearly all that it touches is in no cache
 * and its page in no translation buffer: with large pages, where the system grants them (madvise),
 * 1,024 nodes take a fifth less time. Chunks of all ranks lie densely in such regions. As malloc
 * blocks, among stacks and other things, they would have large pages of mostly unused memory.
 *
 * Invariant: a chunk is in use or in the list of its size; the rest of the newest region was never
 * handed out. Regions live as long as the simulation, of which each process makes one. */
#include <stdlib.h>
#include <sys/mman.h>
#include "base/seam.h"
#include "base/assert.h"
#include "base/seam_memory.h"

#define HUGE_PAGE ((size_t) 2 << 20)
#define REGION (16 * HUGE_PAGE)
#define SIZES 8

struct free_chunk {
	struct free_chunk *next;
};

static struct {
	char *next, *end;
	struct {
		size_t bytes;
		struct free_chunk *free;
	} size[SIZES];
} chunks;

/* The list of chunks of that size, or NULL when there are SIZES others. */
static struct free_chunk **list_of(size_t bytes)
{
	for (unsigned i = 0; i < SIZES; i++) {
		if (!chunks.size[i].bytes)
			chunks.size[i].bytes = bytes;
		if (chunks.size[i].bytes == bytes)
			return &chunks.size[i].free;
	}
	return NULL;
}

/* The rest of the old region, less than a chunk, stays unused. */
static int new_region(void)
{
	char *p = mmap(NULL, REGION + HUGE_PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return -1;
	chunks.next = p + (HUGE_PAGE - ((uintptr_t) p & (HUGE_PAGE - 1)));
	chunks.end = chunks.next + REGION;
	orr_assert(chunks.end <= p + REGION + HUGE_PAGE);
	madvise(chunks.next, REGION, MADV_HUGEPAGE);
	return 0;
}

/* Sanitizers look for pointers in the C library's memory only. */
static int is_own(size_t bytes)
{
#ifdef __SANITIZE_ADDRESS__
	return bytes == 0;
#else
	return bytes <= REGION / 64 && list_of(bytes);
#endif
}

void *orr_sys_chunk_alloc(size_t bytes)
{
	orr_assert(bytes && bytes % 64 == 0);
	if (!is_own(bytes))
		return aligned_alloc(64, bytes);
	struct free_chunk **list = list_of(bytes), *c = *list;
	if (c) {
		*list = c->next;
		return c;
	}
	if ((size_t) (chunks.end - chunks.next) < bytes && new_region())
		return NULL;
	void *p = chunks.next;
	chunks.next += bytes;
	orr_assert(chunks.next <= chunks.end);
	return p;
}

void orr_sys_chunk_free(void *chunk, size_t bytes)
{
	if (!is_own(bytes)) {
		free(chunk);
		return;
	}
	struct free_chunk **list = list_of(bytes), *c = chunk;
	orr_assertf(*list != c, "a chunk is freed twice");
	c->next = *list;
	*list = c;
}
