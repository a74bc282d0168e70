/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reductions within a process (STARPU_REDUX): each worker contributes to a copy of its own, combined when somebody needs the value. */
#ifndef ORR_DATA_REDUX_H
#define ORR_DATA_REDUX_H

#include "core/worker.h"

struct orr_redux;

/* The interface of worker w's contribution to h on its memory node, made and initialised by the handle's init codelet at its first use.
 * Called by the group's thread. NULL after a message. */
void *orr_redux_contribution(starpu_data_handle_t h, struct orr_worker *w, struct orr_access *a);
/* Forgets contributions that were never combined (the handle ends). */
void orr_redux_discard(starpu_data_handle_t h);

#endif
