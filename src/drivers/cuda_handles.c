/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Handles of cuBLAS, cuBLASLt, cuSPARSE and cuSOLVER on the workers of CUDA devices.
 *
 * The libraries are found when a program asks for them: in the library that stands in for the CUDA
 * runtime (a stub), else by their names.
 *
 * Invariant: a handle is created, used and destroyed by the thread of its worker, and bound to the
 * worker's stream. */
#include "drivers/cuda_types.h"

#include <dlfcn.h>
#include <starpu.h>
#include <starpu_cublasLt.h>
#include <starpu_cublas_v2.h>
#include <starpu_cusolver.h>
#include <starpu_cusparse.h>

#include "base/log.h"
#include "core/task/task.h"
#include "core/worker/worker.h"
#include "drivers/cuda_own.h"

static const struct library {
	const char *name, *files[2], *create, *destroy, *set_stream;
} libraries[ORR_CU_NLIBRARIES] = {
	[ORR_CU_BLAS] = { "cuBLAS",
			  { "libcublas.so.12", "libcublas.so.13" },
			  "cublasCreate_v2",
			  "cublasDestroy_v2",
			  "cublasSetStream_v2" },
	[ORR_CU_BLASLT] = { "cuBLASLt",
			    { "libcublasLt.so.12", "libcublasLt.so.13" },
			    "cublasLtCreate",
			    "cublasLtDestroy",
			    NULL },
	[ORR_CU_SPARSE] = { "cuSPARSE",
			    { "libcusparse.so.12", "libcusparse.so.12" },
			    "cusparseCreate",
			    "cusparseDestroy",
			    "cusparseSetStream" },
	[ORR_CU_SOLVER] = { "cuSOLVER",
			    { "libcusolver.so.11", "libcusolver.so.12" },
			    "cusolverDnCreate",
			    "cusolverDnDestroy",
			    "cusolverDnSetStream" },
};

/* Through a union: ISO C knows no conversion from a pointer to data. */
union function {
	void *p;
	int (*create)(void **handle);
	int (*destroy)(void *handle);
	int (*set_stream)(void *handle, void *stream);
	int (*set_legacy_stream)(void *stream);
};

/* One call for all workers. */
struct order {
	enum orr_cu_library which;
	union function create, destroy, set_stream;
};

static void *open_library(const struct orr_cuda *cu, const struct library *l)
{
	void *so = dlsym(cu->api.library, l->create) ? cu->api.library : NULL;

	return so ? so : dlopen(l->files[cu->api.version >= 13000], RTLD_NOW | RTLD_LOCAL);
}

/* 0; or -1 after a message. */
static int find_functions(struct orr_cuda *cu, struct order *o)
{
	const struct library *l = &libraries[o->which];
	void *so = cu->so[o->which];

	if (!so)
		so = cu->so[o->which] = open_library(cu, l);
	if (!so) {
		orr_error("%s cannot be started: %s; let LD_LIBRARY_PATH lead to it", l->name,
			  dlerror());
		return -1;
	}
	o->create.p = dlsym(so, l->create);
	o->destroy.p = dlsym(so, l->destroy);
	o->set_stream.p = l->set_stream ? dlsym(so, l->set_stream) : NULL;
	if (o->create.p && o->destroy.p && (o->set_stream.p || !l->set_stream))
		return 0;
	orr_error("%s cannot be started: the library lacks %s, or its relatives", l->name,
		  l->create);
	return -1;
}

/* CUDA's side of the calling worker, NULL: CUDA does not drive it. */
static struct orr_cu_worker *current(void)
{
	const struct orr_worker *w = orr_thread_self()->worker;

	return w && w->driver == &orr_cu_driver ? orr_cu_worker_of(w->driver_arg, w) : NULL;
}

static void create(void *arg)
{
	const struct order *o = arg;
	struct orr_cu_worker *c = current();
	void *handle = NULL;

	if (!c || c->handle[o->which])
		return;
	int err = o->create.create(&handle);

	if (!err && o->set_stream.p)
		err = o->set_stream.set_stream(handle, c->stream);
	if (err)
		orr_error("%s: no handle for %s: status %d", libraries[o->which].name,
			  orr_thread_self()->worker->name, err);
	else
		c->handle[o->which] = handle;
}

static void destroy(void *arg)
{
	const struct order *o = arg;
	struct orr_cu_worker *c = current();

	if (!c || !c->handle[o->which])
		return;
	o->destroy.destroy(c->handle[o->which]);
	c->handle[o->which] = NULL;
}

/* Without devices that CUDA drives there is nothing to start. */
static void on_all(enum orr_cu_library which, void (*what)(void *))
{
	struct orr_cuda *cu = orr_self()->cuda;
	struct order o = { .which = which };

	if (cu && !find_functions(cu, &o))
		starpu_execute_on_each_worker(what, &o, STARPU_CUDA);
}

static void *local_handle(enum orr_cu_library which, const char *caller)
{
	const struct orr_cu_worker *c = current();

	if (c && c->handle[which])
		return c->handle[which];
	orr_error("%s: %s", caller,
		  c ? "the library was not started on this worker"
		    : "the calling thread is no worker of a device that CUDA drives");
	return NULL;
}

void starpu_cublas_init(void)
{
	on_all(ORR_CU_BLAS, create);
}

void starpu_cublas_shutdown(void)
{
	on_all(ORR_CU_BLAS, destroy);
}

void starpu_cublas_set_stream(void)
{
	const struct orr_cu_worker *c = current();
	union function f = { .p = c && c->handle[ORR_CU_BLAS]
					  ? dlsym(orr_self()->cuda->so[ORR_CU_BLAS],
						  "cublasSetKernelStream")
					  : NULL };

	if (f.p)
		f.set_legacy_stream(c->stream);
	else if (c)
		orr_error(
			"starpu_cublas_set_stream: cuBLAS was not started on this worker (starpu_cublas_init), or has no cublasSetKernelStream");
}

cublasHandle_t starpu_cublas_get_local_handle(void)
{
	return local_handle(ORR_CU_BLAS, __func__);
}

void starpu_cublasLt_init(void)
{
	on_all(ORR_CU_BLASLT, create);
}

void starpu_cublasLt_shutdown(void)
{
	on_all(ORR_CU_BLASLT, destroy);
}

void starpu_cusparse_init(void)
{
	on_all(ORR_CU_SPARSE, create);
}

void starpu_cusparse_shutdown(void)
{
	on_all(ORR_CU_SPARSE, destroy);
}

cusparseHandle_t starpu_cusparse_get_local_handle(void)
{
	return local_handle(ORR_CU_SPARSE, __func__);
}

void starpu_cusolver_init(void)
{
	on_all(ORR_CU_SOLVER, create);
}

void starpu_cusolver_shutdown(void)
{
	on_all(ORR_CU_SOLVER, destroy);
}

cusolverDnHandle_t starpu_cusolverDn_get_local_handle(void)
{
	return local_handle(ORR_CU_SOLVER, __func__);
}
