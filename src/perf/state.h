/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a process keeps of performance models: its struct orr_perf, and one state per model of the
 * program.
 *
 * model->state of the program's structure points to the state while the process runs; orr_perf_exit
 * resets it, since the structures live until starpu_shutdown. Invariant: all states of a process
 * are in perf->states, protected, as everything here that is not constant after creation, by
 * perf->lock. */
#ifndef ORR_PERF_STATE_H
#define ORR_PERF_STATE_H

#include "perf/store.h"

/* What starpu_perfmodel_get_model_per_devices gives out. */
struct orr_perf_part {
	struct orr_perf_part *next;
	int ndevices;
	struct starpu_perfmodel_device *devices;
	unsigned nimpl;
	struct starpu_perfmodel_per_arch pub;
};

struct _starpu_perfmodel_state {
	struct _starpu_perfmodel_state *next;
	struct starpu_perfmodel *owner;
	struct orr_perf *perf;
	struct orr_model *m;         /* NULL when the model has no symbol */
	struct orr_perf_part *parts; /* atomic; grows only */
	unsigned plain;              /* footprint and size follow from the task's data alone */
	unsigned looked;             /* atomic: known is valid */
	uint64_t known[2]; /* bit i: the file tells something of CUDA, of OpenCL device i (the last
			      bit: and of those after it) */
};

struct orr_perf_archs { /* starpu_perfmodel_arch_comb_* */
	struct starpu_perfmodel_arch **v;
	unsigned n;
};

struct orr_perf {
	orr_lock_t lock;
	const struct orr_config *cfg; /* the node's, or own before starpu_init */
	struct orr_config own;
	int has_own;
	char **dirs; /* where models are looked for, NULL-terminated; the last is written to */
	unsigned ndirs;
	const char *host; /* name of the machine in the names of files */
	char host_buffer[256];
	struct _starpu_perfmodel_state *states;
	struct orr_machine *machine;
	int machine_looked, machine_mine;
	struct orr_perf_archs combs;
	struct starpu_perfmodel_arch *worker_archs; /* by worker, made at the first request */
	double flops[STARPU_NARCH]; /* cache of orr_perf_default_flops, 0 = not computed */
	unsigned nstates, flops_states;
};

/* The process's models, made when this is called before starpu_init. NULL when memory is exhausted.
 */
struct orr_perf *orr_perf_get(struct orr_process *proc);
/* The state of a model, made and loaded at the first use; NULL when memory is exhausted. */
struct _starpu_perfmodel_state *orr_perf_state_slow(struct orr_process *proc,
						    struct starpu_perfmodel *model);
/* Attaches a state around a model file that only this model uses (starpu_perfmodel_load_file). 0 or
 * -ENOMEM. */
int orr_perf_state_attach(struct orr_process *proc, struct starpu_perfmodel *model,
			  struct orr_model *m);
void orr_perf_state_detach(struct starpu_perfmodel *model);

static inline struct _starpu_perfmodel_state *orr_perf_state(struct orr_process *proc,
							     struct starpu_perfmodel *model)
{
	struct _starpu_perfmodel_state *s = ORR_ATOMIC_LOAD(&model->state);
	return s && s->perf == proc->perf ? s : orr_perf_state_slow(proc, model);
}

/* The part of a state for devices and implementation: NULL when there is none and make is 0. */
struct orr_perf_part *orr_perf_part(struct _starpu_perfmodel_state *s, int ndevices,
				    const struct starpu_perfmodel_device *devices, unsigned nimpl,
				    int make);

/* One kind of unit as models know it: CPU workers are all alike unless
 * STARPU_PERF_MODEL_HOMOGENEOUS_CPU is 0, and so on. */
struct starpu_perfmodel_device orr_perf_device(const struct orr_config *cfg,
					       const struct orr_perf_unit *u);
/* The unit of a worker; tmp is used when the core gave it none. */
const struct orr_perf_unit *orr_perf_worker_unit(const struct orr_worker *w,
						 struct orr_perf_unit *tmp);

/* Footprint and size of a task as a model wants them. */
uint32_t orr_perf_footprint(struct starpu_perfmodel *model, struct starpu_task *t);
size_t orr_perf_size(struct _starpu_perfmodel_state *s, struct starpu_perfmodel *model,
		     const struct starpu_perfmodel_device *d, struct starpu_task *t,
		     unsigned nimpl);
/* Fills row[model->ncombinations + 1] with the products that the coefficients of a multiple
 * regression multiply. 0, or -EINVAL when the model does not say what its parameters are. */
int orr_perf_row(struct starpu_perfmodel *model, struct starpu_task *t, double *row);

/* What a model answers. */
struct orr_estimate {
	double us, deviation;
	enum orr_perf_source source;
};
/* As orr_perf_expected_us, of any model (NULL: none), on one device. */
struct orr_estimate orr_perf_estimate(struct orr_process *proc, struct starpu_perfmodel *model,
				      const struct orr_perf_unit *u, struct starpu_task *t,
				      unsigned nimpl, int use_defaults);
/* Adds a measurement to a model. */
void orr_perf_learn(struct orr_process *proc, struct starpu_perfmodel *model,
		    const struct starpu_perfmodel_device *devices, int ndevices,
		    struct starpu_task *t, unsigned nimpl, double value, unsigned number);

#endif
