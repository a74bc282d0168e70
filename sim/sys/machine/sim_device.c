/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The GPUs of a simulated machine: memory nodes and workers of kinds CUDA and OpenCL, as many as
 * bus/HOST.config announces.
 *
 * A kernel takes the time that its model tells for this device; what computes its result is the
 * codelet's function for the CPU (a function for the device that was compiled without the vendor's
 * compiler is a C function, and serves when there is none for the CPU).
 *
 * Invariant: no two of the devices are the same GPU, unless the program asks for more of both kinds
 * than there are. */
#include "actors/sim_rank.h"
#include "machine/sim_bus.h"
#include "base/assert.h"
#include "base/log.h"
#include "base/seam_memory.h"

#define DEFAULT_MEMORY ((size_t) 3 << 30)

/* Says once of each machine that sizes are missing. */
static void tell_of_guesses(const struct orr_machine *m, const struct orr_world_device *v,
			    unsigned n)
{
	static const struct orr_machine *told[64];
	static unsigned ntold;
	unsigned i = 0, k = 0;
	while (i < n && !v[i].guessed)
		i++;
	while (k < ntold && told[k] != m)
		k++;
	if (i == n || k < ntold || ntold == sizeof(told) / sizeof(*told))
		return;
	told[ntold++] = m;
	orr_warn(
		"machine %s: %s/bus/%s.memory does not say how large the memories of its devices are; 3 GiB each are assumed. Write lines "
		"such as `%s%d 24576 MiB', or measure it with `orrery calibrate'",
		m->name, m->dir, m->name, v[i].arch == STARPU_CUDA_WORKER ? "cuda" : "opencl",
		v[i].devid);
}

/* Adds n devices of a type to v. */
static void add(const struct orr_machine *m, enum starpu_worker_archtype arch, unsigned n,
		struct orr_world_device *v)
{
	unsigned first = arch == STARPU_CUDA_WORKER ? 0 : m->ncuda;
	for (unsigned i = 0; i < n; i++) {
		size_t has = m->memory ? m->memory[first + i] : 0;
		v[i] = (struct orr_world_device){ .arch = arch,
						  .devid = (int) i,
						  .memory = has ? has : DEFAULT_MEMORY,
						  .guessed = !has };
	}
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

int orr_sys_devices(struct orr_process *proc, struct orr_world_device *v, unsigned max,
		    long want_cuda, long want_opencl)
{
	struct orr_sim_rank *r = proc->sys;
	const struct orr_machine *m = r->machine;
	proc->stand_in = 0;
	proc->machine = NULL;
	if (!m)
		return 0;
	unsigned ncuda = want_cuda >= 0 && want_cuda < (long) m->ncuda ? (unsigned) want_cuda
								       : m->ncuda;
	/* A GPU that CUDA drives shows up as an OpenCL device again. */
	unsigned nopencl = m->nopencl > ncuda ? m->nopencl - ncuda : 0;
	if (want_opencl >= 0)
		nopencl = want_opencl < (long) m->nopencl ? (unsigned) want_opencl : m->nopencl;
	ncuda = least(ncuda, max);
	nopencl = least(nopencl, max - ncuda);
	if (!ncuda && !nopencl && proc->topo.nnuma < 2)
		return 0;
	if (ncuda + nopencl) {
		int ret = orr_sim_bus_init(r);
		if (ret)
			return ret;
	}
	proc->machine = r->machine;
	proc->stand_in = ncuda + nopencl && orr_sim.cuda_from_model ? ORR_STAND_IN_DEVICES : 0;
	orr_assert(ncuda <= m->ncuda && nopencl <= m->nopencl && ncuda + nopencl <= max);
	add(m, STARPU_CUDA_WORKER, ncuda, v);
	add(m, STARPU_OPENCL_WORKER, nopencl, v + ncuda);
	tell_of_guesses(m, v, ncuda + nopencl);
	return (int) (ncuda + nopencl);
}

int orr_sys_drives_devices(void)
{
	return 0;
}
