/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The whole interface but for MPI; start, stop and configuration of the runtime.
 *
 * Invariant: between starpu_init() and starpu_shutdown() one runtime exists in the process (in a
 * simulated run: in the rank); both are called by the same thread, "the main thread", and may be
 * repeated.
 */
#ifndef STARPU_H
#define STARPU_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <starpu_config.h>
#include <starpu_util.h>
#include <starpu_helper.h>
#include <starpu_thread.h>
#include <starpu_rand.h>
#include <starpu_hash.h>
#include <starpu_worker.h>
#include <starpu_data.h>
#include <starpu_task_dep.h>
#include <starpu_task.h>
#include <starpu_task_list.h>
#include <starpu_task_util.h>
#include <starpu_stdlib.h>
#include <starpu_data_interfaces.h>
#include <starpu_data_filters.h>
#include <starpu_disk.h>
#include <starpu_perfmodel.h>
#include <starpu_bound.h>
#include <starpu_sched_ctx.h>
#include <starpu_scheduler.h>
#include <starpu_profiling.h>
#include <starpu_fxt.h>
#include <starpu_expert.h>
#include <starpu_cublas.h>
#include <starpu_cuda.h>
#include <starpu_opencl.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* --- Configuration
 * -------------------------------------------------------------------------------------- */

/* conf.magic after starpu_conf_init(). */
#define ORRERY_CONF_MAGIC 0x0c0f

/* How to start; to be filled by starpu_conf_init(), then changed.  Unless said otherwise -1 means
 * "not set", which is the default, and the environment variable that is named wins over the field.
 */
struct starpu_conf {
	int magic;                     /* ORRERY_CONF_MAGIC; starpu_init() refuses anything else */
	int will_use_mpi;              /* 1: leave a core for the MPI layer; default 0 */
	const char *sched_policy_name; /* STARPU_SCHED; NULL: the default policy */
	struct starpu_sched_policy
		*sched_policy; /* a policy of the program's, wins over the name; NULL */
	void (*sched_policy_callback)(
		unsigned); /* called with the context after the policy's start; NULL */
	int precedence_over_environment_variables; /* 1: fields win over variables; default 0 */
	int ncpus;                                 /* STARPU_NCPU: CPU workers */
	int reserve_ncpus;                    /* STARPU_RESERVE_NCPU: cores left to the program */
	int ncuda;                            /* STARPU_NCUDA: CUDA devices */
	int nopencl;                          /* STARPU_NOPENCL: OpenCL devices */
	int nmpi_ms;                          /* STARPU_NMPI_MS: MPI slaves */
	int ntcpip_ms;                        /* accepted and ignored: there are no TCP/IP slaves */
	unsigned use_explicit_workers_bindid; /* 1: workers_bindid holds the units to bind workers
						 to, in order */
	unsigned workers_bindid[STARPU_NMAXWORKERS];     /* STARPU_WORKERS_CPUID */
	unsigned use_explicit_workers_cuda_gpuid;        /* likewise, devices to use */
	unsigned workers_cuda_gpuid[STARPU_NMAXWORKERS]; /* STARPU_WORKERS_CUDAID */
	unsigned use_explicit_workers_opencl_gpuid;
	unsigned workers_opencl_gpuid[STARPU_NMAXWORKERS]; /* STARPU_WORKERS_OPENCLID */
	unsigned use_explicit_workers_mpi_ms_deviceid;
	unsigned workers_mpi_ms_deviceid[STARPU_NMAXWORKERS];
	int bus_calibrate; /* STARPU_BUS_CALIBRATE: 1 measures transfers anew; default 0 */
	int calibrate; /* STARPU_CALIBRATE: 1 measures kernels, 2 forgets old measurements; default
			  0 */
	int data_locality_enforce;     /* STARPU_DATA_LOCALITY_ENFORCE; default 0 */
	int single_combined_worker;    /* STARPU_SINGLE_COMBINED_WORKER; default 0 */
	int disable_asynchronous_copy; /* STARPU_DISABLE_ASYNCHRONOUS_COPY, and so on by kind;
					  default 0 */
	int disable_asynchronous_cuda_copy;
	int disable_asynchronous_opencl_copy;
	int disable_asynchronous_mpi_ms_copy;
	int enable_map; /* STARPU_ENABLE_MAP: map memory between nodes where possible */
	unsigned *cuda_opengl_interoperability; /* CUDA devices that share with OpenGL; NULL */
	unsigned n_cuda_opengl_interoperability;
	struct starpu_driver
		*not_launched_drivers; /* devices that the program drives itself; NULL */
	unsigned n_not_launched_drivers;
	uint64_t trace_buffer_size;        /* STARPU_TRACE_BUFFER_SIZE, in MiB */
	int global_sched_ctx_min_priority; /* STARPU_MIN_PRIO, STARPU_MAX_PRIO: of the default
					      context */
	int global_sched_ctx_max_priority;
	void (*callback_worker_going_to_sleep)(unsigned workerid); /* called by the worker; NULL */
	void (*callback_worker_waking_up)(unsigned workerid);
	int catch_signals; /* STARPU_CATCH_SIGNALS: flush traces on fatal signals; default 1 */
	unsigned start_perf_counter_collection; /* 1: performance counters count from the start;
						   default 0 */
	unsigned driver_spinning_backoff_min; /* STARPU_BACKOFF_MIN, STARPU_BACKOFF_MAX: idle polls
						 before sleeping */
	unsigned driver_spinning_backoff_max;
	int cuda_only_fast_alloc_other_memnodes; /* STARPU_CUDA_ONLY_FAST_ALLOC_OTHER_MEMNODES;
						    default 0 */
};

/* Set all defaults.  0, or -EINVAL for NULL. */
int starpu_conf_init(struct starpu_conf *conf);
/* Set the defaults, and all numbers of workers to 0: the program then asks for those it wants. */
int starpu_conf_noworker(struct starpu_conf *conf);

/* --- Start and stop
 * ------------------------------------------------------------------------------------- */

/* Start the runtime; NULL means the defaults.  0, or: -ENODEV when there would be no worker,
 * -EINVAL for a configuration that makes no sense (the message names it).  A second call only
 * counts; each needs a shutdown. */
int starpu_init(struct starpu_conf *conf) STARPU_WARN_UNUSED_RESULT;
/* Same; argc and argv may be NULL, the runtime takes no argument from them. */
int starpu_initialize(struct starpu_conf *user_conf, int *argc, char ***argv);
/* Wait for all tasks, stop the workers, free everything.  Data should be unregistered before. */
void starpu_shutdown(void);
/* Whether starpu_init() has completed (and no shutdown since); wait until it has. */
int starpu_is_initialized(void);
void starpu_wait_initialized(void);

/* Suspend taking of new tasks by workers, so that they use no processor; then let them go on.
 * Nests.  Main thread. */
void starpu_pause(void);
void starpu_resume(void);
int starpu_is_paused(void);

/* --- Asking
 * --------------------------------------------------------------------------------------------- */

/* Whether asynchronous copies are switched off: everywhere, by kind of device. */
int starpu_asynchronous_copy_disabled(void);
int starpu_asynchronous_cuda_copy_disabled(void);
int starpu_asynchronous_opencl_copy_disabled(void);
int starpu_asynchronous_mpi_ms_copy_disabled(void);
/* Whether memory may be mapped between nodes (STARPU_ENABLE_MAP). */
int starpu_map_enabled(void);
/* Print bus and worker statistics where they were asked for. */
void starpu_display_stats(void);
/* Version of the interface: STARPU_MAJOR_VERSION and so on. */
void starpu_get_version(int *major, int *minor, int *release);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
