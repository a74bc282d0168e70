/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plans: creating and freeing the pieces of a datum; the interface of partitioning
 * (starpu_data_filters.h).
 *
 * The pieces are described once, when the plan is made, inside the father's buffer on one node: its
 * home node, or main memory when it has none (or one that is not addressable, a disk). A father
 * without a buffer there gets one, which stays until the plan is gone; where nothing was ever
 * written there is no value, and pieces that are gathered unwritten leave that part of the father
 * undefined.
 *
 * Invariant: a filter is called only during the call that was given it. */
#include "data/filters.h"
#include "data/filters_views.h"
#include "data/iface/iface.h"
#include "data/memory.h"
#include "data/thresholds.h"
#include "base/log.h"
#include "data/data.h"
#include "data/data_copy.h"
#include "data/close.h"
#include "data/handle_attributes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Blocking calls of this file have no way to fail. */
static void must_wait_outside(const char *what, starpu_data_handle_t h)
{
	const char *task = orr_data_inside(orr_thread_self());

	if (task)
		orr_fatal(
			"%s of %s inside task or callback %s would block its worker: use the _submit form",
			what, orr_handle_name(h), task);
}

/* ---- where the pieces lie ---- */

/* Returns true if pieces of h are described by addresses alone, without offset. They must lie where
 * addresses can be computed. */
static int by_address(starpu_data_handle_t h)
{
	enum starpu_data_interface_id id = orr_iface_id(h->ops);

	return id == STARPU_CSR_INTERFACE_ID || id == STARPU_BCSR_INTERFACE_ID ||
	       id == STARPU_COO_INTERFACE_ID;
}

static unsigned choose_node(starpu_data_handle_t h)
{
	struct orr_process *proc = orr_self();

	if (h->home_node < 0 || proc->data->memnodes[h->home_node]->kind == STARPU_DISK_RAM)
		return STARPU_MAIN_RAM;
	return by_address(h) && proc->data->memnodes[h->home_node]->kind != STARPU_CPU_RAM
		       ? STARPU_MAIN_RAM
		       : (unsigned) h->home_node;
}

/* Waits for the tasks submitted so far if the plan needs it: sparse filters read indices, and a
 * buffer must not appear under running tasks. */
static void settle(starpu_data_handle_t h, unsigned node)
{
	int reads = by_address(h);

	orr_lock(&h->lock);
	struct orr_replicate *r = orr_handle_find(h, node);
	int busy = (!r || !r->allocated) && (h->ngranted || h->head);
	orr_handle_unlock(h);
	if ((!reads && !busy) || orr_thread_self()->task)
		return;
	if (starpu_data_acquire_on_node(h, reads ? (int) node : STARPU_ACQUIRE_NO_NODE, STARPU_R) ==
	    0)
		starpu_data_release_on_node(h, reads ? (int) node : STARPU_ACQUIRE_NO_NODE);
}

/* The father's interface on the node, with a buffer that stays. */
static void *pin_buffer(starpu_data_handle_t h, unsigned node)
{
	orr_lock(&h->lock);
	struct orr_replicate *r = orr_handle_replicate(h, node);
	if (!r || !orr_handle_ext(h))
		orr_fatal("out of memory while partitioning %s", orr_handle_name(h));
	ORR_ATOMIC_ADD(&r->refcnt, 1);
	while (!r->allocated)
		if (orr_memory_allocate(h, r) == -ENOMEM)
			orr_fatal(
				"%s has no buffer on memory node %u for its pieces to lie in, and there is no room for one",
				orr_handle_name(h), node);
	void *iface = orr_replicate_iface(h, r);
	orr_handle_unlock(h);
	return iface;
}

static void unpin_buffer(starpu_data_handle_t h, unsigned node)
{
	orr_lock(&h->lock);
	orr_assert(ORR_ATOMIC_LOAD(&orr_handle_find(h, node)->refcnt) > 0);
	ORR_ATOMIC_ADD(&orr_handle_find(h, node)->refcnt, -1);
	orr_handle_unlock(h);
	orr_memory_kick(orr_self());
}

/* ---- pieces ---- */

/* Copies the attributes that a piece has in common with its father. */
static void inherit(starpu_data_handle_t c, starpu_data_handle_t father)
{
	struct orr_data_ext *from = father->ext;

	c->sequential = father->sequential;
	if (!from->redux_cl && !from->init_cl && !from->wt_mask && !from->ooc_off)
		return;
	orr_lock(&c->lock);
	struct orr_data_ext *to = orr_handle_ext(c);
	orr_unlock(&c->lock);
	if (!to)
		orr_fatal("out of memory while partitioning %s", orr_handle_name(father));
	to->redux_cl = from->redux_cl;
	to->redux_arg = from->redux_arg;
	to->init_cl = from->init_cl;
	to->init_arg = from->init_arg;
	to->wt_mask = from->wt_mask;
	to->ooc_off = from->ooc_off;
}

/* scratch has room for any interface. */
static void create_piece(struct orr_partition *p, unsigned i, struct starpu_data_filter *f,
			 void *iface, void *scratch)
{
	starpu_data_handle_t father = p->father, c;
	struct starpu_data_interface_ops *ops = f->get_child_ops ? f->get_child_ops(f, i)
								 : father->ops;

	memset(scratch, 0, ops->interface_size);
	f->filter_func(iface, scratch, f, i, p->npieces);
	if (orr_handle_create(&c, (int) p->node, scratch, ops, p))
		orr_fatal("out of memory while partitioning %s into %u pieces",
			  orr_handle_name(father), p->npieces);
	if (!c->wide)
		orr_iface_free_meta(ops, scratch);
	orr_lock(&c->lock);
	orr_handle_find(c, p->node)->state = ORR_INVALID; /* until the plan is active */
	orr_unlock(&c->lock);
	c->busy_partition = ORR_VIEW_PIECE_OFF;
	inherit(c, father);
	p->piece[i] = c;
	p->size[i] = starpu_data_get_size(c);
}

static size_t largest_interface(starpu_data_handle_t h, struct starpu_data_filter *f, unsigned n)
{
	size_t max = h->ops->interface_size;

	for (unsigned i = 0; f->get_child_ops && i < n; i++) {
		size_t size = f->get_child_ops(f, i)->interface_size;

		if (size > max)
			max = size;
	}
	return max;
}

static int overlapping(const struct starpu_data_filter *f)
{
	static void (*const shadows[])(void *, void *, struct starpu_data_filter *, unsigned,
				       unsigned) = { starpu_vector_filter_block_shadow,
						     starpu_matrix_filter_block_shadow,
						     starpu_matrix_filter_vertical_block_shadow,
						     starpu_block_filter_block_shadow,
						     starpu_block_filter_vertical_block_shadow,
						     starpu_block_filter_depth_block_shadow,
						     starpu_tensor_filter_block_shadow,
						     starpu_tensor_filter_vertical_block_shadow,
						     starpu_tensor_filter_depth_block_shadow,
						     starpu_tensor_filter_time_block_shadow,
						     starpu_ndim_filter_block_shadow };

	for (unsigned i = 0; i < sizeof(shadows) / sizeof(shadows[0]); i++)
		if (f->filter_func == shadows[i])
			return 1;
	return 0;
}

struct orr_partition *orr_partition_create(starpu_data_handle_t h, struct starpu_data_filter *f)
{
	struct orr_partition *p = calloc(1, sizeof(*p));

	if (!f)
		orr_fatal("%s: the filter is NULL", orr_handle_name(h));
	unsigned n = f->get_nchildren ? f->get_nchildren(f, h) : f->nchildren;
	if (!n)
		orr_fatal("%s: a filter with 0 children; set nchildren, or get_nchildren",
			  orr_handle_name(h));
	if (!f->filter_func)
		orr_fatal("%s: the filter has no filter_func", orr_handle_name(h));
	if (h->busy_partition & ORR_VIEW_DUP)
		orr_fatal("%s is a duplicate made by starpu_data_dup_ro: partition the original",
			  orr_handle_name(h));
	void *scratch = malloc(largest_interface(h, f, n));
	if (!p || !scratch || !(p->piece = malloc(n * sizeof(*p->piece))) ||
	    !(p->size = malloc(n * sizeof(*p->size))))
		orr_fatal("out of memory while partitioning %s into %u pieces", orr_handle_name(h),
			  n);
	p->father = h;
	p->npieces = n;
	p->node = choose_node(h);
	p->overlapping = (uint8_t) overlapping(f);
	settle(h, p->node);
	void *iface = pin_buffer(h, p->node);
	p->father_size = starpu_data_get_size(h);
	p->father_ptr = starpu_data_handle_to_pointer(h, p->node);
	for (unsigned i = 0; i < n; i++)
		create_piece(p, i, f, iface, scratch);
	free(scratch);
	p->next = h->ext->partitions;
	h->ext->partitions = p;
	return p;
}

void orr_partition_destroy(struct orr_partition *p, int gather_node)
{
	struct orr_switch_options o = { .gather_node = gather_node, .synchronous = 1 };
	starpu_data_handle_t h = p->father;
	struct orr_partition **link;

	for (unsigned i = 0; i < p->npieces; i++) {
		orr_handle_wait_pins(p->piece[i]);
		p->piece[i]->sequential = 1;
	}
	orr_handle_wait_pins(h);
	if (orr_partition_deactivate(p, ORR_VIEW_NONE, "the end of the partition", &o))
		orr_fatal("the partition of %s cannot be undone", orr_handle_name(h));
	for (link = &h->ext->partitions; *link != p; link = &(*link)->next)
		;
	*link = p->next;
	for (unsigned i = 0; i < p->npieces; i++) {
		if (p->piece[i]->busy_partition & ORR_VIEW_DUP_SOURCE)
			orr_dup_forget(p->piece[i]);
		orr_handle_end(p->piece[i]);
	}
	orr_assert(p->state == ORR_VIEW_NONE);
	unpin_buffer(h, p->node);
	free(p->piece);
	free(p->size);
	free(p);
}

/* ---- synchronous partitioning ---- */

static struct orr_partition *sync_plan(starpu_data_handle_t h)
{
	for (struct orr_partition *p = h->ext ? h->ext->partitions : NULL; p; p = p->next)
		if (p->sync)
			return p;
	return NULL;
}

void starpu_data_partition(starpu_data_handle_t initial_handle, struct starpu_data_filter *f)
{
	struct orr_switch_options o = { .gather_node = -1, .synchronous = 1 };

	orr_handle_must_be_known(initial_handle, __func__);
	must_wait_outside("starpu_data_partition", initial_handle);
	if (sync_plan(initial_handle))
		orr_fatal("%s is partitioned already: call starpu_data_unpartition first",
			  orr_handle_name(initial_handle));
	struct orr_partition *p = orr_partition_create(initial_handle, f);
	p->sync = 1;
	enum orr_view view = p->overlapping ? ORR_VIEW_READ : ORR_VIEW_WRITE;
	if (orr_partition_activate(p, view, "starpu_data_partition", &o))
		orr_fatal("%s cannot be partitioned", orr_handle_name(initial_handle));
}

/* Pieces that are cut themselves come first. */
static void unpartition(starpu_data_handle_t h, struct orr_partition *p, int node)
{
	for (unsigned i = 0; i < p->npieces; i++) {
		starpu_data_handle_t c = p->piece[i];

		while (c->ext && c->ext->partitions)
			unpartition(c, c->ext->partitions, -1);
	}
	(void) h;
	orr_partition_destroy(p, node);
}

void starpu_data_unpartition(starpu_data_handle_t root_data, unsigned gathering_node)
{
	orr_handle_must_be_known(root_data, __func__);
	must_wait_outside("starpu_data_unpartition", root_data);
	struct orr_partition *p = sync_plan(root_data);
	if (!p) {
		orr_error("starpu_data_unpartition: %s is not partitioned; nothing is done",
			  orr_handle_name(root_data));
		return;
	}
	/* -1: the value stays where its pieces lie. */
	if ((int) gathering_node != -1 && gathering_node >= orr_self()->data->nmemnodes)
		orr_fatal(
			"starpu_data_unpartition: %s on memory node %u, but there are %u; give one of them, or -1 for any",
			orr_handle_name(root_data), gathering_node, orr_self()->data->nmemnodes);
	unpartition(root_data, p, (int) gathering_node);
}

static void map(starpu_data_handle_t h, unsigned nfilters, struct starpu_data_filter **filters)
{
	if (!nfilters)
		return;
	struct orr_partition *p = sync_plan(h);
	if (!p) {
		starpu_data_partition(h, *filters++);
		p = sync_plan(h);
		nfilters--;
	}
	for (unsigned i = 0; i < p->npieces && nfilters; i++)
		map(p->piece[i], nfilters, filters);
}

void starpu_data_map_filters_parray(starpu_data_handle_t root_data, int nfilters,
				    struct starpu_data_filter **filters)
{
	map(root_data, (unsigned) nfilters, filters);
}

void starpu_data_map_filters_array(starpu_data_handle_t root_data, int nfilters,
				   struct starpu_data_filter *filters)
{
	struct starpu_data_filter *v[nfilters > 0 ? nfilters : 1];

	for (int i = 0; i < nfilters; i++)
		v[i] = &filters[i];
	map(root_data, (unsigned) nfilters, v);
}

void starpu_data_vmap_filters(starpu_data_handle_t root_data, unsigned nfilters, va_list pa)
{
	struct starpu_data_filter *v[nfilters ? nfilters : 1];

	for (unsigned i = 0; i < nfilters; i++)
		v[i] = va_arg(pa, struct starpu_data_filter *);
	map(root_data, nfilters, v);
}

void starpu_data_map_filters(starpu_data_handle_t root_data, unsigned nfilters, ...)
{
	va_list pa;

	va_start(pa, nfilters);
	starpu_data_vmap_filters(root_data, nfilters, pa);
	va_end(pa);
}

/* ---- finding pieces ---- */

/* The synchronous partition, else the newest plan that is active. */
static struct orr_partition *current_plan(starpu_data_handle_t h)
{
	struct orr_partition *p = sync_plan(h);

	if (p)
		return p;
	for (p = h->ext ? h->ext->partitions : NULL; p && !p->state; p = p->next)
		;
	return p;
}

int starpu_data_get_nb_children(starpu_data_handle_t handle)
{
	orr_handle_must_be_known(handle, __func__);
	struct orr_partition *p = current_plan(handle);
	return p ? (int) p->npieces : 0;
}

starpu_data_handle_t starpu_data_get_child(starpu_data_handle_t handle, unsigned i)
{
	if (orr_handle_known(handle, __func__))
		return NULL;
	struct orr_partition *p = current_plan(handle);
	if (p && i < p->npieces)
		return p->piece[i];
	orr_error("piece %u of %s: it has %u", i, orr_handle_name(handle), p ? p->npieces : 0);
	return NULL;
}

starpu_data_handle_t starpu_data_vget_sub_data(starpu_data_handle_t root_data, unsigned depth,
					       va_list pa)
{
	while (root_data && depth--)
		root_data = starpu_data_get_child(root_data, va_arg(pa, unsigned));
	return root_data;
}

starpu_data_handle_t starpu_data_get_sub_data(starpu_data_handle_t root_data, unsigned depth, ...)
{
	va_list pa;

	va_start(pa, depth);
	starpu_data_handle_t found = starpu_data_vget_sub_data(root_data, depth, pa);
	va_end(pa);
	return found;
}
