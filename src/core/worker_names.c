/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Questions about workers and memory nodes that few programs ask: by unit, by name, by context.
 *
 * Invariant: nothing here changes a worker; answers are as of some moment of the call. */
#include "core/combined.h"
#include "core/core.h"
#include "core/sched_ctx.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "data/data.h"
#include "data/memnode.h"

int starpu_worker_get_devnum(int id)
{
	return starpu_worker_get_devid(id);
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

/* All workers, those of one unit next to each other; made when first asked for. NULL: no memory. */
static int *by_unit(struct orr_process *proc)
{
	int *ids = ORR_ATOMIC_LOAD(&proc->core->by_unit), *none = NULL;
	unsigned n = proc->core->nworkers;

	if (ids)
		return ids;
	ids = malloc((n + 1) * sizeof(*ids));
	if (!ids)
		return NULL;
	for (unsigned i = 0; i < n; i++) {
		unsigned k = i;

		for (; k > 0 &&
		       proc->core->workers[ids[k - 1]].bindid > proc->core->workers[i].bindid;
		     k--)
			ids[k] = ids[k - 1];
		ids[k] = (int) i;
	}
	if (ORR_ATOMIC_CAS(&proc->core->by_unit, &none, ids))
		return ids;
	free(ids); /* somebody else was first */
	return none;
}

int starpu_bindid_get_workerids(int bindid, int **workerids)
{
	struct orr_process *proc = orr_self();
	int *ids = proc->core->workers ? by_unit(proc) : NULL, n = 0;
	unsigned first = 0;

	*workerids = NULL;
	if (!ids || bindid < 0)
		return 0;
	while (first < proc->core->nworkers && proc->core->workers[ids[first]].bindid < bindid)
		first++;
	while (first + (unsigned) n < proc->core->nworkers &&
	       proc->core->workers[ids[first + (unsigned) n]].bindid == bindid)
		n++;
	if (n)
		*workerids = &ids[first];
	return n;
}

unsigned starpu_worker_is_slave_somewhere(int workerid)
{
	(void) workerid;
	return 0; /* a worker of a context without policy takes part in one task at a time only */
}

unsigned starpu_worker_get_sched_ctx_list(int worker, unsigned **sched_ctx)
{
	struct orr_process *proc = orr_self();
	unsigned n = 0, *list = malloc(STARPU_NMAX_SCHED_CTXS * sizeof(*list));

	for (unsigned i = 0; list && i < STARPU_NMAX_SCHED_CTXS; i++)
		if (worker >= 0 && (unsigned) worker < proc->core->nworkers &&
		    starpu_sched_ctx_contains_worker(worker, i))
			list[n++] = i;
	if (n == 0) {
		free(list);
		list = NULL;
	}
	*sched_ctx = list;
	return n;
}

unsigned starpu_memory_node_get_ids_by_type(enum starpu_node_kind kind, unsigned *memory_nodes_ids,
					    unsigned maxsize)
{
	struct orr_data *data = orr_self()->data;
	unsigned n = 0;

	for (unsigned i = 0; i < data->nmemnodes && n < maxsize; i++)
		if (data->memnodes[i].kind == kind)
			memory_nodes_ids[n++] = i;
	return n;
}

void starpu_sched_find_all_worker_combinations(void)
{
	orr_combined_build(orr_self());
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

int starpu_get_pu_os_index(unsigned logical_index)
{
	return starpu_cpu_os_index((int) logical_index);
}

void starpu_perfmodel_free_sampling(void) {}

void starpu_fxt_trace_user_meta_string(const char *s)
{
	starpu_fxt_trace_user_event_string(s);
}
