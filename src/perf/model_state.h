/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state behind each struct starpu_perfmodel of the program.
 *
 * model->state points to it while the process runs; orr_perf_exit resets the pointer, because
 * model structures live until starpu_shutdown. The program may leave garbage there: the field
 * counts only while model->is_init is set.
 *
 * Invariant: all states of a process are in perf->states, under perf->lock; is_init is set after
 * state, with release. */
#ifndef ORR_PERF_MODEL_STATE_H
#define ORR_PERF_MODEL_STATE_H

#include "perf/model.h"
#include "perf/perf.h"

struct orr_model_part;

struct _starpu_perfmodel_state {
	struct _starpu_perfmodel_state *next;
	struct starpu_perfmodel *owner;
	struct orr_perf *perf;
	struct orr_model *m;          /* NULL if the model has no symbol */
	struct orr_model_part *parts; /* atomic; grows only */
	unsigned plain;               /* footprint and size follow from the task's data alone */
	unsigned looked;              /* atomic: known is valid */
	uint64_t known[2]; /* bit i: the file has measurements of CUDA, of OpenCL device i (the last
			      bit: also of those after it) */
};

/* The state of a model, or NULL if it has none yet. */
static inline struct _starpu_perfmodel_state *orr_model_state_there(
	const struct starpu_perfmodel *model)
{
	return ORR_ATOMIC_LOAD(&model->is_init) ? ORR_ATOMIC_LOAD(&model->state) : NULL;
}
/* The state of a model, made and loaded by the first call; NULL if memory is exhausted. */
struct _starpu_perfmodel_state *orr_model_state_slow(struct orr_process *proc,
						     struct starpu_perfmodel *model);
static inline struct _starpu_perfmodel_state *orr_model_state(struct orr_process *proc,
							      struct starpu_perfmodel *model)
{
	struct _starpu_perfmodel_state *s = orr_model_state_there(model);

	return s && s->perf == proc->perf ? s : orr_model_state_slow(proc, model);
}

/* Attaches a state around a model file that only this model uses (starpu_perfmodel_load_file). 0 or
 * -ENOMEM. */
int orr_model_state_attach(struct orr_process *proc, struct starpu_perfmodel *model,
			   struct orr_model *m);
void orr_model_state_detach(struct starpu_perfmodel *model);
/* Saves and detaches all models of the process. */
void orr_model_state_exit(struct orr_perf *p);

/* Does the file of the model have measurements of that type of device (CUDA or OpenCL): of this
 * arch, or if arch is NULL of any device? */
int orr_model_state_knows(struct orr_process *proc, struct starpu_perfmodel *model,
			  enum starpu_worker_archtype type, const struct orr_arch *arch);

#endif
