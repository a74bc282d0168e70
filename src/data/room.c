/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Trials of how much a memory can take (room.h).
 *
 * Invariant: a trial that succeeds gives back what it took, and meanwhile says so by nchanging. */
#include "data/room.h"
#include "base/assert.h"
#include "data/data.h"
#include "data/memnode.h"
#include "data/memory.h"

int orr_memory_has_room(struct orr_process *proc, unsigned memnode, size_t size)
{
	struct orr_memnode *m = proc->data->memnodes[memnode];

	/* A thread that finds the memory full meanwhile sees that some comes back. */
	ORR_ATOMIC_ADD(&m->nchanging, 1);
	orr_assert_no_lock();
	int fits_now = starpu_memory_allocate(memnode, size, 0) == 0;
	if (fits_now)
		starpu_memory_deallocate(memnode, size);
	ORR_ATOMIC_ADD(&m->nchanging, -1);
	orr_memory_freed(proc);
	return fits_now;
}
