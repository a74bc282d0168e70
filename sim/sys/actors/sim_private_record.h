/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state that a thread has for itself, as the records of an actor and of a rank (sim_private.h).
 *
 * Invariant: stated in sim_private.h. */
#ifndef ORR_SIM_PRIVATE_RECORD_H
#define ORR_SIM_PRIVATE_RECORD_H

#include <stddef.h>
#include <stdint.h>
#include "actors/sim_openmp.h"

/* Of a thread. All zero: it has nothing yet. */
struct orr_sim_private {
	void **values; /* of keys */
	unsigned nvalues;
	void *variables;  /* what they are while another thread of the rank runs, or NULL */
	void *processors; /* where it may run (cpu_set_t), NULL: on all of the node */
	struct orr_sim_object *objects; /* of C++, which end with it; the youngest first */
	struct orr_sim_openmp openmp;
};

/* Of a rank: its keys, the place of the variables, and the states of its workers. */
struct orr_sim_threads {
	void *at; /* the variables of the thread that runs; NULL: the program has none */
	void (**destroy)(void *); /* by key */
	uint8_t *used;
	unsigned nkeys;
	const void *image; /* what they are at first: so many bytes, and zeros */
	size_t nimage, size;
	struct orr_sim_private *owner;
	struct orr_sim_private **workers; /* by number, NULL: has run no kernel that has a state */
	unsigned nworkers;
};

#endif
