/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The library liborrery-sim-scope: it needs liborrery-sim and SimGrid, and is loaded into the
 * global scope, where objects find these two that come later and are not linked with them
 * (scope.c).
 *
 * Invariant: it defines nothing that anybody else sees. It refers to both, so a linker that drops
 * what is not used keeps them. */
#include <smpi/smpi.h>
#include "calls.h"

static const void *const needs[]
	__attribute__((used)) = { (const void *) orrery_sim_main, (const void *) PMPI_Init };
