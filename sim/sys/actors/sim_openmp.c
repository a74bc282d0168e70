/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The exchange of a thread's settings of OpenMP (sim_openmp.h), by libgomp's public functions.
 *
 * Invariant: `owner` is the thread whose settings libgomp has, or NULL if that one has ended. */
#include "actors/sim_openmp.h"

#include <dlfcn.h>
#include <stddef.h>
#include "base/assert.h"

#define LIBRARY "libgomp.so.1"

static struct {
	int (*get_max_threads)(void);
	void (*set_num_threads)(int);
	int (*get_dynamic)(void);
	void (*set_dynamic)(int);
	int (*get_max_active_levels)(void);
	void (*set_max_active_levels)(int);
	int (*get_default_device)(void);
	void (*set_default_device)(int);
	void (*get_schedule)(int *, int *);
	void (*set_schedule)(int, int);
} omp;

static const struct {
	const char *name;
	size_t at; /* in omp */
} functions[] = {
	{ "omp_get_max_threads", offsetof(__typeof__(omp), get_max_threads) },
	{ "omp_set_num_threads", offsetof(__typeof__(omp), set_num_threads) },
	{ "omp_get_dynamic", offsetof(__typeof__(omp), get_dynamic) },
	{ "omp_set_dynamic", offsetof(__typeof__(omp), set_dynamic) },
	{ "omp_get_max_active_levels", offsetof(__typeof__(omp), get_max_active_levels) },
	{ "omp_set_max_active_levels", offsetof(__typeof__(omp), set_max_active_levels) },
	{ "omp_get_default_device", offsetof(__typeof__(omp), get_default_device) },
	{ "omp_set_default_device", offsetof(__typeof__(omp), set_default_device) },
	{ "omp_get_schedule", offsetof(__typeof__(omp), get_schedule) },
	{ "omp_set_schedule", offsetof(__typeof__(omp), set_schedule) },
};

int orr_sim_openmp_found;
static struct orr_sim_openmp *owner, initial;

static void take(struct orr_sim_openmp *s)
{
	s->known = 1;
	s->threads = omp.get_max_threads();
	s->dynamic = omp.get_dynamic();
	s->levels = omp.get_max_active_levels();
	s->device = omp.get_default_device();
	omp.get_schedule(&s->kind, &s->chunk);
}

static void give(const struct orr_sim_openmp *s)
{
	omp.set_num_threads(s->threads);
	omp.set_dynamic(s->dynamic);
	omp.set_max_active_levels(s->levels);
	omp.set_default_device(s->device);
	omp.set_schedule(s->kind, s->chunk);
}

void orr_sim_openmp_find(struct orr_sim_openmp *own)
{
	void *library;
	if (orr_sim_openmp_found || !(library = dlopen(LIBRARY, RTLD_LAZY | RTLD_NOLOAD)))
		return;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *f = dlsym(library, functions[i].name);
		if (!f)
			return; /* older than OpenMP 4.0 */
		*(void **) ((char *) &omp + functions[i].at) = f;
	}
	take(&initial);
	owner = own;
	orr_sim_openmp_found = 1;
}

void orr_sim_openmp_enter(struct orr_sim_openmp *own)
{
	if (owner == own)
		return;
	if (owner)
		take(owner);
	give(own->known ? own : &initial);
	owner = own;
	orr_assert(omp.get_max_threads() == (own->known ? own : &initial)->threads);
}

void orr_sim_openmp_end(const struct orr_sim_openmp *own)
{
	if (owner == own)
		owner = NULL;
}
