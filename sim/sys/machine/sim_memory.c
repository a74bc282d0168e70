/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory of the simulated world. When kernels run it is ordinary memory. When they are skipped:
 *
 * - buffers that only kernels and transfers touch are all the same one, a reservation that nobody
 * touches: it costs nothing however large, and SMPI is told to copy nothing from it;
 * - memory that the program itself touches (starpu_malloc) is folded: the pages of one small file,
 * mapped again and again. Where addresses get scarce, because they are limited (ulimit -v), blocks
 * overlap: each begins one page after the other.
 *
 * Both lie in one range of addresses, so that two comparisons tell whether a payload exists. Folded
 * blocks below FOLD_MIN are ordinary memory: they are what programs keep their tables in.
 *
 * Invariant: outside of [range_low, range_high) all memory is real. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include "actors/sim_glue.h"
#include "actors/sim_rank.h"
#include "machine/sim_memory.h"
#include "base/assert.h"
#include "base/seam_memory.h"

#define RANGE ((size_t) 8 << 40)
#define LEAST_RANGE ((size_t) 64 << 20)
#define SHARED_PART 4  /* of the range, its head: the one shared buffer */
#define OVERLAP_PART 4 /* of the range, its tail: blocks that overlap */
#define FOLD_MIN ((size_t) 64 << 10)
#define SIMULATED_PAGE ((size_t) 4096)
#define MAX_PIECES 8 /* mappings per folded block before the file is made larger */

/* A folded block that was freed; it stays mapped. Kept outside of the block, whose pages are
 * everybody's. */
struct free_block {
	char *at;
	size_t size;
	struct free_block *next;
};

static struct {
	char *low, *fold_next, *overlap, *overlap_next, *overlap_mapped, *high;
	int file;
	size_t file_size;
	struct free_block *free;
} range = { .file = -1 };

/* Of the computer that simulates. */
static size_t page(void)
{
	return (size_t) sysconf(_SC_PAGESIZE);
}

void orr_sim_memory_init(void)
{
	if (orr_sim.kernels != ORR_SIM_SKIP)
		return;
	struct rlimit most;
	size_t size = RANGE;
	void *p = MAP_FAILED;
	/* Most of the addresses are left to others if they are limited. */
	if (getrlimit(RLIMIT_AS, &most) == 0 && most.rlim_cur != RLIM_INFINITY)
		while (size > LEAST_RANGE && size > most.rlim_cur / 4)
			size /= 2;
	for (; p == MAP_FAILED && size >= LEAST_RANGE; size /= 2)
		p = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return;
	size *= 2;
	range.low = p;
	range.fold_next = range.low + size / SHARED_PART;
	range.high = range.low + size;
	range.overlap = range.high - size / OVERLAP_PART;
	range.overlap_next = range.overlap_mapped = range.overlap;
	orr_sim_glue_no_copy(range.low, range.high);
}

static size_t round_up(size_t n, size_t unit)
{
	return (n + unit - 1) / unit * unit;
}

/* The shared buffer becomes accessible as far as somebody asked for. */
static void *shared_buffer(size_t size)
{
	static size_t usable;
	if (size <= usable)
		return range.low;
	size_t part = (size_t) (range.high - range.low) / SHARED_PART;
	size_t want = round_up(size < (64 << 20) ? 64 << 20 : size, 2 << 20);
	if (want > part)
		want = part;
	if (size > want || mprotect(range.low, want, PROT_READ | PROT_WRITE))
		return NULL;
	usable = want;
	return range.low;
}

static void *aligned(size_t size, size_t align)
{
	void *p = NULL;
	int err = posix_memalign(&p, align < sizeof(void *) ? sizeof(void *) : align,
				 size ? size : 1);
	return err ? NULL : p;
}

/* Memory that was given back is used again first: only what goes beyond the most that there was is
 * new to the processor. */
static void count_alloc(struct orr_sim_rank *r, size_t size)
{
	if (!r)
		return;
	r->live += size;
	if (r->live > r->peak) {
		r->untouched += r->live - r->peak;
		r->peak = r->live;
	}
}

size_t orr_sys_page(void)
{
	return SIMULATED_PAGE;
}

void *orr_sys_mem_alloc(struct orr_process *proc, size_t size, size_t align)
{
	count_alloc(proc->sys, size);
	if (range.low && align <= page())
		return shared_buffer(size);
	return aligned(size, align);
}

void orr_sys_mem_keep_none(struct orr_process *proc)
{
	(void) proc; /* nothing is kept */
}

void orr_sys_mem_bind(struct orr_process *proc, void *ptr, size_t size, int numa)
{
	(void) proc;
	(void) ptr;
	(void) size;
	(void) numa;
}

void orr_sys_mem_free(struct orr_process *proc, void *ptr, size_t size)
{
	struct orr_sim_rank *r = proc->sys;
	if (r && ptr)
		r->live -= size < r->live ? size : r->live;
	orr_assertf(!ptr || !range.low || ptr == range.low || (char *) ptr < range.low ||
			    (char *) ptr >= range.high,
		    "%p is no buffer of the runtime", ptr);
	if (ptr != range.low || !ptr)
		free(ptr);
}

/* ---- folded blocks ---- */

static int grow_file(size_t size)
{
	if (range.file < 0)
		range.file = memfd_create("folded", MFD_CLOEXEC);
	if (range.file < 0)
		return -1;
	if (size <= range.file_size)
		return 0;
	if (ftruncate(range.file, (off_t) size))
		return -1;
	range.file_size = size;
	return 0;
}

static char *take_free(size_t size)
{
	for (struct free_block **at = &range.free; *at; at = &(*at)->next) {
		struct free_block *b = *at;
		if (b->size != size)
			continue;
		char *p = b->at;
		*at = b->next;
		free(b);
		return p;
	}
	return NULL;
}

/* Maps the file to [p, p + size), a piece at a time. */
static int map_pieces(char *p, size_t size, size_t piece)
{
	for (size_t at = 0; at < size; at += piece) {
		size_t n = size - at < piece ? size - at : piece;
		if (mmap(p + at, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, range.file,
			 0) == MAP_FAILED)
			return -1;
	}
	return 0;
}

/* A block that begins one page after the last one of this kind. */
static void *overlapping(size_t size, size_t piece)
{
	char *p = range.overlap_next, *mapped = range.overlap_mapped;
	size_t more = 0;
	if (size > (size_t) (range.high - p))
		return NULL;
	if (p + size > mapped) {
		more = round_up((size_t) (p + size - mapped), piece);
		if (more > (size_t) (range.high - mapped))
			more = (size_t) (range.high - mapped);
	}
	if (map_pieces(mapped, more, piece))
		return NULL;
	range.overlap_mapped = mapped + more;
	range.overlap_next = p + page();
	orr_assert(p + size <= range.overlap_mapped && range.overlap_mapped <= range.high);
	return p;
}

static void *folded(size_t size)
{
	char *p = take_free(size);
	if (p)
		return p;
	size_t piece = round_up(orr_sim.fold_bytes ? orr_sim.fold_bytes : 1 << 20, page());
	while (size / piece > MAX_PIECES)
		piece *= 2;
	if (grow_file(piece))
		return NULL;
	p = range.fold_next;
	if (size > (size_t) (range.overlap - p) || map_pieces(p, size, piece))
		return overlapping(size, piece);
	range.fold_next += size;
	orr_assert(range.fold_next <= range.overlap);
	return p;
}

void *orr_sys_user_alloc(struct orr_process *proc, size_t size, size_t align)
{
	(void) proc;
	if (!range.low || size < FOLD_MIN || align > page())
		return aligned(size, align);
	return folded(round_up(size, page()));
}

void orr_sys_user_free(struct orr_process *proc, void *ptr, size_t size)
{
	(void) proc;
	char *p = ptr;
	if (!p || !range.low || p < range.low || p >= range.high) {
		free(ptr);
		return;
	}
	struct free_block *b = malloc(sizeof(*b));
	if (!b)
		return;
	orr_assertf(p < range.fold_next || (p >= range.overlap && p < range.overlap_next),
		    "%p was never handed out", ptr);
	b->at = p;
	b->size = round_up(size, page());
	b->next = range.free;
	range.free = b;
}

/* ---- payloads ---- */

int orr_sys_has_payload(struct orr_process *proc)
{
	(void) proc;
	return range.low == NULL;
}

void orr_sys_memcpy(struct orr_process *proc, void *dst, const void *src, size_t size)
{
	(void) proc;
	if (!range.low && dst != src)
		memcpy(dst, src, size);
}
