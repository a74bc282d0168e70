/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The configuration of a process, as the record of what was read (config.h).
 *
 * Invariant: stated in config.h. */
#ifndef ORR_BASE_CONFIG_RECORD_H
#define ORR_BASE_CONFIG_RECORD_H

#include <stddef.h>

struct orr_config {
	/* workers */
	int ncpu;         /* CPU workers asked for, -1 = all cores */
	int reserve_ncpu; /* cores left to the program */
	int getbind;      /* respect the launcher's binding */
	int nobind;       /* do not bind workers */
	int nthreads_per_core;
	int main_thread_bind;  /* a unit is kept for the thread that starts the runtime, and it is
				  bound there */
	int main_thread_cpuid; /* which unit, -1: the last one */
	char *workers_cpuid;   /* STARPU_WORKERS_CPUID text, or NULL */
	char *workers_coreid;
	char *hwloc_input; /* topology file, or NULL */
	int display_bindings;
	int fake_devices; /* ORRERY_FAKE_DEVICES: devices with their own memory made of host memory
			   */
	int fake_opencl;  /* ORRERY_FAKE_OPENCL: the same, whose memory has no pointers */
	double fake_copy_mbs;  /* ORRERY_FAKE_COPY_MBS: bandwidth of fake devices, 0: no limit */
	double fake_kernel_us; /* ORRERY_FAKE_KERNEL_US: what asynchronous kernels take there */
	int opencl_on_cpus, opencl_only_on_cpus; /* OpenCL devices that compute on CPUs are used */
	char *workers_openclid;                  /* the OpenCL devices to use, or NULL */
	int opencl_parts;                        /* sub-devices of each that can be cut */
	int opencl_pipeline;                     /* as cuda_pipeline */
	int nworker_per_cuda;
	char *workers_cudaid; /* the CUDA devices to use, or NULL */
	char *cudart;         /* ORRERY_CUDART: the library of the CUDA runtime, or NULL */
	int cuda_peer;        /* CUDA devices reach the memory of each other */
	int cuda_pipeline; /* tasks that a CUDA worker has at once: from 2 on, the next one's data
			      come while a kernel runs */
	/* scheduling */
	char *sched;            /* policy name, or NULL for the default */
	char *prof_tool;        /* shared object that is told of events, or NULL */
	char *sched_lib;        /* shared object that provides policies, or NULL */
	int min_prio, max_prio; /* valid when has_prio */
	int has_min_prio, has_max_prio;
	int prefetch;
	int worker_tree;         /* collections of workers are trees */
	int heteroprio_locality; /* heteroprio prefers tasks whose data are near */
	int sched_ready, sched_sorted_above, sched_sorted_below; /* of modular schedulers; -1: not
								    given */
	int ntasks_threshold;                                    /* limits of their queues below */
	double exp_len_threshold;                                /* us */
	double alpha, beta, gamma, idle_power;
	int disable_kernels;               /* do not call kernels */
	long max_submitted, min_submitted; /* atomic: throttling, 0 = off */
	unsigned long rand_seed;
	/* performance models */
	int calibrate; /* 0, 1, 2 */
	int calibrate_minimum;
	int bus_calibrate;
	double history_max_error; /* percent */
	char *perf_model_dir;     /* where models are written */
	char *perf_model_path;    /* further places, or NULL */
	char *hostname;           /* STARPU_HOSTNAME, or NULL */
	char *mpi_hostnames;
	int homogeneous_cpu, homogeneous_cuda, homogeneous_opencl, homogeneous_mpi_ms;
	int no_async_copy, no_async_cuda_copy, no_async_opencl_copy,
		no_async_mpi_ms_copy; /* -1: not given */
	/* memory, bytes; 0 = unlimited */
	size_t limit_cpu_mem, limit_numa_mem, limit_cuda_mem,
		limit_opencl_mem; /* numa: each node of main memory, when there are several */
	int enable_map;           /* map memory of the host to devices, -1: not said */
	int disable_pinning;      /* STARPU_DISABLE_PINNING */
	size_t pinned_keep;       /* ORRERY_PINNED_KEEP: free pinned memory that is kept */
	int use_numa;             /* a memory node for each NUMA node */
	int minimum_available_mem, target_available_mem; /* percent */
	int minimum_clean_buffers, target_clean_buffers;
	char *disk_swap, *disk_swap_backend;
	size_t disk_swap_size;
	/* MPI */
	int mpi_cache, mpi_cache_stats, mpi_comm_trace, mpi_stats, mpi_priorities;
	int mpi_ndetached_send, mpi_nready_process;
	int mpi_coop_sends;               /* sends of one value to several ranks go along a tree */
	int mpi_fake_size, mpi_fake_rank; /* -1 = not faked */
	int mpi_fake_peers;               /* in the table of a fake rank, 0: all */
	long mpi_eager_limit;             /* bytes; payloads below travel in their envelope */
	int mpi_thread_cpuid;             /* -1 = the runtime chooses */
	int mpi_nobind;
	int mpi_workers_look; /* workers look after messages between tasks: 0 no, 1 yes, -1 when
				 there is no core for a thread that does only that */
	int mpi_unmatched_error;
	char *checkpoint_dir; /* ORRERY_CHECKPOINT_DIR: folder of this rank's files, or NULL */
	char *mpi_lb;         /* STARPU_MPI_LB: the policy of load balancing, or NULL */
	long lb_sleep;        /* LB_HEAT_SLEEP_THRESHOLD: tasks, 0: as many as an iteration has */
	double lb_wakeup;     /* LB_HEAT_WAKEUP_RATIO */
	double lb_time_us;    /* LB_HEAT_TIME_THRESHOLD; negative: a share of the time */
	int checkpoint_any_program; /* ORRERY_CHECKPOINT_ANY_PROGRAM */
	double checkpoint_mbps;     /* ORRERY_CHECKPOINT_BANDWIDTH: of a disk, MB/s */
	char *mpi_stats_file;       /* ORRERY_MPI_STATS_FILE: CSV written at shutdown, or NULL */
	/* statistics, traces */
	int simgrid; /* refuse a real run */
	int silent;
	int profiling, worker_stats, bus_stats, memory_stats;
	char *worker_stats_file, *bus_stats_file; /* where these go, NULL: stderr */
	int single_combined;                      /* one combined worker only */
	int min_workersize, max_workersize,
		combined_arity; /* of combined workers; max -1: no limit */
	int codelet_profiling;  /* count tasks by codelet and worker */
	char *powercap;    /* ORRERY_POWERCAP: where Linux shows the processors' counters of energy,
			      NULL: the usual place */
	char *trace;       /* ORRERY_TRACE, or as below: the file that gets the events, or NULL */
	char *trace_limit; /* ORRERY_TRACE_LIMIT: the most bytes that it may have, or NULL */
	char *trace_ranks, *trace_window, *trace_kinds; /* ORRERY_TRACE_...: the part of the run
							   that is recorded, NULL: all */
	int fxt_trace;                                  /* STARPU_FXT_TRACE */
	char *fxt_prefix, *fxt_suffix; /* folder and name of the file then, NULL: the usual ones */
	int generate_trace;            /* STARPU_GENERATE_TRACE: convert the trace at the end */
	char *generate_options;        /* words for the converter, or NULL */
	char *run_command;             /* ORRERY_RUN: the command of `orrery run`, or NULL */
	char *report;     /* ORRERY_REPORT: file for the numbers of a real run, or NULL */
	int summary;      /* ORRERY_SUMMARY: print them at the end */
	char *statistics; /* ORRERY_STATISTICS: file that all ranks append their counts to, or NULL
			   */
	int top;          /* ORRERY_TOP: people may ask about the run while it goes on */
	int task_progress;
	long stall_us;          /* ORRERY_STALL_TIMEOUT, 0 = off */
	long heartbeat_us;      /* ORRERY_HEARTBEAT_TIMEOUT, 0 = off */
	long watchdog_us;       /* STARPU_WATCHDOG_TIMEOUT, 0 = off */
	long watchdog_delay_us; /* after the start of the runtime: no watch until then */
	int watchdog_crash;
};

#endif
