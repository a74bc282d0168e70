/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The events of a trace that the test itself has recorded, sorted by time.
 *
 * Invariant: it knows the format from src/trace/format.h only, so that tests do not believe the
 * reader of the tools. */
#ifndef ORR_TEST_TRACEFILE_H
#define ORR_TEST_TRACEFILE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/test.h"
#include "../../src/trace/format.h"

struct tracefile {
	struct orr_trace_head head;
	struct orr_trace_event *events;
	size_t n;
	char strings[64][64]; /* of the last process, by number */
};

static inline int tracefile_order(const void *a, const void *b)
{
	const struct orr_trace_event *x = a, *y = b;

	return x->ns < y->ns ? -1 : x->ns > y->ns;
}

static inline void tracefile_add(struct tracefile *t, struct orr_trace_event e)
{
	t->events = realloc(t->events, (t->n + 1) * sizeof(e));
	CHECK(t->events);
	t->events[t->n++] = e;
}

#define TRACEFILE_LOW(field) ((field) &UINT64_C(0xffffffff))

/* Another event that e stands for, of that kind and number. */
static inline struct orr_trace_event tracefile_other(struct orr_trace_event e, unsigned kind,
						     uint64_t b, uint64_t c, uint64_t d)
{
	return (struct orr_trace_event){
		.ns = e.ns, .kind = (uint8_t) kind, .worker = e.worker, .b = b, .c = c, .d = d
	};
}

static inline uint64_t tracefile_cause(uint64_t cause)
{
	uint64_t number = TRACEFILE_LOW(cause) & ~(uint64_t) ORR_TRACE_SHORT_MESSAGE;

	if (!TRACEFILE_LOW(cause))
		return 0;
	return number | (cause & ORR_TRACE_SHORT_MESSAGE ? ORR_CAUSE_MESSAGE : ORR_CAUSE_TASK);
}

static inline void tracefile_submit(struct tracefile *t, struct orr_trace_event e)
{
	struct orr_trace_event own = e;
	uint64_t b = TRACEFILE_LOW(e.b), uses = e.c >> 32;

	own.flags = 0;
	if (e.flags & ORR_TRACE_SHORT) {
		own.b = b;
		own.c = (uint64_t) (int32_t) (uint32_t) e.c;
		own.d = tracefile_cause(e.d);
	}
	tracefile_add(t, own);
	if (e.flags & ORR_TRACE_SHORT && uses) {
		struct orr_trace_event u = tracefile_other(e, ORR_TRACE_USES, b,
							   uses | e.d >> 32 << 32, e.b >> 32);

		u.flags = ORR_TRACE_USES_SMALL;
		tracefile_add(t, u);
	}
	if (e.flags & ORR_TRACE_AT_ONCE)
		tracefile_add(t, tracefile_other(own, ORR_TRACE_READY, own.b, own.d, 0));
}

static inline void tracefile_start(struct tracefile *t, struct orr_trace_event e)
{
	uint64_t b = TRACEFILE_LOW(e.b), took = e.b >> 32, late = e.c >> 32;

	e.flags = 0;
	e.b = b;
	e.c = TRACEFILE_LOW(e.c);
	tracefile_add(t, e);
	if (!took)
		return;
	e.ns += (int64_t) took - 1;
	tracefile_add(t, tracefile_other(e, ORR_TRACE_END, b, 0, 0));
	if (!late)
		return;
	e.ns += (int64_t) late - 1;
	tracefile_add(t, tracefile_other(e, ORR_TRACE_DONE, b, 0, 0));
}

static inline void tracefile_lets(struct tracefile *t, struct orr_trace_event e)
{
	uint64_t others[3] = { e.b >> 32, TRACEFILE_LOW(e.d), e.d >> 32 };
	unsigned flags = e.flags;

	e.b = TRACEFILE_LOW(e.b);
	e.flags = 0;
	e.d = 0;
	tracefile_add(t, e);
	for (unsigned i = 0; i < 3; i++)
		if (others[i])
			tracefile_add(t, tracefile_other(e,
							 flags >> i & ORR_TRACE_READY_TOO
								 ? ORR_TRACE_READY
								 : ORR_TRACE_RELEASE,
							 others[i], e.c, 0));
}

/* One event, or those that it stands for (of messages: the first one). */
static inline void tracefile_event(struct tracefile *t, struct orr_trace_event e)
{
	int is_short = e.flags & ORR_TRACE_SHORT;

	if (e.kind == ORR_TRACE_SUBMIT)
		tracefile_submit(t, e);
	else if (e.kind == ORR_TRACE_START && is_short)
		tracefile_start(t, e);
	else if ((e.kind == ORR_TRACE_RELEASE || e.kind == ORR_TRACE_READY) && is_short)
		tracefile_lets(t, e);
	else {
		int done = e.kind == ORR_TRACE_END && e.flags & ORR_TRACE_AT_ONCE;

		e.flags = done ? 0 : e.flags;
		tracefile_add(t, e);
		if (done)
			tracefile_add(t, tracefile_other(e, ORR_TRACE_DONE, e.b, 0, 0));
	}
}

static inline void tracefile_block(struct tracefile *t, const char *block)
{
	const struct orr_trace_block *b = (const void *) block;
	const struct orr_trace_event *e = (const void *) (b + 1);

	for (uint32_t i = 0; i < b->nevents; i++) {
		if (e[i].kind != ORR_TRACE_STRING) {
			CHECK(e[i].kind > 0 && e[i].kind < ORR_TRACE_NKINDS);
			tracefile_event(t, e[i]);
			continue;
		}
		if (e[i].a < 64)
			snprintf(t->strings[e[i].a], 64, "%.*s", (int) e[i].b,
				 (const char *) &e[i + 1]);
		i += (uint32_t) ((e[i].b + sizeof(*e) - 1) / sizeof(*e));
	}
}

/* All of the file, which must be whole. The caller frees events. */
static inline struct tracefile tracefile_read(const char *path)
{
	struct tracefile t = { .events = NULL };
	_Alignas(8) char block[ORR_TRACE_BLOCK];
	FILE *f = fopen(path, "rb");

	CHECK(f);
	CHECK(fread(block, 1, sizeof(block), f) == sizeof(block));
	memcpy(&t.head, block, sizeof(t.head));
	CHECK(!memcmp(t.head.magic, ORR_TRACE_MAGIC, 8) && t.head.flags & ORR_TRACE_CLOSED);
	for (uint64_t at = sizeof(block); at < t.head.end; at += sizeof(block)) {
		CHECK(fread(block, 1, sizeof(block), f) == sizeof(block));
		tracefile_block(&t, block);
	}
	fclose(f);
	qsort(t.events, t.n, sizeof(*t.events), tracefile_order);
	return t;
}

#endif
