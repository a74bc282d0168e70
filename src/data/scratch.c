/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scratch buffers (see scratch.h): an interface structure shaped like the handle's with a buffer of its own.
 *
 * Invariant: access->scratch is set exactly while t->interfaces[i] is ours to free (STARPU_SCRATCH) or the contribution's
 * (STARPU_REDUX, kept until the reduction). */
#include "data/scratch.h"
#include "data/handle.h"
#include "data/iface.h"
#include "data/redux.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int orr_scratch_acquire(struct orr_worker *w, struct orr_task *t, unsigned i)
{
	struct orr_access *a = &t->access[i];
	starpu_data_handle_t h = a->handle;
	void *iface;

	if (a->mode & STARPU_REDUX) {
		iface = orr_redux_contribution(h, w, a);
		if (!iface)
			return -ENOMEM;
		t->interfaces[i] = iface;
		a->scratch = 1;
		return 0;
	}
	iface = malloc(h->ops->interface_size);
	if (!iface)
		return -ENOMEM;
	if (h->wide) {
		void *like = starpu_data_get_interface_on_node(h, w->memnode == STARPU_MAIN_RAM ? 1 : w->memnode);

		memcpy(iface, like, h->ops->interface_size);
	} else {
		memcpy(iface, orr_handle_iface(h), h->ops->interface_size);
		orr_iface_detach(h->ops, iface);
	}
	if (h->ops->allocate_data_on_node(iface, (unsigned) a->node) < 0) {
		free(iface);
		return -ENOMEM;
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

		if (!a->scratch || (a->mode & STARPU_REDUX))
			continue;
		a->handle->ops->free_data_on_node(t->interfaces[i], (unsigned) a->node);
		if (!a->handle->wide)
			orr_iface_free_meta(a->handle->ops, t->interfaces[i]);
		free(t->interfaces[i]);
		a->scratch = 0;
	}
}
