/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Partitioned data. */
#include "data/handle.h"

#include <errno.h>

int orr_handle_check_partition(starpu_data_handle_t h, enum starpu_data_access_mode mode, struct starpu_task *task)
{
	if (h->busy_partition == 2 && !(mode & STARPU_W))
		return 0;
	orr_error("%s%s%s is partitioned: use its children, or unpartition it first", task ? "task " : "", task ? orr_task_name(task) : "",
		  orr_handle_name(h));
	return -EINVAL;
}
