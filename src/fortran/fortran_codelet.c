/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Configurations, codelets and performance models for Fortran, which sees them as pointers: they
 * are allocated here, and each field has a function that sets it.
 *
 * Invariant: a name is copied, because Fortran's temporary strings end with the call. */
#include "fortran/fortran.h"

#include <stdlib.h>
#include <string.h>

#include "starpu.h"
#include "base/log.h"

static void *zeroed(size_t size)
{
	void *p = calloc(1, size);

	if (!p)
		orr_fatal("out of memory: %zu bytes for a structure of the Fortran interface",
			  size);
	return p;
}

static char *copied(const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		orr_fatal("out of memory while a name was copied");
	return copy;
}

static void replace(const char **field, const char *text)
{
	free((void *) *field);
	*field = copied(text);
}

static void free_name(const char *name)
{
	free((void *) name);
}

/* ---- struct starpu_conf ---- */

struct starpu_conf *fstarpu_conf_allocate(void)
{
	struct starpu_conf *conf = zeroed(sizeof(*conf));

	starpu_conf_init(conf);
	return conf;
}

/* The name of the policy may be the program's, or come from the environment: it is not freed. */
void fstarpu_conf_free(struct starpu_conf *conf)
{
	free(conf);
}

void fstarpu_conf_set_sched_policy_name(struct starpu_conf *conf, const char *policy_name)
{
	conf->sched_policy_name = copied(policy_name);
}

void fstarpu_conf_set_min_prio(struct starpu_conf *conf, int min_prio)
{
	conf->global_sched_ctx_min_priority = min_prio;
}

void fstarpu_conf_set_max_prio(struct starpu_conf *conf, int max_prio)
{
	conf->global_sched_ctx_max_priority = max_prio;
}

void fstarpu_conf_set_ncpu(struct starpu_conf *conf, int ncpu)
{
	conf->ncpus = ncpu;
}

void fstarpu_conf_set_ncuda(struct starpu_conf *conf, int ncuda)
{
	conf->ncuda = ncuda;
}

void fstarpu_conf_set_nopencl(struct starpu_conf *conf, int nopencl)
{
	conf->nopencl = nopencl;
}

/* ---- struct starpu_codelet ---- */

struct starpu_codelet *fstarpu_codelet_allocate(void)
{
	struct starpu_codelet *cl = zeroed(sizeof(*cl));

	starpu_codelet_init(cl);
	return cl;
}

void fstarpu_codelet_free(struct starpu_codelet *cl)
{
	free_name(cl->name);
	free(cl);
}

void fstarpu_codelet_set_name(struct starpu_codelet *cl, const char *cl_name)
{
	replace(&cl->name, cl_name);
}

void fstarpu_codelet_set_color(struct starpu_codelet *cl, int cl_color)
{
	cl->color = (unsigned) cl_color;
}

void fstarpu_codelet_set_model(struct starpu_codelet *cl, struct starpu_perfmodel *cl_perfmodel)
{
	cl->model = cl_perfmodel;
}

void fstarpu_codelet_set_energy_model(struct starpu_codelet *cl,
				      struct starpu_perfmodel *cl_perfmodel)
{
	cl->energy_model = cl_perfmodel;
}

/* Adds value to the first free place of an array of STARPU_MAXIMPLEMENTATIONS. */
#define ADD(cl, array, value, used, what) \
	do { \
		unsigned n = 0; \
		while (n < STARPU_MAXIMPLEMENTATIONS && (used)) \
			n++; \
		if (n == STARPU_MAXIMPLEMENTATIONS) \
			orr_fatal("codelet %s has %d " what \
				  " already, and there is room for no more", \
				  (cl)->name ? (cl)->name : "without a name", \
				  STARPU_MAXIMPLEMENTATIONS); \
		(cl)->array[n] = (value); \
	} while (0)

void fstarpu_codelet_add_cpu_func(struct starpu_codelet *cl, starpu_cpu_func_t f_ptr)
{
	ADD(cl, cpu_funcs, f_ptr, cl->cpu_funcs[n], "functions for CPUs");
}

void fstarpu_codelet_add_cuda_func(struct starpu_codelet *cl, starpu_cuda_func_t f_ptr)
{
	ADD(cl, cuda_funcs, f_ptr, cl->cuda_funcs[n], "functions for CUDA");
}

void fstarpu_codelet_add_cuda_flags(struct starpu_codelet *cl, void *flags)
{
	ADD(cl, cuda_flags, (char) (intptr_t) flags, cl->cuda_flags[n], "flags for CUDA");
}

void fstarpu_codelet_add_opencl_func(struct starpu_codelet *cl, starpu_opencl_func_t f_ptr)
{
	ADD(cl, opencl_funcs, f_ptr, cl->opencl_funcs[n], "functions for OpenCL");
}

void fstarpu_codelet_add_opencl_flags(struct starpu_codelet *cl, void *flags)
{
	ADD(cl, opencl_flags, (char) (intptr_t) flags, cl->opencl_flags[n], "flags for OpenCL");
}

void fstarpu_codelet_add_buffer(struct starpu_codelet *cl, void *mode)
{
	if (cl->nbuffers < 0 || cl->nbuffers >= STARPU_NMAXBUFS)
		orr_fatal(
			"codelet %s: fstarpu_codelet_add_buffer() adds up to %d buffers; it has %d",
			cl->name ? cl->name : "without a name", STARPU_NMAXBUFS, cl->nbuffers);
	cl->modes[cl->nbuffers++] = (enum starpu_data_access_mode)(intptr_t) mode;
}

void fstarpu_codelet_set_variable_nbuffers(struct starpu_codelet *cl)
{
	cl->nbuffers = STARPU_VARIABLE_NBUFFERS;
}

void fstarpu_codelet_set_nbuffers(struct starpu_codelet *cl, int nbuffers)
{
	cl->nbuffers = nbuffers;
}

void fstarpu_codelet_set_flags(struct starpu_codelet *cl, void *flags)
{
	cl->flags = (int) (intptr_t) flags;
}

void fstarpu_codelet_set_where(struct starpu_codelet *cl, void *where)
{
	cl->where = (uint32_t) (intptr_t) where;
}

void fstarpu_codelet_set_type(struct starpu_codelet *cl, void *type_constant)
{
	cl->type = (enum starpu_codelet_type)(intptr_t) type_constant;
}

void fstarpu_codelet_set_max_parallelism(struct starpu_codelet *cl, int max_parallelism)
{
	cl->max_parallelism = max_parallelism;
}

/* ---- struct starpu_perfmodel ---- */

struct starpu_perfmodel *fstarpu_perfmodel_allocate(void)
{
	return zeroed(sizeof(struct starpu_perfmodel));
}

/* The runtime keeps no pointer to a model that is unloaded. */
void fstarpu_perfmodel_free(struct starpu_perfmodel *model)
{
	const char *symbol = model->symbol;

	if (model->is_loaded)
		starpu_perfmodel_unload_model(model);
	free_name(symbol);
	free(model);
}

void fstarpu_perfmodel_set_symbol(struct starpu_perfmodel *model, const char *model_symbol)
{
	replace(&model->symbol, model_symbol);
}

void fstarpu_perfmodel_set_type(struct starpu_perfmodel *model, void *type)
{
	model->type = (enum starpu_perfmodel_type)(intptr_t) type;
}
