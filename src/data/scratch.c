/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scratch buffers (see scratch.h): an interface structure shaped like the handle's with a buffer of
 * its own.
 *
 * Invariant: access->scratch is set exactly while the interface given out is ours to free
 * (STARPU_SCRATCH) or the contribution's (STARPU_REDUX, kept until the reduction). */
#include "data/scratch.h"
#include "data/handle.h"
#include "data/iface/iface.h"
#include "data/memory.h"
#include "data/redux.h"
#include "base/log.h"
#include "data/fetch.h"
#include "data/evict.h"
#include "data/access.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The worker's contribution is a datum of its own, which may have been evicted since the worker's
 * last task. */
static int acquire_contribution(struct orr_access *a, const struct orr_contributor *w, void **iface,
				struct orr_fetch *rq)
{
	starpu_data_handle_t part;
	int ret = orr_redux_contribution(a->handle, w, (unsigned) a->node, &part);

	if (ret)
		return ret;
	*iface = starpu_data_get_interface_on_node(part, (unsigned) a->node);
	a->scratch = 1;
	rq->handle = part;
	rq->mode = STARPU_RW;
	return 1;
}

/* A structure without buffer for a memory node, shaped like main memory's. */
static void *blank_iface(starpu_data_handle_t h, unsigned memnode)
{
	void *iface = malloc(h->ops->interface_size);

	if (!iface)
		orr_fatal("out of memory for a scratch buffer like %s", orr_handle_name(h));
	if (h->wide) {
		memcpy(iface,
		       starpu_data_get_interface_on_node(h,
							 memnode == STARPU_MAIN_RAM ? 1 : memnode),
		       h->ops->interface_size);
	} else {
		memcpy(iface, orr_handle_iface(h), h->ops->interface_size);
		orr_iface_detach(h->ops, iface);
	}
	return iface;
}

static void free_iface(starpu_data_handle_t h, void *iface)
{
	if (!h->wide)
		orr_iface_free_meta(h->ops, iface);
	free(iface);
}

int orr_scratch_acquire(struct orr_access *a, const struct orr_contributor *w, void **out,
			struct orr_fetch *rq)
{
	orr_assert(!a->scratch && a->node >= 0);
	if (a->mode & STARPU_REDUX)
		return acquire_contribution(a, w, out, rq);
	void *iface = blank_iface(a->handle, (unsigned) a->node);
	while (orr_memory_scratch(a->handle, iface, (unsigned) a->node)) {
		size_t size = starpu_data_get_alloc_size(a->handle);

		if (orr_memory_make_room(orr_self(), (unsigned) a->node, size,
					 ORR_EFFORT_WRITEBACK) == ORR_ROOM_MADE)
			continue;
		free_iface(a->handle, iface);
		return -EAGAIN;
	}
	*out = iface;
	a->scratch = 1;
	return 0;
}

void orr_scratch_release(struct orr_owner *o, unsigned worker, void **ifaces)
{
	for (unsigned i = 0; i < o->naccess; i++) {
		struct orr_access *a = &o->access[i];

		if (!a->scratch)
			continue;
		orr_assert(a->mode & (STARPU_SCRATCH | STARPU_REDUX));
		a->scratch = 0;
		if (a->mode & STARPU_REDUX) {
			if (a->pinned)
				orr_fetch_unref(orr_redux_part(a->handle, worker),
						(unsigned) a->node);
			a->pinned = 0;
			continue;
		}
		orr_memory_scratch_end(a->handle, ifaces[i], (unsigned) a->node);
		free_iface(a->handle, ifaces[i]);
	}
}
