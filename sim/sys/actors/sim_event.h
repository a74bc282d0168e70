/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events of the simulation: a function that is called at a virtual time, in the context of
 * SimGrid's own thread of control, or on a stack that an actor has just given back. It must not
 * wait.
 *
 * Invariant: events of the same time run in the order in which they were set. */
#ifndef ORR_SIM_EVENT_H
#define ORR_SIM_EVENT_H

#include <stdint.h>

/* Embedded in what the event is about; all zero before its first use. */
struct orr_sim_event {
	double date_s;
	uint64_t order;
	unsigned number;  /* among those that are set, from 1 on; 0: it is not set */
	uint8_t anywhere; /* the function calls none of SimGrid's kernel: any stack will do */
	void (*fire)(struct orr_sim_event *);
};

/* Sets the event, or moves it to another time, not before now. */
void orr_sim_event_set(struct orr_sim_event *e, double date_s);
/* The same, but among the events of that time it runs where one would that was set when
 * orr_sim_event_order returned this number. */
void orr_sim_event_set_as(struct orr_sim_event *e, double date_s, uint64_t order);
uint64_t orr_sim_event_order(void);
/* Takes the event back, if it is set. */
void orr_sim_event_cancel(struct orr_sim_event *e);

/* For sim_turns.c. The date of the first event, -1: there is none. */
double orr_sim_event_next(void);
/* True if an event is due now. */
int orr_sim_event_due(void);
/* True if there is a first event, and it may run anywhere. */
int orr_sim_event_anywhere(void);
/* Runs all events that are due; with `anywhere`, those before the first that may not run anywhere.
 * Returns whether there were any. */
int orr_sim_event_run(int anywhere);

#endif
