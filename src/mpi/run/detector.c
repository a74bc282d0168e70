/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The failure detector of the heartbeat (see detector.h).
 *
 * Without a failure, a rank has one peer that it sends to and one that it hears. What is asked of
 * many ranks is asked in the second half of the limit only, by the watcher of a silent rank.
 *
 * Invariant: once a rank has decided, or was told, that others are lost, it never watches again. */
#include "mpi/run/detector.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/assert.h"
#include "base/log.h"
#include "base/seam_datagram.h"

/* Shares of the limit. */
#define BEAT (1 / 15.0)     /* between two beats */
#define TICK (1 / 40.0)     /* between two questions */
#define SUSPECTS 0.5        /* silence */
#define DECIDES 0.85        /* silence */
#define GATHERS 0.1         /* hearing what waits */
#define TELLS (GATHERS / 8) /* between two times that those are told who have not answered */
#define LAST_US 3e6         /* a rank that was told ends by itself after that */
#define ALL 256             /* a run of up to so many ranks is asked as a whole, ... */
#define SOME 64             /* ... else those of the silent rank's host, this host, and so many */
#define MOST 200            /* ranks in a list */
#define SHOWN 16            /* ranks of a host in a line */
#define VOICES 3            /* ranks whose waits are in words */

enum kind { HEARTBEAT, BYE, QUESTION, ANSWER, ACCUSATION, END, WAITS };

struct note {
	uint32_t kind;
	uint32_t held;    /* of a beat: a debugger has the process */
	uint32_t cut_off; /* of an accusation or end: this side of the link is lost */
	uint32_t nall;    /* ranks that are lost */
	uint32_t n;       /* of these, in the list */
	uint32_t nwaits;  /* of waits: requests */
	int32_t leader;   /* of an end: the rank that speaks */
	double silent_us; /* of an accusation or end */
	union {
		int32_t lost[MOST];
		char text[ORR_DETECTOR_TEXT]; /* of waits */
	};
};
#define HEAD offsetof(struct note, lost)

struct peer {
	double heard_us;              /* negative: never */
	uint8_t gone, held, answered; /* answered: how it stands with the end */
	uint8_t mark;                 /* of one walk over all ranks */
};

struct orr_detector {
	struct orr_process *proc;
	int rank, size;
	double limit_us;
	double seen_us, awake_us; /* the last step, by the clock and by the time that this process
				     ran */
	double wait_us;           /* after that */
	double beat_us, tick_us;  /* when they are due */
	int watched;
	int warned;         /* that nothing was heard of it so far */
	double suspects_us; /* since when; negative: not */
	enum { WATCHES, ACCUSES, GATHERS_WAITS, SPEAKS, TOLD, ENDS } state;
	double until_us; /* of the state */
	int leader;      /* it speaks */
	struct note verdict;
	double decided_us;
	unsigned nwaiting; /* ranks with requests that wait */
	int nvoices;
	struct {
		int rank;
		unsigned nwaits;
		char text[ORR_DETECTOR_TEXT];
	} voice[VOICES];
	struct peer of[];
};

struct orr_detector *orr_detector_new(struct orr_process *proc, int rank, int size, double limit_us,
				      double now_us)
{
	struct orr_detector *d = calloc(1, sizeof(*d) + (size_t) size * sizeof(d->of[0]));

	_Static_assert(sizeof(struct note) <= ORR_DATAGRAM_MAX, "a list is in one datagram");
	if (!d)
		return NULL;
	orr_assert(size > 1 && rank >= 0 && rank < size);
	d->proc = proc;
	d->rank = rank;
	d->size = size;
	d->limit_us = limit_us;
	d->seen_us = now_us;
	d->watched = (rank + size - 1) % size;
	d->suspects_us = -1;
	for (int i = 0; i < size; i++)
		d->of[i].heard_us = -1;
	return d;
}

void orr_detector_free(struct orr_detector *d)
{
	free(d);
}

static void post(struct orr_detector *d, int rank, const struct note *note, size_t n)
{
	orr_sys_datagram_send(d->proc, rank, note, n);
}

static void post_kind(struct orr_detector *d, int rank, enum kind kind)
{
	struct note note = { .kind = kind };

	if (kind == HEARTBEAT)
		note.held = (uint32_t) orr_sys_datagram_held(d->proc, d->rank);
	post(d, rank, &note, HEAD);
}

static void post_verdict(struct orr_detector *d, int rank, enum kind kind)
{
	struct note note = d->verdict;

	note.kind = kind;
	note.leader = d->leader;
	post(d, rank, &note, HEAD + note.n * sizeof(note.lost[0]));
}

void orr_detector_bye(struct orr_detector *d)
{
	for (int i = 0; i < 3; i++)
		post_kind(d, (d->rank + 1) % d->size, BYE);
}

/* ---- those that are asked ---- */

static int host(const struct orr_detector *d, int rank)
{
	return orr_sys_datagram_host(d->proc, rank);
}

/* The watcher of a silent rank asks this one. */
static int is_asked(const struct orr_detector *d, int rank)
{
	if (rank == d->rank || d->of[rank].gone)
		return 0;
	return d->size <= ALL || rank % (d->size / SOME) == 0 ||
	       host(d, rank) == host(d, d->watched) || host(d, rank) == host(d, d->rank);
}

/* It answered since the other one is suspected. */
static int is_there(const struct orr_detector *d, int rank)
{
	return rank == d->rank || d->of[rank].heard_us >= d->suspects_us;
}

static void ask_all(struct orr_detector *d)
{
	for (int i = 0; i < d->size; i++)
		if (is_asked(d, i))
			post_kind(d, i, QUESTION);
}

/* ---- the verdict ---- */

enum { UP = 1, COUNTED = 2 };

/* True if this host is on the smaller side of a cut, or without rank 0 on one of two equal sides.
 */
static int is_cut_off(struct orr_detector *d)
{
	int nup = 0, ndown = 0;

	for (int i = 0; i < d->size; i++)
		d->of[i].mark = 0;
	for (int i = 0; i < d->size; i++)
		if (i == d->rank || (is_asked(d, i) && is_there(d, i)))
			d->of[host(d, i)].mark |= UP;
	for (int i = 0; i < d->size; i++) {
		uint8_t *mark = &d->of[host(d, i)].mark;
		if (i != d->rank && !is_asked(d, i))
			continue;
		if (!(*mark & COUNTED))
			*(*mark & UP ? &nup : &ndown) += 1;
		*mark |= COUNTED;
	}
	return ndown > nup || (ndown == nup && !is_there(d, 0));
}

static void list_lost(struct orr_detector *d, int rank)
{
	struct note *v = &d->verdict;

	for (uint32_t i = 0; i < v->n; i++)
		if (v->lost[i] == rank)
			return;
	v->nall++;
	if (v->n < MOST)
		v->lost[v->n++] = rank;
}

static int is_lost(const struct orr_detector *d, int rank)
{
	for (uint32_t i = 0; i < d->verdict.n; i++)
		if (d->verdict.lost[i] == rank)
			return 1;
	return 0;
}

/* This rank is the one that speaks. */
static void lead(struct orr_detector *d)
{
	d->leader = d->rank;
	d->state = GATHERS_WAITS;
	d->until_us = d->awake_us + GATHERS * d->limit_us;
	d->tick_us = 0;
	for (int i = 0; i < d->size; i++)
		d->of[i].answered = 0;
}

static void decide(struct orr_detector *d)
{
	int leader = -1;

	d->verdict = (struct note){ .silent_us = d->awake_us - d->of[d->watched].heard_us };
	d->decided_us = d->awake_us;
	d->verdict.cut_off = (uint32_t) is_cut_off(d);
	for (int i = 0; i < d->size; i++) {
		if (i != d->rank && !is_asked(d, i))
			continue;
		if (!is_there(d, i))
			list_lost(d, i);
		else if (leader < 0)
			leader = i;
	}
	if (leader == d->rank) {
		lead(d);
		return;
	}
	d->leader = leader;
	d->state = ACCUSES;
	d->until_us = d->awake_us + GATHERS * d->limit_us;
	d->tick_us = 0;
}

/* ---- watching ---- */

/* True if the silent rank is in the hands of a debugger. */
static int is_held(struct orr_detector *d)
{
	return d->of[d->watched].held || orr_sys_datagram_held(d->proc, d->watched);
}

static void watch(struct orr_detector *d)
{
	struct peer *p = &d->of[d->watched];

	if (p->gone)
		return;
	if (p->heard_us < 0) {
		if (d->warned || d->awake_us < d->limit_us)
			return;
		orr_warn(
			"no heartbeat of rank %d on host %s arrives here: it will not be noticed if that rank is lost; let UDP pass between the hosts, or set ORRERY_HEARTBEAT_TIMEOUT=0",
			d->watched, orr_sys_datagram_host_name(d->proc, d->watched));
		d->warned = 1;
		return;
	}
	double silent_us = d->awake_us - p->heard_us;
	if (silent_us < SUSPECTS * d->limit_us) {
		d->suspects_us = -1;
		return;
	}
	if (is_held(d)) {
		p->heard_us = d->awake_us;
		return;
	}
	if (d->suspects_us < 0) {
		d->suspects_us = d->awake_us;
		d->tick_us = 0;
	}
	if (silent_us >= DECIDES * d->limit_us)
		decide(d);
	else if (d->awake_us >= d->tick_us) {
		ask_all(d);
		d->tick_us = d->awake_us + TICK * d->limit_us;
	}
}

/* ---- the end ---- */

static void tell_all(struct orr_detector *d)
{
	for (int i = 0; i < d->size; i++)
		if (i != d->rank && !d->of[i].answered && !d->of[i].gone && !is_lost(d, i))
			post_verdict(d, i, END);
}

static void hear_waits(struct orr_detector *d, int rank, unsigned nwaits, const char *text)
{
	if (!nwaits || d->of[rank].answered)
		return;
	d->nwaiting++;
	if (d->nvoices == VOICES)
		return;
	d->voice[d->nvoices].rank = rank;
	d->voice[d->nvoices].nwaits = nwaits;
	snprintf(d->voice[d->nvoices++].text, ORR_DETECTOR_TEXT, "%.*s", ORR_DETECTOR_TEXT - 1,
		 text);
}

static void tell_waits(struct orr_detector *d)
{
	struct note note = { .kind = WAITS };

	note.nwaits = orr_detector_waits(d->proc, d->verdict.lost, (int) d->verdict.n, note.text);
	post(d, d->leader, &note, HEAD + sizeof(note.text));
}

static void end_step(struct orr_detector *d)
{
	int due = d->awake_us >= d->tick_us, over = d->awake_us >= d->until_us;

	if (due)
		d->tick_us = d->awake_us + TELLS * d->limit_us;
	switch (d->state) {
	case ACCUSES:
		if (over)
			lead(d); /* the other one was lost meanwhile */
		else if (due)
			post_verdict(d, d->leader, ACCUSATION);
		break;
	case GATHERS_WAITS:
		if (over) {
			char text[ORR_DETECTOR_TEXT];
			unsigned n = orr_detector_waits(d->proc, d->verdict.lost,
							(int) d->verdict.n, text);
			hear_waits(d, d->rank, n, text);
			d->state = SPEAKS;
		} else if (due)
			tell_all(d);
		break;
	case TOLD:
		if (over)
			d->state = ENDS;
		break;
	default: break;
	}
}

enum orr_detector_outcome orr_detector_step(struct orr_detector *d, double now_us, double *wait_us)
{
	double passed_us = now_us - d->seen_us, most_us = d->wait_us + TICK * d->limit_us;

	d->awake_us += passed_us < most_us ? passed_us : most_us;
	d->seen_us = now_us;
	if (d->awake_us >= d->beat_us) {
		int next = (d->rank + 1) % d->size;
		if (d->state == TOLD && !is_lost(d, next) && next != d->leader)
			post_verdict(d, next, END); /* what the leader sent to it may be lost */
		else
			post_kind(d, next, HEARTBEAT);
		d->beat_us = d->awake_us + BEAT * d->limit_us;
	}
	if (d->state == WATCHES)
		watch(d);
	if (d->state != WATCHES)
		end_step(d);
	*wait_us = d->wait_us = (d->state != WATCHES   ? TELLS
				 : d->suspects_us >= 0 ? TICK
						       : BEAT) *
				d->limit_us;
	return d->state == SPEAKS ? ORR_DETECTOR_SPEAKS
	       : d->state == ENDS ? ORR_DETECTOR_ENDS
				  : ORR_DETECTOR_WATCHES;
}

/* ---- what comes in ---- */

/* Takes over a list of another rank, which may lack some that are known here. */
static void enter_verdict(struct orr_detector *d, const struct note *note)
{
	if (d->state == WATCHES) {
		d->verdict = (struct note){ .silent_us = note->silent_us,
					    .cut_off = note->cut_off };
		d->decided_us = d->awake_us;
	}
	for (uint32_t i = 0; i < note->n; i++)
		list_lost(d, note->lost[i]);
	if (d->verdict.nall < note->nall)
		d->verdict.nall = note->nall;
}

static void take_end(struct orr_detector *d, const struct note *note)
{
	if (d->state == SPEAKS || d->state == ENDS || note->leader == d->rank)
		return;
	if (d->state == GATHERS_WAITS && note->leader > d->rank)
		return; /* it learns that this one speaks */
	enter_verdict(d, note);
	if (d->state != TOLD)
		d->until_us = d->awake_us + GATHERS * d->limit_us + LAST_US;
	d->state = TOLD;
	d->leader = note->leader;
	tell_waits(d);
}

static void take_accusation(struct orr_detector *d, const struct note *note)
{
	if (d->state == SPEAKS || d->state == ENDS || d->state == TOLD)
		return;
	enter_verdict(d, note);
	if (d->state != GATHERS_WAITS)
		lead(d);
}

/* Copies a datagram that makes sense; 0: it does not. */
static int read_note(const struct orr_detector *d, const void *bytes, size_t n, struct note *note)
{
	if (n < HEAD || n > sizeof(*note))
		return 0;
	memset(note, 0, sizeof(*note));
	memcpy(note, bytes, n);
	if (note->kind == WAITS) {
		note->text[ORR_DETECTOR_TEXT - 1] = '\0';
		return 1;
	}
	if (note->n > MOST || n != HEAD + note->n * sizeof(note->lost[0]))
		return 0;
	for (uint32_t i = 0; i < note->n; i++)
		if (note->lost[i] < 0 || note->lost[i] >= d->size)
			return 0;
	return note->leader >= 0 && note->leader < d->size;
}

void orr_detector_in(struct orr_detector *d, int from, const void *bytes, size_t n)
{
	struct note note;
	struct peer *p = &d->of[from];

	if (!read_note(d, bytes, n, &note))
		return;
	p->heard_us = d->awake_us;
	switch (note.kind) {
	case HEARTBEAT: p->held = note.held != 0; break;
	case BYE: p->gone = 1; break;
	case QUESTION: post_kind(d, from, ANSWER); break;
	case ANSWER: break;
	case ACCUSATION: take_accusation(d, &note); break;
	case END: take_end(d, &note); break;
	case WAITS:
		if (d->state != GATHERS_WAITS)
			break;
		hear_waits(d, from, note.nwaits, note.text);
		p->answered = 1;
		break;
	}
}

/* ---- the line ---- */

int orr_detector_cut_off(const struct orr_detector *d)
{
	return (int) d->verdict.cut_off;
}

int orr_detector_without_launcher(const struct orr_detector *d)
{
	int n = 0, whole = 1;

	for (int i = 0; i < d->size; i++)
		if (host(d, i) == host(d, 0) && !d->of[i].gone) {
			n += is_lost(d, i);
			whole &= is_lost(d, i);
		}
	return d->verdict.cut_off || (n && whole);
}

double orr_detector_told_us(const struct orr_detector *d)
{
	return d->state == TOLD ? d->until_us - d->awake_us : -1;
}

/* "host NAME with rank A, B", or "rank A on host NAME" if others of that host answer. */
static void say_host(const struct orr_detector *d, FILE *f, int of)
{
	int whole = 1, n = 0, several;

	for (int i = 0; i < d->size; i++)
		if (host(d, i) == of && !d->of[i].gone) {
			n += is_lost(d, i);
			whole &= is_lost(d, i);
		}
	several = n > 1;
	if (whole)
		fprintf(f, "host %s with ", orr_sys_datagram_host_name(d->proc, of));
	fprintf(f, several ? "ranks" : "rank");
	n = 0;
	for (int i = of; i < d->size; i++)
		if (host(d, i) == of && is_lost(d, i) && n++ < SHOWN)
			fprintf(f, "%s %d", n > 1 ? "," : "", i);
	if (n > SHOWN)
		fprintf(f, " and %d more", n - SHOWN);
	if (!whole)
		fprintf(f, " on host %s", orr_sys_datagram_host_name(d->proc, of));
}

static void say_lost(const struct orr_detector *d, FILE *f)
{
	int nhosts = 0;

	for (int of = 0; of < d->size; of++) {
		int any = 0;
		for (uint32_t i = 0; i < d->verdict.n && !any; i++)
			any = host(d, d->verdict.lost[i]) == of;
		if (!any)
			continue;
		if (nhosts++)
			fprintf(f, " and ");
		say_host(d, f, of);
	}
	if (d->verdict.nall > d->verdict.n)
		fprintf(f, " and %u more ranks", d->verdict.nall - d->verdict.n);
}

static void say_waits(const struct orr_detector *d, FILE *f)
{
	if (!d->nwaiting) {
		fprintf(f, "no message waits for that");
		return;
	}
	fprintf(f, "what waits for that: ");
	for (int i = 0; i < d->nvoices; i++) {
		fprintf(f, "%srank %d (%s", i ? ", " : "", d->voice[i].rank, d->voice[i].text);
		if (d->voice[i].nwaits > 1)
			fprintf(f, ", and %u more", d->voice[i].nwaits - 1);
		fprintf(f, ")");
	}
	if (d->nwaiting > (unsigned) d->nvoices)
		fprintf(f, " and %u more ranks", d->nwaiting - (unsigned) d->nvoices);
}

void orr_detector_say(const struct orr_detector *d, FILE *f)
{
	double silent_us = d->verdict.silent_us + d->awake_us - d->decided_us;
	time_t since = time(NULL) - (time_t) (silent_us * 1e-6);
	char clock[16] = "";
	struct tm tm;

	if (localtime_r(&since, &tm))
		strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	if (d->verdict.cut_off)
		fprintf(f, "host %s is cut off, or all others are lost: ",
			orr_sys_datagram_host_name(d->proc, d->rank));
	else
		fprintf(f, "lost: ");
	say_lost(d, f);
	fprintf(f, "; no sign of life for %.1f s, since %s; ", silent_us * 1e-6, clock);
	say_waits(d, f);
	fprintf(f, "; the run ends (ORRERY_HEARTBEAT_TIMEOUT=0 goes on waiting)");
}
