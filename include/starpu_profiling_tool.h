/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Profiling tools: a shared object that the user brings and that is told of events of the runtime.
 *
 * The variable STARPU_PROF_TOOL names the shared object. It defines
 *
 *     void starpu_prof_tool_library_register(starpu_prof_tool_entry_register_func reg,
 *                                            starpu_prof_tool_entry_register_func unreg);
 *
 * which starpu_init() calls, and which registers a function for each event that it wants. A program
 * without a tool pays nothing for this. doc/statistics.md has an example. */
#ifndef STARPU_PROFILING_TOOL_H
#define STARPU_PROFILING_TOOL_H

#include <starpu.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum starpu_prof_tool_event {
	starpu_prof_tool_event_none = 0,
	starpu_prof_tool_event_init,      /* the tool was loaded */
	starpu_prof_tool_event_terminate, /* the last event: all workers have ended */
	starpu_prof_tool_event_init_begin,
	starpu_prof_tool_event_init_end,    /* starpu_init() is about to return 0 */
	starpu_prof_tool_event_driver_init, /* a worker exists; in its thread, as the next three */
	starpu_prof_tool_event_driver_deinit, /* a worker ends */
	starpu_prof_tool_event_driver_init_start,
	starpu_prof_tool_event_driver_init_end,
	starpu_prof_tool_event_start_cpu_exec, /* a kernel begins on a CPU worker */
	starpu_prof_tool_event_end_cpu_exec,
	starpu_prof_tool_event_start_gpu_exec, /* a kernel is given to a device */
	starpu_prof_tool_event_end_gpu_exec,
	starpu_prof_tool_event_start_transfer, /* a copy between memory nodes */
	starpu_prof_tool_event_end_transfer,
	starpu_prof_tool_event_user_start, /* never told: no function of a program means it */
	starpu_prof_tool_event_user_end
};

enum starpu_prof_tool_command {
	starpu_prof_tool_command_reg = 0, /* the function is called from now on, or no more */
	/* The function is called no more if it was, and again if it was not. */
	starpu_prof_tool_command_toggle,
	/* Refused with a message: functions are the same for all threads. */
	starpu_prof_tool_command_toggle_per_thread
};

enum starpu_prof_tool_driver_type {
	starpu_prof_tool_driver_cpu = 0,
	starpu_prof_tool_driver_gpu,
	starpu_prof_tool_driver_hip /* never told */
};

/* The description of an event. The runtime owns it; it is gone when the function returns. */
struct starpu_prof_tool_info {
	struct starpu_conf *conf; /* of starpu_init(); not to be changed */
	enum starpu_prof_tool_event event_type;
	unsigned starpu_version[3]; /* major, minor, release of the interface */
	int thread_id;              /* as worker_id */
	int worker_id;              /* -1: the event is no worker's */
	int device_number; /* of the worker, or of the memory that a transfer goes to; -1 */
	enum starpu_prof_tool_driver_type driver_type;
	unsigned memnode;           /* the worker's, or the one that a transfer goes to */
	unsigned bytes_to_transfer; /* of a transfer that begins; at most UINT_MAX is told */
	unsigned bytes_transfered;  /* of one that has ended */
	void *fun_ptr;              /* the kernel's function, NULL when none is executed */
};

/* Information special to one event: none so far. */
union starpu_prof_tool_event_info {
	enum starpu_prof_tool_event event_type;
};

/* Information special to the interface of a device: none so far. */
struct starpu_prof_tool_api_info {
	enum starpu_prof_tool_driver_type driver_type;
};

/* A function of a tool. The thread in which the event happens calls it, several threads at once,
 * and it must not call functions of the runtime that wait. */
typedef void (*starpu_prof_tool_cb_func)(struct starpu_prof_tool_info *info,
					 union starpu_prof_tool_event_info *event_info,
					 struct starpu_prof_tool_api_info *api_info);
/* Registers cb for an event, or ends that. Any thread of the process may call it while the runtime
 * is up. At most 8 functions per event; more are refused with a message. */
typedef void (*starpu_prof_tool_entry_register_func)(enum starpu_prof_tool_event event_type,
						     starpu_prof_tool_cb_func cb,
						     enum starpu_prof_tool_command info);
typedef void (*starpu_prof_tool_entry_func)(starpu_prof_tool_entry_register_func reg,
					    starpu_prof_tool_entry_register_func unreg);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
