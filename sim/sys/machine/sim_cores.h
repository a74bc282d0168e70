/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The cores of computers, which ranks share (sim_cores.c).
 *
 * Invariant: stated in sim_cores.c. */
#ifndef ORR_SIM_CORES_H
#define ORR_SIM_CORES_H

#include "actors/sim_rank.h"

struct orr_sim_company;

/* The cores of a computer. */
struct orr_sim_cores {
	const char *name; /* value of the property `computer`, NULL: of one rank only */
	unsigned ncores;
	unsigned busy;    /* kernels that run on its CPUs, and messages that are being received */
	unsigned waiting; /* ranks that run none of them and wait for messages: they look again and
			     again */
	double done_us, since_us;        /* see the invariant */
	double wake_us;                  /* what such a look takes from a core */
	struct orr_sim_rank *ranks;      /* by next_on_computer */
	struct orr_sim_company *company; /* that kernels keep each other (sim_company.h); NULL: its
					    effect was not measured */
};

/* A kernel of that duration starts on a CPU of the rank: when it ends. Its worker is in no heap
 * yet. What others take of its core meanwhile, messages for instance, is added to *others_us, and
 * what the program does is *turns_us. */
double orr_sim_cores_enter(struct orr_sim_rank *r, double us, double *others_us, double *turns_us);
/* It is over. May give the processor away. */
void orr_sim_cores_leave(struct orr_sim_rank *r);
/* True if kernels run on all cores. */
static inline int orr_sim_cores_full(const struct orr_sim_rank *r)
{
	return r->cores->busy >= r->cores->ncores;
}
/* [waits] The rank's engine has so much to do for a message, beside whatever else runs; it comes
 * back when that is done. */
void orr_sim_cores_receive(struct orr_sim_rank *r, double us);
/* Something other than a kernel takes a core for that long. */
void orr_sim_cores_steal(struct orr_sim_rank *r, double us);
/* The time that a thread which wakes for a message waits for a core of the program's, as it is now:
 * 0 if there is another one, or the program computes no more. */
double orr_sim_cores_wait_us(const struct orr_sim_rank *r);
/* The program does. Returns how much longer it waits for a core besides. */
double orr_sim_cores_turn(struct orr_sim_rank *r, double us);

#endif
