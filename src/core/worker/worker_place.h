/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The places of workers in the machine, in hwloc's words.
 *
 * Invariant: a worker that is bound to several parts, or whose place nobody knows, is in none. */
#ifndef ORR_CORE_WORKER_PLACE_H
#define ORR_CORE_WORKER_PLACE_H

#include <starpu.h>

#ifdef STARPU_HAVE_HWLOC
#include <hwloc.h>

/* The number of the part of that kind which the worker is bound to; -1: none. Any thread. */
int orr_worker_part(hwloc_obj_type_t kind, unsigned worker);
#endif

#endif
