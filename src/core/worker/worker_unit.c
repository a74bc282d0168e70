/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The workers of a unit of the machine.
 *
 * Invariant: the table is made once, from the units that the workers have when it is asked for
 * first; nobody binds a worker to another unit later. */
#include <stdlib.h>

#include "core/worker/core.h"
#include "data/data.h"

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

int starpu_get_pu_os_index(unsigned logical_index)
{
	return starpu_cpu_os_index((int) logical_index);
}
