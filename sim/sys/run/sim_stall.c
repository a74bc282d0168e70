/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The end of a simulation in which nothing can advance any more: the ranks that had ended, then
 * what the others wait for (base/standstill.h).
 *
 * Invariant: at most ORR_STANDSTILL_SCREEN lines are printed, whatever the number of ranks. */
#include <stdlib.h>
#include <string.h>
#include "run/sim_stall.h"
#include "actors/sim_rank.h"
#include "sim_clock.h"
#include "sim_progress.h"
#include "base/numbers.h"
#include "base/standstill.h"
#include "base/upcalls.h"

#define MOST_ENDED 3

struct waiting {
	struct orr_standstill *all;
	int rank;
};

static void note_wait(const struct orr_mpi_wait *w, void *arg)
{
	const struct waiting *at = arg;

	orr_standstill_wait(at->all, at->rank, w);
}

/* The text of a rank, at most max lines of tasks and half as many of requests; the caller frees it.
 */
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

static void gather(struct orr_standstill *all)
{
	for (int i = 0; i < orr_sim.nranks; i++) {
		struct orr_sim_rank *r = &orr_sim.ranks[i];

		if (r->ended) {
			orr_standstill_ended(all, i);
			continue;
		}
		if (r->runtime_up && r->proc->mpi_up)
			r->proc->mpi_up->waits(r->proc, note_wait, &(struct waiting){ all, i });
		char *text = describe(r, ORR_STANDSTILL_PER_RANK);
		if (text)
			orr_standstill_text(all, i, text);
		free(text);
	}
}

static unsigned list_ended(FILE *f)
{
	int shown = 0;

	for (int i = 0; i < orr_sim.nranks && shown < MOST_ENDED; i++) {
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

	orr_sim_progress_clear();
	fprintf(f,
		"orrery sim: nothing can advance any more after %.6f s of virtual time: %d of %d ranks wait for ever\n",
		orr_sim_clock_s(), orr_sim.nranks - orr_sim.nended, orr_sim.nranks);
	unsigned lines = 1 + list_ended(f);
	struct orr_standstill *all = orr_standstill_new(orr_sim.nranks);
	if (!all)
		return;
	gather(all);
	orr_standstill_print(all, f, ORR_STANDSTILL_SCREEN - lines);
	orr_standstill_free(all);
}
