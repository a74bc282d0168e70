/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of devices of a process (see device.h).
 *
 * Invariant: the order of devices does not depend on the world (no assertion sees both). */
#include "drivers/devices.h"

#include "base/assert.h"
#include "base/config.h"
#include "base/seam_memory.h"
#include "drivers/cuda.h"
#include "drivers/fake.h"
#include "drivers/fake_opencl.h"
#include "drivers/limit.h"
#include "drivers/opencl.h"
#include "drivers/slave.h"
#include "drivers/soft.h"

/* The number of devices of a kind that the program lets us use; -1: all. */
static long wanted(const char *variable, int conf, const struct orr_process *proc)
{
	long n = orr_config_long(variable, -1);

	if (conf != -1 && (n == -1 || proc->conf->precedence_over_environment_variables))
		n = conf;
	return n;
}

/* The nodes of main memory after the first. */
static unsigned numa_nodes(struct orr_process *proc, struct orr_device *v, unsigned max)
{
	unsigned n = proc->topo.nnuma > 1 ? proc->topo.nnuma - 1 : 0;

	if (n > max)
		n = max;
	for (unsigned i = 0; i < n; i++) {
		v[i] = (struct orr_device){
			.arch = STARPU_CPU_WORKER,
			.kind = STARPU_CPU_RAM,
			.devid = (int) i + 1,
			.memory = orr_limit_of_device("CPU_NUMA", (int) i + 1,
						      proc->cfg->limit_numa_mem),
			.memory_ops = &orr_ram_ops,
		};
	}
	return n;
}

/* The devices that the world adds. */
static int world_devices(struct orr_process *proc, struct orr_device *v, unsigned max, long ncuda,
			 long nopencl)
{
	struct orr_world_device found[STARPU_MAXNODES];
	int n = orr_sys_devices(proc, found, max < STARPU_MAXNODES ? max : STARPU_MAXNODES, ncuda,
				nopencl);

	for (int i = 0; i < n; i++) {
		const struct orr_world_device *d = &found[i];
		size_t limit;

		v[i] = orr_soft_device(proc, d->arch, d->devid, 1);
		limit = v[i].memory;
		v[i].memory = limit && (limit < d->memory || d->guessed) ? limit : d->memory;
		snprintf(v[i].name, sizeof(v[i].name), "%s %d",
			 d->arch == STARPU_CUDA_WORKER ? "CUDA" : "OpenCL", d->devid);
	}
	return n;
}

static unsigned at_most(long n, unsigned max)
{
	return n >= 0 && (unsigned long) n < max ? (unsigned) n : max;
}

/* The devices that OpenCL drives; fake ones stand in for them all. */
static int opencl_devices(struct orr_process *proc, struct orr_device *v, unsigned max)
{
	return proc->cfg->fake_opencl ? 0 : orr_opencl_devices(proc, v, max);
}

int orr_devices_list(struct orr_process *proc, struct orr_device *v, unsigned max)
{
	long ncuda = wanted("STARPU_NCUDA", proc->conf->ncuda, proc),
	     nopencl = wanted("STARPU_NOPENCL", proc->conf->nopencl, proc);
	unsigned numa = numa_nodes(proc, v, max);

	proc->machine = NULL;

	int n = (int) orr_fake_devices(proc, v + numa, at_most(ncuda, max - numa));

	if (!n)
		n = world_devices(proc, v + numa, max - numa, ncuda,
				  proc->cfg->fake_opencl ? 0 : nopencl);
	if (n < 0)
		return n;
	n += (int) numa;
	orr_assert((unsigned) n <= max);

	int real = proc->cfg->fake_devices
			   ? 0
			   : orr_cuda_devices(proc, v + n, at_most(ncuda, max - (unsigned) n),
					      ncuda);
	if (real < 0)
		return real;
	n += real;
	real = opencl_devices(proc, v + n, at_most(nopencl, max - (unsigned) n));

	if (real < 0)
		return real;
	n += real;
	n += (int) orr_fake_opencl_devices(proc, v + n, at_most(nopencl, max - (unsigned) n));
	real = orr_slave_devices(proc, v + n, max - (unsigned) n);
	if (real < 0)
		return real;
	n += real;
	orr_assert((unsigned) n <= max);
	for (int i = 0; i < n; i++)
		orr_assertf(v[i].memory_ops && (v[i].driver || !v[i].nworkers),
			    "device %d has no driver, or none for its memory", i);
	return n;
}
