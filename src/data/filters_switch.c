/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Switches between a datum and its pieces (see filters_switch.h): the task, and its body.
 *
 * Invariant: a body runs while its task holds the father and all pieces, so that nobody else looks
 * at their contents; references taken for a switch are given back before its task completes. */
#include "data/filters_switch.h"
#include "data/data.h"
#include "base/log.h"
#include "data/fetch.h"
#include "data/access_record.h"
#include "data/handle_contents.h"

#include <errno.h>
#include <stdlib.h>

struct orr_switch {
	struct orr_partition *plan;
	enum orr_switch_kind kind;
	int gather_node;
	int valued;  /* there is a value at all */
	int pending; /* atomic: copies under way, +1 while they are being issued */
	void (*then)(struct orr_switch *); /* once they are over */
	struct orr_owner *owner;
};

/* ---- references and copies ---- */

/* One copy, or the issuing of them, is over. */
static void fetched(void *arg)
{
	struct orr_switch *s = arg;

	orr_assert(ORR_ATOMIC_LOAD(&s->pending) > 0);
	if (ORR_ATOMIC_ADD(&s->pending, -1) == 0)
		s->then(s);
}

/* Brings h to a node as part of the switch; the access remembers the reference. */
static void fetch(struct orr_switch *s, struct orr_access *a, unsigned node,
		  enum starpu_data_access_mode mode)
{
	orr_assert(ORR_ATOMIC_LOAD(&s->pending) > 0 && !a->pinned && a->locked);
	a->node = (int8_t) node;
	a->pinned = 1;
	ORR_ATOMIC_ADD(&s->pending, 1);
	int ret = orr_fetch(a->handle, node, mode, 0, fetched, s);
	if (ret < 0)
		orr_fatal("%s: %s cannot be brought to memory node %u", orr_owner_name(s->owner),
			  orr_handle_name(a->handle), node);
	if (ret == 0)
		ORR_ATOMIC_ADD(&s->pending, -1);
}

static void unref(struct orr_access *a)
{
	if (!a->pinned)
		return;
	a->pinned = 0;
	orr_fetch_unref(a->handle, (unsigned) a->node);
}

/* ---- what changes hands ---- */

/* The value of h is now elsewhere: in its pieces, or in its father. */
static void take_value(starpu_data_handle_t h)
{
	orr_lock(&h->lock);
	orr_handle_drop_contents(h, 1);
	orr_handle_unlock(h);
}

/* The value of h is now in its buffer on that node, and only there. */
static void give_value(starpu_data_handle_t h, unsigned node)
{
	orr_lock(&h->lock);
	orr_handle_written(h, orr_handle_find(h, node));
	orr_handle_unlock(h);
}

/* "One can not change the size of a partitioned data" (27.1): the pieces no longer fit what they
 * were cut from. */
static void check_father(struct orr_switch *s)
{
	struct orr_partition *p = s->plan;
	size_t size = starpu_data_get_size(p->father);

	if (size != p->father_size ||
	    starpu_data_handle_to_pointer(p->father, p->node) != p->father_ptr)
		orr_fatal(
			"%s was resized or moved (%zu bytes, now %zu) since its partition was planned: clean the plan before changing its size, "
			"and make another afterwards",
			orr_handle_name(p->father), p->father_size, size);
}

static void check_piece(struct orr_switch *s, unsigned i)
{
	struct orr_partition *p = s->plan;
	size_t size = starpu_data_get_size(p->piece[i]);

	if (size != p->size[i])
		orr_fatal(
			"piece %u of %s was resized by a task (%zu bytes, now %zu): the size of partitioned data cannot change",
			i, orr_handle_name(p->father), p->size[i], size);
}

/* ---- the end of a switch ---- */

static void finish_cut(struct orr_switch *s)
{
	struct orr_partition *p = s->plan;

	check_father(s);
	unref(&s->owner->access[0]);
	if (s->kind == ORR_SWITCH_CUT)
		take_value(p->father);
	for (unsigned i = 0; i < p->npieces && s->valued; i++)
		give_value(p->piece[i], p->node);
}

/* The pieces' values lie in the father's buffer. */
static void finish_gather(struct orr_switch *s)
{
	struct orr_partition *p = s->plan;

	for (unsigned i = 0; i < p->npieces; i++) {
		check_piece(s, i);
		unref(&s->owner->access[1 + i]);
		if (s->kind == ORR_SWITCH_GATHER)
			take_value(p->piece[i]);
	}
	if (s->valued)
		give_value(p->father, p->node);
}

static void finish_drop(struct orr_switch *s)
{
	for (unsigned i = 0; i < s->plan->npieces; i++)
		take_value(s->plan->piece[i]);
}

static void complete(struct orr_switch *s)
{
	struct orr_owner *o = s->owner;

	for (unsigned i = 1; i < o->naccess; i++)
		orr_assert(!o->access[i].pinned);
	unref(&o->access[0]);
	orr_self()->data->up->complete(o); /* s goes with the task */
}

/* All copies are there. */
static void finish(struct orr_switch *s)
{
	switch (s->kind) {
	case ORR_SWITCH_CUT:
	case ORR_SWITCH_CUT_READ: finish_cut(s); break;
	case ORR_SWITCH_UPGRADE: take_value(s->plan->father); break;
	case ORR_SWITCH_DOWNGRADE:
	case ORR_SWITCH_GATHER: finish_gather(s); break;
	case ORR_SWITCH_DROP: finish_drop(s); break;
	}
	s->then = complete;
	s->pending = 1;
	if (s->gather_node >= 0 && orr_handle_has_value(s->plan->father))
		fetch(s, &s->owner->access[0], (unsigned) s->gather_node, STARPU_R);
	fetched(s);
}

/* ---- the task ---- */

static void switch_body(struct orr_owner *o, void *arg)
{
	struct orr_switch *s = arg;
	struct orr_partition *p = s->plan;

	orr_assert(o->naccess == 1 + p->npieces && o->held);
	s->owner = o;
	s->then = finish;
	s->pending = 1;
	if (s->kind == ORR_SWITCH_CUT || s->kind == ORR_SWITCH_CUT_READ) {
		s->valued = orr_handle_has_value(p->father);
		if (s->valued)
			fetch(s, &o->access[0], p->node,
			      s->kind == ORR_SWITCH_CUT ? STARPU_RW : STARPU_R);
	} else if (s->kind == ORR_SWITCH_GATHER || s->kind == ORR_SWITCH_DOWNGRADE) {
		for (unsigned i = 0; i < p->npieces; i++) {
			if (!orr_handle_has_value(p->piece[i]))
				continue;
			s->valued = 1;
			fetch(s, &o->access[1 + i], p->node, STARPU_R);
		}
	}
	fetched(s);
}

/* The mode in which a switch accesses each side: it only reads a side that others may keep reading.
 */
static enum starpu_data_access_mode father_mode(enum orr_switch_kind kind)
{
	return kind == ORR_SWITCH_CUT_READ || kind == ORR_SWITCH_DROP ? STARPU_R : STARPU_RW;
}

static enum starpu_data_access_mode piece_mode(enum orr_switch_kind kind)
{
	return kind == ORR_SWITCH_UPGRADE || kind == ORR_SWITCH_DOWNGRADE ? STARPU_R : STARPU_RW;
}

void orr_switch_submit(struct orr_partition *p, enum orr_switch_kind kind,
		       const struct orr_switch_options *o)
{
	static const struct orr_switch_options defaults = { .gather_node = -1 };
	static struct starpu_codelet switch_cl = { .where = STARPU_NOWHERE,
						   .name = "partition",
						   .nbuffers = STARPU_VARIABLE_NBUFFERS };
	static const char *const names[] = { "partition",         "partition_readonly",
					     "partition_upgrade", "partition_downgrade",
					     "unpartition",       "unpartition_readonly" };
	unsigned n = p->npieces + 1;
	struct orr_switch *s = calloc(1, sizeof(*s));
	starpu_data_handle_t *handles = malloc(n * sizeof(*handles));
	enum starpu_data_access_mode *modes = malloc(n * sizeof(*modes));

	if (!o)
		o = &defaults;
	if (!s || !handles || !modes)
		orr_fatal("out of memory while switching between %s and its %u pieces",
			  orr_handle_name(p->father), p->npieces);
	s->plan = p;
	s->kind = kind;
	s->gather_node = o->gather_node;
	handles[0] = p->father;
	modes[0] = father_mode(kind);
	for (unsigned i = 0; i < p->npieces; i++) {
		handles[1 + i] = p->piece[i];
		modes[1 + i] = piece_mode(kind);
	}
	struct orr_inner_task d = {
		.name = names[kind],
		.cl = &switch_cl,
		.body = switch_body,
		.arg = s,
		.arg_size = sizeof(*s),
		.n = n,
		.handles = handles,
		.modes = modes,
		.callback = o->callback,
		.callback_arg = o->callback_arg,
		.unordered = o->unordered != 0,
		.synchronous = o->synchronous != 0,
		.switches = 1,
	};
	if (orr_self()->data->up->submit(&d))
		orr_fatal("the switch between %s and its pieces cannot be submitted",
			  orr_handle_name(p->father));
	free(handles);
	free(modes);
}
