/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions of starpu_perfmodel.h about architectures and the parts of a model for each, and
 * learning by hand.
 *
 * Invariant: combinations and parts are only added; what was handed out stays valid until the end
 * of the process's models. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "core/task.h"
#include "perf/state.h"
#include "base/log.h"
#include "core/core.h"

/* ---- architectures ---- */

void starpu_perfmodel_get_arch_name(struct starpu_perfmodel_arch *arch, char *archname,
				    size_t maxlen, unsigned nimpl)
{
	orr_model_arch_name(arch->ndevices, arch->devices, (int) nimpl, archname, maxlen);
}

struct starpu_perfmodel_arch *starpu_worker_get_perf_archtype(int workerid, unsigned sched_ctx_id)
{
	struct orr_process *proc = orr_self();
	struct orr_perf *p = orr_perf_get(proc);
	(void) sched_ctx_id;
	if (!p || workerid < 0 || (unsigned) workerid >= proc->core->nworkers)
		return NULL;
	orr_lock(&p->lock);
	if (!p->worker_archs) {
		struct starpu_perfmodel_arch *v = calloc(proc->core->nworkers, sizeof(*v));
		struct starpu_perfmodel_device *d = calloc(proc->core->nworkers, sizeof(*d));
		for (unsigned i = 0; v && d && i < proc->core->nworkers; i++) {
			struct orr_perf_unit tmp;
			d[i] = orr_perf_device(p->cfg,
					       orr_perf_worker_unit(&proc->core->workers[i], &tmp));
			v[i].ndevices = 1;
			v[i].devices = &d[i];
		}
		if (v && d) {
			p->worker_archs = v;
		} else {
			free(v);
			free(d);
		}
	}
	struct starpu_perfmodel_arch *a = p->worker_archs ? &p->worker_archs[workerid] : NULL;
	orr_unlock(&p->lock);
	return a;
}

static int comb_find(const struct orr_perf_archs *l, int n, const struct starpu_perfmodel_device *v)
{
	for (unsigned c = 0; c < l->n; c++) {
		int same = l->v[c]->ndevices == n;
		for (int i = 0; same && i < n; i++) {
			const struct starpu_perfmodel_device *d = &l->v[c]->devices[i];
			same = d->type == v[i].type && d->devid == v[i].devid &&
			       d->ncores == v[i].ncores;
		}
		if (same)
			return (int) c;
	}
	return -1;
}

static int comb_add(struct orr_perf_archs *l, int n, const struct starpu_perfmodel_device *v)
{
	struct starpu_perfmodel_arch **w = realloc(l->v, (l->n + 1) * sizeof(*w));
	if (!w)
		return -1;
	l->v = w;
	struct starpu_perfmodel_arch *a = malloc(sizeof(*a));
	struct starpu_perfmodel_device *d = malloc((size_t) n * sizeof(*d));
	if (!a || !d) {
		free(a);
		free(d);
		return -1;
	}
	memcpy(d, v, (size_t) n * sizeof(*d));
	a->ndevices = n;
	a->devices = d;
	w[l->n] = a;
	return (int) l->n++;
}

/* The program's workers are known from the start. */
static struct orr_perf *combs_locked(void)
{
	struct orr_process *proc = orr_self();
	struct orr_perf *p = orr_perf_get(proc);
	if (!p)
		return NULL;
	orr_lock(&p->lock);
	for (unsigned i = 0; p->combs.n == 0 && i < proc->core->nworkers; i++) {
		struct orr_perf_unit tmp;
		struct starpu_perfmodel_device d = orr_perf_device(
			p->cfg, orr_perf_worker_unit(&proc->core->workers[i], &tmp));
		if (comb_add(&p->combs, 1, &d) < 0)
			break;
		for (unsigned j = i + 1; j < proc->core->nworkers; j++) {
			d = orr_perf_device(p->cfg,
					    orr_perf_worker_unit(&proc->core->workers[j], &tmp));
			if (comb_find(&p->combs, 1, &d) < 0)
				comb_add(&p->combs, 1, &d);
		}
	}
	return p;
}

int starpu_perfmodel_get_narch_combs(void)
{
	struct orr_perf *p = combs_locked();
	if (!p)
		return 0;
	int n = (int) p->combs.n;
	orr_unlock(&p->lock);
	return n;
}

int starpu_perfmodel_arch_comb_get(int ndevices, struct starpu_perfmodel_device *devices)
{
	struct orr_perf *p = combs_locked();
	if (!p)
		return -1;
	int c = comb_find(&p->combs, ndevices, devices);
	orr_unlock(&p->lock);
	return c;
}

int starpu_perfmodel_arch_comb_add(int ndevices, struct starpu_perfmodel_device *devices)
{
	struct orr_perf *p = ndevices > 0 ? combs_locked() : NULL;
	if (!p)
		return -1;
	int c = comb_find(&p->combs, ndevices, devices);
	if (c < 0)
		c = comb_add(&p->combs, ndevices, devices);
	orr_unlock(&p->lock);
	return c;
}

struct starpu_perfmodel_arch *starpu_perfmodel_arch_comb_fetch(int comb)
{
	struct orr_perf *p = combs_locked();
	if (!p)
		return NULL;
	struct starpu_perfmodel_arch *a = comb >= 0 && (unsigned) comb < p->combs.n
						  ? p->combs.v[comb]
						  : NULL;
	orr_unlock(&p->lock);
	return a;
}

/* ---- parts ---- */

/* Copies of the file's lines, made once; the regression is as of now. */
static void fill_part(struct _starpu_perfmodel_state *s, struct orr_perf_part *part)
{
	orr_lock(&s->m->lock);
	struct orr_model_comb *c = orr_model_comb_find(s->m->data, part->ndevices, part->devices);
	if (c && part->nimpl < c->nimpls) {
		struct orr_model_impl *impl = &c->impls[part->nimpl];
		orr_model_refit(impl, s->perf->cfg);
		double *coeff = part->pub.regression.coeff;
		unsigned nsample = impl->reg.nsample;
		if (impl->reg.ncoeff) {
			double *v = realloc(coeff, impl->reg.ncoeff * sizeof(*v));
			coeff = v ? memcpy(v, impl->reg.coeff, impl->reg.ncoeff * sizeof(*v))
				  : coeff;
		}
		part->pub.regression = impl->reg;
		part->pub.regression.coeff = coeff;
		part->pub.regression.ncoeff = coeff ? impl->reg.ncoeff : 0;
		for (unsigned e = 0; nsample == 0 && e < impl->nentries; e++)
			part->pub.regression.nsample += impl->entries[e]->pub.nsample;
		for (unsigned e = impl->nentries; !part->pub.list && e-- > 0;) {
			struct starpu_perfmodel_history_list *l = malloc(sizeof(*l));
			struct starpu_perfmodel_history_entry *copy = malloc(sizeof(*copy));
			if (!l || !copy) {
				free(l);
				free(copy);
				break;
			}
			*copy = impl->entries[e]->pub;
			l->entry = copy;
			l->next = part->pub.list;
			part->pub.list = l;
			if (e == 0)
				break;
		}
	}
	orr_unlock(&s->m->lock);
}

static struct starpu_perfmodel_per_arch *get_part(struct starpu_perfmodel *model, int ndevices,
						  const struct starpu_perfmodel_device *devices,
						  unsigned impl)
{
	struct _starpu_perfmodel_state *s = orr_perf_state(orr_self(), model);
	struct orr_perf_part *part = s ? orr_perf_part(s, ndevices, devices, impl, 1) : NULL;
	if (!part)
		return NULL;
	if (s->m)
		fill_part(s, part);
	return &part->pub;
}

struct starpu_perfmodel_per_arch *starpu_perfmodel_get_model_per_arch(
	struct starpu_perfmodel *model, struct starpu_perfmodel_arch *arch, unsigned impl)
{
	return get_part(model, arch->ndevices, arch->devices, impl);
}

/* Reads groups of type, devid, ncores up to -1. Returns their number, or -EINVAL after a message.
 */
static int read_devices(va_list args, struct starpu_perfmodel_device *v)
{
	int n = 0;
	for (;;) {
		int type = va_arg(args, int);
		if (type == -1)
			break;
		if (n == ORR_MODEL_MAX_DEVICES) {
			orr_error(
				"performance model: more than %d devices in a list; end it with -1",
				ORR_MODEL_MAX_DEVICES);
			return -EINVAL;
		}
		v[n].type = (enum starpu_worker_archtype) type;
		v[n].devid = va_arg(args, int);
		v[n].ncores = va_arg(args, int);
		n++;
	}
	if (n == 0)
		orr_error(
			"performance model: an empty list of devices; give type, devid, ncores before the -1");
	return n ? n : -EINVAL;
}

struct starpu_perfmodel_per_arch *starpu_perfmodel_get_model_per_devices(
	struct starpu_perfmodel *model, int impl, ...)
{
	struct starpu_perfmodel_device v[ORR_MODEL_MAX_DEVICES];
	va_list args;
	va_start(args, impl);
	int n = read_devices(args, v);
	va_end(args);
	return n > 0 ? get_part(model, n, v, (unsigned) impl) : NULL;
}

int starpu_perfmodel_set_per_devices_cost_function(struct starpu_perfmodel *model, int impl,
						   starpu_perfmodel_per_arch_cost_function func,
						   ...)
{
	struct starpu_perfmodel_device v[ORR_MODEL_MAX_DEVICES];
	va_list args;
	va_start(args, func);
	int n = read_devices(args, v);
	va_end(args);
	struct starpu_perfmodel_per_arch *p = n > 0 ? get_part(model, n, v, (unsigned) impl) : NULL;
	if (!p)
		return n < 0 ? n : -ENOMEM;
	p->cost_function = func;
	return 0;
}

int starpu_perfmodel_set_per_devices_size_base(struct starpu_perfmodel *model, int impl,
					       starpu_perfmodel_per_arch_size_base func, ...)
{
	struct starpu_perfmodel_device v[ORR_MODEL_MAX_DEVICES];
	va_list args;
	va_start(args, func);
	int n = read_devices(args, v);
	va_end(args);
	struct starpu_perfmodel_per_arch *p = n > 0 ? get_part(model, n, v, (unsigned) impl) : NULL;
	if (!p)
		return n < 0 ? n : -ENOMEM;
	p->size_base = func;
	/* Sizes do not follow from footprints any more. */
	model->state->plain = 0;
	return 0;
}

/* ---- learning by hand ---- */

void starpu_perfmodel_update_history_n(struct starpu_perfmodel *model, struct starpu_task *task,
				       struct starpu_perfmodel_arch *arch, unsigned cpuid,
				       unsigned nimpl, double average_measured, unsigned number)
{
	(void) cpuid;
	if (model && arch && arch->ndevices <= ORR_MODEL_MAX_DEVICES)
		orr_perf_learn(orr_self(), model, arch->devices, arch->ndevices, task, nimpl,
			       average_measured, number);
}

void starpu_perfmodel_update_history(struct starpu_perfmodel *model, struct starpu_task *task,
				     struct starpu_perfmodel_arch *arch, unsigned cpuid,
				     unsigned nimpl, double measured)
{
	starpu_perfmodel_update_history_n(model, task, arch, cpuid, nimpl, measured, 1);
}

double starpu_perfmodel_history_based_expected_perf(struct starpu_perfmodel *model,
						    struct starpu_perfmodel_arch *arch,
						    uint32_t footprint)
{
	struct _starpu_perfmodel_state *s = orr_perf_state(orr_self(), model);
	double sum = 0;
	unsigned n = 0;
	if (!s || !s->m)
		return NAN;
	orr_lock(&s->m->lock);
	struct orr_model_comb *c = orr_model_comb_find(s->m->data, arch->ndevices, arch->devices);
	for (unsigned i = 0; c && i < c->nimpls; i++) {
		struct orr_model_entry *e = orr_model_entry_find(&c->impls[i], footprint);
		if (e && e->pub.nsample) {
			sum += e->pub.mean;
			n++;
		}
	}
	orr_unlock(&s->m->lock);
	return n ? sum / n : NAN;
}
