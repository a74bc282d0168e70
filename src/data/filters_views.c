/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The view of partitioned data that tasks submitted from now on may use, and the switches that
 * change it: those that the program asks for, and those that an access to another view needs.
 *
 * Invariant: states change in the thread that submits, right after the switch is submitted; the
 * views of one datum are used by one submitting thread at a time. (The latter is the program's
 * promise.) */
#include "data/filters_switch.h"
#include "base/log.h"
#include "data/data_copy.h"
#include "data/filters_views.h"

#include <errno.h>

/* ---- states ---- */

static void set_flags(starpu_data_handle_t h, unsigned clear, unsigned set)
{
	if (h->busy_partition & clear)
		ORR_ATOMIC_AND(&h->busy_partition, (uint8_t) ~clear);
	if (set)
		ORR_ATOMIC_OR(&h->busy_partition, (uint8_t) set);
}

static void set_state(struct orr_partition *p, enum orr_view state)
{
	static const uint8_t piece_flags[] = { ORR_VIEW_PIECE_OFF, ORR_VIEW_PIECE_RO, 0 };
	static const uint8_t cut_flags[] = { 0, ORR_VIEW_CUT_RO, ORR_VIEW_CUT_RW };
	unsigned flags = piece_flags[state];
	struct orr_partition *q;

	orr_assert(state != ORR_VIEW_WRITE || !orr_partition_rival(p, ORR_VIEW_WRITE));
	p->state = state;
	for (unsigned i = 0; i < p->npieces; i++) {
		if (state == ORR_VIEW_NONE && (p->piece[i]->busy_partition & ORR_VIEW_DUP_SOURCE))
			orr_dup_forget(p->piece[i]);
		set_flags(p->piece[i], ORR_VIEW_PIECE_OFF | ORR_VIEW_PIECE_RO, flags);
	}
	if (state == ORR_VIEW_WRITE && (p->father->busy_partition & ORR_VIEW_DUP_SOURCE))
		orr_dup_forget(p->father);
	for (flags = 0, q = p->father->ext->partitions; q; q = q->next) {
		flags |= cut_flags[q->state];
		if (q->state && q->sync)
			flags |= ORR_VIEW_CUT_SYNC;
	}
	set_flags(p->father, ORR_VIEW_CUT_RO | ORR_VIEW_CUT_RW | ORR_VIEW_CUT_SYNC, flags);
}

static int is_cut(starpu_data_handle_t h, int rw_only)
{
	return (h->busy_partition &
		(rw_only ? ORR_VIEW_CUT_RW : ORR_VIEW_CUT_RO | ORR_VIEW_CUT_RW)) != 0;
}

struct orr_partition *orr_partition_rival(const struct orr_partition *p, enum orr_view view)
{
	for (struct orr_partition *q = p->father->ext->partitions; q; q = q->next)
		if (q != p && (q->state == ORR_VIEW_WRITE || (q->state && view == ORR_VIEW_WRITE)))
			return q;
	return NULL;
}

/* ---- taking pieces away ---- */

/* Deactivates the plans of h that exclude the use of h as a whole. */
static int deactivate_all(starpu_data_handle_t h, enum orr_view down_to, const char *who)
{
	if (!is_cut(h, down_to == ORR_VIEW_READ))
		return 0;
	for (struct orr_partition *p = h->ext->partitions; p; p = p->next)
		if (p->state > down_to) {
			if (p->sync) {
				orr_error(
					"%s needs %s as a whole, which is partitioned: use its pieces, or call starpu_data_unpartition first",
					who, orr_handle_name(h));
				return -EINVAL;
			}
			if (orr_partition_deactivate(p, down_to, who, NULL))
				return -EINVAL;
		}
	return 0;
}

int orr_partition_deactivate(struct orr_partition *p, enum orr_view down_to, const char *who,
			     const struct orr_switch_options *o)
{
	enum orr_switch_kind kind = ORR_SWITCH_DROP;

	for (unsigned i = 0; i < p->npieces; i++)
		if (is_cut(p->piece[i], 0) && deactivate_all(p->piece[i], down_to, who))
			return -EINVAL;
	orr_assert(p->state >= down_to);
	if (p->state == ORR_VIEW_WRITE)
		kind = down_to == ORR_VIEW_READ ? ORR_SWITCH_DOWNGRADE : ORR_SWITCH_GATHER;
	orr_switch_submit(p, kind, o);
	set_state(p, down_to);
	return 0;
}

/* ---- giving pieces ---- */

int orr_partition_activate(struct orr_partition *p, enum orr_view view, const char *who,
			   const struct orr_switch_options *o)
{
	struct orr_partition *rival, *outer = p->father->piece_of;

	if (p->state >= view)
		return 0;
	if (view == ORR_VIEW_WRITE && p->overlapping) {
		orr_error(
			"%s would write pieces of %s that overlap: the pieces of this filter can only be read",
			who, orr_handle_name(p->father));
		return -EINVAL;
	}
	if (outer && orr_partition_activate(outer, view, who, NULL))
		return -EINVAL;
	while ((rival = orr_partition_rival(p, view))) {
		if (rival->sync) {
			orr_error(
				"%s needs another view of %s than the one that starpu_data_partition made: unpartition it first",
				who, orr_handle_name(p->father));
			return -EINVAL;
		}
		if (orr_partition_deactivate(rival,
					     view == ORR_VIEW_WRITE ? ORR_VIEW_NONE : ORR_VIEW_READ,
					     who, NULL))
			return -EINVAL;
	}
	orr_assert(!(view == ORR_VIEW_WRITE && p->overlapping));
	orr_assert(!outer || outer->state >= view);
	orr_switch_submit(p,
			  p->state                 ? ORR_SWITCH_UPGRADE
			  : view == ORR_VIEW_WRITE ? ORR_SWITCH_CUT
						   : ORR_SWITCH_CUT_READ,
			  o);
	set_state(p, view);
	return 0;
}

int orr_partition_prepare(starpu_data_handle_t h, int write, const char *who)
{
	if (h->piece_of &&
	    orr_partition_activate(h->piece_of, write ? ORR_VIEW_WRITE : ORR_VIEW_READ, who, NULL))
		return -EINVAL;
	return deactivate_all(h, write ? ORR_VIEW_NONE : ORR_VIEW_READ, who);
}

/* ---- what submissions and acquisitions ask ---- */

static int writes(enum starpu_data_access_mode mode)
{
	return (mode & (STARPU_W | STARPU_REDUX | STARPU_MPI_REDUX)) != 0;
}

/* Flags that exclude an access of that mode. */
static unsigned excluded(starpu_data_handle_t h, enum starpu_data_access_mode mode)
{
	unsigned flags = ORR_VIEW_CUT_RW | ORR_VIEW_CUT_SYNC | ORR_VIEW_PIECE_OFF;

	if (writes(mode))
		flags |= ORR_VIEW_CUT_RO | ORR_VIEW_PIECE_RO | ORR_VIEW_DUP;
	else if (!(mode & STARPU_R))
		return 0;
	return ORR_ATOMIC_LOAD_RELAXED(&h->busy_partition) & flags;
}

static int no_switch(starpu_data_handle_t h, unsigned flags, enum starpu_data_access_mode mode,
		     const char *who)
{
	if (flags & (ORR_VIEW_CUT_RW | ORR_VIEW_CUT_RO))
		orr_error(
			"%s needs %s as a whole, which is partitioned: use its pieces, or unpartition it first%s",
			who, orr_handle_name(h),
			mode & STARPU_NOPLAN ? " (STARPU_NOPLAN forbids the automatic switch)"
					     : "");
	else
		orr_error(
			"%s needs %s %s, a piece of a data that is not partitioned so at this point: call starpu_data_partition_submit first%s",
			who, orr_handle_name(h), writes(mode) ? "for writing" : "for reading",
			mode & STARPU_NOPLAN ? " (STARPU_NOPLAN forbids the automatic switch)"
					     : "");
	return -EINVAL;
}

int orr_handle_check_partition(starpu_data_handle_t h, enum starpu_data_access_mode mode,
			       const char *task)
{
	unsigned flags = excluded(h, mode);
	char who[96];

	if (writes(mode) && (ORR_ATOMIC_LOAD_RELAXED(&h->busy_partition) & ORR_VIEW_DUP_SOURCE))
		orr_dup_forget(h);
	if (!flags)
		return 0;
	snprintf(who, sizeof(who), "%s%.64s", task ? "task " : "an acquisition", task ? task : "");
	if (flags & ORR_VIEW_DUP) {
		orr_error(
			"%s writes %s, a duplicate made by starpu_data_dup_ro, which can only be read",
			who, orr_handle_name(h));
		return -EINVAL;
	}
	if ((mode & STARPU_NOPLAN) ||
	    ((flags & ORR_VIEW_CUT_SYNC) && !(flags & ORR_VIEW_PIECE_OFF)))
		return no_switch(h, flags | ((flags & ORR_VIEW_CUT_SYNC) ? ORR_VIEW_CUT_RW : 0),
				 mode, who);
	return orr_partition_prepare(h, writes(mode), who);
}

int orr_partition_check_view(starpu_data_handle_t h, enum starpu_data_access_mode mode,
			     const char *task, unsigned i)
{
	if (!h->busy_partition || !excluded(h, mode))
		return 0;
	orr_error(
		"task %s accesses %s%s (datum %u) together with another view of the same data: views overlap, at most one of them can "
		"be used when one is written",
		task, writes(mode) ? "and writes " : "", orr_handle_name(h), i);
	return -EINVAL;
}

int orr_partition_check_unregister(starpu_data_handle_t h)
{
	struct orr_partition *p = h->ext ? h->ext->partitions : NULL;

	if (h->piece_of) {
		orr_error(
			"%s is a piece of %s: it goes when that is unpartitioned or its plan cleaned",
			orr_handle_name(h), orr_handle_name(h->piece_of->father));
		return -EINVAL;
	}
	if (p) {
		orr_error("%s %s %u pieces: call %s before unregistering it", orr_handle_name(h),
			  p->sync ? "is partitioned into" : "has a plan of", p->npieces,
			  p->sync ? "starpu_data_unpartition" : "starpu_data_partition_clean");
		return -EINVAL;
	}
	return 0;
}
