/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Handles: registration, replicates, pins, and their end (handbook 27.2, 27.6).
 *
 * Invariant: a handle is freed only after its last access and its last pin are gone. */
#include "data/handle.h"
#include "data/handle_attributes.h"
#include "data/handle_trace.h"
#include "data/data.h"
#include "data/iface/iface.h"
#include "data/mapping.h"
#include "data/memory.h"
#include "base/log.h"
#include "base/slab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifndef ORR_DEBUG
/* Many ranks have many data: a word more would be two of each (doc/simulating.md). */
_Static_assert(sizeof(struct _starpu_data_state) + ORR_SLAB_INTERFACE <= 176, "a datum has grown");
#endif

static size_t size_of(int slab, const struct starpu_data_interface_ops *ops, int traced)
{
	return sizeof(struct _starpu_data_state) + orr_handle_iface_room(slab, ops) +
	       (traced ? sizeof(struct orr_last_users) : 0);
}

size_t orr_handle_slab_size(const struct orr_process *proc)
{
	return size_of(1, NULL, proc->cfg->trace != NULL);
}

int orr_handle_check_node(starpu_data_handle_t h, int memnode, const char *what)
{
	unsigned n = ORR_ATOMIC_LOAD_RELAXED(&orr_self()->data->nmemnodes);

	if (memnode >= 0 && (unsigned) memnode < n)
		return 0;
	orr_error("%s of %s: there is no memory node %d, they are numbered from 0 to %u", what,
		  orr_handle_name(h), memnode, n - 1);
	return -EINVAL;
}

/* ---- creation ---- */

static starpu_data_handle_t allocate(struct orr_process *proc,
				     struct starpu_data_interface_ops *ops)
{
	int slab = ops->interface_size <= ORR_SLAB_INTERFACE, traced = proc->trace != NULL;
	size_t size = size_of(slab, ops, traced);

	starpu_data_handle_t h = slab ? orr_slab_alloc(&proc->data->handle_slab) : malloc(size);
	if (!h)
		return NULL;
	memset(h, 0, size);
	h->ops = ops;
	orr_lock_init(&h->lock, ORR_RANK_HANDLE);
	h->alive = ORR_HANDLE_ALIVE;
	h->slab = slab & 1;
	h->has_users = traced & 1;
	h->main.memnode = STARPU_MAIN_RAM;
	return h;
}

static void release_memory(starpu_data_handle_t h)
{
	struct orr_replicate *next;

	orr_assert(!h->head && !h->ngranted && !h->nheld);
	orr_assert(!h->ext || (!h->ext->parked && !h->ext->redux && !h->ext->partitions));
	for (struct orr_replicate *r = h->main.next; r; r = next) {
		next = r->next;
		orr_assert(!r->loading && !(r->mine && r->allocated) && !r->mapped);
		orr_memory_forget(h, r);
		if (!h->wide)
			orr_iface_free_meta(h->ops, orr_replicate_iface(h, r));
		free(r->ext);
		free(r);
	}
	orr_memory_forget(h, &h->main);
	free(h->main.ext);
	if (h->ext) {
		free(h->ext->name);
		free(h->ext->wide_ifaces);
		free(h->ext);
	}
	h->alive = 0;
	if (h->slab)
		orr_slab_free(&orr_self()->data->handle_slab, h);
	else
		free(h);
}

/* The program's buffer of the home node is valid from the start. */
static void adopt_home(starpu_data_handle_t h, int home)
{
	struct orr_replicate *r = &h->main;

	if (home != STARPU_MAIN_RAM) {
		orr_lock(&h->lock);
		r = orr_handle_replicate(h, (unsigned) home);
		orr_handle_unlock(h);
	}
	r->state = ORR_MODIFIED;
	r->allocated = 1;
	r->mine = 0;
}

int orr_handle_create(starpu_data_handle_t *out, int home_node, void *interface,
		      struct starpu_data_interface_ops *ops, struct orr_partition *piece_of)
{
	struct orr_process *proc = orr_self();

	if (ops->interfaceid == STARPU_UNKNOWN_INTERFACE_ID)
		ops->interfaceid = (enum starpu_data_interface_id)
			starpu_data_interface_get_next_id();
	starpu_data_handle_t h = allocate(proc, ops);
	if (!h)
		return -ENOMEM;
	h->home_node = (int8_t) home_node;
	h->sequential = (uint8_t) proc->data->default_sequential_consistency;
	h->piece_of = piece_of;
	h->mpi_tag = -1;
	h->mpi_rank = -1;
	h->wide = !orr_iface_builtin(ops);
	if (h->wide) {
		orr_lock(&h->lock);
		orr_handle_ext(h);
		orr_handle_unlock(h);
		if (!h->ext ||
		    !(h->ext->wide_ifaces = calloc(STARPU_MAXNODES, ops->interface_size))) {
			release_memory(h);
			return -ENOMEM;
		}
	}
	/* Set first: interfaces ask for their structures while they register. */
	*out = h;
	if (ops->register_data_handle)
		ops->register_data_handle(h, home_node, interface);
	if (home_node >= 0)
		adopt_home(h, home_node);
	return 0;
}

void starpu_data_register(starpu_data_handle_t *handleptr, int home_node, void *data_interface,
			  struct starpu_data_interface_ops *ops)
{
	struct orr_process *proc = orr_self();

	if (proc->state == ORR_PROCESS_DOWN)
		orr_fatal("data registered without starpu_init: call it first");
	if (home_node < -1 || home_node >= (int) proc->data->nmemnodes)
		orr_fatal(
			"data registered on memory node %d: there are %u (0 to %u, or -1 for none)",
			home_node, proc->data->nmemnodes, proc->data->nmemnodes - 1);
	if (!handleptr || !ops)
		orr_fatal("data registered with %s that is NULL",
			  handleptr ? "a table of methods (ops)" : "a pointer to the new handle");
	if (orr_handle_create(handleptr, home_node, data_interface, ops, NULL))
		orr_fatal("out of memory while registering data");
}

void starpu_data_register_same(starpu_data_handle_t *handledst, starpu_data_handle_t handlesrc)
{
	size_t size = orr_handle_checked(handlesrc, __func__)->ops->interface_size;
	void *iface = malloc(size);

	if (!iface)
		orr_fatal("out of memory while registering data like %s",
			  orr_handle_name(handlesrc));
	/* Its buffer may come or go just now. */
	orr_lock(&handlesrc->lock);
	memcpy(iface, orr_handle_iface(handlesrc), size);
	orr_handle_unlock(handlesrc);
	starpu_data_register(handledst, -1, iface, handlesrc->ops);
	free(iface);
}

void starpu_data_ptr_register(starpu_data_handle_t handle, unsigned memnode)
{
	if (orr_handle_check(handle, __func__) ||
	    orr_handle_check_node(handle, (int) memnode, __func__))
		return;
	orr_lock(&handle->lock);
	struct orr_replicate *r = orr_handle_replicate(handle, memnode);
	if (r && !r->allocated) {
		r->allocated = 1;
		r->mine = 0;
	}
	orr_handle_unlock(handle);
}

/* ---- replicates ---- */

struct orr_replicate *orr_handle_find(starpu_data_handle_t h, unsigned memnode)
{
	orr_assert_locked(&h->lock);
	for (struct orr_replicate *r = &h->main; r; r = r->next)
		if (r->memnode == memnode)
			return r;
	return NULL;
}

static int is_on_device(const struct orr_process *proc, const struct orr_replicate *r)
{
	return r->state != ORR_INVALID && r->allocated && !r->loading && !r->mapped &&
	       proc->data->memnodes[r->memnode]->kind == STARPU_CUDA_RAM;
}

int orr_handle_device_with_value(starpu_data_handle_t h, int alone)
{
	const struct orr_process *proc = orr_self();
	int node = -1;
	unsigned n = 0;

	orr_lock(&h->lock);
	if (!alone || (h->main.state == ORR_INVALID && !h->main.loading))
		for (const struct orr_replicate *r = h->main.next; r; r = r->next)
			if (is_on_device(proc, r)) {
				node = r->memnode;
				n++;
			}
	orr_unlock(&h->lock);
	return alone || n == 1 ? node : -1;
}

struct orr_replicate *orr_handle_replicate(starpu_data_handle_t h, unsigned memnode)
{
	struct orr_replicate *r = orr_handle_find(h, memnode);

	if (r)
		return r;
	r = calloc(1, sizeof(*r) + (h->wide ? 0 : h->ops->interface_size));
	if (!r)
		return NULL;
	r->memnode = (uint8_t) memnode;
	if (!h->wide) {
		memcpy(r + 1, orr_handle_iface(h), h->ops->interface_size);
		orr_iface_detach(h->ops, r + 1);
	}
	r->next = h->main.next;
	ORR_ATOMIC_STORE(&h->main.next, r); /* read without the lock (orr_fetch_quick) */
	return r;
}

void *starpu_data_get_interface_on_node(starpu_data_handle_t handle, unsigned memory_node)
{
	if (__builtin_expect(!handle || ORR_ATOMIC_LOAD_RELAXED(&handle->alive) != ORR_HANDLE_ALIVE,
			     0))
		orr_handle_must_be_known(handle, __func__);
	if (memory_node == STARPU_MAIN_RAM)
		return orr_handle_iface(handle);
	/* Interfaces that fill their structures themselves do so for nodes that do not exist yet.
	 */
	if (!(handle->wide && memory_node < STARPU_MAXNODES) &&
	    orr_handle_check_node(handle, (int) memory_node, __func__))
		return NULL;
	if (handle->wide)
		return (char *) handle->ext->wide_ifaces +
		       memory_node * handle->ops->interface_size;
	orr_lock(&handle->lock);
	struct orr_replicate *r = orr_handle_replicate(handle, memory_node);
	void *iface = r ? orr_replicate_iface(handle, r) : NULL;
	orr_handle_unlock(handle);
	return iface;
}

void orr_handle_written(starpu_data_handle_t h, struct orr_replicate *r)
{
	orr_assert_locked(&h->lock);
	for (struct orr_replicate *o = &h->main; o; o = o->next) {
		if (o == r)
			continue;
		o->stale = o->loading;
		if (o->state != ORR_INVALID) {
			ORR_ATOMIC_STORE(&o->state, ORR_INVALID);
			orr_memory_demote(o);
		}
	}
	orr_assert(r->allocated);
	ORR_ATOMIC_STORE(&r->state, ORR_MODIFIED);
}

void orr_handle_drop_contents(starpu_data_handle_t h, int buffers)
{
	orr_assert_locked(&h->lock);
	for (struct orr_replicate *r = &h->main; r; r = r->next) {
		ORR_ATOMIC_STORE(&r->state, ORR_INVALID);
		r->stale = r->loading;
		if (!r->mine || ORR_ATOMIC_LOAD(&r->refcnt))
			continue;
		if (buffers && !(r == &h->main && orr_mapping_in_use(h)))
			orr_memory_release(h, r);
		else
			orr_memory_demote(r);
	}
}

/* ---- pins ---- */

int orr_handle_try_pin(starpu_data_handle_t h)
{
	uint32_t n = ORR_ATOMIC_LOAD(&h->npins);

	while (n != ORR_PINS_LAST)
		if (ORR_ATOMIC_CAS(&h->npins, &n, n + 1))
			return 1;
	return 0;
}

void orr_handle_unpin(starpu_data_handle_t h)
{
	struct orr_process *proc = orr_self();

	orr_assert((ORR_ATOMIC_LOAD_RELAXED(&h->npins) & ~ORR_PINS_LAST) > 0);
	if (ORR_ATOMIC_ADD(&h->npins, -1) == ORR_PINS_LAST)
		proc->data->last_unpin(h);
	else
		orr_waitq_wake(&proc->done); /* the handle may be gone */
}

/* ---- the end ---- */

void orr_handle_free(starpu_data_handle_t h)
{
	orr_handle_record(h, 1);
	if (h->ops->unregister_data_handle)
		h->ops->unregister_data_handle(h);
	release_memory(h);
}
