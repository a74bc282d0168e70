/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list of what a rank waits for, as bytes that another rank reads (see stuck_list.h).
 *
 * Invariant: both ranks are of one build, so that they agree on the structures. */
#include "mpi/carry/stuck_list.h"
#include "mpi/carry/request_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/upcalls.h"

#define MOST_WAITS 65536 /* bytes of waits */
#define MOST_TEXT 8192   /* bytes of lines */
#define MORE "... and more tasks\n"

/* A list: this, nwaits times a struct told_wait with its name, lines. */
struct told {
	uint32_t nwaits, partial;
};
struct told_wait {
	int64_t tag;
	int32_t kind, peer;
	uint32_t context, length; /* of the name, which follows */
};

int orr_stuck_list_append(struct orr_stuck_list *b, const void *bytes, size_t n)
{
	if (b->n + n > b->room) {
		size_t room = 2 * (b->n + n);
		char *v = realloc(b->v, room);
		if (!v)
			return -1;
		b->v = v;
		b->room = room;
	}
	if (n)
		memcpy(b->v + b->n, bytes, n);
	b->n += n;
	return 0;
}

/* ---- writing ---- */

static void tell_wait(const struct orr_mpi_wait *w, void *arg)
{
	struct orr_stuck_list *b = arg;
	struct told_wait wait = { .tag = w->tag,
				  .kind = (int32_t) w->kind,
				  .peer = w->peer,
				  .context = w->context,
				  .length = (uint32_t) strnlen(w->name, 79) };
	size_t before = b->n;
	int fits = before + sizeof(wait) + wait.length <= MOST_WAITS &&
		   !orr_stuck_list_append(b, &wait, sizeof(wait)) &&
		   !orr_stuck_list_append(b, w->name, wait.length);
	struct told *told = (struct told *) b->v;

	if (!fits)
		b->n = before;
	told->nwaits += (uint32_t) fits;
	told->partial |= (uint32_t) !fits;
}

/* The lines on what waits. */
static void tell_text(struct orr_mpi *mpi, const char *what, struct orr_stuck_list *b)
{
	struct orr_process *proc = mpi->proc;
	char *text = NULL;
	size_t size = 0;
	FILE *m = open_memstream(&text, &size);

	if (!m)
		return;
	fprintf(m, "its program waits in %s\n", what);
	orr_mpi_dump(proc, m, ORR_STANDSTILL_PER_RANK / 2);
	proc->core_up->dump(proc, m, ORR_STANDSTILL_PER_RANK);
	fclose(m);
	size_t told = size;
	while (told > MOST_TEXT || (told && text[told - 1] != '\n'))
		told--;
	orr_stuck_list_append(b, text, told);
	if (told < size)
		orr_stuck_list_append(b, MORE, sizeof(MORE) - 1);
	free(text);
}

void orr_stuck_list_make(struct orr_mpi *mpi, const char *what, struct orr_stuck_list *b)
{
	if (orr_stuck_list_append(b, &(struct told){ 0 }, sizeof(struct told)))
		return;
	orr_mpi_waits(mpi->proc, tell_wait, b);
	tell_text(mpi, what, b);
}

/* ---- reading ---- */

void orr_stuck_list_enter(struct orr_standstill *all, int rank, struct orr_stuck_list *b)
{
	struct told told;
	size_t at = sizeof(told);

	if (orr_stuck_list_append(b, "", 1) || b->n <= sizeof(told)) { /* the end of the text */
		orr_standstill_partial(all, rank);
		return;
	}
	memcpy(&told, b->v, sizeof(told));
	if (told.partial)
		orr_standstill_partial(all, rank);
	for (uint32_t i = 0; i < told.nwaits; i++) {
		struct told_wait w;
		char name[80] = "";

		orr_assert(at + sizeof(w) < b->n);
		memcpy(&w, b->v + at, sizeof(w));
		memcpy(name, b->v + at + sizeof(w), w.length);
		at += sizeof(w) + w.length;
		orr_standstill_wait(all, rank,
				    &(struct orr_mpi_wait){ .kind = w.kind,
							    .peer = w.peer,
							    .context = w.context,
							    .tag = w.tag,
							    .name = name });
	}
	orr_standstill_text(all, rank, b->v + at);
}
