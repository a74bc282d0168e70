/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The words that the program that started the ranks says about them in their environment, before
 * MPI is up. One table has the names of all launchers (launched.c); the tools have theirs in
 * tools/orrery_launchers.py.
 *
 * Invariant: a process that no launcher of the table has started is rank 0 of 1. */
#ifndef ORR_SYS_LAUNCHED_H
#define ORR_SYS_LAUNCHED_H

enum orr_launched { ORR_LAUNCHED_RANK, ORR_LAUNCHED_SIZE, ORR_LAUNCHED_PROC, ORR_LAUNCHED_NPROCS };

/* The rank, the number of ranks, the number of the process on this host, or how many the host has.
 */
unsigned orr_real_launched(enum orr_launched what);

#endif
