/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Performance knobs: settings of the runtime that the program lists, reads and changes while tasks
 * run.
 *
 * Invariant: a knob always has the value that was last set, by whichever interface. Any thread may
 * call; reading and setting between starpu_init() and starpu_shutdown().
 */
#ifndef STARPU_PERF_STEERING_H
#define STARPU_PERF_STEERING_H

#include <stdint.h>
#include <starpu_config.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* The subject of a knob. */
enum starpu_perf_knob_scope {
	starpu_perf_knob_scope_undefined = 0,
	starpu_perf_knob_scope_global = 1,       /* the process */
	starpu_perf_knob_scope_per_worker = 3,   /* one worker */
	starpu_perf_knob_scope_per_scheduler = 5 /* the contexts with one policy */
};

/* The type of its values. */
enum starpu_perf_knob_type {
	starpu_perf_knob_type_undefined = 0,
	starpu_perf_knob_type_int32 = 1,
	starpu_perf_knob_type_int64 = 2,
	starpu_perf_knob_type_float = 3,
	starpu_perf_knob_type_double = 4
};

/* --- Which knobs there are ----------------------------------------------------------- */

/* Scopes ("global", "per_worker", "per_scheduler") and types ("int32", "int64", "float", "double")
 * by name and number. An unknown name gives the number of "undefined", an unknown number NULL. */
int starpu_perf_knob_scope_name_to_id(const char *name);
const char *starpu_perf_knob_scope_id_to_name(enum starpu_perf_knob_scope scope);
int starpu_perf_knob_type_name_to_id(const char *name);
const char *starpu_perf_knob_type_id_to_name(enum starpu_perf_knob_type type);

/* The count of a scope's knobs; the number of one by its name, and of the nth, from 0 on. -1 where
 * there is none. */
int starpu_perf_knob_nb(enum starpu_perf_knob_scope scope);
int starpu_perf_knob_name_to_id(enum starpu_perf_knob_scope scope, const char *name);
int starpu_perf_knob_nth_to_id(enum starpu_perf_knob_scope scope, int nth);
/* The name of a knob, its type, what it does; NULL, undefined, NULL where there is none. */
const char *starpu_perf_knob_id_to_name(int id);
int starpu_perf_knob_get_type_id(int id);
const char *starpu_perf_knob_get_help_string(int id);
/* Print the knobs of a scope, or all, on standard output. */
void starpu_perf_knob_list_avail(enum starpu_perf_knob_scope scope);
void starpu_perf_knob_list_all_avail(void);

/* --- Reading and setting ------------------------------------------------------------- */

/* The value of a knob: 0 after a message for a knob of another scope or type, for a worker that
 * does not exist, or a policy that no context has. Setting gives the same messages, or one for a
 * value that is not allowed, and changes nothing then. Today all knobs are of type int32. */
int32_t starpu_perf_knob_get_global_int32_value(const int knob_id);
int64_t starpu_perf_knob_get_global_int64_value(const int knob_id);
float starpu_perf_knob_get_global_float_value(const int knob_id);
double starpu_perf_knob_get_global_double_value(const int knob_id);
void starpu_perf_knob_set_global_int32_value(const int knob_id, int32_t new_value);
void starpu_perf_knob_set_global_int64_value(const int knob_id, int64_t new_value);
void starpu_perf_knob_set_global_float_value(const int knob_id, float new_value);
void starpu_perf_knob_set_global_double_value(const int knob_id, double new_value);
int32_t starpu_perf_knob_get_per_worker_int32_value(const int knob_id, unsigned workerid);
int64_t starpu_perf_knob_get_per_worker_int64_value(const int knob_id, unsigned workerid);
float starpu_perf_knob_get_per_worker_float_value(const int knob_id, unsigned workerid);
double starpu_perf_knob_get_per_worker_double_value(const int knob_id, unsigned workerid);
void starpu_perf_knob_set_per_worker_int32_value(const int knob_id, unsigned workerid,
						 int32_t new_value);
void starpu_perf_knob_set_per_worker_int64_value(const int knob_id, unsigned workerid,
						 int64_t new_value);
void starpu_perf_knob_set_per_worker_float_value(const int knob_id, unsigned workerid,
						 float new_value);
void starpu_perf_knob_set_per_worker_double_value(const int knob_id, unsigned workerid,
						  double new_value);
int32_t starpu_perf_knob_get_per_scheduler_int32_value(const int knob_id,
						       const char *sched_policy_name);
int64_t starpu_perf_knob_get_per_scheduler_int64_value(const int knob_id,
						       const char *sched_policy_name);
float starpu_perf_knob_get_per_scheduler_float_value(const int knob_id,
						     const char *sched_policy_name);
double starpu_perf_knob_get_per_scheduler_double_value(const int knob_id,
						       const char *sched_policy_name);
void starpu_perf_knob_set_per_scheduler_int32_value(const int knob_id,
						    const char *sched_policy_name,
						    int32_t new_value);
void starpu_perf_knob_set_per_scheduler_int64_value(const int knob_id,
						    const char *sched_policy_name,
						    int64_t new_value);
void starpu_perf_knob_set_per_scheduler_float_value(const int knob_id,
						    const char *sched_policy_name, float new_value);
void starpu_perf_knob_set_per_scheduler_double_value(const int knob_id,
						     const char *sched_policy_name,
						     double new_value);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
