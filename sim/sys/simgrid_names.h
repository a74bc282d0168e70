/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of SimGrid that both interfaces need: configure chooses whether the simulated world uses
 * private ones of SimGrid, or those of its installed headers alone (doc/leaning.md).
 *
 * Invariant: nothing else in the tree looks at that choice but the lists of sources. */
#ifndef ORR_SIMGRID_NAMES_H
#define ORR_SIMGRID_NAMES_H

#ifdef ORR_SIMGRID_PUBLIC
#include "public/simgrid_public.h"
#else
#include "simgrid_private.h"
#endif

#endif
