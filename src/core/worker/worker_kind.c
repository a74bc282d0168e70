/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kinds of workers and of memory nodes: their names, their bits, and which belong together.
 *
 * Invariant: everything here is constant; no runtime is needed. */
#include <string.h>

#include "core/worker/core.h"

const char *starpu_worker_get_type_as_string(enum starpu_worker_archtype type)
{
	switch (type) {
	case STARPU_CPU_WORKER: return "CPU";
	case STARPU_CUDA_WORKER: return "CUDA";
	case STARPU_OPENCL_WORKER: return "OpenCL";
	case STARPU_MPI_MS_WORKER: return "MPI_MS";
	case STARPU_HIP_WORKER: return "HIP";
	case STARPU_ANY_WORKER: return "any";
	default: return "unknown";
	}
}

unsigned starpu_worker_archtype_is_valid(enum starpu_worker_archtype type)
{
	return (int) type >= 0 && type < STARPU_NARCH;
}

enum starpu_worker_archtype starpu_arch_mask_to_worker_archtype(unsigned mask)
{
	for (int type = 0; type < STARPU_NARCH; type++)
		if (mask == STARPU_WORKER_TO_MASK(type))
			return (enum starpu_worker_archtype) type;
	return STARPU_UNKNOWN_WORKER;
}

enum starpu_node_kind starpu_worker_get_memory_node_kind(enum starpu_worker_archtype type)
{
	switch (type) {
	case STARPU_CPU_WORKER: return STARPU_CPU_RAM;
	case STARPU_CUDA_WORKER: return STARPU_CUDA_RAM;
	case STARPU_OPENCL_WORKER: return STARPU_OPENCL_RAM;
	case STARPU_MPI_MS_WORKER: return STARPU_MPI_MS_RAM;
	default: return STARPU_UNUSED;
	}
}

enum starpu_worker_archtype starpu_memory_node_get_worker_archtype(enum starpu_node_kind node_kind)
{
	switch (node_kind) {
	case STARPU_CPU_RAM: return STARPU_CPU_WORKER;
	case STARPU_CUDA_RAM: return STARPU_CUDA_WORKER;
	case STARPU_OPENCL_RAM: return STARPU_OPENCL_WORKER;
	case STARPU_MPI_MS_RAM: return STARPU_MPI_MS_WORKER;
	default: return STARPU_UNKNOWN_WORKER;
	}
}

/* Of some kinds there are no workers, and so nothing reads their variables. */
#define VARIABLE(NAME) \
	"STARPU" \
	"_N" NAME

static const struct kind {
	enum starpu_worker_archtype type;
	const char *variable;
} kinds[] = {
	{ STARPU_CPU_WORKER, VARIABLE("CPU") },       { STARPU_CUDA_WORKER, VARIABLE("CUDA") },
	{ STARPU_OPENCL_WORKER, VARIABLE("OPENCL") }, { STARPU_MPI_MS_WORKER, VARIABLE("MPI_MS") },
	{ STARPU_HIP_WORKER, VARIABLE("HIP") },
};

#define NKINDS (sizeof(kinds) / sizeof(kinds[0]))

enum starpu_worker_archtype starpu_worker_get_type_from_string(const char *type)
{
	for (unsigned i = 0; i < NKINDS; i++)
		if (type && !strcmp(type, starpu_worker_get_type_as_string(kinds[i].type)))
			return kinds[i].type;
	return STARPU_UNKNOWN_WORKER;
}

const char *starpu_worker_get_type_as_env_var(enum starpu_worker_archtype type)
{
	for (unsigned i = 0; i < NKINDS; i++)
		if (kinds[i].type == type)
			return kinds[i].variable;
	return "unknown";
}
