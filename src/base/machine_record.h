/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A machine as it was measured: numbers of units, bandwidths, costs. src/perf reads such
 * descriptions from files (perf/machine.h); a simulated world runs on them.
 *
 * Invariant: a machine does not change once it is loaded; every number in it is believable. */
#ifndef ORR_BASE_MACHINE_H
#define ORR_BASE_MACHINE_H

#include "starpu.h"

#include "base/seam.h"

struct orr_contention;

#define ORR_MAX_KERNELS 32 /* that a device executes at once */

struct orr_machine {
	char *name; /* HOST in the file names */
	char *dir;  /* the directory that holds bus/ and codelets/ */
	unsigned ncpus, ncuda, nopencl;
	unsigned nnuma;              /* rows of main memory: one for each NUMA node */
	unsigned nmemnodes;          /* these, and one per device */
	double *bandwidth;           /* MB/s, [src * nmemnodes + dst]; 0 on the diagonal */
	double *latency;             /* microseconds, likewise */
	double costs_us[ORR_NCOSTS]; /* of the runtime itself; NAN: not measured */
	size_t *memory; /* bytes of the memory of each CUDA, then OpenCL device, 0: not known; NULL
			   without devices */
	unsigned nkernels;  /* kernels that a device executes at once, 0: not known */
	double link_mbs[2]; /* MB/s of the link that all devices share: [0] from main memory, [1]
			       to it; 0: not known */
	double idle_watts;  /* of the idle machine, 0: not known */
	double watts[STARPU_NARCH]; /* of a busy worker of each type, on top; 0: not known */
	double alloc_us;            /* of the allocation of a buffer on a device; NAN: not known */
	double pin_us;              /* of pinning a MiB of main memory; NAN: not known */
	double launch_us;           /* of a kernel on an idle device; NAN: not known */
	double disk_mbs[2];         /* MB/s of a disk: [0] reading, [1] writing; 0: not known */
	double disk_us; /* of each of its transfers before the first byte; NAN: not known */
	struct orr_contention *contention; /* of kernels on its cores; NULL: not measured */
};

#endif
