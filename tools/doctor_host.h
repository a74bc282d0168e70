/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of orrery-doctor-host, and what it shares with orrery-doctor-mpi.
 *
 * Invariant: each function prints its answer as lines "NAME VALUE" on standard output; a value has
 * no newline. */
#ifndef ORR_DOCTOR_HOST_H
#define ORR_DOCTOR_HOST_H

/* The host: name, addresses, cores, limits, memory, folders, calibration. */
void doctor_facts(void);
/* "library PATH CHECKSUM" for each loaded library whose file is called so, up to its version. */
void doctor_library(const char *name);
/* Takes connections at a port of that range, in a thread; 0, 0: at any port. */
void doctor_listen(int first, int last);
/* Measures a connection for at most that many milliseconds, and bytes at most. */
void doctor_connect(const char *name, int port, int ms, long long bytes);

#endif
