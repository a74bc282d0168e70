/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tasks, tags and task insertion for Fortran. What is variadic in C takes one array of pointers
 * here: handles, functions and sizes stand for themselves, other numbers are pointed to, and a null
 * pointer ends the array.
 *
 * Invariant: the core reads the array by the table of markers that it reads C's arguments by. */
#include "fortran/fortran.h"

#include <stdlib.h>
#include <string.h>

#include "starpu.h"
#include "base/log.h"
#include "core/flow/insert.h"

struct starpu_task *fstarpu_task_create_sync(starpu_data_handle_t handle, void *mode)
{
	return starpu_task_create_sync(handle, (enum starpu_data_access_mode)(intptr_t) mode);
}

void fstarpu_tag_declare_deps_array(int id, int ndeps, starpu_tag_t *tag_array)
{
	starpu_tag_declare_deps_array((starpu_tag_t) id, (unsigned) ndeps, tag_array);
}

void fstarpu_task_declare_deps(struct starpu_task *task, int ndeps, struct starpu_task *root_task)
{
	if (ndeps != 1)
		orr_fatal(
			"fstarpu_task_declare_deps: %d dependencies, but it takes one; use fstarpu_task_declare_deps_array for more",
			ndeps);
	starpu_task_declare_deps_array(task, 1, &root_task);
}

void fstarpu_task_set_destroy(struct starpu_task *task)
{
	task->destroy = 1;
}

void fstarpu_create_sync_task(int sync_tag, int ndeps, starpu_tag_t *tag_array,
			      void (*callback)(void *), void *callback_arg)
{
	starpu_create_sync_task((starpu_tag_t) sync_tag, (unsigned) ndeps, tag_array, callback,
				callback_arg);
}

void fstarpu_trace_user_event(long code)
{
	starpu_fxt_trace_user_event((unsigned long) code);
}

void fstarpu_task_insert(void **arglist)
{
	struct starpu_task *task = starpu_task_create();
	int ret = orr_task_insert_list(task, arglist[0], arglist + 1);

	if (!ret)
		ret = starpu_task_submit(task);
	if (ret)
		orr_fatal("fstarpu_task_insert: the task cannot be submitted: %s",
			  ret == -ENODEV ? "no worker can execute its codelet" : strerror(-ret));
}

/* Copies the values that FSTARPU_VALUE packed to where the pointers of bufferlist point. */
void fstarpu_unpack_arg(void *cl_arg, void **bufferlist)
{
	struct starpu_codelet_pack_arg_data state;
	int n = 0;

	if (!cl_arg)
		return;
	memcpy(&n, cl_arg, sizeof(n));
	starpu_codelet_unpack_arg_init(&state, cl_arg, SIZE_MAX);
	for (int i = 0; i < n; i++) {
		size_t size;
		memcpy(&size, state.arg_buffer + state.current_offset, sizeof(size));
		starpu_codelet_unpack_arg(&state, bufferlist[i], size);
	}
	starpu_codelet_unpack_arg_fini(&state);
}
