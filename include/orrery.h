/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The functions that Orrery offers beyond the starpu interface.
 *
 * Invariant: the same text and the same meaning in a real and in a simulated run; everything is
 * about the calling process, which in a simulated run is the calling rank.
 */
#ifndef ORRERY_H
#define ORRERY_H

#include <stdint.h>
#include <starpu_config.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Orrery's own version, "major.minor.patch"; a constant string. Any time, any thread. */
const char *orrery_version(void);

/* 1 in a simulated run, 0 in a real one. Any time, any thread. */
int orrery_is_simulated(void);

/* 1 if kernels are executed, so that results can be checked. 0 if they are skipped, and data have
 * no meaningful values: by `orrery sim --kernels skip`, by the runs that `orrery sim --estimate`
 * makes, or by STARPU_DISABLE_KERNELS. A codelet's own flag STARPU_CODELET_SIMGRID_EXECUTE does not
 * count. Any thread, between starpu_init() and starpu_shutdown(). */
int orrery_kernels_run(void);

/* The time in microseconds since the start of the process; virtual time in a simulated run. Any
 * thread. */
double orrery_now_us(void);

/* Write this rank's communication statistics to the file `path`, replacing it: one header line
 * "src,dst,bytes,messages,first_s,last_s", then a line per peer that was talked to; times in
 * seconds; and two comments with a checksum, "# checksum ...", which `orrery matrix` asks for.
 * Where everybody may write, a link or another user's file is refused. Needs a started MPI layer.
 * Returns 0, or -errno: -ENODEV without MPI layer, -EPERM for such a file, else what opening or
 * writing said. */
int orrery_stats_write(const char *path);

/* Counts of this process since starpu_init(), tasks internal to the runtime left out. */
struct orrery_task_stats {
	unsigned long submitted; /* accepted by starpu_task_submit() or an insertion */
	unsigned long executed;  /* completed, those without a kernel included */
};

/* Fill *stats with the present counts. Any thread, between starpu_init() and starpu_shutdown(). */
void orrery_task_stats(struct orrery_task_stats *stats);

/* Bytes brought to memory node `node` and taken from it by transfers since starpu_init(); either
 * pointer may be NULL. Any thread, between starpu_init() and starpu_shutdown(). Returns 0, or
 * -EINVAL when there is no such node. */
int orrery_transfer_bytes(unsigned node, uint64_t *in, uint64_t *out);

/* The use of a worker's time, in microseconds, since profiling was switched on
 * (starpu_profiling_status_set(), STARPU_PROFILING) or its record was last read by
 * starpu_profiling_worker_get_info(). They add up to that time. */
struct orrery_worker_times {
	double kernels_us;
	double messages_us;   /* without a task, until a message made one ready */
	double submission_us; /* without a task, until the program submitted one */
	double foreign_us;    /* the same, while the program inserted tasks of other ranks */
	double idle_us;       /* without a task, until another task made one ready, or at the end */
	double data_us;       /* with a task whose data had to come, until they did; copying them */
	double runtime_us; /* until tasks that were ready were taken, for their start and their end
			    */
};

/* Fill *times with those of a worker, or with the sum over all workers of the process if worker is
 * -1. Any thread, between starpu_init() and starpu_shutdown(). Returns 0, or -EINVAL when there is
 * no such worker. */
int orrery_worker_times(int worker, struct orrery_worker_times *times);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
