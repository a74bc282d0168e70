/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The running workers of a group, ordered by the end of their kernels (see group_heap.h). */
#include "core/worker/group_heap.h"

#include <math.h>

static int heap_before(const struct orr_worker *a, const struct orr_worker *b)
{
	return a->kernel.end_us < b->kernel.end_us ||
	       (a->kernel.end_us == b->kernel.end_us && a->end_seq < b->end_seq);
}

static void heap_set(struct orr_group *g, unsigned i, struct orr_worker *w)
{
	g->heap[i] = w;
	w->heap_index = i;
}

/* The worker at place i knows its place, and stands behind its parent. */
static void check_place(const struct orr_group *g, unsigned i)
{
	(void) g;
	(void) i;
	orr_assert(i >= g->nheap || g->heap[i]->heap_index == i);
	orr_assertf(!i || i >= g->nheap || !heap_before(g->heap[i], g->heap[(i - 1) / 2]),
		    "the kernel of worker %u ends before that of worker %u, behind which it stands",
		    g->heap[i]->id, g->heap[(i - 1) / 2]->id);
}

ORR_ASSERTED static int is_in(const struct orr_group *g, const struct orr_worker *w)
{
	return w->heap_index < g->nheap && g->heap[w->heap_index] == w;
}

void orr_group_heap_push(struct orr_group *g, struct orr_worker *w)
{
	orr_assertf(!is_in(g, w), "worker %u starts two kernels", w->id);
	orr_assertf(w->group == g && g->nheap < g->nworkers,
		    "worker %u is in the heap of another group", w->id);
	orr_assert(w->state == ORR_WORKER_RUNNING && !w->later && !isnan(w->kernel.end_us));

	unsigned i = g->nheap++;

	w->end_seq = g->seq++;
	for (; i > 0 && heap_before(w, g->heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap_set(g, i, g->heap[(i - 1) / 2]);
	heap_set(g, i, w);
	check_place(g, i);
	check_place(g, 2 * i + 1);
	check_place(g, 2 * i + 2);
}

/* A sorted array is a valid heap; insertion sort is cheap because the array is almost sorted. */
void orr_group_heap_sort(struct orr_group *g)
{
	for (unsigned i = 1; i < g->nheap; i++) {
		struct orr_worker *w = g->heap[i];
		unsigned at = i;

		for (; at > 0 && heap_before(w, g->heap[at - 1]); at--)
			heap_set(g, at, g->heap[at - 1]);
		heap_set(g, at, w);
		orr_assert(!at || !heap_before(w, g->heap[at - 1]));
	}
}

struct orr_worker *orr_group_heap_pop(struct orr_group *g)
{
	orr_assertf(g->nheap, "no kernel runs that could end");
	check_place(g, 0);
	check_place(g, 1);
	check_place(g, 2);

	struct orr_worker *top = g->heap[0], *last = g->heap[--g->nheap];
	unsigned i = 0;

	if (!g->nheap)
		return top;
	for (;;) {
		unsigned c = 2 * i + 1;

		if (c >= g->nheap)
			break;
		if (c + 1 < g->nheap && heap_before(g->heap[c + 1], g->heap[c]))
			c++;
		if (!heap_before(g->heap[c], last))
			break;
		heap_set(g, i, g->heap[c]);
		i = c;
	}
	heap_set(g, i, last);
	check_place(g, i);
	check_place(g, 2 * i + 1);
	check_place(g, 2 * i + 2);
	return top;
}
