/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Expected times of transfers between memory nodes.
 *
 * Invariant: NAN means "not known"; a transfer that is not needed takes 0. */
#ifndef ORR_DATA_BUS_TIME_H
#define ORR_DATA_BUS_TIME_H

#include "base/process.h"

/* In microseconds, from the measurements of the machine. See orr_machine_transfer_us about disks.
 */
double orr_bus_time_us(struct orr_process *proc, unsigned src, unsigned dst, size_t size);

#endif
