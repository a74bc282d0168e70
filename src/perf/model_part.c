/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parts of the program's models (see model_part.h), and the functions of starpu_perfmodel.h that
 * hand them out. */
#include "perf/model_part.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "perf/model_learn.h"
#include "perf/model_state.h"

static struct orr_model_part *find_part(struct orr_model_part *part, int n,
					const struct starpu_perfmodel_device *v, unsigned nimpl)
{
	while (part && (part->nimpl != nimpl ||
			!orr_arch_same_devices(part->ndevices, part->devices, n, v)))
		part = part->next;
	return part;
}

struct orr_model_part *orr_model_part(struct _starpu_perfmodel_state *s, int ndevices,
				      const struct starpu_perfmodel_device *devices, unsigned nimpl,
				      int make)
{
	struct orr_model_part *part = find_part(ORR_ATOMIC_LOAD(&s->parts), ndevices, devices,
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

void orr_model_part_free(struct orr_model_part *part)
{
	for (struct orr_model_part *next; part; part = next) {
		next = part->next;
		for (struct starpu_perfmodel_history_list *l = part->pub.list, *after; l;
		     l = after) {
			after = l->next;
			free(l->entry);
			free(l);
		}
		free(part->pub.regression.coeff);
		free(part->devices);
		free(part);
	}
}

/* ---- parts for the program ---- */

/* Copies the lines of the file's history, once. */
static void fill_history(struct orr_model_part *part, const struct orr_model_impl *impl)
{
	if (part->pub.list)
		return;
	for (unsigned e = impl->nentries; e-- > 0;) {
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
	}
}

/* Copies the regression as it is now. */
static void fill_regression(struct orr_model_part *part, const struct orr_model_impl *impl)
{
	double *coeff = part->pub.regression.coeff;

	if (impl->reg.ncoeff) {
		double *v = realloc(coeff, impl->reg.ncoeff * sizeof(*v));

		coeff = v ? memcpy(v, impl->reg.coeff, impl->reg.ncoeff * sizeof(*v)) : coeff;
	}
	part->pub.regression = impl->reg;
	part->pub.regression.coeff = coeff;
	part->pub.regression.ncoeff = coeff ? impl->reg.ncoeff : 0;
	for (unsigned e = 0; impl->reg.nsample == 0 && e < impl->nentries; e++)
		part->pub.regression.nsample += impl->entries[e]->pub.nsample;
}

static void fill_part(struct _starpu_perfmodel_state *s, struct orr_model_part *part)
{
	orr_lock(&s->m->lock);

	struct orr_model_comb *c = orr_model_comb_find(s->m->data, part->ndevices, part->devices);

	if (c && part->nimpl < c->nimpls) {
		struct orr_model_impl *impl = &c->impls[part->nimpl];

		orr_model_refit(impl, orr_perf_cfg(s->perf));
		fill_regression(part, impl);
		fill_history(part, impl);
	}
	orr_unlock(&s->m->lock);
}

static struct starpu_perfmodel_per_arch *pub_part(struct starpu_perfmodel *model, int ndevices,
						  const struct starpu_perfmodel_device *devices,
						  unsigned impl)
{
	struct _starpu_perfmodel_state *s = orr_model_state(orr_self(), model);
	struct orr_model_part *part = s ? orr_model_part(s, ndevices, devices, impl, 1) : NULL;
	if (!part)
		return NULL;
	if (s->m)
		fill_part(s, part);
	return &part->pub;
}

struct starpu_perfmodel_per_arch *starpu_perfmodel_get_model_per_arch(
	struct starpu_perfmodel *model, struct starpu_perfmodel_arch *arch, unsigned impl)
{
	return pub_part(model, arch->ndevices, arch->devices, impl);
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

/* The part of the devices in a list of arguments. 0, -EINVAL after a message, or -ENOMEM. */
static int part_of_list(struct starpu_perfmodel *model, int impl, va_list args,
			struct starpu_perfmodel_per_arch **part)
{
	struct starpu_perfmodel_device v[ORR_MODEL_MAX_DEVICES];
	int n = read_devices(args, v);

	if (n < 0)
		return n;
	*part = pub_part(model, n, v, (unsigned) impl);
	return *part ? 0 : -ENOMEM;
}

struct starpu_perfmodel_per_arch *starpu_perfmodel_get_model_per_devices(
	struct starpu_perfmodel *model, int impl, ...)
{
	struct starpu_perfmodel_per_arch *part;
	va_list args;

	va_start(args, impl);

	int err = part_of_list(model, impl, args, &part);

	va_end(args);
	return err ? NULL : part;
}

int starpu_perfmodel_set_per_devices_cost_function(struct starpu_perfmodel *model, int impl,
						   starpu_perfmodel_per_arch_cost_function func,
						   ...)
{
	struct starpu_perfmodel_per_arch *part;
	va_list args;

	va_start(args, func);

	int err = part_of_list(model, impl, args, &part);

	va_end(args);
	if (!err)
		part->cost_function = func;
	return err;
}

int starpu_perfmodel_set_per_devices_size_base(struct starpu_perfmodel *model, int impl,
					       starpu_perfmodel_per_arch_size_base func, ...)
{
	struct starpu_perfmodel_per_arch *part;
	va_list args;

	va_start(args, func);

	int err = part_of_list(model, impl, args, &part);

	va_end(args);
	if (err)
		return err;
	part->size_base = func;
	/* From now on sizes do not follow from footprints. */
	orr_model_state_there(model)->plain = 0; /* part_of_list made it */
	return 0;
}

double starpu_perfmodel_history_based_expected_perf(struct starpu_perfmodel *model,
						    struct starpu_perfmodel_arch *arch,
						    uint32_t footprint)
{
	struct _starpu_perfmodel_state *s = orr_model_state(orr_self(), model);
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
