/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sums of one thread's events (see sums.h).
 *
 * Invariant: a place in the file becomes a sum when its kind is stored, after its key; nothing but
 * its numbers and its time change then. */
#include "trace/sums.h"

#include <errno.h>
#include <stdlib.h>

#include "base/seam.h"

/* The key of a sum. */
struct key {
	enum orr_trace_sum what;
	int16_t worker;
	uint32_t a;
};

static size_t hash_of(struct key k)
{
	uint64_t x = (uint64_t) k.what << 48 | (uint64_t) (uint16_t) k.worker << 32 | k.a;

	return (size_t) (x * 0x9e3779b97f4a7c15ULL >> 32);
}

static int is_of(const struct orr_trace_event *e, struct key k)
{
	return e->flags == k.what && e->worker == k.worker && e->a == k.a;
}

/* The place in the table of the sum, or where it goes. */
static struct orr_trace_event **slot_of(const struct orr_trace_sums *s, struct key k)
{
	size_t i = hash_of(k) & (s->cap - 1);

	while (s->table[i] && !is_of(s->table[i], k))
		i = (i + 1) & (s->cap - 1);
	return &s->table[i];
}

static int enlarge(struct orr_trace_sums *s)
{
	struct orr_trace_sums more = { .cap = s->cap ? 2 * s->cap : 32 };

	more.table = calloc(more.cap, sizeof(struct orr_trace_event *));
	if (!more.table)
		return -ENOMEM;
	for (size_t i = 0; i < s->cap; i++)
		if (s->table[i])
			*slot_of(&more, (struct key){ .what = s->table[i]->flags,
						      .worker = s->table[i]->worker,
						      .a = s->table[i]->a }) = s->table[i];
	free(s->table);
	s->table = more.table;
	s->cap = more.cap;
	return 0;
}

/* The sum, which is made when it is new; NULL: there is no room. */
static struct orr_trace_event *sum_of(struct orr_trace_sums *s, struct key k,
				      orr_trace_sum_place place, void *of)
{
	struct orr_trace_event **slot = s->cap ? slot_of(s, k) : NULL;

	if (slot && *slot)
		return *slot;
	if (4 * (s->n + 1) > 3 * s->cap) {
		if (enlarge(s))
			return NULL;
		slot = slot_of(s, k);
	}
	struct orr_trace_event *e = place(of);
	if (!e)
		return NULL;
	e->flags = (uint8_t) k.what;
	e->worker = k.worker;
	e->a = k.a;
	ORR_ATOMIC_STORE(&e->kind, ORR_TRACE_SUM);
	*slot = e;
	s->n++;
	return e;
}

/* ---- kernels ---- */

static int kernel_starts(struct orr_trace_sums *s, const struct orr_trace_event *e)
{
	if (s->nkernels == s->kernels_cap) {
		size_t more = s->kernels_cap ? 2 * s->kernels_cap : 4;
		struct orr_trace_kernel *p = realloc(s->kernels, more * sizeof(*p));

		if (!p)
			return -ENOMEM;
		s->kernels = p;
		s->kernels_cap = more;
	}
	s->kernels[s->nkernels++] = (struct orr_trace_kernel){
		.task = e->b, .fetch_ns = e->c, .start_ns = e->ns, .name = e->a, .worker = e->worker
	};
	return 0;
}

/* Takes the kernel out of those under way. 0: its start is not known. */
static int kernel_ends(struct orr_trace_sums *s, const struct orr_trace_event *e,
		       struct orr_trace_kernel *found)
{
	for (size_t i = s->nkernels; i-- > 0;)
		if (s->kernels[i].task == e->b && s->kernels[i].worker == e->worker) {
			*found = s->kernels[i];
			s->kernels[i] = s->kernels[--s->nkernels];
			return 1;
		}
	return 0;
}

/* ---- all events ---- */

/* The key and the values of what the event adds besides its moment. Returns 0 if it adds nothing.
 */
static int part_of(struct orr_trace_sums *s, const struct orr_trace_event *e, struct key *k,
		   struct orr_trace_event *more)
{
	struct orr_trace_kernel kernel;

	switch ((enum orr_trace_kind) e->kind) {
	case ORR_TRACE_END:
		if (!kernel_ends(s, e, &kernel))
			return 0;
		*k = (struct key){ .what = ORR_SUM_KERNEL, .worker = e->worker, .a = kernel.name };
		*more = (struct orr_trace_event){ .c = (uint64_t) (e->ns - kernel.start_ns),
						  .d = kernel.fetch_ns };
		return 1;
	case ORR_TRACE_SEND:
		*k = (struct key){ .what = ORR_SUM_SENT, .worker = -1, .a = e->a };
		*more = (struct orr_trace_event){ .c = e->d,
						  .d = !!(e->flags & ORR_TRACE_RELAYED) };
		return 1;
	case ORR_TRACE_RECV:
		*k = (struct key){ .what = ORR_SUM_RECEIVED, .worker = -1, .a = e->a };
		*more = (struct orr_trace_event){ .c = e->d };
		return 1;
	case ORR_TRACE_COPY:
		*k = (struct key){ .what = ORR_SUM_COPIED,
				   .worker = (int16_t) e->a,
				   .a = (uint32_t) e->b };
		*more = (struct orr_trace_event){ .c = e->c };
		return 1;
	case ORR_TRACE_ENGINE:
		*k = (struct key){ .what = ORR_SUM_TURNS,
				   .worker = -1,
				   .a = e->a | (e->flags & ORR_TRACE_GUEST ? ORR_SUM_FLAG : 0) };
		*more = (struct orr_trace_event){ .c = e->b, .d = e->d };
		return 1;
	case ORR_TRACE_MEMORY:
		*k = (struct key){ .what = ORR_SUM_MEMORY, .worker = -1, .a = e->a };
		*more = (struct orr_trace_event){ .c = e->b > e->c ? e->b - e->c : 0, .d = e->d };
		return 1;
	default: return 0;
	}
}

static int add(struct orr_trace_sums *s, struct key k, const struct orr_trace_event *more,
	       int64_t ns, orr_trace_sum_place place, void *of)
{
	struct orr_trace_event *sum = sum_of(s, k, place, of);

	if (!sum)
		return -ENOMEM;
	if (k.what == ORR_SUM_MOMENTS && (!sum->b || ns < (int64_t) sum->d))
		sum->d = (uint64_t) ns;
	sum->ns = sum->b && sum->ns > ns ? sum->ns : ns;
	sum->b++;
	if (k.what == ORR_SUM_MEMORY) { /* no sum, but the most */
		sum->c = more->c > sum->c ? more->c : sum->c;
		sum->d = more->d;
		return 0;
	}
	sum->c += more->c;
	sum->d += more->d;
	return 0;
}

int orr_trace_sums_add(struct orr_trace_sums *s, const struct orr_trace_event *e,
		       orr_trace_sum_place place, void *of)
{
	struct key k = { .what = ORR_SUM_MOMENTS, .worker = -1, .a = e->kind };
	struct orr_trace_event more = { .c = (uint64_t) e->ns };
	int ret;

	if ((e->kind == ORR_TRACE_POST || e->kind == ORR_TRACE_GRANT) &&
	    e->flags & ORR_TRACE_RECEIVE)
		k.a |= ORR_SUM_FLAG;
	if (e->kind == ORR_TRACE_SEND && e->flags & ORR_TRACE_RELAYED)
		k.a |= ORR_SUM_FLAG;
	ret = add(s, k, &more, e->ns, place, of);
	if (e->kind == ORR_TRACE_START)
		return kernel_starts(s, e) ? -ENOMEM : ret;
	if (!part_of(s, e, &k, &more))
		return ret;
	return add(s, k, &more, e->ns, place, of) ? -ENOMEM : ret;
}

void orr_trace_sums_exit(struct orr_trace_sums *s)
{
	free(s->table);
	free(s->kernels);
	*s = (struct orr_trace_sums){ 0 };
}
