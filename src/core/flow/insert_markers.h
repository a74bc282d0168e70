/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The markers of starpu_task_insert and its relatives. Each has one row: its name, the types of its
 * arguments (a, or a and b), the argument that is freed with the task (or NULL), and what the core
 * does with them, given the task t and the parser p. Those that only place the task on a rank mean
 * nothing to the core.
 *
 * Invariant: this is the only list. The parsers of the core and of the MPI layer are made from it,
 * and tests/headers/markers.sh compares it with the constants of starpu_task_util.h and with their
 * comments. The rows stand in the order of the constants. */
#ifndef ORR_CORE_INSERT_MARKERS_H
#define ORR_CORE_INSERT_MARKERS_H

#include "starpu.h"

typedef void (*orr_callback_t)(void *);

#define ORR_MARKERS(ONE, TWO) \
	TWO(STARPU_VALUE, void *, size_t, NULL, return pack_value(p, a, b)) \
	TWO(STARPU_CL_ARGS, void *, size_t, a, set_cl_arg(t, a, b, 1)) \
	TWO(STARPU_CL_ARGS_NFREE, void *, size_t, NULL, set_cl_arg(t, a, b, 0)) \
	TWO(STARPU_DATA_ARRAY, starpu_data_handle_t *, int, NULL, return add_handles(p, a, b)) \
	TWO(STARPU_DATA_MODE_ARRAY, struct starpu_data_descr *, int, NULL, \
	    return add_descrs(p, a, b)) \
	ONE(STARPU_CALLBACK, orr_callback_t, NULL, t->callback_func = a) \
	ONE(STARPU_CALLBACK_ARG, void *, a, t->callback_arg = a; t->callback_arg_free = 1) \
	ONE(STARPU_CALLBACK_ARG_NFREE, void *, NULL, t->callback_arg = a; \
	    t->callback_arg_free = 0) \
	TWO(STARPU_CALLBACK_WITH_ARG, orr_callback_t, void *, b, t->callback_func = a; \
	    t->callback_arg = b; t->callback_arg_free = 1) \
	TWO(STARPU_CALLBACK_WITH_ARG_NFREE, orr_callback_t, void *, NULL, t->callback_func = a; \
	    t->callback_arg = b; t->callback_arg_free = 0) \
	ONE(STARPU_EPILOGUE_CALLBACK, orr_callback_t, NULL, t->epilogue_callback_func = a) \
	ONE(STARPU_EPILOGUE_CALLBACK_ARG, void *, a, t->epilogue_callback_arg = a; \
	    t->epilogue_callback_arg_free = 1) \
	ONE(STARPU_PROLOGUE_CALLBACK, orr_callback_t, NULL, t->prologue_callback_func = a) \
	ONE(STARPU_PROLOGUE_CALLBACK_ARG, void *, a, t->prologue_callback_arg = a; \
	    t->prologue_callback_arg_free = 1) \
	ONE(STARPU_PROLOGUE_CALLBACK_ARG_NFREE, void *, NULL, t->prologue_callback_arg = a; \
	    t->prologue_callback_arg_free = 0) \
	ONE(STARPU_PROLOGUE_CALLBACK_POP, orr_callback_t, NULL, t->prologue_callback_pop_func = a) \
	ONE(STARPU_PROLOGUE_CALLBACK_POP_ARG, void *, a, t->prologue_callback_pop_arg = a; \
	    t->prologue_callback_pop_arg_free = 1) \
	ONE(STARPU_PROLOGUE_CALLBACK_POP_ARG_NFREE, void *, NULL, \
	    t->prologue_callback_pop_arg = a; \
	    t->prologue_callback_pop_arg_free = 0) \
	ONE(STARPU_PRIORITY, int, NULL, t->priority = a) \
	ONE(STARPU_EXECUTE_ON_NODE, int, NULL, (void) a) \
	ONE(STARPU_EXECUTE_ON_DATA, starpu_data_handle_t, NULL, (void) a) \
	ONE(STARPU_NODE_SELECTION_POLICY, int, NULL, (void) a) \
	ONE(STARPU_EXECUTE_ON_WORKER, int, NULL, set_worker(t, a)) \
	ONE(STARPU_EXECUTE_WHERE, unsigned long long, NULL, t->where = (int32_t) a) \
	ONE(STARPU_WORKER_ORDER, unsigned, NULL, t->workerorder = a) \
	TWO(STARPU_TASK_WORKERIDS, unsigned, uint32_t *, NULL, t->workerids_len = a; \
	    t->workerids = b) \
	ONE(STARPU_TAG, starpu_tag_t, NULL, t->tag_id = a; t->use_tag = 1) \
	ONE(STARPU_TAG_ONLY, starpu_tag_t, NULL, t->tag_id = a) \
	TWO(STARPU_TASK_DEPS_ARRAY, unsigned, struct starpu_task **, NULL, \
	    starpu_task_declare_deps_array(t, a, b)) \
	TWO(STARPU_TASK_END_DEPS_ARRAY, unsigned, struct starpu_task **, NULL, \
	    starpu_task_declare_end_deps_array(t, a, b)) \
	ONE(STARPU_TASK_END_DEP, int, NULL, starpu_task_end_dep_add(t, a)) \
	ONE(STARPU_FLOPS, double, NULL, t->flops = a) \
	ONE(STARPU_SCHED_CTX, unsigned, NULL, t->sched_ctx = a) \
	ONE(STARPU_POSSIBLY_PARALLEL, unsigned, NULL, t->possibly_parallel = a) \
	ONE(STARPU_NAME, const char *, NULL, t->name = a) \
	ONE(STARPU_TASK_COLOR, int, NULL, t->color = (unsigned) a) \
	ONE(STARPU_TASK_SYNCHRONOUS, int, NULL, t->synchronous = a != 0) \
	ONE(STARPU_SEQUENTIAL_CONSISTENCY, unsigned, NULL, t->sequential_consistency = a != 0) \
	ONE(STARPU_HANDLES_SEQUENTIAL_CONSISTENCY, unsigned char *, NULL, \
	    t->handles_sequential_consistency = a) \
	ONE(STARPU_TASK_PROFILING_INFO, struct starpu_profiling_task_info *, NULL, \
	    t->profiling_info = a) \
	ONE(STARPU_TASK_NO_SUBMITORDER, unsigned, NULL, t->no_submitorder = a != 0) \
	ONE(STARPU_TASK_SCHED_DATA, void *, NULL, t->sched_data = a) \
	ONE(STARPU_TRANSACTION, struct starpu_transaction *, NULL, t->transaction = a) \
	ONE(STARPU_TASK_FILE, const char *, NULL, t->file = a) \
	ONE(STARPU_TASK_LINE, int, NULL, t->line = a)

#endif
