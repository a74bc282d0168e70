/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Creating and submitting a task in one call; packing arguments; bundles.
 *
 * Invariant: markers are multiples of 65536, so that no marker can be taken for a combination of
 * access modes; their numbers are part of the binary interface and only ever added to.
 */
#ifndef STARPU_TASK_UTIL_H
#define STARPU_TASK_UTIL_H

#include <stddef.h>
#include <starpu_config.h>
#include <starpu_task.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* --- Markers: each is followed by arguments of the types in its comment; 0 ends the list --- */

/* (A data access mode is a marker too: starpu_data_handle_t. With STARPU_NONE the handle is
 * ignored.) */
#define STARPU_VALUE (1 << 16)              /* void *, size_t: copied into cl_arg */
#define STARPU_CL_ARGS (2 << 16)            /* void *, size_t: is cl_arg, freed with the task */
#define STARPU_CL_ARGS_NFREE (3 << 16)      /* void *, size_t: the same, not freed */
#define STARPU_DATA_ARRAY (4 << 16)         /* starpu_data_handle_t *, int: modes of the codelet */
#define STARPU_DATA_MODE_ARRAY (5 << 16)    /* struct starpu_data_descr *, int: as many */
#define STARPU_CALLBACK (6 << 16)           /* void (*)(void *) */
#define STARPU_CALLBACK_ARG (7 << 16)       /* void *: freed with the task */
#define STARPU_CALLBACK_ARG_NFREE (8 << 16) /* void * */
#define STARPU_CALLBACK_WITH_ARG (9 << 16)  /* void (*)(void *), void *: freed with the task */
#define STARPU_CALLBACK_WITH_ARG_NFREE (10 << 16)         /* void (*)(void *), void * */
#define STARPU_EPILOGUE_CALLBACK (11 << 16)               /* void (*)(void *) */
#define STARPU_EPILOGUE_CALLBACK_ARG (12 << 16)           /* void *: freed with the task */
#define STARPU_PROLOGUE_CALLBACK (13 << 16)               /* void (*)(void *) */
#define STARPU_PROLOGUE_CALLBACK_ARG (14 << 16)           /* void *: freed with the task */
#define STARPU_PROLOGUE_CALLBACK_ARG_NFREE (15 << 16)     /* void * */
#define STARPU_PROLOGUE_CALLBACK_POP (16 << 16)           /* void (*)(void *) */
#define STARPU_PROLOGUE_CALLBACK_POP_ARG (17 << 16)       /* void *: freed with the task */
#define STARPU_PROLOGUE_CALLBACK_POP_ARG_NFREE (18 << 16) /* void * */
#define STARPU_PRIORITY (19 << 16)        /* int: of the task, and of its messages */
#define STARPU_EXECUTE_ON_NODE (20 << 16) /* int: executing rank, -1 is ignored (handbook 14.8) */
#define STARPU_EXECUTE_ON_DATA (21 << 16) /* starpu_data_handle_t: its owner executes */
#define STARPU_NODE_SELECTION_POLICY (22 << 16) /* int: policy that chooses the rank */
#define STARPU_EXECUTE_ON_WORKER (23 << 16)     /* int: the worker, -1 is ignored */
#define STARPU_EXECUTE_WHERE (24 << 16)         /* unsigned long long: task.where */
#define STARPU_WORKER_ORDER (25 << 16)          /* unsigned: task.workerorder, 0 is ignored */
#define STARPU_TASK_WORKERIDS (26 << 16) /* unsigned, uint32_t *: so many words, task.workerids */
#define STARPU_TAG (27 << 16)            /* starpu_tag_t: tag_id, with use_tag */
#define STARPU_TAG_ONLY (28 << 16)       /* starpu_tag_t: tag_id, without */
#define STARPU_TASK_DEPS_ARRAY \
	(29 << 16) /* unsigned, struct starpu_task **: as many dependencies */
#define STARPU_TASK_END_DEPS_ARRAY \
	(30 << 16) /* unsigned, struct starpu_task **: as many end dependencies */
#define STARPU_TASK_END_DEP (31 << 16)                   /* int: starpu_task_end_dep_add() */
#define STARPU_FLOPS (32 << 16)                          /* double */
#define STARPU_SCHED_CTX (33 << 16)                      /* unsigned */
#define STARPU_POSSIBLY_PARALLEL (34 << 16)              /* unsigned */
#define STARPU_NAME (35 << 16)                           /* const char * */
#define STARPU_TASK_COLOR (36 << 16)                     /* int */
#define STARPU_TASK_SYNCHRONOUS (37 << 16)               /* int */
#define STARPU_SEQUENTIAL_CONSISTENCY (38 << 16)         /* unsigned */
#define STARPU_HANDLES_SEQUENTIAL_CONSISTENCY (39 << 16) /* unsigned char * */
#define STARPU_TASK_PROFILING_INFO (40 << 16)            /* struct starpu_profiling_task_info * */
#define STARPU_TASK_NO_SUBMITORDER (41 << 16)            /* unsigned */
#define STARPU_TASK_SCHED_DATA (42 << 16)                /* void * */
#define STARPU_TRANSACTION (43 << 16)                    /* struct starpu_transaction * */
#define STARPU_TASK_FILE (44 << 16)                      /* const char * */
#define STARPU_TASK_LINE (45 << 16)                      /* int */

/* --- Creating tasks from a list of markers ------------------------------------------- */

/* Build a task and submit it. 0, or the error of starpu_task_submit(), after which the task is
 * freed. Any thread. */
int starpu_task_insert(struct starpu_codelet *cl, ...);
/* Its older name. */
int starpu_insert_task(struct starpu_codelet *cl, ...);
/* Build a task, with the destroy flag, and leave its submission to the program. */
struct starpu_task *starpu_task_build(struct starpu_codelet *cl, ...);
/* Fill an initialised task. 0, or -EINVAL after a message. */
int starpu_task_set(struct starpu_task *task, struct starpu_codelet *cl, ...);

/* --- Packed arguments ---------------------------------------------------------------- */

/* Pack (STARPU_VALUE, const void *, size_t)* 0 into *arg_buffer, which the caller frees or hands to
 * a task. */
void starpu_codelet_pack_args(void **arg_buffer, size_t *arg_buffer_size, ...);
/* Copy the packed values to the given addresses, in order. A null pointer ends the list early, and
 * is needed only then. _and_copyleft copies the values that were not read to buffer, packed. */
void starpu_codelet_unpack_args(void *cl_arg, ...);
void starpu_codelet_unpack_args_and_copyleft(void *cl_arg, void *buffer, size_t buffer_size, ...);

/* The same one by one. Declared by value; the fields are private. */
struct starpu_codelet_pack_arg_data {
	char *arg_buffer;
	size_t arg_buffer_size;
	size_t arg_buffer_used;
	size_t current_offset;
	int nargs;
};

/* Pack: start, add copies, then get the buffer, which is the caller's. */
void starpu_codelet_pack_arg_init(struct starpu_codelet_pack_arg_data *state);
void starpu_codelet_pack_arg(struct starpu_codelet_pack_arg_data *state, const void *ptr,
			     size_t ptr_size);
void starpu_codelet_pack_arg_fini(struct starpu_codelet_pack_arg_data *state, void **cl_arg,
				  size_t *cl_arg_size);
/* Unpack: start, then read each argument in turn: copied to ptr[size]; as a copy that the caller
 * frees; as a pointer into cl_arg; or not at all. */
void starpu_codelet_unpack_arg_init(struct starpu_codelet_pack_arg_data *state, void *cl_arg,
				    size_t cl_arg_size);
void starpu_codelet_unpack_arg(struct starpu_codelet_pack_arg_data *state, void *ptr, size_t size);
void starpu_codelet_dup_arg(struct starpu_codelet_pack_arg_data *state, void **ptr, size_t *size);
void starpu_codelet_pick_arg(struct starpu_codelet_pack_arg_data *state, void **ptr, size_t *size);
void starpu_codelet_unpack_discard_arg(struct starpu_codelet_pack_arg_data *state);
void starpu_codelet_unpack_arg_fini(struct starpu_codelet_pack_arg_data *state);

/* --- Bundles: hints that tasks should execute on the same memory node ---------------- */

void starpu_task_bundle_create(starpu_task_bundle_t *bundle);
/* Put a task that is not submitted into an open bundle; take it out. 0; -EINVAL when the bundle is
 * closed, or the task is submitted or in another bundle; -ENOENT when the task was not in it. */
int starpu_task_bundle_insert(starpu_task_bundle_t bundle, struct starpu_task *task);
int starpu_task_bundle_remove(starpu_task_bundle_t bundle, struct starpu_task *task);
/* Nothing more will be inserted. A task leaves its bundle when it completes, and the bundle is
 * freed with the last one. */
void starpu_task_bundle_close(starpu_task_bundle_t bundle);

struct starpu_perfmodel_arch;
/* The expected time of all tasks of the bundle on that kind of unit, in µs, and their expected
 * energy, in joules. NAN when a model has no answer. Call it from policies, or before the tasks are
 * submitted. */
double starpu_task_bundle_expected_length(starpu_task_bundle_t bundle,
					  struct starpu_perfmodel_arch *arch, unsigned nimpl);
double starpu_task_bundle_expected_energy(starpu_task_bundle_t bundle,
					  struct starpu_perfmodel_arch *arch, unsigned nimpl);
/* The expected time in µs of the transfers to a memory node that they need; data that several of
 * them read are transferred once. */
double starpu_task_bundle_expected_data_transfer_time(starpu_task_bundle_t bundle,
						      unsigned memory_node);

/* --- Data of a task one by one ------------------------------------------------------- */

/* Append data to a task that is being built, as insertions do. *allocated_buffers and
 * *current_buffer are 0 before the first call, and tell the next ones how far the task is. cl may
 * be NULL; a codelet with a fixed number of data has modes of its own, or takes them from here.
 * make_room prepares for `room` more data. */
void starpu_task_insert_data_make_room(struct starpu_codelet *cl, struct starpu_task *task,
				       int *allocated_buffers, int current_buffer, int room);
void starpu_task_insert_data_process_arg(struct starpu_codelet *cl, struct starpu_task *task,
					 int *allocated_buffers, int *current_buffer, int arg_type,
					 starpu_data_handle_t handle);
void starpu_task_insert_data_process_array_arg(struct starpu_codelet *cl, struct starpu_task *task,
					       int *allocated_buffers, int *current_buffer,
					       int nb_handles, starpu_data_handle_t *handles);
void starpu_task_insert_data_process_mode_array_arg(struct starpu_codelet *cl,
						    struct starpu_task *task,
						    int *allocated_buffers, int *current_buffer,
						    int nb_descrs,
						    struct starpu_data_descr *descrs);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
