/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The units that the threads of workers are bound to.
 *
 * Invariant: threads that drive devices choose before the workers of CPUs, which avoid their units
 * if there are others. */
#ifndef ORR_CORE_UNITS_H
#define ORR_CORE_UNITS_H

#include "base/process.h"

struct orr_device;

/* Reads the settings, and prepares for at most ndrivers threads that drive devices. 0 or -errno
 * after a message. */
int orr_units_begin(struct orr_process *proc, unsigned ndrivers);
void orr_units_end(struct orr_process *proc);
/* The unit for a thread that drives a device: the one that the program or its user names, else one
 * beside the device on the PCI bus, away from other such threads if possible; worker: its first
 * worker. -1: it is not bound, because nobody knows where the device is, or because the program or
 * its user does not want it. */
int orr_unit_of_driver(struct orr_process *proc, const struct orr_device *d, unsigned worker);
/* The unit for the i-th worker of CPUs, after those of all drivers; -1: it is not bound. */
int orr_unit_of_cpu(struct orr_process *proc, unsigned i);

#endif
