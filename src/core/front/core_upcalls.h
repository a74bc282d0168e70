/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The core's functions for the floors below it and for the worlds: tables of functions that a
 * process is made with.
 *
 * Invariant: floors below the core reach it through these tables only. */
#ifndef ORR_CORE_UPCALLS_H
#define ORR_CORE_UPCALLS_H

#include "base/park.h"
#include "base/upcalls.h"
#include "data/data.h"

extern const struct orr_data_upcalls orr_core_data_upcalls;
extern const struct orr_park_ops orr_core_park_ops;
extern const struct orr_core_upcalls orr_core_upcalls; /* world.c */

#endif
