/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Performance counters: the program asks which there are, and is called when their values change.
 *
 * Invariant: counters count only while collection is on, and cost nothing otherwise. Any thread may
 * call; a listener is called between starpu_init() and starpu_shutdown() only, and not any more
 * once the call that unsets it has returned.
 */
#ifndef STARPU_PERF_MONITORING_H
#define STARPU_PERF_MONITORING_H

#include <stdint.h>
#include <starpu_config.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct starpu_codelet;

/* The subject of a counter. */
enum starpu_perf_counter_scope {
	starpu_perf_counter_scope_undefined = 0,
	starpu_perf_counter_scope_global = 2,     /* all tasks of the process */
	starpu_perf_counter_scope_per_worker = 4, /* those that one worker has executed */
	starpu_perf_counter_scope_per_codelet = 6 /* those of one codelet */
};

/* The type of its values. */
enum starpu_perf_counter_type {
	starpu_perf_counter_type_undefined = 0,
	starpu_perf_counter_type_int32 = 1,
	starpu_perf_counter_type_int64 = 2,
	starpu_perf_counter_type_float = 3,
	starpu_perf_counter_type_double = 4
};

/* The values of the counters of a set at one moment; the runtime's, valid during the call that gets
 * it. */
struct starpu_perf_counter_sample;
/* Counters of one scope that a listener wants to see. */
struct starpu_perf_counter_set;
/* A function of the program with a set of counters. */
struct starpu_perf_counter_listener;

/* --- Collection ---------------------------------------------------------------------- */

/* Begin to count, and stop; calls nest. Values stay between a stop and the next start, and begin at
 * 0 with each starpu_init(). start_perf_counter_collection of struct starpu_conf counts from the
 * start. Between starpu_init() and starpu_shutdown(). */
void starpu_perf_counter_collection_start(void);
void starpu_perf_counter_collection_stop(void);

/* --- Which counters there are -------------------------------------------------------- */

/* Scopes ("global", "per_worker", "per_codelet") and types ("int32", "int64", "float", "double") by
 * name and number. An unknown name gives the number of "undefined", an unknown number NULL. */
int starpu_perf_counter_scope_name_to_id(const char *name);
const char *starpu_perf_counter_scope_id_to_name(enum starpu_perf_counter_scope scope);
int starpu_perf_counter_type_name_to_id(const char *name);
const char *starpu_perf_counter_type_id_to_name(enum starpu_perf_counter_type type);

/* The number of counters of a scope; the number of one by its name
 * ("starpu.task.g_total_submitted"), and of the nth, from 0 on. -1 where there is none. */
int starpu_perf_counter_nb(enum starpu_perf_counter_scope scope);
int starpu_perf_counter_name_to_id(enum starpu_perf_counter_scope scope, const char *name);
int starpu_perf_counter_nth_to_id(enum starpu_perf_counter_scope scope, int nth);
/* The name of a counter, its type, what it counts; NULL, undefined, NULL where there is none. */
const char *starpu_perf_counter_id_to_name(int id);
int starpu_perf_counter_get_type_id(int id);
const char *starpu_perf_counter_get_help_string(int id);
/* Print the counters of a scope, or all, on standard output. */
void starpu_perf_counter_list_avail(enum starpu_perf_counter_scope scope);
void starpu_perf_counter_list_all_avail(void);

/* --- Sets and listeners -------------------------------------------------------------- */

/* A new, empty set; NULL after a message for a scope that does not exist. Free it when no listener
 * is made of it any more; listeners keep a copy. */
struct starpu_perf_counter_set *starpu_perf_counter_set_alloc(enum starpu_perf_counter_scope scope);
void starpu_perf_counter_set_free(struct starpu_perf_counter_set *set);
/* Add a counter of that scope to the set, and take it out. */
void starpu_perf_counter_set_enable_id(struct starpu_perf_counter_set *set, int id);
void starpu_perf_counter_set_disable_id(struct starpu_perf_counter_set *set, int id);

/* A new listener: callback is called with itself, the sample, and user_arg (those of a codelet:
 * with the struct starpu_codelet instead), whenever a counter of its scope may have changed: by any
 * thread (those of a worker: by its thread), several at once. It must not wait, nor set, unset or
 * end listeners. NULL after a message. exit: frees it; unset it before. */
struct starpu_perf_counter_listener *starpu_perf_counter_listener_init(
	struct starpu_perf_counter_set *set,
	void (*callback)(struct starpu_perf_counter_listener *listener,
			 struct starpu_perf_counter_sample *sample, void *context),
	void *user_arg);
void starpu_perf_counter_listener_exit(struct starpu_perf_counter_listener *listener);

/* Have the listener called for the process, for a worker, for all workers, for a codelet. One at a
 * time for each: unset the one before first, or get a message. */
void starpu_perf_counter_set_global_listener(struct starpu_perf_counter_listener *listener);
void starpu_perf_counter_set_per_worker_listener(unsigned workerid,
						 struct starpu_perf_counter_listener *listener);
void starpu_perf_counter_set_all_per_worker_listeners(
	struct starpu_perf_counter_listener *listener);
void starpu_perf_counter_set_per_codelet_listener(struct starpu_codelet *cl,
						  struct starpu_perf_counter_listener *listener);
/* Return when the listener is not being called any more. Not inside a listener. */
void starpu_perf_counter_unset_global_listener(void);
void starpu_perf_counter_unset_per_worker_listener(unsigned workerid);
void starpu_perf_counter_unset_all_per_worker_listeners(void);
void starpu_perf_counter_unset_per_codelet_listener(struct starpu_codelet *cl);

/* --- Values -------------------------------------------------------------------------- */

/* The value of a counter of the set. 0 after a message for a counter that is not in the set, or has
 * another type. */
int32_t starpu_perf_counter_sample_get_int32_value(struct starpu_perf_counter_sample *sample,
						   const int counter_id);
int64_t starpu_perf_counter_sample_get_int64_value(struct starpu_perf_counter_sample *sample,
						   const int counter_id);
float starpu_perf_counter_sample_get_float_value(struct starpu_perf_counter_sample *sample,
						 const int counter_id);
double starpu_perf_counter_sample_get_double_value(struct starpu_perf_counter_sample *sample,
						   const int counter_id);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
