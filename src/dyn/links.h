/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The processes that are connected already, and the plan of a communicator for others.
 *
 * A link is a communicator that the runtime keeps: the world of processes that were started
 * together, or one that joined several. A plan says which links the new communicator is pieced
 * together from, which link that makes, and which links nobody needs from then on.
 *
 * Invariant: all processes that take part get the same plan. */
#ifndef ORR_DYN_LINKS_H
#define ORR_DYN_LINKS_H

#include "dyn/sets.h"

struct orr_dyn_link {
	int *uids, n;
	int world; /* it ends with its processes only */
};

struct orr_dyn_links {
	struct orr_dyn_link *links; /* n 0: it was freed */
	int n;
};

/* A new link. Returns its number. */
int orr_dyn_link_new(struct orr_dyn_links *l, const int *uids, int n, int world);
/* Appends the plan of a communicator of these processes to the words: the number of the link that
 * it makes or -1; how many pieces, of each its link and its processes with their number before
 * them; and how many links to free, and which. 0, or -1 if a process is in no link. */
int orr_dyn_plan(struct orr_dyn_links *l, const struct orr_dyn_sets *s, const int *uids, int n,
		 struct orr_dyn_words *out);
void orr_dyn_links_free(struct orr_dyn_links *l);

#endif
