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
#include <starpu_bitmap.h>
#include <starpu_sched_ctx.h>
#include <starpu_scheduler.h>
#include <starpu_profiling.h>
#include <starpu_parallel_worker.h>
#include <starpu_perf_monitoring.h>
#include <starpu_perf_steering.h>
#include <starpu_fxt.h>
#include <starpu_expert.h>
#include <starpu_cublas.h>
#include <starpu_cuda.h>
#include <starpu_opencl.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* --- Configuration ------------------------------------------------------------------- */

/* conf.magic after starpu_conf_init(). */
#define ORRERY_CONF_MAGIC 0x0c0f

/* Settings of the start. Let starpu_conf_init() fill it, then change fields.
 *
 * A comment names the default and the environment variable that overrides the field, if there is
 * one. -1 as a number means that the program does not say: then the variable decides, or the
 * machine does. "No effect" marks fields that are there so that programs compile; nothing reads
 * them. starpu_init() copies the structure, so the program may free it, but not what its pointers
 * point to, before starpu_shutdown(). */
struct starpu_conf {
	/* ORRERY_CONF_MAGIC; starpu_init() refuses any other value. */
	int magic;
	/* 1: leave a core to the MPI layer. 0. */
	int will_use_mpi;
	/* The scheduling policy; NULL: the default one. STARPU_SCHED. NULL. */
	const char *sched_policy_name;
	/* A policy of the program's, which is preferred to the name. NULL. */
	struct starpu_sched_policy *sched_policy;
	/* Called by starpu_init() with the number of the default context, after its policy has
	 * started. NULL. */
	void (*sched_policy_callback)(unsigned);
	/* 1: fields are preferred to the variables. 0. */
	int precedence_over_environment_variables;
	/* CPU workers. STARPU_NCPU. -1: one for each core that is free. */
	int ncpus;
	/* Cores left to the program when the number of workers is not given. STARPU_RESERVE_NCPU.
	 * -1: none. */
	int reserve_ncpus;
	/* CUDA devices to use. STARPU_NCUDA. -1: all. */
	int ncuda;
	/* OpenCL devices to use. STARPU_NOPENCL. -1: all that CUDA does not drive. */
	int nopencl;
	/* Slaves over MPI: other ranks that execute tasks of this one; starpu_init() does not
	 * return there. STARPU_NMPI_MS. -1, 0: none. */
	int nmpi_ms;
	/* Slaves over TCP/IP. No effect: there are none. */
	int ntcpip_ms;
	/* 1: worker i is bound to unit workers_bindid[i]. Overrides STARPU_WORKERS_CPUID. 0. */
	unsigned use_explicit_workers_bindid;
	unsigned workers_bindid[STARPU_NMAXWORKERS];
	/* The devices to use, by their numbers: those that CUDA drives (STARPU_WORKERS_CUDAID),
	 * those that OpenCL drives (STARPU_WORKERS_OPENCLID), and slaves (all ranks but the master,
	 * from 0 on). No effect on fake and simulated devices: the first ones are used, and
	 * starpu_init() warns when others are named. */
	unsigned use_explicit_workers_cuda_gpuid;
	unsigned workers_cuda_gpuid[STARPU_NMAXWORKERS];
	unsigned use_explicit_workers_opencl_gpuid;
	unsigned workers_opencl_gpuid[STARPU_NMAXWORKERS];
	unsigned use_explicit_workers_mpi_ms_deviceid;
	unsigned workers_mpi_ms_deviceid[STARPU_NMAXWORKERS];
	/* 1: print how to measure the buses of this machine (`orrery calibrate`); the runtime does
	 * not measure them. STARPU_BUS_CALIBRATE. -1: do not. */
	int bus_calibrate;
	/* 1: measure kernels for their performance models; 2: forget earlier measurements first.
	 * STARPU_CALIBRATE. -1: do not. */
	int calibrate;
	/* No effect: where a policy weighs transfers, STARPU_SCHED_BETA says how much. */
	int data_locality_enforce;
	/* 1: at most one combined worker, of all CPU workers. STARPU_SINGLE_COMBINED_WORKER. 0. */
	int single_combined_worker;
	/* 1: a copy from or to a device ends before its thread does anything else.
	 * STARPU_DISABLE_ASYNCHRONOUS_COPY; by kind of device STARPU_DISABLE_ASYNCHRONOUS_CUDA_COPY
	 * and so on. 0. */
	int disable_asynchronous_copy;
	int disable_asynchronous_cuda_copy;
	int disable_asynchronous_opencl_copy;
	int disable_asynchronous_mpi_ms_copy;
	/* 1: units of a device reach buffers in main memory directly, where the device can (fake
	 * and simulated CUDA devices) and the interface has map_data; there are no copies then.
	 * Data with home node -1 get such a buffer when a device first uses them, unless main
	 * memory is limited or their interface has dontcache: then they are copied.
	 * STARPU_ENABLE_MAP. 0. */
	int enable_map;
	/* No effect: there is no driver that could share buffers with OpenGL. */
	unsigned *cuda_opengl_interoperability;
	unsigned n_cuda_opengl_interoperability;
	/* Workers that the program drives by itself (starpu_driver_run() and its relatives). NULL.
	 */
	struct starpu_driver *not_launched_drivers;
	unsigned n_not_launched_drivers;
	/* MiB. No effect: the buffers of traces (ORRERY_TRACE) grow as they are filled. */
	uint64_t trace_buffer_size;
	/* The priorities of the default context (starpu_sched_get_min_priority()), whatever its
	 * policy says. STARPU_MIN_PRIO and STARPU_MAX_PRIO. INT_MIN, which conf_init sets, or -1 in
	 * both: those of the policy. */
	int global_sched_ctx_min_priority;
	int global_sched_ctx_max_priority;
	/* Called when a worker has found nothing to do and is about to sleep, and when it has found
	 * something again, or ends: the two alternate. Called by the thread of the worker, whose
	 * number is the argument; they must not wait for tasks or data. NULL. */
	void (*callback_worker_going_to_sleep)(unsigned workerid);
	void (*callback_worker_waking_up)(unsigned workerid);
	/* 1: a kernel or callback that crashes is named on stderr, with the functions that it was
	 * in, unless the program handles the signal. 0: it is not. STARPU_CATCH_SIGNALS comes
	 * first. 1. */
	int catch_signals;
	/* 1: performance counters count from the start (starpu_perf_monitoring.h). 0. */
	unsigned start_perf_counter_collection;
	/* No effect: workers that find nothing to do spin for a time that the machine determines,
	 * and then sleep until they are woken. 1 and 32. */
	unsigned driver_spinning_backoff_min;
	unsigned driver_spinning_backoff_max;
	/* No effect: there is no driver for CUDA. */
	int cuda_only_fast_alloc_other_memnodes;
};

/* Set all defaults. 0, or -EINVAL for NULL. Any thread. */
int starpu_conf_init(struct starpu_conf *conf);
/* Set all numbers of workers to 0, so that the program asks for those it wants. The other fields
 * stay as they are if starpu_conf_init() has filled conf, and get their defaults otherwise. 0, or
 * -EINVAL for NULL. Any thread. */
int starpu_conf_noworker(struct starpu_conf *conf);

/* --- Start and stop ------------------------------------------------------------------ */

/* Starts the runtime; NULL means the defaults. Returns 0; -ENODEV when there would be no worker;
 * -EINVAL for a configuration that makes no sense, after a message that names what is wrong;
 * -ENOMEM. After an error nothing is left running. While the runtime is up, a call only counts;
 * each successful call needs a starpu_shutdown(). Any thread, and several at once: one starts the
 * runtime, the others wait until it is up. */
int starpu_init(struct starpu_conf *conf) STARPU_WARN_UNUSED_RESULT;
/* The same. argc and argv may be NULL; the runtime takes no argument from them. */
int starpu_initialize(struct starpu_conf *user_conf, int *argc, char ***argv);
/* Waits for all tasks, stops the workers and frees everything. Unregister data before. Main
 * thread. */
void starpu_shutdown(void);
/* 1 from the end of starpu_init() to the beginning of starpu_shutdown(), else 0. Any thread. */
int starpu_is_initialized(void);
/* Waits until starpu_init() has completed. Any thread but the main one. */
void starpu_wait_initialized(void);

/* Workers begin no further task, and use no processor, until starpu_resume() has been called as
 * often as starpu_pause(). Main thread. */
void starpu_pause(void);
void starpu_resume(void);
/* 1 between the two, else 0. Any thread. */
int starpu_is_paused(void);

/* --- Asking -------------------------------------------------------------------------- */

/* 1 if asynchronous copies are switched off, for all devices or for a kind (disable_asynchronous_*
 * of struct starpu_conf), else 0. Any thread. */
int starpu_asynchronous_copy_disabled(void);
int starpu_asynchronous_cuda_copy_disabled(void);
int starpu_asynchronous_opencl_copy_disabled(void);
int starpu_asynchronous_mpi_ms_copy_disabled(void);
/* 1 if the configuration or STARPU_ENABLE_MAP asks for memory to be mapped between nodes. Any
 * thread. */
int starpu_map_enabled(void);
/* Prints the statistics that STARPU_BUS_STATS, STARPU_WORKER_STATS and STARPU_MEMORY_STATS ask for;
 * starpu_shutdown() does so by itself. Any thread. */
void starpu_display_stats(void);
/* Stores the version of the interface: STARPU_MAJOR_VERSION and so on. Any thread. */
void starpu_get_version(int *major, int *minor, int *release);

/* As starpu_asynchronous_copy_disabled(), for the devices with that kind of memory. Any thread. */
int starpu_asynchronous_copy_disabled_for(enum starpu_node_kind kind);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
