/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Asynchronous partitioning: plans of the program, and the switches that it submits itself.
 *
 * Invariant: a switch to the view that is there already does nothing; one that contradicts another
 * active view is refused with a message and changes nothing. */
#include "data/filters.h"
#include "data/filters_views.h"
#include "base/log.h"
#include "data/data.h"

#include <string.h>

/* The plan that children[] came from; NULL after a message. */
static struct orr_partition *plan_of(starpu_data_handle_t h, unsigned nparts,
				     starpu_data_handle_t *children, const char *what)
{
	if (orr_handle_check(h, what))
		return NULL;
	if (nparts && !children) {
		orr_error(
			"%s: the children of %s are NULL; give those of its plan (starpu_data_partition_plan)",
			what, orr_handle_name(h));
		return NULL;
	}
	for (unsigned i = 0; i < nparts; i++)
		if (orr_handle_check(children[i], what))
			return NULL;
	struct orr_partition *p = nparts ? children[0]->piece_of : NULL;
	for (unsigned i = 1; i < nparts && p; i++)
		if (children[i]->piece_of != p)
			p = NULL;
	if (p && p->father == h && p->npieces == nparts && !p->sync)
		return p;
	if (p && p->father == h && !p->sync)
		orr_error("%s: %s has a plan of %u pieces, and %u are given; give all of them",
			  what, orr_handle_name(h), p->npieces, nparts);
	else
		orr_error(
			"%s: the %u children are not those of a plan of %s (starpu_data_partition_plan)",
			what, nparts, orr_handle_name(h));
	return NULL;
}

void starpu_data_partition_plan(starpu_data_handle_t initial_handle, struct starpu_data_filter *f,
				starpu_data_handle_t *children)
{
	orr_handle_must_be_known(initial_handle, __func__);
	if (!children)
		orr_fatal(
			"starpu_data_partition_plan of %s: there is nowhere to put the pieces; give an array of handles",
			orr_handle_name(initial_handle));
	struct orr_partition *p = orr_partition_create(initial_handle, f);
	memcpy(children, p->piece, p->npieces * sizeof(*children));
}

void starpu_data_partition_clean_node(starpu_data_handle_t root_data, unsigned nparts,
				      starpu_data_handle_t *children, int gather_node)
{
	struct orr_partition *p = plan_of(root_data, nparts, children,
					  "starpu_data_partition_clean");
	const char *task = orr_data_inside(orr_thread_self());

	if (task)
		orr_fatal(
			"starpu_data_partition_clean of %s inside task or callback %s would block its worker",
			orr_handle_name(root_data), task);
	if (!p)
		return;
	for (unsigned i = 0; i < nparts; i++)
		if (p->piece[i]->ext && p->piece[i]->ext->partitions)
			orr_fatal(
				"starpu_data_partition_clean of %s: its piece %u has a plan of its own; clean that first",
				orr_handle_name(root_data), i);
	orr_partition_destroy(p, p->state == ORR_VIEW_WRITE ? gather_node : -1);
}

void starpu_data_partition_clean(starpu_data_handle_t root_data, unsigned nparts,
				 starpu_data_handle_t *children)
{
	starpu_data_partition_clean_node(root_data, nparts, children, -1);
}

/* ---- towards the pieces ---- */

static void partition(starpu_data_handle_t h, unsigned nparts, starpu_data_handle_t *children,
		      enum orr_view view, int sequential, const char *what)
{
	struct orr_switch_options o = { .gather_node = -1, .unordered = !sequential };
	struct orr_partition *p = plan_of(h, nparts, children, what);

	if (!p)
		return;
	if (p->state > view) {
		orr_partition_deactivate(p, view, what, &o);
		return;
	}
	struct orr_partition *rival = orr_partition_rival(p, view);
	if (rival && p->state < view) {
		orr_error(
			"%s: another partition of %s (%u pieces) is active for %s and overlaps this one: unpartition it first",
			what, orr_handle_name(h), rival->npieces,
			rival->state == ORR_VIEW_WRITE ? "writing" : "reading");
		return;
	}
	orr_partition_activate(p, view, what, &o);
}

void starpu_data_partition_submit_sequential_consistency(starpu_data_handle_t initial_handle,
							 unsigned nparts,
							 starpu_data_handle_t *children,
							 int sequential_consistency)
{
	partition(initial_handle, nparts, children, ORR_VIEW_WRITE, sequential_consistency,
		  "starpu_data_partition_submit");
}

void starpu_data_partition_readonly_submit_sequential_consistency(
	starpu_data_handle_t initial_handle, unsigned nparts, starpu_data_handle_t *children,
	int sequential_consistency)
{
	partition(initial_handle, nparts, children, ORR_VIEW_READ, sequential_consistency,
		  "starpu_data_partition_readonly_submit");
}

void starpu_data_partition_submit(starpu_data_handle_t initial_handle, unsigned nparts,
				  starpu_data_handle_t *children)
{
	starpu_data_partition_submit_sequential_consistency(initial_handle, nparts, children, 1);
}

void starpu_data_partition_readonly_submit(starpu_data_handle_t initial_handle, unsigned nparts,
					   starpu_data_handle_t *children)
{
	starpu_data_partition_readonly_submit_sequential_consistency(initial_handle, nparts,
								     children, 1);
}

void starpu_data_partition_readwrite_upgrade_submit(starpu_data_handle_t initial_handle,
						    unsigned nparts, starpu_data_handle_t *children)
{
	partition(initial_handle, nparts, children, ORR_VIEW_WRITE, 1,
		  "starpu_data_partition_readwrite_upgrade_submit");
}

void starpu_data_partition_readonly_downgrade_submit(starpu_data_handle_t initial_handle,
						     unsigned nparts,
						     starpu_data_handle_t *children)
{
	partition(initial_handle, nparts, children, ORR_VIEW_READ, 1,
		  "starpu_data_partition_readonly_downgrade_submit");
}

/* ---- back ---- */

void starpu_data_unpartition_submit_sequential_consistency_cb(
	starpu_data_handle_t initial_handle, unsigned nparts, starpu_data_handle_t *children,
	int gathering_node, int sequential_consistency, void (*callback_func)(void *),
	void *callback_arg)
{
	struct orr_switch_options o = { .gather_node = gathering_node,
					.unordered = !sequential_consistency,
					.callback = callback_func,
					.callback_arg = callback_arg };
	struct orr_partition *p = plan_of(initial_handle, nparts, children,
					  "starpu_data_unpartition_submit");

	if (!p)
		return;
	if (gathering_node >= (int) orr_self()->data->nmemnodes) {
		orr_error(
			"starpu_data_unpartition_submit: %s on memory node %d, but there are %u; it stays partitioned",
			orr_handle_name(initial_handle), gathering_node,
			orr_self()->data->nmemnodes);
		return;
	}
	/* Read by other plans' pieces, or not: its value stays where it is. A rival that writes has
	 * the value. */
	if (!p->state && orr_partition_rival(p, ORR_VIEW_READ))
		o.gather_node = -1;
	orr_partition_deactivate(p, ORR_VIEW_NONE, "starpu_data_unpartition_submit", &o);
}

void starpu_data_unpartition_submit_sequential_consistency(starpu_data_handle_t initial_handle,
							   unsigned nparts,
							   starpu_data_handle_t *children,
							   int gathering_node,
							   int sequential_consistency)
{
	starpu_data_unpartition_submit_sequential_consistency_cb(
		initial_handle, nparts, children, gathering_node, sequential_consistency, NULL,
		NULL);
}

void starpu_data_unpartition_submit(starpu_data_handle_t initial_handle, unsigned nparts,
				    starpu_data_handle_t *children, int gathering_node)
{
	starpu_data_unpartition_submit_sequential_consistency_cb(initial_handle, nparts, children,
								 gathering_node, 1, NULL, NULL);
}

void starpu_data_unpartition_readonly_submit(starpu_data_handle_t initial_handle, unsigned nparts,
					     starpu_data_handle_t *children, int gathering_node)
{
	struct orr_switch_options o = { .gather_node = gathering_node };
	struct orr_partition *p = plan_of(initial_handle, nparts, children,
					  "starpu_data_unpartition_readonly_submit");

	if (!p)
		return;
	if (p->state == ORR_VIEW_WRITE)
		orr_partition_deactivate(p, ORR_VIEW_READ,
					 "starpu_data_unpartition_readonly_submit", &o);
	else
		orr_partition_activate(p, ORR_VIEW_READ, "starpu_data_unpartition_readonly_submit",
				       NULL);
}
