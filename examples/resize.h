/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the examples share that grow and shrink while they run. With the option --sizes, there are
 * numbers of ranks that are in use one after the other. With --elastic, a resource manager gives
 * processes to the program and takes them back. In the end, rank 0 prints what moved.
 *
 * Invariant: all ranks change the number at the same step.
 */
#ifndef EXAMPLES_RESIZE_H
#define EXAMPLES_RESIZE_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <orrery_resize.h>

#include "options.h"

#define MOST_PHASES 16

/* The steps of a program are cut into n phases of equal length. */
struct phases {
	int n, sizes[MOST_PHASES]; /* ranks in use in each of them; n = 0: all ranks, always */
};

/* The state that a process needs to join a run: the number of ranks that the distribution began
 * with, and the step that is inserted next. */
struct progress {
	int base, step;
};

/* With --elastic, instead of starpu_mpi_init_conf(): as orrery_elastic_start(), 0 or 1; -1: the
 * program is to return *status. */
static inline int elastic_begin(int *argc, char ***argv, MPI_Comm *comm, struct progress *now,
				const char *program, int *status)
{
	int joined = orrery_elastic_start(argc, argv, NULL, comm, now, sizeof(*now));

	*status = joined < 0 && joined != -ECANCELED;
	if (*status)
		fprintf(stderr, "%s: the elastic run did not begin (%s)\n", program,
			strerror(-joined));
	if (!joined)
		MPI_Comm_size(*comm, &now->base);
	return joined < 0 ? -1 : joined;
}

/* The number of ranks at the last point, and when the first one was. */
struct watch {
	int ranks;
	double start_us;
};

/* After a point: rank 0, which may be another process than before, says when the number of ranks
 * has changed. */
static inline void watch_point(struct watch *w, MPI_Comm comm, int *rank, int ranks, int step,
			       const char *program)
{
	if (ranks > 0)
		MPI_Comm_rank(comm, rank);
	if (!w->ranks)
		w->start_us = starpu_timing_now();
	if (*rank == 0 && ranks > 0 && ranks != w->ranks)
		printf("%s_ranks step=%d ranks=%d at_s=%.6f\n", program, step, ranks,
		       (starpu_timing_now() - w->start_us) * 1e-6);
	w->ranks = ranks;
}

/* Consumes --sizes N,N,...; returns whether it was there. */
static inline int options_sizes(struct options *o, struct phases *p)
{
	const char *text = "";

	if (!options_text(o, "--sizes", &text))
		return 0;
	p->n = 0;
	for (const char *at = text; !o->error[0];) {
		char *end;
		long size = strtol(at, &end, 10);

		if (p->n == MOST_PHASES || end == at || (*end && *end != ',') || size < 1 ||
		    size > 1000000)
			snprintf(o->error, sizeof(o->error),
				 "--sizes takes up to %d numbers of ranks like 2,4,3, not '%.40s'",
				 MOST_PHASES, text);
		else
			p->sizes[p->n++] = (int) size;
		if (!*end)
			break;
		at = end + 1;
	}
	return 1;
}

/* The number of ranks that the phase beginning with this step wants; 0: no phase begins there. */
static inline int phase_begins(const struct phases *p, int step, int nsteps)
{
	for (int i = 0; i < p->n; i++)
		if (step == (int) ((long long) i * nsteps / p->n))
			return p->sizes[i];
	return 0;
}

/* Ends the program when a call of the runtime was refused, which has said why. */
static inline void phase_check(MPI_Comm comm, int ret, const char *program)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "%s: cannot change the number of ranks: %s\n", program, strerror(-ret));
	MPI_Abort(comm, 1);
}

/* Rank 0 prints how often the number changed, and how many data and MB moved. */
static inline void phases_print(MPI_Comm comm, int rank, const char *program)
{
	struct orrery_resize_stats stats = { 0 };
	double mine[2], all[2] = { 0 };

	orrery_resize_get_stats(&stats);
	mine[0] = (double) stats.given;
	mine[1] = (double) stats.sent_bytes;
	MPI_Reduce(mine, all, 2, MPI_DOUBLE, MPI_SUM, 0, comm);
	if (rank == 0)
		printf("%s_resize changes=%d moved=%.0f sent_mb=%.6f\n", program,
		       (int) stats.resizes, all[0], all[1] * 1e-6);
}

#endif /* EXAMPLES_RESIZE_H */
