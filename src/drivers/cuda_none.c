/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A library that was configured with --disable-cuda (see cuda.h).
 *
 * Invariant: there are no devices, so NVIDIA's libraries are started on none: these calls do
 * nothing. */
#include "drivers/cuda.h"

#include <starpu.h>
#include <starpu_cublas.h>
#include <starpu_cublasLt.h>
#include <starpu_cusolver.h>

#include "base/config.h"
#include "base/log.h"

int orr_cuda_devices(struct orr_process *proc, struct orr_device *v, unsigned max, long asked)
{
	(void) v;
	(void) max;
	(void) asked;
	if (proc->cfg->cudart)
		orr_warn("ORRERY_CUDART: this library was configured with --disable-cuda");
	return 0;
}

void orr_cuda_settle(struct orr_process *proc)
{
	(void) proc;
}

void orr_cuda_exit(struct orr_process *proc)
{
	(void) proc;
}

void starpu_cublas_init(void) {}
void starpu_cublas_shutdown(void) {}
void starpu_cublas_set_stream(void) {}
void starpu_cublasLt_init(void) {}
void starpu_cublasLt_shutdown(void) {}
void starpu_cusparse_init(void) {}
void starpu_cusparse_shutdown(void) {}
void starpu_cusolver_init(void) {}
void starpu_cusolver_shutdown(void) {}
