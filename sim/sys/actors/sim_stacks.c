/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The stacks of actors that never end (sim_stacks.h).
 *
 * SimGrid makes a stack with a guard by posix_memalign(). malloc gives it a map of its own, whose
 * first page holds nothing but malloc's sixteen bytes, and asks for large pages for it, which a
 * stack that happens to begin at one takes as a whole: 2 MiB for one rank in 256. Here stacks lie
 * side by side without anything in between, in pages of the usual size.
 *
 * A rank that waits needs the frames of those who wait, mostly less than a page. Loading its copy
 * of the program and starting the runtime took more of the stack, once.
 *
 * Invariant: stated in sim_stacks.h. */
#include "actors/sim_stacks.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>
#include "actors/sim_actor_record.h"

/* AddressSanitizer knows stacks by the blocks that they are, and keeps notes about what they hold.
 */
#ifdef __SANITIZE_ADDRESS__
#define PLAIN 0
#else
#define PLAIN 1
#endif

/* Stacks of one size, guards included. */
struct room {
	char *next;
	size_t each, left; /* there are so many of these */
};

static struct room rooms[4];
static size_t expected; /* stacks that were not asked for */
static size_t most;     /* of a size */

void orr_sim_stacks_expect(size_t n)
{
	most = n;
	expected += PLAIN;
}

static int reserve(struct room *r, size_t each, size_t n)
{
	char *all = mmap(NULL, n * each, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

	if (all == MAP_FAILED)
		return -1;
	(void) madvise(all, n * each, MADV_NOHUGEPAGE);
	*r = (struct room){ all, each, n };
	return 0;
}

void *orrery_sim_stack(size_t alignment, size_t size)
{
	size_t page = (size_t) sysconf(_SC_PAGESIZE), i = 0;

	if (!expected || alignment != page || size < 65536 || size % page)
		return NULL;
	expected--;
	while (i < sizeof(rooms) / sizeof(*rooms) && rooms[i].left && rooms[i].each != size)
		i++;
	if (i == sizeof(rooms) / sizeof(*rooms) ||
	    (!rooms[i].left && reserve(&rooms[i], size, most)))
		return NULL;
	char *stack = rooms[i].next;

	rooms[i].next += size;
	rooms[i].left--;
	return stack;
}

void orr_sim_stacks_trim(const struct orr_sim_actor *a)
{
	uintptr_t page = (uintptr_t) sysconf(_SC_PAGESIZE),
		  from = (a->head.stack_low + page - 1) & ~(page - 1),
		  to = ((uintptr_t) __builtin_frame_address(0) - 1024) & ~(page - 1);

	/* A handler of signals may have another stack. */
	if (PLAIN && to > from && to - from < a->head.stack_size)
		(void) madvise((void *) from, to - from, MADV_DONTNEED);
}
