/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* States of the program's models (see model_state.h). */
#include "perf/model_state.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
#include "perf/model_part.h"
#include "perf/model_store.h"

/* ---- life ---- */

static void state_free(struct _starpu_perfmodel_state *s)
{
	orr_assert(s->owner->state == s);
	orr_model_part_free(s->parts);
	s->owner->is_loaded = 0;
	ORR_ATOMIC_STORE(&s->owner->is_init, 0);
	s->owner->state = NULL;
	orr_model_release(s->m);
	free(s);
}

static struct _starpu_perfmodel_state *state_new(struct orr_perf *p, struct starpu_perfmodel *model,
						 struct orr_model *m)
{
	struct _starpu_perfmodel_state *s = calloc(1, sizeof(*s));
	orr_assert_locked(&p->lock);
	if (!s)
		return NULL;
	s->owner = model;
	s->perf = p;
	s->m = m;
	s->plain = !model->footprint && !model->size_base;
	s->next = p->states;
	p->states = s;
	p->nstates++;
	model->is_loaded = m != NULL;
	ORR_ATOMIC_STORE(&model->state, s);
	ORR_ATOMIC_STORE(&model->is_init, 1);
	return s;
}

struct _starpu_perfmodel_state *orr_model_state_slow(struct orr_process *proc,
						     struct starpu_perfmodel *model)
{
	struct orr_perf *p = orr_perf_get(proc);
	if (!p)
		return NULL;
	orr_lock(&p->lock);
	struct _starpu_perfmodel_state *s = orr_model_state_there(model);
	if (!s || s->perf != p) {
		struct orr_model *m = NULL;
		if (model->symbol && *model->symbol) {
			orr_perf_set_host(p, proc);
			m = orr_model_acquire(model->symbol, p->host, (const char *const *) p->dirs,
					      orr_perf_cfg(p)->calibrate == 2);
			snprintf(model->path, sizeof(model->path), "%s", m ? m->path : "");
			/* The reader has said why. Estimates would be those of another kernel. */
			if (m && m->broken)
				orr_sys_abort();
		}
		s = state_new(p, model, m);
		if (!s)
			orr_model_release(m);
	}
	orr_unlock(&p->lock);
	return s;
}

int orr_model_state_attach(struct orr_process *proc, struct starpu_perfmodel *model,
			   struct orr_model *m)
{
	struct orr_perf *p = orr_perf_get(proc);
	if (!p)
		return -ENOMEM;
	orr_lock(&p->lock);
	struct _starpu_perfmodel_state *s = state_new(p, model, m);
	orr_unlock(&p->lock);
	return s ? 0 : -ENOMEM;
}

void orr_model_state_detach(struct starpu_perfmodel *model)
{
	struct _starpu_perfmodel_state *s = orr_model_state_there(model);
	if (!s)
		return;
	orr_lock(&s->perf->lock);
	struct _starpu_perfmodel_state **q = &s->perf->states;
	while (*q && *q != s)
		q = &(*q)->next;
	orr_assert(*q == s);
	if (*q)
		*q = s->next;
	orr_unlock(&s->perf->lock);
	state_free(s);
}

void orr_model_state_exit(struct orr_perf *p)
{
	for (struct _starpu_perfmodel_state *s = p->states, *next; s; s = next) {
		next = s->next;
		if (s->m && s->m->key)
			orr_model_save(s->m, p->dirs[p->ndirs - 1]);
		state_free(s);
	}
	p->states = NULL;
}

/* ---- what the file knows ---- */

static uint64_t bit_of(int devid)
{
	return 1ULL << (devid < 0 ? 0 : devid > 63 ? 63 : devid);
}

static int tells_something(const struct orr_model_comb *c)
{
	for (unsigned i = 0; i < c->nimpls; i++) {
		const struct orr_model_impl *impl = &c->impls[i];
		if (impl->reg.valid || impl->reg.nl_valid || impl->reg.multi_valid)
			return 1;
		for (unsigned e = 0; e < impl->nentries; e++)
			if (impl->entries[e]->pub.nsample && impl->entries[e]->pub.mean > 0)
				return 1;
	}
	return 0;
}

static void find_known(struct orr_model *m, uint64_t known[2])
{
	known[0] = known[1] = 0;
	orr_lock(&m->lock);
	for (unsigned c = 0; c < m->data->ncombs; c++) {
		const struct orr_model_comb *comb = m->data->combs[c];
		int opencl = comb->ndevices == 1 && comb->devices[0].type == STARPU_OPENCL_WORKER;
		if (comb->ndevices == 1 &&
		    (opencl || comb->devices[0].type == STARPU_CUDA_WORKER) &&
		    tells_something(comb))
			known[opencl] |= bit_of(comb->devices[0].devid);
	}
	orr_unlock(&m->lock);
}

int orr_model_state_knows(struct orr_process *proc, struct starpu_perfmodel *model,
			  enum starpu_worker_archtype type, const struct orr_arch *arch)
{
	struct _starpu_perfmodel_state *s = model == &starpu_perfmodel_nop
						    ? NULL
						    : orr_model_state(proc, model);
	if (!s || !s->m || (type != STARPU_CUDA_WORKER && type != STARPU_OPENCL_WORKER))
		return 0;
	if (!ORR_ATOMIC_LOAD(&s->looked)) {
		find_known(s->m, s->known);
		ORR_ATOMIC_STORE(&s->looked, 1);
	}
	return (s->known[type == STARPU_OPENCL_WORKER] &
		(arch ? bit_of(orr_arch_device(orr_perf_cfg(s->perf), arch).devid) : ~0ULL)) != 0;
}
