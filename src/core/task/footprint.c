/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Footprints of tasks (see footprint.h). */
#include "core/task/footprint.h"
#include "core/task/task.h"

#include "data/handle.h"
#include "starpu_hash.h"

/* Computed each time: tasks change the shape of data (handbook 27.1). */
static uint32_t handle_footprint(starpu_data_handle_t h)
{
	return h->ops->footprint ? h->ops->footprint(h)
				 : starpu_hash_crc32c_be((uint32_t) starpu_data_get_size(h), 0);
}

uint32_t starpu_task_data_footprint(struct starpu_task *task)
{
	unsigned n = orr_task_nbuffers(task);
	uint32_t crc = 0;

	for (unsigned i = 0; i < n; i++) {
		starpu_data_handle_t h = orr_task_handle(task, i);

		if (h && !(orr_task_mode(task, i) & STARPU_NOFOOTPRINT))
			crc = starpu_hash_crc32c_be(handle_footprint(h), crc);
	}
	return crc;
}

static uint32_t compute_footprint(struct starpu_task *task, struct starpu_perfmodel *model)
{
	return model && model->footprint ? model->footprint(task)
					 : starpu_task_data_footprint(task);
}

static uint32_t cached_footprint(struct orr_task *t, struct starpu_perfmodel *model)
{
	if (!ORR_ATOMIC_LOAD(&t->footprint_valid)) {
		t->footprint = compute_footprint(t->pub, model);
		ORR_ATOMIC_STORE(&t->footprint_valid, 1);
	}
	return t->footprint;
}

uint32_t orr_footprint_of(struct starpu_task *task, struct starpu_perfmodel *model)
{
	struct orr_task *t = orr_task_of(task);

	return t && task->cl && task->cl->model == model ? cached_footprint(t, model)
							 : compute_footprint(task, model);
}

uint32_t orr_footprint_of_task(struct orr_task *t)
{
	return cached_footprint(t, t->pub->cl ? t->pub->cl->model : NULL);
}

uint32_t starpu_task_footprint(struct starpu_perfmodel *model, struct starpu_task *task,
			       struct starpu_perfmodel_arch *arch, unsigned nimpl)
{
	(void) arch;
	(void) nimpl;
	return orr_footprint_of(task, model);
}

size_t orr_footprint_bytes(struct starpu_task *task)
{
	unsigned n = orr_task_nbuffers(task);
	size_t size = 0;

	for (unsigned i = 0; i < n; i++) {
		starpu_data_handle_t h = orr_task_handle(task, i);

		if (h)
			size += starpu_data_get_size(h);
	}
	return size;
}
