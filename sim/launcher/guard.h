/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the SimGrid that the launcher meets (guard.cpp). Each returns, or ends the process with
 * a message that names the cause.
 *
 * Invariant: no test changes virtual time or the order of actors. */
#ifndef ORR_LAUNCHER_GUARD_H
#define ORR_LAUNCHER_GUARD_H

#include <smpi/forward.hpp>

#ifdef __cplusplus
extern "C" {
#endif

/* Before the engine: the library is of the release that Orrery was built for. */
void launcher_guard_version(void);
/* After the settings of SimGrid: those that our turns of actors cannot bear. */
void launcher_guard_settings(void);
/* By launcher_guard_settings(): what the chosen interface of SimGrid (sim/sys/simgrid_names.h)
 * cannot bear besides. */
void launcher_guard_interface(void);
/* Before the run: our clock is SimGrid's. Looks at later advances of time, too. */
void launcher_guard_clock(void);
/* By an actor of the first round. `world`: a communicator that SMPI has made. */
void launcher_guard_round(SMPI_Comm *world);
/* A stall, before the program is blamed for it. */
void launcher_guard_stall(void);

#ifdef __cplusplus
}
#endif
#endif
