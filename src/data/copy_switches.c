/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The ways of copying that the program or the environment switched off.
 *
 * Invariant: the answers are those of proc->conf, and do not change while the runtime is up. */
#include "base/process.h"

int starpu_asynchronous_copy_disabled(void)
{
	return orr_self()->conf->disable_asynchronous_copy > 0;
}

int starpu_asynchronous_cuda_copy_disabled(void)
{
	return starpu_asynchronous_copy_disabled() ||
	       orr_self()->conf->disable_asynchronous_cuda_copy > 0;
}

int starpu_asynchronous_opencl_copy_disabled(void)
{
	return starpu_asynchronous_copy_disabled() ||
	       orr_self()->conf->disable_asynchronous_opencl_copy > 0;
}

int starpu_asynchronous_mpi_ms_copy_disabled(void)
{
	return starpu_asynchronous_copy_disabled() ||
	       orr_self()->conf->disable_asynchronous_mpi_ms_copy > 0;
}

int starpu_map_enabled(void)
{
	return orr_self()->conf->enable_map > 0;
}

int starpu_asynchronous_copy_disabled_for(enum starpu_node_kind kind)
{
	switch (kind) {
	case STARPU_CUDA_RAM: return starpu_asynchronous_cuda_copy_disabled();
	case STARPU_OPENCL_RAM: return starpu_asynchronous_opencl_copy_disabled();
	case STARPU_MPI_MS_RAM: return starpu_asynchronous_mpi_ms_copy_disabled();
	default: return starpu_asynchronous_copy_disabled();
	}
}
