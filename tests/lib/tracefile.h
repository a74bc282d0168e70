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

/* One event, or the two that it stands for. */
static inline void tracefile_event(struct tracefile *t, struct orr_trace_event e)
{
	int submit = e.kind == ORR_TRACE_SUBMIT, twice = submit || e.kind == ORR_TRACE_END;

	if (!twice || !(e.flags & ORR_TRACE_AT_ONCE)) {
		tracefile_add(t, e);
		return;
	}
	e.flags = (uint8_t) (e.flags & ~ORR_TRACE_AT_ONCE);
	tracefile_add(t, e);
	tracefile_add(t,
		      (struct orr_trace_event){ .ns = e.ns,
						.kind = submit ? ORR_TRACE_READY : ORR_TRACE_DONE,
						.worker = e.worker,
						.b = e.b,
						.c = submit ? e.d : 0 });
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
