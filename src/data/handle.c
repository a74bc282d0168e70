/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Handles: registration, replicates, attributes, and their end (handbook 27.2, 27.6).
 *
 * Invariant: a handle is freed only after its last access and its last pin are gone. */
#include "data/handle.h"
#include "data/data.h"
#include "data/iface/iface.h"
#include "data/mapping.h"
#include "data/memory.h"
#include "base/log.h"
#include "base/slab.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define SLAB_INTERFACE 64 /* interfaces up to that size live in slabbed handles */

size_t orr_handle_slab_size(void)
{
	return sizeof(struct _starpu_data_state) + SLAB_INTERFACE;
}

/* ---- mistaken handles ---- */

int orr_handle_check_node(starpu_data_handle_t h, int memnode, const char *what)
{
	unsigned n = ORR_ATOMIC_LOAD_RELAXED(&orr_self()->data->nmemnodes);

	if (memnode >= 0 && (unsigned) memnode < n)
		return 0;
	orr_error("%s of %s: there is no memory node %d, they are numbered from 0 to %u", what,
		  orr_handle_name(h), memnode, n - 1);
	return -EINVAL;
}

int orr_handle_refuse(starpu_data_handle_t h, const char *what)
{
	if (!h)
		orr_error("%s: the handle is NULL; register the data first", what);
	else if (ORR_ATOMIC_LOAD_RELAXED(&h->alive) == ORR_HANDLE_LEAVING)
		orr_error(
			"%s: %s was given to starpu_data_unregister_submit; it cannot be used any more",
			what, orr_handle_name(h));
	else
		orr_error("%s: %p is not a registered data; was it unregistered before?", what,
			  (void *) h);
	return -EINVAL;
}

void orr_handle_must_be_known(starpu_data_handle_t h, const char *what)
{
	if (orr_handle_known(h, what))
		orr_fatal("%s cannot go on without a handle", what);
}

static inline starpu_data_handle_t known(starpu_data_handle_t h, const char *what)
{
	if (__builtin_expect(!h || ORR_ATOMIC_LOAD_RELAXED(&h->alive) != ORR_HANDLE_ALIVE, 0))
		orr_handle_must_be_known(h, what);
	return h;
}

/* ---- creation ---- */

static starpu_data_handle_t allocate(struct orr_process *proc,
				     struct starpu_data_interface_ops *ops)
{
	size_t size = sizeof(struct _starpu_data_state) + ops->interface_size;
	int slab = ops->interface_size <= SLAB_INTERFACE;

	starpu_data_handle_t h = slab ? orr_slab_alloc(&proc->data->handle_slab) : malloc(size);
	if (!h)
		return NULL;
	memset(h, 0, size);
	h->ops = ops;
	orr_lock_init(&h->lock, ORR_RANK_HANDLE);
	h->alive = ORR_HANDLE_ALIVE;
	h->slab = slab & 1;
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
	size_t size = known(handlesrc, __func__)->ops->interface_size;
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
	       proc->data->memnodes[r->memnode].kind == STARPU_CUDA_RAM;
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

/* ---- attributes ---- */

struct orr_data_ext *orr_handle_ext(starpu_data_handle_t h)
{
	orr_assert_locked(&h->lock);
	/* Written under the handle's lock, and read without it when tasks end. */
	if (!h->ext)
		ORR_ATOMIC_STORE(&h->ext, calloc(1, sizeof(*h->ext)));
	return h->ext;
}

/* The attributes for a setter that has no way to fail. */
static struct orr_data_ext *ext_or_die(starpu_data_handle_t h, const char *what)
{
	orr_handle_must_be_known(h, what);
	orr_lock(&h->lock);
	struct orr_data_ext *ext = orr_handle_ext(h);
	orr_handle_unlock(h);
	if (!ext)
		orr_fatal("out of memory while setting an attribute of %s", orr_handle_name(h));
	return ext;
}

static const char *ops_name(const struct starpu_data_interface_ops *ops)
{
	return ops->name ? ops->name : "user-defined";
}

const char *orr_handle_name(starpu_data_handle_t h)
{
	static __thread char buffers[4][96];
	static __thread unsigned turn;
	char *b = buffers[turn++ % 4];
	int n;

	if (!h)
		return "NULL";
	if (h->ext && h->ext->name)
		n = snprintf(b, 64, "\"%s\"", h->ext->name);
	else
		n = snprintf(b, 64, "%s datum %p", ops_name(h->ops), (void *) h);
	if (n > 63)
		n = 63;
	if (h->mpi_tag >= 0)
		snprintf(b + n, 96 - (size_t) n, " (tag %lld)", (long long) h->mpi_tag);
	return b;
}

void starpu_data_set_name(starpu_data_handle_t handle, const char *name)
{
	struct orr_data_ext *ext = ext_or_die(handle, __func__);

	free(ext->name);
	ext->name = name ? strdup(name) : NULL;
}

void starpu_data_set_coordinates_array(starpu_data_handle_t handle, unsigned dimensions, int dims[])
{
	struct orr_data_ext *ext = ext_or_die(handle, __func__);

	if (dimensions > 5)
		dimensions = 5;
	ext->ncoords = (int) dimensions;
	for (unsigned i = 0; i < dimensions; i++)
		ext->coords[i] = dims[i];
}

void starpu_data_set_coordinates(starpu_data_handle_t handle, unsigned dimensions, ...)
{
	int dims[5];
	unsigned i;
	va_list ap;

	va_start(ap, dimensions);
	for (i = 0; i < dimensions && i < 5; i++)
		dims[i] = va_arg(ap, int);
	va_end(ap);
	starpu_data_set_coordinates_array(handle, i, dims);
}

unsigned starpu_data_get_coordinates_array(starpu_data_handle_t handle, unsigned dimensions,
					   int dims[])
{
	orr_handle_must_be_known(handle, __func__);
	unsigned n = handle->ext ? (unsigned) handle->ext->ncoords : 0;
	for (unsigned i = 0; i < n && i < dimensions; i++)
		dims[i] = handle->ext->coords[i];
	return n;
}

void starpu_data_set_user_data(starpu_data_handle_t handle, void *user_data)
{
	ext_or_die(handle, __func__)->user_data = user_data;
}
void *starpu_data_get_user_data(starpu_data_handle_t handle)
{
	return known(handle, __func__)->ext ? handle->ext->user_data : NULL;
}
void starpu_data_set_sched_data(starpu_data_handle_t handle, void *sched_data)
{
	ext_or_die(handle, __func__)->sched_data = sched_data;
}
void *starpu_data_get_sched_data(starpu_data_handle_t handle)
{
	return known(handle, __func__)->ext ? handle->ext->sched_data : NULL;
}
void starpu_data_set_wt_mask(starpu_data_handle_t handle, uint32_t wt_mask)
{
	ORR_ATOMIC_STORE(&ext_or_die(handle, __func__)->wt_mask, wt_mask);
}

void starpu_data_set_sequential_consistency_flag(starpu_data_handle_t handle, unsigned flag)
{
	known(handle, __func__)->sequential = flag != 0;
}
unsigned starpu_data_get_sequential_consistency_flag(starpu_data_handle_t handle)
{
	return known(handle, __func__)->sequential;
}
void starpu_data_set_default_sequential_consistency_flag(unsigned flag)
{
	orr_self()->data->default_sequential_consistency = flag != 0;
}
unsigned starpu_data_get_default_sequential_consistency_flag(void)
{
	return (unsigned) orr_self()->data->default_sequential_consistency;
}

void starpu_data_set_ooc_flag(starpu_data_handle_t handle, unsigned flag)
{
	ext_or_die(handle, __func__)->ooc_off = !flag;
}
unsigned starpu_data_get_ooc_flag(starpu_data_handle_t handle)
{
	return !(known(handle, __func__)->ext && handle->ext->ooc_off);
}

struct starpu_data_interface_ops *starpu_data_get_interface_ops(starpu_data_handle_t handle)
{
	return known(handle, __func__)->ops;
}
enum starpu_data_interface_id starpu_data_get_interface_id(starpu_data_handle_t handle)
{
	return known(handle, __func__)->ops->interfaceid;
}
int starpu_data_get_home_node(starpu_data_handle_t handle)
{
	return known(handle, __func__)->home_node;
}

int starpu_data_interface_get_next_id(void)
{
	static int next = STARPU_MAX_INTERFACE_ID; /* ids need only be unique: shared by all
						      simulated ranks on purpose */

	return ORR_ATOMIC_ADD(&next, 1) - 1;
}

void starpu_data_register_ops(struct starpu_data_interface_ops *ops)
{
	if (ops->interfaceid == STARPU_UNKNOWN_INTERFACE_ID)
		ops->interfaceid = (enum starpu_data_interface_id)
			starpu_data_interface_get_next_id();
}

/* ---- sizes, pointers, contents ---- */

size_t starpu_data_get_size(starpu_data_handle_t handle)
{
	return known(handle, __func__)->ops->get_size ? handle->ops->get_size(handle) : 0;
}

size_t starpu_data_get_alloc_size(starpu_data_handle_t handle)
{
	return known(handle, __func__)->ops->get_alloc_size ? handle->ops->get_alloc_size(handle)
							    : starpu_data_get_size(handle);
}

starpu_ssize_t starpu_data_get_max_size(starpu_data_handle_t handle)
{
	return known(handle, __func__)->ops->get_max_size
		       ? (starpu_ssize_t) handle->ops->get_max_size(handle)
		       : -1;
}

void *starpu_data_handle_to_pointer(starpu_data_handle_t handle, unsigned node)
{
	void *iface = starpu_data_get_interface_on_node(handle, node);

	if (!iface)
		return NULL;
	if (handle->ops->to_pointer)
		return handle->ops->to_pointer(iface, node);
	return handle->ops->handle_to_pointer ? handle->ops->handle_to_pointer(handle, node) : NULL;
}

void *starpu_data_get_local_ptr(starpu_data_handle_t handle)
{
	return starpu_data_handle_to_pointer(handle, orr_thread_self()->memnode);
}

/* A replicate that can be packed or filled: else a message. */
static int check_allocated(starpu_data_handle_t h, unsigned node, const char *what)
{
	int allocated;

	if (orr_handle_check_node(h, (int) node, what))
		return -EINVAL;
	orr_lock(&h->lock);
	struct orr_replicate *r = orr_handle_find(h, node);
	allocated = r && r->allocated;
	orr_handle_unlock(h);
	if (allocated)
		return 0;
	orr_error("%s of %s on memory node %u, where it has no buffer: acquire it there first",
		  what, orr_handle_name(h), node);
	return -EINVAL;
}

/* Bytes to read: else a message. */
static int check_bytes(starpu_data_handle_t h, const void *ptr, size_t count, const char *what)
{
	if (ptr || !count)
		return 0;
	orr_error("%s of %s: its %zu bytes are at NULL", what, orr_handle_name(h), count);
	return -EINVAL;
}

int starpu_data_pack_node(starpu_data_handle_t handle, unsigned node, void **ptr,
			  starpu_ssize_t *count)
{
	if (orr_handle_check(handle, __func__))
		return -EINVAL;
	if (!count) {
		orr_error("packing of %s: count is NULL; it is to take the number of bytes",
			  orr_handle_name(handle));
		return -EINVAL;
	}
	if (!handle->ops->pack_data) {
		orr_error("%s: its interface has no pack_data operation", orr_handle_name(handle));
		return -ENOTSUP;
	}
	/* Without ptr the caller wants the size only, which needs no buffer. */
	if (ptr ? check_allocated(handle, node, "packing")
		: orr_handle_check_node(handle, (int) node, "packing"))
		return -EINVAL;
	return handle->ops->pack_data(handle, node, ptr, count);
}

int starpu_data_peek_node(starpu_data_handle_t handle, unsigned node, void *ptr, size_t count)
{
	if (orr_handle_check(handle, __func__))
		return -EINVAL;
	if (!handle->ops->peek_data) {
		orr_error("%s: its interface has no peek_data operation", orr_handle_name(handle));
		return -ENOTSUP;
	}
	if (check_allocated(handle, node, "peeking") || check_bytes(handle, ptr, count, "peeking"))
		return -EINVAL;
	return handle->ops->peek_data(handle, node, ptr, count);
}

int starpu_data_unpack_node(starpu_data_handle_t handle, unsigned node, void *ptr, size_t count)
{
	if (orr_handle_check(handle, __func__))
		return -EINVAL;
	if (!handle->ops->unpack_data) {
		orr_error("%s: its interface has no unpack_data operation",
			  orr_handle_name(handle));
		return -ENOTSUP;
	}
	if (check_allocated(handle, node, "unpacking") ||
	    check_bytes(handle, ptr, count, "unpacking"))
		return -EINVAL;
	return handle->ops->unpack_data(handle, node, ptr, count);
}

int starpu_data_pack(starpu_data_handle_t handle, void **ptr, starpu_ssize_t *count)
{
	return starpu_data_pack_node(handle, orr_thread_self()->memnode, ptr, count);
}

int starpu_data_peek(starpu_data_handle_t handle, void *ptr, size_t count)
{
	return starpu_data_peek_node(handle, orr_thread_self()->memnode, ptr, count);
}

int orr_handle_pack(starpu_data_handle_t h, unsigned node, void **ptr, starpu_ssize_t *count)
{
	orr_assert(ptr && count);
	return h->ops->pack_data ? h->ops->pack_data(h, node, ptr, count) : -ENOTSUP;
}

int orr_handle_unpack(starpu_data_handle_t h, unsigned node, void *ptr, size_t count)
{
	orr_assert(ptr || !count);
	return h->ops->unpack_data ? h->ops->unpack_data(h, node, ptr, count) : -ENOTSUP;
}

int starpu_data_unpack(starpu_data_handle_t handle, void *ptr, size_t count)
{
	return starpu_data_unpack_node(handle, orr_thread_self()->memnode, ptr, count);
}

void starpu_data_print(starpu_data_handle_t handle, unsigned node, FILE *stream)
{
	static const char *const states[] = { "invalid", "shared", "modified" };

	if (orr_handle_known(handle, __func__) ||
	    orr_handle_check_node(handle, (int) node, __func__))
		return;
	if (!stream)
		stream = stderr;
	orr_lock(&handle->lock);
	struct orr_replicate *r = orr_handle_find(handle, node);
	orr_handle_unlock(handle);
	fprintf(stream, "%s on memory node %u: %s, %s, %zu bytes\n", orr_handle_name(handle), node,
		r ? states[r->state] : "never used",
		r && r->allocated ? "allocated" : "not allocated", starpu_data_get_size(handle));
	if (handle->ops->display)
		handle->ops->display(handle, stream);
}

unsigned starpu_data_test_if_allocated_on_node(starpu_data_handle_t handle, unsigned memory_node)
{
	orr_handle_must_be_known(handle, __func__);
	orr_lock(&handle->lock);
	struct orr_replicate *r = orr_handle_find(handle, memory_node);
	unsigned yes = r && r->allocated;
	orr_handle_unlock(handle);
	return yes;
}

unsigned starpu_data_is_on_node(starpu_data_handle_t handle, unsigned node)
{
	orr_handle_must_be_known(handle, __func__);
	orr_lock(&handle->lock);
	struct orr_replicate *r = orr_handle_find(handle, node);
	unsigned yes = r && ORR_ATOMIC_LOAD(&r->state) != ORR_INVALID;
	orr_handle_unlock(handle);
	return yes;
}

void starpu_data_query_status2(starpu_data_handle_t handle, int memory_node, int *is_allocated,
			       int *is_valid, int *is_loading, int *is_requested)
{
	orr_handle_must_be_known(handle, __func__);
	orr_lock(&handle->lock);
	struct orr_replicate *r = orr_handle_find(handle, (unsigned) memory_node);
	if (is_allocated)
		*is_allocated = r && r->allocated;
	if (is_valid)
		*is_valid = r && r->state != ORR_INVALID;
	if (is_loading)
		*is_loading = r && r->loading;
	if (is_requested)
		*is_requested = r && (r->requested || r->loading);
	orr_handle_unlock(handle);
}

void starpu_data_query_status(starpu_data_handle_t handle, int memory_node, int *is_allocated,
			      int *is_valid, int *is_requested)
{
	starpu_data_query_status2(handle, memory_node, is_allocated, is_valid, NULL, is_requested);
}

/* ---- contents ---- */

int orr_handle_has_value(starpu_data_handle_t h)
{
	int yes = 0;

	orr_lock(&h->lock);
	for (struct orr_replicate *r = &h->main; r && !yes; r = r->next)
		yes = ORR_ATOMIC_LOAD_RELAXED(&r->state) != ORR_INVALID;
	orr_handle_unlock(h);
	return yes;
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
	if (h->ops->unregister_data_handle)
		h->ops->unregister_data_handle(h);
	release_memory(h);
}
