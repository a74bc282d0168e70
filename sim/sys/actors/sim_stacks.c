/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The stacks of the ranks' main actors (sim_stacks.h).
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

/* Of a stack and its guard. */
static struct {
	char *next;
	size_t each;
	size_t left;   /* there are so many of these */
	size_t wanted; /* that have not been asked for */
} room;

void orr_sim_stacks_begin(size_t n)
{
#ifndef __SANITIZE_ADDRESS__
	room.wanted = n;
#endif
}

void orr_sim_stacks_end(void)
{
	room.wanted = 0;
}

/* All of them, at the first. */
static int reserve(size_t each)
{
	char *all = mmap(NULL, room.wanted * each, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

	if (all == MAP_FAILED) {
		room.wanted = 0;
		return -1;
	}
	(void) madvise(all, room.wanted * each, MADV_NOHUGEPAGE);
	room.next = all;
	room.each = each;
	room.left = room.wanted;
	return 0;
}

void *orrery_sim_stack(size_t alignment, size_t size)
{
	size_t page = (size_t) sysconf(_SC_PAGESIZE);

	if (!room.wanted || alignment != page || size < orr_sim.stack_main || size % page ||
	    (room.left ? size != room.each : reserve(size)))
		return NULL;
	char *stack = room.next;

	room.next += size;
	room.left--;
	room.wanted--;
	return stack;
}

void orr_sim_stacks_trim(const struct orr_sim_actor *a)
{
	uintptr_t page = (uintptr_t) sysconf(_SC_PAGESIZE),
		  from = (a->head.stack_low + page - 1) & ~(page - 1),
		  to = ((uintptr_t) __builtin_frame_address(0) - 1024) & ~(page - 1);

#ifndef __SANITIZE_ADDRESS__
	/* A handler of signals may have another stack. */
	if (to > from && to - from < a->head.stack_size)
		(void) madvise((void *) from, to - from, MADV_DONTNEED);
#endif
}
