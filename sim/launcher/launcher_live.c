/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A simulation answers `orrery top` for all its ranks (base/live.h): the thread of the watch takes
 * the question, and hands the answer on; the thread of the actors writes the answer between two
 * turns of actors, when everything is whole.
 *
 * Invariant: what both threads use is passed on by `stage`: a question is written before ASKED, an
 * answer before ANSWERED. Virtual time does not know of it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "launcher.h"
#include "sim_clock.h"
#include "sim_progress.h"
#include "base/live.h"
#include "base/numbers.h"
#include "base/upcalls.h"

/* So many looks of the watch, of 0.1 s, for an actor that goes on. */
#define PATIENCE 20
#define MOST_LINES 40

enum stage { NOBODY, ASKED, ANSWERING, ANSWERED };

static struct {
	int listening; /* -1: nobody can ask */
	int stage;     /* atomic: enum stage */
	/* of the question: */
	int connection, question, nlooks;
	/* of the answer: */
	struct orr_live_about about;
	char *text;
	size_t size;
} live = { .listening = -1 };

void launcher_live_start(void)
{
	static const char *const no[] = { "0", "no", "off", "false" };
	const char *wanted = getenv("ORRERY_TOP");
	for (size_t i = 0; wanted && i < sizeof(no) / sizeof(*no); i++)
		if (!strcmp(wanted, no[i]))
			return;
	live.listening = orr_live_listen(0);
}

/* ---- in the thread of the actors ---- */

/* The lines as an array of strings. */
static void write_lines(FILE *f, char *text)
{
	const char *comma = "";
	fputs("[", f);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		fputs(comma, f);
		orr_about_string(f, line);
		comma = ", ";
	}
	fputs("]", f);
}

/* The things that the rank waits for. */
static void write_waiting(FILE *f, struct orr_process *proc)
{
	char *text = NULL;
	size_t size;
	FILE *m = open_memstream(&text, &size);
	if (!m)
		return;
	/* The dumps may ask who they run for. */
	struct orr_thread *self = &orr_sim_self_slow()->thread;
	struct orr_process *before = self->proc;
	self->proc = proc;
	if (proc->mpi_up)
		proc->mpi_up->dump(proc, m, MOST_LINES / 2);
	proc->core_up->dump(proc, m, MOST_LINES);
	self->proc = before;
	if (!fclose(m)) {
		fputs(", \"waiting\": ", f);
		write_lines(f, text);
	}
	free(text);
}

static void write_rank(FILE *f, struct orr_sim_rank *r, int all)
{
	if (r->ended) {
		fprintf(f,
			"{\"rank\": %d, \"size\": %d, \"state\": \"ended\", \"status\": %d, \"seconds\": %.6f}",
			r->rank, orr_sim.nranks, r->status, r->end_us * 1e-6);
		return;
	}
	if (!r->runtime_up || !r->proc || r->proc->state != ORR_PROCESS_UP) {
		fprintf(f, "{\"rank\": %d, \"size\": %d, \"state\": \"without runtime\"}", r->rank,
			orr_sim.nranks);
		return;
	}
	orr_live_rank(f, r->proc, r->layer_up, all);
	if (all)
		write_waiting(f, r->proc);
	fputs("}", f);
}

static void write_answer(FILE *f)
{
	ORR_PLAIN_NUMBERS;
	char now[64];
	int first = 1;
	snprintf(now, sizeof(now), ", \"virtual_s\": %.9f", orr_sim_clock_s());
	orr_live_begin(f, &live.about, orr_sim_wall_s() - orr_sim.wall_start, now);
	for (int i = 0; i < orr_sim.nranks; i++) {
		if (live.question != ORR_LIVE_ALL && live.question != i)
			continue;
		fputs(first ? "" : ", ", f);
		first = 0;
		write_rank(f, &orr_sim.ranks[i], live.question != ORR_LIVE_ALL);
	}
	orr_live_end(f);
}

void launcher_live_attend(void)
{
	int stage = ASKED, before = errno;
	if (!__atomic_compare_exchange_n(&live.stage, &stage, ANSWERING, 0, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		return;
	live.text = NULL;
	live.size = 0;
	FILE *f = live.about.text || !orr_live_describe(&live.about, NULL)
			  ? open_memstream(&live.text, &live.size)
			  : NULL;
	if (f) {
		write_answer(f);
		fclose(f);
	}
	__atomic_store_n(&live.stage, ANSWERED, __ATOMIC_RELEASE);
	errno = before;
}

/* ---- in the thread of the watch ---- */

static void hand_on(const char *text, size_t size)
{
	orr_live_answer(live.connection, text, size);
	__atomic_store_n(&live.stage, NOBODY, __ATOMIC_RELEASE);
}

static void give_up(void)
{
	static const char busy[] = "{\"orrery_top\": 1, \"busy\": true}\n";
	int stage = ASKED;
	if (__atomic_compare_exchange_n(&live.stage, &stage, ANSWERING, 0, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		hand_on(busy, sizeof(busy) - 1);
}

void launcher_live_look(void)
{
	int ended;
	if (live.listening < 0)
		return;
	switch (__atomic_load_n(&live.stage, __ATOMIC_ACQUIRE)) {
	case NOBODY:
		live.connection = orr_live_accept(live.listening, &live.question, &ended);
		if (live.connection < 0)
			return;
		live.nlooks = 0;
		__atomic_store_n(&live.stage, ASKED, __ATOMIC_RELEASE);
		__atomic_store_n(&orr_sim.attention, 1, __ATOMIC_RELEASE);
		return;
	case ASKED:
		if (++live.nlooks > PATIENCE)
			give_up();
		return;
	case ANSWERED:
		hand_on(live.text ? live.text : "", live.size);
		free(live.text);
		live.text = NULL;
		return;
	default: return;
	}
}
