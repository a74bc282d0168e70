/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The waits of everybody when a simulation stalls.
 *
 * Invariant: see sim_stall.c. */
#ifndef ORR_SIM_STALL_H
#define ORR_SIM_STALL_H

#include <stdio.h>

/* Writes it, at most a screen. Called once, when nothing can advance any more. */
void orr_sim_diagnose(FILE *f);

#endif
