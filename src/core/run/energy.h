/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Energy: that of tasks, and measurements by the program.
 *
 * Invariant: a worker's joules are protected by its local_lock. */
#ifndef ORR_CORE_ENERGY_H
#define ORR_CORE_ENERGY_H

#include "core/worker/core.h"

/* The kernel of a task is over and took that long. */
void orr_energy_task(struct orr_worker *w, struct orr_task *t, double us);
/* Joules of the units of a type (worker -1: all), idle machine included for CPUs. */
double orr_energy_of(struct orr_process *proc, int arch, int worker);
/* Ends measurements, and leaves the sum in proc->joules. */
void orr_energy_exit(struct orr_process *proc);

#endif
