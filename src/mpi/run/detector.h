/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds out that a rank, or the link to its host, is lost. Each rank sends a beat to the next one,
 * in a ring, and watches the one before it. A rank that is silent for half of the limit is
 * suspected: its watcher asks it, all ranks of its host, and some others. If it is still silent
 * shortly before the limit, the answers say which ranks are lost, and on which side of a cut link
 * this host is. The lowest rank that answers is told, tells all others, hears what waits for those
 * that are lost, and speaks.
 *
 * Time is that during which this process ran: one that was stopped blames nobody for it.
 *
 * By one thread. Invariant: a rank is lost only if its watcher has heard of it before, and neither
 * its beats nor its answers came for most of the limit; datagrams of which 30 % are lost do not
 * make that probable (tests/unit/detector.c). */
#ifndef ORR_MPI_DETECTOR_H
#define ORR_MPI_DETECTOR_H

#include <stddef.h>
#include <stdio.h>

struct orr_process;
struct orr_detector;

/* The duty of the caller. */
enum orr_detector_outcome {
	ORR_DETECTOR_WATCHES,
	ORR_DETECTOR_SPEAKS, /* ranks are lost: says so, and ends the run */
	ORR_DETECTOR_ENDS    /* another rank says so: ends */
};

#define ORR_DETECTOR_TEXT 200 /* bytes of what waits on a rank */

/* Datagrams are open. NULL without memory. */
struct orr_detector *orr_detector_new(struct orr_process *proc, int rank, int size, double limit_us,
				      double now_us);
void orr_detector_free(struct orr_detector *d);
/* Does what is due; *wait_us: it is to be called again after that time, or a datagram. */
enum orr_detector_outcome orr_detector_step(struct orr_detector *d, double now_us, double *wait_us);
/* A datagram came. */
void orr_detector_in(struct orr_detector *d, int from, const void *bytes, size_t n);
/* This rank will be silent from now on, and is not lost. */
void orr_detector_bye(struct orr_detector *d);

/* After SPEAKS: whether this host is the one that is cut off, and the line that names those that
 * are lost, without an end of line. */
int orr_detector_cut_off(const struct orr_detector *d);
/* True if this host cannot hear from mpirun any more, which runs beside rank 0: this host is cut
 * off, or that one is lost. */
int orr_detector_without_launcher(const struct orr_detector *d);
/* After how many microseconds this rank ends by itself, since it was told to; negative: it was not.
 */
double orr_detector_told_us(const struct orr_detector *d);
void orr_detector_say(const struct orr_detector *d, FILE *f);

/* The detector asks: the number of requests of this rank that wait for one of those ranks, and
 * words for the first of them. */
unsigned orr_detector_waits(struct orr_process *proc, const int *lost, int n,
			    char text[ORR_DETECTOR_TEXT]);

#endif
