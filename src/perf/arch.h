/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Archs: what performance models know of a worker. Two workers of one arch are the same to them.
 * Pure functions. */
#ifndef ORR_PERF_ARCH_H
#define ORR_PERF_ARCH_H

#include <stddef.h>

#include "base/config.h"
#include "starpu.h"

struct orr_arch {
	enum starpu_worker_archtype type;
	int devid;
	int ncores; /* that one task uses */
};

/* Does the configuration say that all workers of this type are alike? */
static inline int orr_arch_is_homogeneous(const struct orr_config *cfg,
					  enum starpu_worker_archtype type)
{
	return (type == STARPU_CPU_WORKER && cfg->homogeneous_cpu) ||
	       (type == STARPU_CUDA_WORKER && cfg->homogeneous_cuda) ||
	       (type == STARPU_OPENCL_WORKER && cfg->homogeneous_opencl) ||
	       (type == STARPU_MPI_MS_WORKER && cfg->homogeneous_mpi_ms);
}

/* The arch as model files name it: alike workers are device 0 of their type. */
static inline struct starpu_perfmodel_device orr_arch_device(const struct orr_config *cfg,
							     const struct orr_arch *a)
{
	int alike = a->devid < 0 || orr_arch_is_homogeneous(cfg, a->type);

	return (struct starpu_perfmodel_device){ .type = a->type,
						 .devid = alike ? 0 : a->devid,
						 .ncores = a->ncores > 0 ? a->ncores : 1 };
}

/* The speed of a device, compared with one core. */
double orr_arch_relative_speed(const struct starpu_perfmodel_device *d);
/* Are two lists of devices the same? */
int orr_arch_same_devices(int n, const struct starpu_perfmodel_device *v, int m,
			  const struct starpu_perfmodel_device *w);
/* "cpu0_impl0", "cuda1_impl0", "cpu0_cores4_impl0"; several devices are joined by '_'. nimpl -1: no
 * implementation. Truncated to maxlen. */
void orr_arch_name(int ndevices, const struct starpu_perfmodel_device *devices, int nimpl,
		   char *buf, size_t maxlen);

/* Speeds in flop/s that are assumed of workers without measurements. */
#define ORR_ARCH_CPU_FLOPS 8e9
#define ORR_ARCH_GPU_FLOPS 1e12

#endif
