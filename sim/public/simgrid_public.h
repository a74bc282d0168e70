/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The substitute for simgrid_private.h where no private name of SimGrid is used.
 *
 * Invariant: no declaration of a name that SimGrid's installed headers lack. */
#ifndef ORR_SIMGRID_PUBLIC_H
#define ORR_SIMGRID_PUBLIC_H

#include <simgrid/forward.h>
#include <simgrid/version.h>

/* Platforms that are made by calls are made by other ones since SimGrid 4. */
#if SIMGRID_VERSION_MAJOR < 4
#include "simgrid_3_32.h"
#else
#include "simgrid_4_0.h"
#endif

/* The seconds by which dates of SimGrid's may differ and mean the same: less than between two
 * events of ours, for each of which SimGrid's clock goes on by itself. */
#if SIMGRID_VERSION_MAJOR < 4
#define ORR_SIMGRID_PRECISION "surf/precision:1e-11"
#else
#define ORR_SIMGRID_PRECISION "precision/timing:1e-11"
#endif

/* Virtual time is a variable of ours (turns.c). */
#define ORR_SIMGRID_NOW "orr_sim_public_now_s"

/* SMPI's functions are behind ours, which the executable defines (interpose_mpi.c). */
#define ORR_SIMGRID_MPI_AT RTLD_DEFAULT

/* The functions that the launcher's executable calls for it (sim/launcher/table.h). */
#define ORR_SIM_CALLS_FOR_SIMGRID(CALL) \
	CALL(orrery_sim_mpi_begin) \
	CALL(orrery_sim_mpi_end)

#endif
