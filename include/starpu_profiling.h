/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * On-line profiling of tasks, workers and buses.
 *
 * Invariant: all times are of the clock of orrery_now_us(), virtual in a simulated run. Any thread
 * may call, between starpu_init() and starpu_shutdown() unless said otherwise.
 */
#ifndef STARPU_PROFILING_H
#define STARPU_PROFILING_H

#include <stdint.h>
#include <time.h>
#include <starpu_config.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define STARPU_PROFILING_DISABLE 0
#define STARPU_PROFILING_ENABLE 1

/* Switch profiling on or off, also before starpu_init(); returns the previous state. Switching on
 * zeroes the workers' numbers. get: the present state. */
int starpu_profiling_status_set(int status);
int starpu_profiling_status_get(void);
/* Begin again in the state that STARPU_PROFILING gives. */
void starpu_profiling_init(void);
/* Has no effect: the files of several processes differ by their ranks. */
void starpu_profiling_set_id(int new_id);

/* --- Records ------------------------------------------------------------------------- */

/* The stages of one task, see starpu_task.profiling_info. */
struct starpu_profiling_task_info {
	struct timespec submit_time;
	struct timespec push_start_time; /* ready */
	struct timespec push_end_time;   /* given to the policy */
	struct timespec pop_start_time;  /* taken from the policy */
	struct timespec pop_end_time;
	struct timespec acquire_data_start_time;
	struct timespec acquire_data_end_time;
	struct timespec start_time; /* the kernel */
	struct timespec end_time;
	struct timespec release_data_start_time;
	struct timespec release_data_end_time;
	struct timespec callback_start_time;
	struct timespec callback_end_time;
	int workerid;         /* the worker that executed it */
	uint64_t used_cycles; /* 0 where not measured, like the following */
	uint64_t stall_cycles;
	double energy_consumed; /* joules */
	int papi_event_set;
	long long *papi_values;
};

/* The work of a worker since its record was last read. */
struct starpu_profiling_worker_info {
	struct timespec start_time;     /* start of the period */
	struct timespec total_time;     /* its length */
	struct timespec executing_time; /* in kernels, without overlap, and so on */
	struct timespec callback_time;
	struct timespec waiting_time;       /* for data */
	struct timespec sleeping_time;      /* for tasks */
	struct timespec scheduling_time;    /* in the policy */
	struct timespec all_executing_time; /* the same with overlaps counted several times */
	struct timespec all_callback_time;
	struct timespec all_waiting_time;
	struct timespec all_sleeping_time;
	struct timespec all_scheduling_time;
	int executed_tasks;
	uint64_t used_cycles;
	uint64_t stall_cycles;
	double energy_consumed; /* joules */
	double flops;           /* sum of the tasks' flops */
};

/* The load of a bus between two memory nodes since its record was last read. */
struct starpu_profiling_bus_info {
	struct timespec start_time;
	struct timespec total_time;
	unsigned long long transferred_bytes;
	unsigned long long transfer_count;
};

/* Store a worker's numbers (NULL: forget them) and start a new period. 0, or -EINVAL for a worker
 * that does not exist. */
int starpu_profiling_worker_get_info(int workerid,
				     struct starpu_profiling_worker_info *worker_info);

/* There is a bus from each memory node to each other one. They are numbered from 0 to count-1;
 * those of a memory node that is added (a disk) come after those that exist. get_id is -1 where
 * there is none, src and dst are -1 for a bus that does not exist. */
int starpu_bus_get_count(void);
int starpu_bus_get_id(int src, int dst);
int starpu_bus_get_src(int busid);
int starpu_bus_get_dst(int busid);
/* Notes of the program on a bus, for its own policies: whether it leads from device to device
 * directly, and how many GPUs share it. Both are 0 at first; the runtime does not use them. Any
 * thread. For a bus that does not exist, set has no effect and get returns 0. */
void starpu_bus_set_direct(int busid, int direct);
int starpu_bus_get_direct(int busid);
void starpu_bus_set_ngpus(int busid, int ngpus);
int starpu_bus_get_ngpus(int busid);
/* Copies over the bus, and their bytes, since it was last asked (at first: since starpu_init),
 * whether profiling is on or not. A copy counts when it is started. 0, or -EINVAL for a bus that
 * does not exist. */
int starpu_bus_get_profiling_info(int busid, struct starpu_profiling_bus_info *bus_info);

/* Print on stderr the load of each used bus, and the work of each worker, since starpu_init(). */
void starpu_profiling_bus_helper_display_summary(void);
void starpu_profiling_worker_helper_display_summary(void);
/* Print the data that each memory node holds, on stderr. */
void starpu_data_display_memory_stats(void);

/* --- Times --------------------------------------------------------------------------- */

/* Microseconds from start to end; of one time. */
double starpu_timing_timespec_delay_us(struct timespec *start, struct timespec *end);
double starpu_timing_timespec_to_us(struct timespec *ts);

#define STARPU_NS_PER_S 1000000000

/* Compare: starpu_timespec_cmp(&a, &b, <). */
#define starpu_timespec_cmp(a, b, CMP) \
	((a)->tv_sec == (b)->tv_sec ? ((a)->tv_nsec CMP(b)->tv_nsec) : ((a)->tv_sec CMP(b)->tv_sec))

static inline void starpu_timespec_clear(struct timespec *tsp)
{
	tsp->tv_sec = 0;
	tsp->tv_nsec = 0;
}

/* *result = *a + *b; it may be one of them. */
static inline void starpu_timespec_add(struct timespec *a, struct timespec *b,
				       struct timespec *result)
{
	long nsec = a->tv_nsec + b->tv_nsec;

	result->tv_sec = a->tv_sec + b->tv_sec + nsec / STARPU_NS_PER_S;
	result->tv_nsec = nsec % STARPU_NS_PER_S;
}

static inline void starpu_timespec_accumulate(struct timespec *result, struct timespec *a)
{
	starpu_timespec_add(result, a, result);
}

/* *result = *a - *b, where a is not before b. */
static inline void starpu_timespec_sub(const struct timespec *a, const struct timespec *b,
				       struct timespec *result)
{
	long nsec = a->tv_nsec - b->tv_nsec;

	result->tv_sec = a->tv_sec - b->tv_sec - (nsec < 0);
	result->tv_nsec = nsec < 0 ? nsec + STARPU_NS_PER_S : nsec;
}

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
