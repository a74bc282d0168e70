/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scratch buffers (see scratch.h): an interface structure shaped like the handle's with a buffer of
 * its own.
 *
 * Invariant: access->scratch is set exactly while t->interfaces[i] is ours to free (STARPU_SCRATCH)
 * or the contribution's (STARPU_REDUX, kept until the reduction). */
#include "data/scratch.h"
#include "data/handle.h"
#include "data/iface.h"
#include "data/memory.h"
#include "data/redux.h"
#include "data/transfer.h"
#include "base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The worker's contribution is a datum of its own, which may have been evicted since the worker's
 * last task. */
static int acquire_contribution(struct orr_worker *w, struct orr_task *t, unsigned i,
				struct orr_fetch *rq)
{
	struct orr_access *a = &t->access[i];
	starpu_data_handle_t part;
	int ret = orr_redux_contribution(a->handle, w, (unsigned) a->node, &part);

	if (ret)
		return ret;
	t->interfaces[i] = starpu_data_get_interface_on_node(part, (unsigned) a->node);
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

int orr_scratch_acquire(struct orr_worker *w, struct orr_task *t, unsigned i, struct orr_fetch *rq)
{
	struct orr_access *a = &t->access[i];
	void *iface;

	if (a->mode & STARPU_REDUX)
		return acquire_contribution(w, t, i, rq);
	iface = blank_iface(a->handle, (unsigned) a->node);
	if (orr_memory_scratch(a->handle, iface, (unsigned) a->node)) {
		free_iface(a->handle, iface);
		return -EAGAIN;
	}
	t->interfaces[i] = iface;
	a->scratch = 1;
	return 0;
}

void orr_scratch_release(struct orr_task *t)
{
	unsigned i;

	for (i = 0; i < t->naccess; i++) {
		struct orr_access *a = &t->access[i];

		if (!a->scratch)
			continue;
		a->scratch = 0;
		if (a->mode & STARPU_REDUX) {
			if (a->pinned)
				orr_fetch_unref(orr_redux_part(a->handle, t->worker),
						(unsigned) a->node, STARPU_RW);
			a->pinned = 0;
			continue;
		}
		orr_memory_scratch_end(a->handle, t->interfaces[i], (unsigned) a->node);
		free_iface(a->handle, t->interfaces[i]);
	}
}
