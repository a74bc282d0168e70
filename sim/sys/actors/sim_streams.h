/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The settings of the standard streams of C++ (cin, cout, cerr, clog and those of wide characters),
 * kept once for each rank: the C++ library is one for all ranks, and SimGrid's.
 *
 * Kept are flags, precision, width, fill, exceptions, state, the stream that is flushed before, and
 * a buffer that the program gave. A locale that imbue() gave is the same for all ranks.
 *
 * Invariant: between orr_sim_streams_leave() and orr_sim_streams_enter() all streams are as the
 * library made them; sync_with_stdio(false) counts for all ranks. */
#ifndef ORR_SIM_STREAMS_H
#define ORR_SIM_STREAMS_H

#ifdef __cplusplus
extern "C" {
#endif

struct orr_sim_streams;

/* The rank stops to run: keeps in *kept what its program has set, NULL if it is nothing. */
void orr_sim_streams_leave(struct orr_sim_streams **kept);
/* The rank runs again; NULL: it has set nothing. */
void orr_sim_streams_enter(const struct orr_sim_streams *kept);
/* Frees what was kept and sets *kept to NULL. */
void orr_sim_streams_free(struct orr_sim_streams **kept);

#ifdef __cplusplus
}
#endif
#endif
