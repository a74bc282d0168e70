/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The waits of everybody when a simulation stalls: first what is at the bottom of it (a message
 * that was never sent), then the waits, rank by rank while they are few, else in groups of lines
 * that differ in numbers only.
 *
 * Invariant: at most SCREEN lines are printed, whatever the number of ranks. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "sim_stall.h"
#include "sim.h"
#include "base/numbers.h"
#include "base/upcalls.h"

#define SCREEN 24
#define FEW 16 /* lines that are printed as they are */
#define CULPRITS 6
#define ENDED 3
#define PER_RANK 20

/* ---- what ranks wait for of each other ---- */

struct wait {
	int rank;
	struct orr_mpi_wait w; /* its name is here */
	char name[80];
};

/* Their list. One that memory ends is shorter, and names fewer. */
struct waits {
	struct wait *v;
	size_t n, room;
	int rank;
};

static void note_wait(const struct orr_mpi_wait *w, void *arg)
{
	struct waits *l = arg;

	if (l->n == l->room) {
		size_t room = l->room ? 2 * l->room : 1024;
		struct wait *v = realloc(l->v, room * sizeof(*v));
		if (!v)
			return;
		l->v = v;
		l->room = room;
	}
	struct wait *fresh = &l->v[l->n++];
	*fresh = (struct wait){ .rank = l->rank, .w = *w };
	snprintf(fresh->name, sizeof(fresh->name), "%s", w->name);
}

/* By kind, rank, the other rank, communicator and tag. */
static int by_place(const void *a, const void *b)
{
	const struct wait *x = a, *y = b;

	if (x->w.kind != y->w.kind)
		return x->w.kind < y->w.kind ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->w.peer != y->w.peer)
		return x->w.peer < y->w.peer ? -1 : 1;
	if (x->w.context != y->w.context)
		return x->w.context < y->w.context ? -1 : 1;
	return (x->w.tag > y->w.tag) - (x->w.tag < y->w.tag);
}

static void collect(struct waits *l)
{
	for (int i = 0; i < orr_sim.nranks; i++) {
		struct orr_sim_rank *r = &orr_sim.ranks[i];
		if (r->ended || !r->runtime_up || !r->proc->mpi_up)
			continue;
		l->rank = i;
		r->proc->mpi_up->waits(r->proc, note_wait, l);
	}
	if (l->n)
		qsort(l->v, l->n, sizeof(*l->v), by_place);
}

/* Is there a send that fits the receive? */
static int has_send(const struct waits *l, const struct wait *receive)
{
	struct wait key = { .rank = receive->w.peer, .w = receive->w };

	key.w.kind = ORR_WAIT_SEND;
	key.w.peer = receive->rank;
	return bsearch(&key, l->v, l->n, sizeof(key), by_place) != NULL;
}

/* A message that is at the receiver, from the same rank, and that nobody asks for; or NULL. */
static const struct wait *unasked_like(const struct waits *l, const struct wait *receive)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].w.kind == ORR_WAIT_UNASKED && l->v[i].rank == receive->rank &&
		    l->v[i].w.peer == receive->w.peer)
			return &l->v[i];
	return NULL;
}

/* ---- culprits ---- */

/* For each rank its first receive that nobody has sent anything for, or NULL. */
static const struct wait **find_missing(const struct waits *l)
{
	const struct wait **first = calloc((size_t) orr_sim.nranks, sizeof(*first));

	for (size_t i = l->n; first && i > 0; i--) {
		const struct wait *w = &l->v[i - 1];
		if (w->w.kind == ORR_WAIT_RECEIVE && w->w.peer >= 0 && w->w.peer < orr_sim.nranks &&
		    !has_send(l, w))
			first[w->rank] = w;
	}
	return first;
}

static void print_culprit(FILE *f, const struct waits *l, const struct wait *w)
{
	const struct wait *other = unasked_like(l, w);

	fprintf(f, "  rank %d %snever sent tag %" PRId64 ", which rank %d waits for (%s)",
		w->w.peer, orr_sim.ranks[w->w.peer].ended ? "has ended and " : "", w->w.tag,
		w->rank, w->name);
	if (other)
		fprintf(f, "; its message with tag %" PRId64 " is there, and nobody asks for it",
			other->w.tag);
	fputc('\n', f);
}

/* Receives of ranks from one that waits for no message itself. Returns the number of lines. */
static unsigned print_roots(FILE *f, const struct waits *l, const struct wait *const *missing)
{
	unsigned lines = 0, more = 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct wait *w = &l->v[i];
		if (w->w.kind != ORR_WAIT_RECEIVE || w->w.peer < 0 || w->w.peer >= orr_sim.nranks ||
		    missing[w->w.peer] || has_send(l, w))
			continue;
		if (lines < CULPRITS) {
			print_culprit(f, l, w);
			lines++;
		} else {
			more++;
		}
	}
	if (more) {
		fprintf(f, "  ... and %u more messages that were never sent\n", more);
		lines++;
	}
	return lines;
}

/* Ranks that wait for each other in a circle, each for a message that the next one has not sent. */
static unsigned print_circle(FILE *f, const struct wait *const *missing)
{
	int at = 0, n = 0;

	while (at < orr_sim.nranks && !missing[at])
		at++;
	if (at == orr_sim.nranks)
		return 0;
	for (int i = 0; i < orr_sim.nranks; i++)
		at = missing[at]->w.peer;
	fprintf(f, "  ranks wait for each other in a circle:");
	int first = at;
	do {
		if (n++ < CULPRITS)
			fprintf(f, "%s rank %d for tag %" PRId64 " of rank %d", n > 1 ? "," : "",
				at, missing[at]->w.tag, missing[at]->w.peer);
		at = missing[at]->w.peer;
	} while (at != first);
	if (n > CULPRITS)
		fprintf(f, ", ... %d ranks in all", n);
	fputs("; none of these was sent\n", f);
	return 1;
}

/* Messages that nobody asks for. */
static unsigned print_unasked(FILE *f, const struct waits *l)
{
	unsigned lines = 0;

	for (size_t i = 0; i < l->n && lines < CULPRITS; i++)
		if (l->v[i].w.kind == ORR_WAIT_UNASKED) {
			fprintf(f,
				"  rank %d never asked for tag %" PRId64
				", which rank %d has sent to it\n",
				l->v[i].rank, l->v[i].w.tag, l->v[i].w.peer);
			lines++;
		}
	return lines;
}

static unsigned print_culprits(FILE *f)
{
	struct waits l = { 0 };
	unsigned lines = 0;

	collect(&l);
	const struct wait **missing = find_missing(&l);
	if (missing)
		lines = print_roots(f, &l, missing);
	if (missing && !lines)
		lines = print_circle(f, missing);
	if (!lines)
		lines = print_unasked(f, &l);
	free(missing);
	free(l.v);
	return lines;
}

/* ---- what each rank waits for ---- */

/* The text of a rank, at most max lines of tasks and of requests; the caller frees it. */
static char *describe(struct orr_sim_rank *r, unsigned max)
{
	char *text = NULL;
	size_t size = 0;
	struct orr_process *proc = r->proc;

	if (!r->runtime_up)
		return strdup(
			"its program waits in its own code or in MPI (the runtime is not running there)\n");
	FILE *m = open_memstream(&text, &size);
	if (!m)
		return NULL;
	/* The dumps may ask who they run for. Requests come first: tasks mostly wait for them. */
	orr_sim_self_slow()->thread.proc = proc;
	if (proc->mpi_up)
		proc->mpi_up->dump(proc, m, max / 2);
	proc->core_up->dump(proc, m, max);
	fclose(m);
	if (size)
		return text;
	free(text);
	return strdup(
		"no task and no request is pending: its program waits in its own code or in MPI\n");
}

/* A line that ranks have in common but for numbers. */
struct group {
	char *text; /* of the first rank */
	int rank, last;
	unsigned nranks, ntimes;
};

struct groups {
	struct group *v;
	size_t n, room;
	unsigned lines; /* of all ranks */
};

/* Compares texts, a number or an address being like any other. */
static int same_but_numbers(const char *a, const char *b)
{
	while (*a && *b) {
		int digits = isdigit((unsigned char) *a) && isdigit((unsigned char) *b);
		int address = digits && !strncmp(a, "0x", 2) && !strncmp(b, "0x", 2);
		const char *set = address ? "0123456789abcdefx" : "0123456789";
		if (!digits && *a != *b)
			return 0;
		a += digits ? strspn(a, set) : 1;
		b += digits ? strspn(b, set) : 1;
	}
	return *a == *b;
}

static void add_line(struct groups *g, int rank, const char *line)
{
	size_t i = 0;

	g->lines++;
	while (i < g->n && !same_but_numbers(g->v[i].text, line))
		i++;
	if (i == g->n) {
		if (g->n == g->room) {
			size_t room = g->room ? 2 * g->room : 64;
			struct group *v = realloc(g->v, room * sizeof(*v));
			if (!v)
				return;
			g->v = v;
			g->room = room;
		}
		char *text = strdup(line);
		if (!text)
			return;
		g->v[g->n++] = (struct group){ .text = text, .rank = rank, .last = -1 };
	}
	g->v[i].nranks += g->v[i].last != rank;
	g->v[i].ntimes++;
	g->v[i].last = rank;
}

/* The line without its indentation and the rank in front of it. */
static char *bare(char *line)
{
	line += strspn(line, " ");
	if (!strncmp(line, "[rank ", 6) && strchr(line, ']'))
		line = strchr(line, ']') + 1;
	return line + strspn(line, " ");
}

static void gather(struct groups *g)
{
	for (int i = 0; i < orr_sim.nranks; i++) {
		struct orr_sim_rank *r = &orr_sim.ranks[i];
		char *save = NULL, *text = r->ended ? NULL : describe(r, PER_RANK);
		for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line;
		     line = strtok_r(NULL, "\n", &save))
			add_line(g, i, bare(line));
		free(text);
	}
}

static int by_number(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->nranks != y->nranks)
		return x->nranks < y->nranks ? 1 : -1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

static void print_groups(FILE *f, struct groups *g, unsigned most)
{
	size_t shown = g->n <= most ? g->n : most - 1;

	if (g->n)
		qsort(g->v, g->n, sizeof(*g->v), by_number);
	for (size_t i = 0; i < shown; i++) {
		const struct group *x = &g->v[i];
		if (x->nranks == 1)
			fprintf(f, "  rank %d", x->rank);
		else
			fprintf(f, "  %u ranks, as rank %d", x->nranks, x->rank);
		if (x->ntimes > x->nranks)
			fprintf(f, " (%u such)", x->ntimes);
		fprintf(f, ": %s\n", x->text);
	}
	if (g->n > shown)
		fprintf(f, "  ... and %zu more kinds of waits\n", g->n - shown);
}

static void print_ranks(FILE *f)
{
	for (int i = 0; i < orr_sim.nranks; i++) {
		struct orr_sim_rank *r = &orr_sim.ranks[i];
		char *save = NULL, *text = r->ended ? NULL : describe(r, PER_RANK);
		if (!text)
			continue;
		fprintf(f, "  rank %d waits:\n", i);
		for (char *line = strtok_r(text, "\n", &save); line;
		     line = strtok_r(NULL, "\n", &save))
			fprintf(f, "    %s\n", line);
		free(text);
	}
}

/* ---- all of it ---- */

static unsigned list_ended(FILE *f)
{
	int shown = 0;

	for (int i = 0; i < orr_sim.nranks && shown < ENDED; i++) {
		struct orr_sim_rank *r = &orr_sim.ranks[i];
		/* Those that failed come first. */
		if (!r->ended || (orr_sim.status && !r->status))
			continue;
		shown++;
		fprintf(f, "  rank %d had ended with status %d after %.6f s of virtual time%s\n", i,
			r->status, r->end_us * 1e-6,
			r->runtime_up ? ", without shutting the runtime down" : "");
	}
	if (orr_sim.nended <= shown)
		return (unsigned) shown;
	fprintf(f, "  ... and %d more ranks had ended\n", orr_sim.nended - shown);
	return (unsigned) shown + 1;
}

void orr_sim_diagnose(FILE *f)
{
	ORR_PLAIN_NUMBERS;
	struct groups g = { 0 };

	orr_sim_progress_clear();
	fprintf(f,
		"orrery sim: nothing can advance any more after %.6f s of virtual time: %d of %d ranks wait for ever\n",
		orr_sim_clock_s(), orr_sim.nranks - orr_sim.nended, orr_sim.nranks);
	unsigned lines = 1 + list_ended(f) + print_culprits(f);
	gather(&g);
	unsigned alone = g.lines + (unsigned) (orr_sim.nranks - orr_sim.nended);
	if (alone <= FEW && lines + alone <= SCREEN)
		print_ranks(f);
	else
		print_groups(f, &g, SCREEN - lines);
	for (size_t i = 0; i < g.n; i++)
		free(g.v[i].text);
	free(g.v);
}
