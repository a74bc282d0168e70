/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of performance counters (see counter.h).
 *
 * Invariant: the rows of a scope stand in the order of its enumeration in counter.h. */
#include "core/flow/counter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/log.h"
#include "base/named_table.h"

static const struct orr_named_row global[] = {
	{ "starpu.task.g_total_submitted", "tasks submitted", starpu_perf_counter_type_int64 },
	{ "starpu.task.g_peak_submitted",
	  "largest number of tasks that were submitted and not ready at one time",
	  starpu_perf_counter_type_int64 },
	{ "starpu.task.g_peak_ready",
	  "largest number of tasks that were ready and waited for a worker at one time",
	  starpu_perf_counter_type_int64 },
	{ "starpu.task.g_total_executed", "tasks that workers have executed",
	  starpu_perf_counter_type_int64 },
	{ "starpu.task.g_current_submitted", "tasks that are submitted and not ready now",
	  starpu_perf_counter_type_int64 },
	{ "starpu.task.g_current_ready", "tasks that are ready and wait for a worker now",
	  starpu_perf_counter_type_int64 },
}, worker[] = {
	{ "starpu.task.w_total_executed", "tasks that the worker has executed",
	  starpu_perf_counter_type_int64 },
	{ "starpu.task.w_cumul_execution_time", "time that their kernels took together, in us",
	  starpu_perf_counter_type_double },
}, codelet[] = {
	{ "starpu.task.c_total_submitted", "tasks of the codelet that were submitted",
	  starpu_perf_counter_type_int64 },
	{ "starpu.task.c_peak_submitted",
	  "largest number of its tasks that were submitted and not ready at one time",
	  starpu_perf_counter_type_int64 },
	{ "starpu.task.c_peak_ready",
	  "largest number of its tasks that were ready and waited for a worker at one time",
	  starpu_perf_counter_type_int64 },
	{ "starpu.task.c_total_executed", "its tasks that workers have executed",
	  starpu_perf_counter_type_int64 },
	{ "starpu.task.c_cumul_execution_time", "time that their kernels took together, in us",
	  starpu_perf_counter_type_double },
};

static const struct orr_named_table tables[] = {
	ORR_NAMED_TABLE(starpu_perf_counter_scope_global, "global", global),
	ORR_NAMED_TABLE(starpu_perf_counter_scope_per_worker, "per_worker", worker),
	ORR_NAMED_TABLE(starpu_perf_counter_scope_per_codelet, "per_codelet", codelet),
};

static const struct orr_named_tables counters = { tables, ORR_NAMED_COUNT(tables) };

/* ---- names and numbers ---- */

int starpu_perf_counter_scope_name_to_id(const char *name)
{
	return orr_named_scope_id(&counters, name, starpu_perf_counter_scope_undefined);
}

const char *starpu_perf_counter_scope_id_to_name(enum starpu_perf_counter_scope scope)
{
	return orr_named_scope_name(&counters, (int) scope);
}

int starpu_perf_counter_type_name_to_id(const char *name)
{
	return orr_named_type_id(name);
}

const char *starpu_perf_counter_type_id_to_name(enum starpu_perf_counter_type type)
{
	return orr_named_type_name((int) type);
}

int starpu_perf_counter_nb(enum starpu_perf_counter_scope scope)
{
	return orr_named_count(&counters, (int) scope);
}

int starpu_perf_counter_nth_to_id(enum starpu_perf_counter_scope scope, int nth)
{
	return orr_named_nth(&counters, (int) scope, nth);
}

int starpu_perf_counter_name_to_id(enum starpu_perf_counter_scope scope, const char *name)
{
	return orr_named_id(&counters, (int) scope, name);
}

const char *starpu_perf_counter_id_to_name(int id)
{
	const struct orr_named_row *r = orr_named_row(&counters, id);

	return r ? r->name : NULL;
}

int starpu_perf_counter_get_type_id(int id)
{
	const struct orr_named_row *r = orr_named_row(&counters, id);

	return r ? r->type : (int) starpu_perf_counter_type_undefined;
}

const char *starpu_perf_counter_get_help_string(int id)
{
	const struct orr_named_row *r = orr_named_row(&counters, id);

	return r ? r->help : NULL;
}

void starpu_perf_counter_list_avail(enum starpu_perf_counter_scope scope)
{
	orr_named_list(&counters, (int) scope);
}

void starpu_perf_counter_list_all_avail(void)
{
	orr_named_list_all(&counters);
}

/* ---- sets ---- */

struct starpu_perf_counter_set *starpu_perf_counter_set_alloc(enum starpu_perf_counter_scope scope)
{
	struct starpu_perf_counter_set *set = orr_named_scope(&counters, (int) scope)
						      ? calloc(1, sizeof(*set))
						      : NULL;

	if (set)
		set->scope = scope;
	else
		orr_error("%s: scope %d does not exist, or memory is exhausted", __func__,
			  (int) scope);
	return set;
}

void starpu_perf_counter_set_free(struct starpu_perf_counter_set *set)
{
	free(set);
}

/* The bit of a counter in its set, or 0 after a message. */
static uint32_t bit_of(const struct starpu_perf_counter_set *set, int id, const char *what)
{
	orr_assertf(!orr_named_row(&counters, id) || orr_named_place_of(id) < ORR_COUNTER_MAX,
		    "the place of counter %d is in no sample", id);
	if (set && orr_named_row(&counters, id) && orr_named_scope_of(id) == (int) set->scope)
		return UINT32_C(1) << orr_named_place_of(id);
	orr_error("%s: %d is no counter of the set's scope: ask starpu_perf_counter_name_to_id",
		  what, id);
	return 0;
}

void starpu_perf_counter_set_enable_id(struct starpu_perf_counter_set *set, int id)
{
	uint32_t bit = bit_of(set, id, __func__);

	if (bit)
		set->mask |= bit;
}

void starpu_perf_counter_set_disable_id(struct starpu_perf_counter_set *set, int id)
{
	uint32_t bit = bit_of(set, id, __func__);

	if (bit)
		set->mask &= ~bit;
}

/* ---- listeners ---- */

struct starpu_perf_counter_listener *starpu_perf_counter_listener_init(
	struct starpu_perf_counter_set *set,
	void (*callback)(struct starpu_perf_counter_listener *listener,
			 struct starpu_perf_counter_sample *sample, void *context),
	void *user_arg)
{
	struct starpu_perf_counter_listener *l = set && callback ? calloc(1, sizeof(*l)) : NULL;

	if (!l) {
		orr_error("%s: there is no set, no callback, or no memory", __func__);
		return NULL;
	}
	l->set = *set;
	l->callback = callback;
	l->arg = user_arg;
	return l;
}

void starpu_perf_counter_listener_exit(struct starpu_perf_counter_listener *listener)
{
	if (listener && ORR_ATOMIC_LOAD(&listener->nset)) {
		orr_error("%s: the listener is still set: unset it first", __func__);
		return;
	}
	free(listener);
}

/* ---- values ---- */

static union orr_counter_value value(const struct starpu_perf_counter_sample *sample, int id,
				     enum starpu_perf_counter_type type)
{
	static const union orr_counter_value none;
	const struct orr_named_row *r = orr_named_row(&counters, id);

	if (sample && r && r->type == (int) type && orr_named_scope_of(id) == (int) sample->scope &&
	    (sample->mask & UINT32_C(1) << orr_named_place_of(id)))
		return sample->value[orr_named_place_of(id)];
	orr_error("counter %d (%s) is not in the sample, or its type is not %s", id,
		  r ? r->name : "there is no such counter", orr_named_type_name((int) type));
	return none;
}

int32_t starpu_perf_counter_sample_get_int32_value(struct starpu_perf_counter_sample *sample,
						   const int counter_id)
{
	return (int32_t) value(sample, counter_id, starpu_perf_counter_type_int32).i;
}

int64_t starpu_perf_counter_sample_get_int64_value(struct starpu_perf_counter_sample *sample,
						   const int counter_id)
{
	return value(sample, counter_id, starpu_perf_counter_type_int64).i;
}

float starpu_perf_counter_sample_get_float_value(struct starpu_perf_counter_sample *sample,
						 const int counter_id)
{
	return (float) value(sample, counter_id, starpu_perf_counter_type_float).d;
}

double starpu_perf_counter_sample_get_double_value(struct starpu_perf_counter_sample *sample,
						   const int counter_id)
{
	return value(sample, counter_id, starpu_perf_counter_type_double).d;
}
