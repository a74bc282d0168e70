/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The performance models of a process: start, end, the states behind the program's models, and
 * learning from tasks.
 *
 * Invariant: see state.h. Files are read when a model is first used, and written in orr_perf_exit
 * when something was learnt. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/task.h"
#include "perf/state.h"
#include "base/log.h"
#include "data/data.h"

/* ---- the process ---- */

static void free_dirs(struct orr_perf *p)
{
	for (unsigned i = 0; i < p->ndirs; i++)
		free(p->dirs[i]);
	free(p->dirs);
	p->dirs = NULL;
	p->ndirs = 0;
}

static int add_dir(struct orr_perf *p, const char *dir, size_t length)
{
	if (length == 0)
		return 0;
	char **v = realloc(p->dirs, (p->ndirs + 2) * sizeof(*v));
	if (!v)
		return -ENOMEM;
	p->dirs = v;
	v[p->ndirs] = strndup(dir, length);
	v[p->ndirs + 1] = NULL;
	return v[p->ndirs] ? (p->ndirs++, 0) : -ENOMEM;
}

/* Places in the order in which they are searched: the machine's own, STARPU_PERF_MODEL_PATH, then
 * where models are written. */
static int set_dirs(struct orr_perf *p)
{
	int err = 0;
	free_dirs(p);
	if (p->machine && !p->machine_mine)
		err = add_dir(p, p->machine->dir, strlen(p->machine->dir));
	for (const char *s = p->cfg->perf_model_path; s && !err;) {
		size_t n = strcspn(s, ":");
		err = add_dir(p, s, n);
		s = s[n] ? s + n + 1 : NULL;
	}
	const char *last = p->cfg->perf_model_dir ? p->cfg->perf_model_dir : ".";
	return err ? err : add_dir(p, last, strlen(last));
}

/* The name may change when the process learns its rank, so it is asked for whenever a model is
 * loaded. */
static void set_host(struct orr_perf *p, struct orr_process *proc)
{
	const char *name = NULL;
	if (p->machine && !p->machine_mine)
		name = p->machine->name;
	else if (!p->has_own)
		name = orr_sys_machine_name(proc);
	else if (p->own.hostname)
		name = p->own.hostname;
	else if (!gethostname(p->host_buffer, sizeof(p->host_buffer) - 1))
		name = p->host_buffer;
	p->host = name ? name : "localhost";
}

static struct orr_perf *perf_new(struct orr_process *proc)
{
	struct orr_perf *p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	orr_lock_init(&p->lock);
	p->cfg = &proc->cfg;
	if (!proc->cfg.perf_model_dir) {
		/* Before starpu_init: tools, and programs that prepare their models first. */
		p->has_own = orr_config_read(&p->own) == 0;
		p->cfg = &p->own;
	}
	if (set_dirs(p)) {
		free_dirs(p);
		free(p);
		return NULL;
	}
	set_host(p, proc);
	return p;
}

struct orr_perf *orr_perf_get(struct orr_process *proc)
{
	if (proc->perf)
		return proc->perf;
	orr_lock(&proc->lock);
	if (!proc->perf)
		proc->perf = perf_new(proc);
	orr_unlock(&proc->lock);
	return proc->perf;
}

int orr_perf_init(struct orr_process *proc)
{
	struct orr_perf *p = orr_perf_get(proc);
	if (!p)
		return -ENOMEM;
	if (p->has_own) {
		p->cfg = &proc->cfg;
		orr_config_free(&p->own);
		p->has_own = 0;
	}
	set_host(p, proc);
	return set_dirs(p);
}

static void free_part(struct orr_perf_part *part)
{
	for (struct starpu_perfmodel_history_list *l = part->pub.list, *next; l; l = next) {
		next = l->next;
		free(l->entry);
		free(l);
	}
	free(part->pub.regression.coeff);
	free(part->devices);
	free(part);
}

static void free_state(struct _starpu_perfmodel_state *s)
{
	for (struct orr_perf_part *part = s->parts, *next; part; part = next) {
		next = part->next;
		free_part(part);
	}
	s->owner->state = NULL;
	s->owner->is_loaded = s->owner->is_init = 0;
	orr_model_release(s->m);
	free(s);
}

void orr_perf_exit(struct orr_process *proc)
{
	struct orr_perf *p = proc->perf;
	if (!p)
		return;
	for (struct _starpu_perfmodel_state *s = p->states, *next; s; s = next) {
		next = s->next;
		if (s->m && s->m->key)
			orr_model_save(s->m, p->dirs[p->ndirs - 1]);
		free_state(s);
	}
	for (unsigned i = 0; i < p->combs.n; i++) {
		free(p->combs.v[i]->devices);
		free(p->combs.v[i]);
	}
	free(p->combs.v);
	if (p->worker_archs)
		free(p->worker_archs[0].devices);
	free(p->worker_archs);
	if (p->machine_mine)
		orr_machine_free(p->machine);
	if (p->has_own)
		orr_config_free(&p->own);
	free_dirs(p);
	free(p);
	proc->perf = NULL;
}

int orr_perf_set_machine(struct orr_process *proc, struct orr_machine *m)
{
	struct orr_perf *p = orr_perf_get(proc);
	if (!p)
		return -ENOMEM;
	if (p->machine_mine)
		orr_machine_free(p->machine);
	p->machine = m;
	p->machine_mine = 0;
	p->machine_looked = 1;
	set_host(p, proc);
	return set_dirs(p);
}

/* ---- states ---- */

static struct _starpu_perfmodel_state *state_new(struct orr_perf *p, struct starpu_perfmodel *model,
						 struct orr_model *m)
{
	struct _starpu_perfmodel_state *s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->owner = model;
	s->perf = p;
	s->m = m;
	s->plain = !model->footprint && !model->size_base;
	s->next = p->states;
	p->states = s;
	p->nstates++;
	model->is_init = 1;
	model->is_loaded = m != NULL;
	return s;
}

struct _starpu_perfmodel_state *orr_perf_state_slow(struct orr_process *proc,
						    struct starpu_perfmodel *model)
{
	struct orr_perf *p = orr_perf_get(proc);
	if (!p)
		return NULL;
	orr_lock(&p->lock);
	struct _starpu_perfmodel_state *s = ORR_ATOMIC_LOAD(&model->state);
	if (!s || s->perf != p) {
		struct orr_model *m = NULL;
		if (model->symbol && *model->symbol) {
			set_host(p, proc);
			m = orr_model_acquire(model->symbol, p->host, (const char *const *) p->dirs,
					      p->cfg->calibrate == 2);
			snprintf(model->path, sizeof(model->path), "%s", m ? m->path : "");
		}
		s = state_new(p, model, m);
		if (!s)
			orr_model_release(m);
		ORR_ATOMIC_STORE(&model->state, s);
	}
	orr_unlock(&p->lock);
	return s;
}

int orr_perf_state_attach(struct orr_process *proc, struct starpu_perfmodel *model,
			  struct orr_model *m)
{
	struct orr_perf *p = orr_perf_get(proc);
	if (!p)
		return -ENOMEM;
	orr_lock(&p->lock);
	struct _starpu_perfmodel_state *s = state_new(p, model, m);
	ORR_ATOMIC_STORE(&model->state, s);
	orr_unlock(&p->lock);
	return s ? 0 : -ENOMEM;
}

void orr_perf_state_detach(struct starpu_perfmodel *model)
{
	struct _starpu_perfmodel_state *s = model->state;
	if (!s)
		return;
	orr_lock(&s->perf->lock);
	struct _starpu_perfmodel_state **q = &s->perf->states;
	while (*q && *q != s)
		q = &(*q)->next;
	if (*q)
		*q = s->next;
	orr_unlock(&s->perf->lock);
	free_state(s);
}

static struct orr_perf_part *find_part(struct orr_perf_part *part, int n,
				       const struct starpu_perfmodel_device *v, unsigned nimpl)
{
	for (; part; part = part->next) {
		int same = part->ndevices == n && part->nimpl == nimpl;
		for (int i = 0; same && i < n; i++) {
			same = part->devices[i].type == v[i].type &&
			       part->devices[i].devid == v[i].devid &&
			       part->devices[i].ncores == v[i].ncores;
		}
		if (same)
			break;
	}
	return part;
}

struct orr_perf_part *orr_perf_part(struct _starpu_perfmodel_state *s, int ndevices,
				    const struct starpu_perfmodel_device *devices, unsigned nimpl,
				    int make)
{
	struct orr_perf_part *part = find_part(ORR_ATOMIC_LOAD(&s->parts), ndevices, devices,
					       nimpl);
	if (part || !make || ndevices <= 0)
		return part;
	orr_lock(&s->perf->lock);
	part = find_part(s->parts, ndevices, devices, nimpl);
	if (!part && (part = calloc(1, sizeof(*part)))) {
		part->devices = malloc((size_t) ndevices * sizeof(*devices));
		if (part->devices) {
			memcpy(part->devices, devices, (size_t) ndevices * sizeof(*devices));
			part->ndevices = ndevices;
			part->nimpl = nimpl;
			part->next = s->parts;
			ORR_ATOMIC_STORE(&s->parts, part);
		} else {
			free(part);
			part = NULL;
		}
	}
	orr_unlock(&s->perf->lock);
	return part;
}

/* ---- units ---- */

struct starpu_perfmodel_device orr_perf_device(const struct orr_config *cfg,
					       const struct orr_perf_unit *u)
{
	struct starpu_perfmodel_device d = { .type = u->type,
					     .devid = u->devid,
					     .ncores = u->ncores > 0 ? u->ncores : 1 };
	if ((d.type == STARPU_CPU_WORKER && cfg->homogeneous_cpu) ||
	    (d.type == STARPU_CUDA_WORKER && cfg->homogeneous_cuda) ||
	    (d.type == STARPU_OPENCL_WORKER && cfg->homogeneous_opencl) || d.devid < 0)
		d.devid = 0;
	return d;
}

const struct orr_perf_unit *orr_perf_worker_unit(const struct orr_worker *w,
						 struct orr_perf_unit *tmp)
{
	if (w->unit)
		return w->unit;
	*tmp = (struct orr_perf_unit){ .type = w->arch,
				       .devid = w->arch == STARPU_CPU_WORKER ? 0 : w->devid,
				       .ncores = 1 };
	return tmp;
}

/* ---- learning ---- */

static unsigned fits_of(const struct starpu_perfmodel *model)
{
	switch (model->type) {
	case STARPU_REGRESSION_BASED: return ORR_FIT_POWER;
	case STARPU_NL_REGRESSION_BASED: return ORR_FIT_POWER | ORR_FIT_OFFSET;
	case STARPU_MULTIPLE_REGRESSION_BASED: return ORR_FIT_MULTI;
	default: return 0;
	}
}

/* No execution takes thirty years: what says so was not measured. */
#define LONGEST_US 1e15

void orr_perf_learn(struct orr_process *proc, struct starpu_perfmodel *model,
		    const struct starpu_perfmodel_device *devices, int ndevices,
		    struct starpu_task *t, unsigned nimpl, double value, unsigned number)
{
	if (!(value > 0) || value > LONGEST_US || number == 0 || nimpl >= ORR_MODEL_MAX_IMPLS ||
	    ndevices < 1)
		return;
	struct _starpu_perfmodel_state *s = orr_perf_state(proc, model);
	if (!s || !s->m)
		return;
	struct orr_measurement x = {
		.us = value, .number = number, .flops = t->flops, .fits = fits_of(model)
	};
	double row[ORR_MODEL_MAX_COEFFS];
	x.footprint = orr_perf_footprint(model, t);
	x.size = orr_perf_size(s, model, &devices[0], t, nimpl);
	if ((x.fits & ORR_FIT_MULTI) && !orr_perf_row(model, t, row)) {
		x.row = row;
		x.ncols = model->ncombinations + 1;
	}
	orr_lock(&s->m->lock);
	int err = orr_model_learn(s->m, ndevices, devices, nimpl, &x, s->perf->cfg);
	orr_unlock(&s->m->lock);
	if (err)
		orr_warn("performance model %s: not enough memory, a measurement is lost",
			 model->symbol);
	struct orr_perf_part *part = find_part(ORR_ATOMIC_LOAD(&s->parts), ndevices, devices,
					       nimpl);
	if (part)
		__atomic_add_fetch(&part->pub.regression.nsample, number, __ATOMIC_RELAXED);
}

void orr_perf_record(struct orr_process *proc, const struct orr_perf_unit *u, struct starpu_task *t,
		     unsigned nimpl, double us)
{
	struct starpu_perfmodel *model = t->cl ? t->cl->model : NULL;
	/* Durations that came out of a model teach it nothing. */
	if (!model || model->type < STARPU_HISTORY_BASED || orr_sys_is_simulated())
		return;
	struct orr_perf *p = orr_perf_get(proc);
	if (!p)
		return;
	struct starpu_perfmodel_device d = orr_perf_device(p->cfg, u);
	orr_perf_learn(proc, model, &d, 1, t, nimpl, us, 1);
}

/* ---- what is known at all ---- */

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

static void look_for_devices(struct orr_model *m, uint64_t known[2])
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

int orr_perf_knows(struct orr_process *proc, struct starpu_perfmodel *model,
		   enum starpu_worker_archtype type, const struct orr_perf_unit *unit)
{
	struct _starpu_perfmodel_state *s = model == &starpu_perfmodel_nop
						    ? NULL
						    : orr_perf_state(proc, model);
	if (!s || !s->m || (type != STARPU_CUDA_WORKER && type != STARPU_OPENCL_WORKER))
		return 0;
	if (!ORR_ATOMIC_LOAD(&s->looked)) {
		look_for_devices(s->m, s->known);
		ORR_ATOMIC_STORE(&s->looked, 1);
	}
	return (s->known[type == STARPU_OPENCL_WORKER] &
		(unit ? bit_of(orr_perf_device(s->perf->cfg, unit).devid) : ~0ULL)) != 0;
}
