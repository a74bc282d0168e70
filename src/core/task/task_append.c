/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Data appended to a task one by one, for layers that parse the arguments of insertions themselves.
 *
 * Invariant: *allocated_buffers is 0 while the data of a task stand in its own arrays, else the
 * room in dyn_handles and dyn_modes. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/task/task.h"

/* Moves the data to allocated arrays with that much room. */
static void enlarge(struct starpu_task *task, int *allocated, int n, int room)
{
	starpu_data_handle_t *h = realloc(task->dyn_handles, (size_t) room * sizeof(*h));
	enum starpu_data_access_mode *m;

	if (h)
		task->dyn_handles = h;
	m = realloc(task->dyn_modes, (size_t) room * sizeof(*m));
	if (m)
		task->dyn_modes = m;
	if (!h || !m)
		orr_fatal("out of memory for the %d data of task %s", room, orr_task_name(task));
	if (!*allocated) {
		memcpy(h, task->handles, (size_t) n * sizeof(*h));
		memcpy(m, task->modes, (size_t) n * sizeof(*m));
	}
	*allocated = room;
}

void starpu_task_insert_data_make_room(struct starpu_codelet *cl, struct starpu_task *task,
				       int *allocated_buffers, int current_buffer, int room)
{
	int n = current_buffer + room;

	(void) cl;
	if (n > STARPU_NMAXBUFS && n > *allocated_buffers)
		enlarge(task, allocated_buffers, current_buffer, 2 * n);
}

/* A codelet with a fixed number of data has their modes, or takes them from its first task. */
static void set_codelet_mode(struct starpu_codelet *cl, int i, enum starpu_data_access_mode mode)
{
	if (!cl || cl->nbuffers == STARPU_VARIABLE_NBUFFERS)
		return;
	if (i >= cl->nbuffers)
		orr_fatal("codelet %s has %d data, and is given datum %d",
			  cl->name ? cl->name : "without name", cl->nbuffers, i);
	if ((cl->dyn_modes || i < STARPU_NMAXBUFS) && !STARPU_CODELET_GET_MODE(cl, i))
		STARPU_CODELET_SET_MODE(cl, mode, i);
}

static void append(struct starpu_codelet *cl, struct starpu_task *task, int *allocated, int *n,
		   starpu_data_handle_t handle, enum starpu_data_access_mode mode)
{
	starpu_task_insert_data_make_room(cl, task, allocated, *n, 1);
	if (*allocated) {
		task->dyn_handles[*n] = handle;
		task->dyn_modes[*n] = mode;
	} else {
		task->handles[*n] = handle;
		task->modes[*n] = mode;
	}
	set_codelet_mode(cl, *n, mode);
	task->nbuffers = ++*n;
}

void starpu_task_insert_data_process_arg(struct starpu_codelet *cl, struct starpu_task *task,
					 int *allocated_buffers, int *current_buffer, int arg_type,
					 starpu_data_handle_t handle)
{
	append(cl, task, allocated_buffers, current_buffer, handle,
	       (enum starpu_data_access_mode) arg_type);
}

void starpu_task_insert_data_process_array_arg(struct starpu_codelet *cl, struct starpu_task *task,
					       int *allocated_buffers, int *current_buffer,
					       int nb_handles, starpu_data_handle_t *handles)
{
	for (int i = 0; i < nb_handles; i++) {
		int k = *current_buffer, fixed = cl && cl->nbuffers != STARPU_VARIABLE_NBUFFERS;

		append(cl, task, allocated_buffers, current_buffer, handles[i],
		       fixed && k < cl->nbuffers ? STARPU_CODELET_GET_MODE(cl, k) : STARPU_RW);
	}
}

void starpu_task_insert_data_process_mode_array_arg(struct starpu_codelet *cl,
						    struct starpu_task *task,
						    int *allocated_buffers, int *current_buffer,
						    int nb_descrs, struct starpu_data_descr *descrs)
{
	for (int i = 0; i < nb_descrs; i++)
		append(cl, task, allocated_buffers, current_buffer, descrs[i].handle,
		       descrs[i].mode);
}
