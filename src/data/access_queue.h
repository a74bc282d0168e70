/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions that the two halves of the access queues share (access.h has the model): access.c knows
 * turns, holding and acquisitions, access_owner.c the accesses of an owner taken together. Call
 * them under the handle's lock unless a comment says otherwise. */
#ifndef ORR_DATA_ACCESS_QUEUE_H
#define ORR_DATA_ACCESS_QUEUE_H

#include "data/access.h"
#include "data/handle.h"

static inline enum orr_class orr_access_class(unsigned mode)
{
	if (mode & STARPU_REDUX)
		return ORR_CLASS_REDUX;
	if ((mode & STARPU_COMMUTE) && (mode & STARPU_W))
		return ORR_CLASS_COMMUTE;
	if (mode & STARPU_W)
		return ORR_CLASS_WRITE;
	return ORR_CLASS_READ;
}

/* Modes that say nothing about contents: no waiting for others, no ordering. */
static inline int orr_access_is_free(unsigned mode)
{
	return !(mode & (STARPU_R | STARPU_W | STARPU_REDUX));
}

/* Returns true if the access must hold the datum while it lasts. A contribution is a datum of its
 * own: one that had its turn excludes nobody. */
static inline int orr_access_holds(const struct orr_access *a)
{
	return !a->merged && !orr_access_is_free(a->mode) &&
	       !(a->ordered && (a->mode & STARPU_REDUX));
}

/* Puts an access at its place in the order. Returns 1 when its turn is now. */
int orr_access_enqueue(starpu_data_handle_t h, struct orr_access *a);
/* Returns true if a holder of the datum excludes a. */
int orr_access_conflicts(starpu_data_handle_t h, const struct orr_access *a);
void orr_access_hold(starpu_data_handle_t h, struct orr_access *a);
/* a waits until the datum is released. */
void orr_access_park(starpu_data_handle_t h, struct orr_access *a);
/* Takes off the parked accesses that may hold the datum now, one writer or all readers, and links
 * them by next. The caller passes them to orr_access_resume, without locks: if one of them fails on
 * another datum, others try in its place. */
struct orr_access *orr_access_take_parked(starpu_data_handle_t h);
void orr_access_resume(struct orr_access *list);

/* Without locks: ends one access; the handle may be gone afterwards. */
void orr_access_end(struct orr_access *a);
/* Without locks: starts to combine the contributions that an access which was just queued waits
 * for. */
void orr_access_kick_redux(starpu_data_handle_t h);
/* access_owner.c, without locks: o holds all its data (returns 1), or is parked (returns 0). *woken
 * gets the accesses that may try in its place. */
int orr_access_hold_all(struct orr_owner *o, struct orr_access **woken);

#endif
