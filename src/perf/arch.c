/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Archs, and lists of devices (see arch.h). */
#include "perf/arch.h"

#include <stdio.h>

double orr_arch_relative_speed(const struct starpu_perfmodel_device *d)
{
	int is_core = d->type == STARPU_CPU_WORKER || d->type == STARPU_MPI_MS_WORKER;

	return is_core ? d->ncores : ORR_ARCH_GPU_FLOPS / ORR_ARCH_CPU_FLOPS / 8;
}

double starpu_worker_get_relative_speedup(struct starpu_perfmodel_arch *perf_arch)
{
	double speed = 0;

	for (int i = 0; i < perf_arch->ndevices; i++)
		speed += orr_arch_relative_speed(&perf_arch->devices[i]);
	return speed;
}

int orr_arch_same_devices(int n, const struct starpu_perfmodel_device *v, int m,
			  const struct starpu_perfmodel_device *w)
{
	int same = n == m;

	for (int i = 0; same && i < n; i++)
		same = v[i].type == w[i].type && v[i].devid == w[i].devid &&
		       v[i].ncores == w[i].ncores;
	return same;
}

/* ---- names ---- */

void orr_arch_name(int ndevices, const struct starpu_perfmodel_device *devices, int nimpl,
		   char *buf, size_t maxlen)
{
	size_t n = 0;
	if (maxlen)
		buf[0] = 0;
	for (int i = 0; i < ndevices && n < maxlen; i++) {
		const struct starpu_perfmodel_device *d = &devices[i];
		n += (size_t) snprintf(buf + n, maxlen - n, "%s%s%d", i ? "_" : "",
				       starpu_perfmodel_get_archtype_name(d->type), d->devid);
		if (d->ncores > 1 && n < maxlen)
			n += (size_t) snprintf(buf + n, maxlen - n, "_cores%d", d->ncores);
	}
	if (nimpl >= 0 && n < maxlen)
		snprintf(buf + n, maxlen - n, "_impl%d", nimpl);
}

const char *starpu_perfmodel_get_archtype_name(enum starpu_worker_archtype archtype)
{
	switch (archtype) {
	case STARPU_CPU_WORKER: return "cpu";
	case STARPU_CUDA_WORKER: return "cuda";
	case STARPU_OPENCL_WORKER: return "opencl";
	case STARPU_MPI_MS_WORKER: return "mpi_ms";
	case STARPU_HIP_WORKER: return "hip";
	default: return "unknown";
	}
}

void starpu_perfmodel_get_arch_name(struct starpu_perfmodel_arch *arch, char *archname,
				    size_t maxlen, unsigned nimpl)
{
	orr_arch_name(arch->ndevices, arch->devices, (int) nimpl, archname, maxlen);
}
