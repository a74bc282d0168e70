/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Questions about workers and memory nodes.
 *
 * Invariant: everything here only reads what starpu_init has laid down, so no lock is taken. */
#include "base/log.h"
#include "base/refuse.h"
#include "data/data.h"
#include "core/worker/core.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct orr_worker *worker(int id)
{
	struct orr_process *proc = orr_self();

	return id >= 0 && (unsigned) id < proc->core->nworkers ? &proc->core->workers[id] : NULL;
}

/* The number of workers before w of its kind, and of its device if that is asked for. */
static int place_of(const struct orr_worker *w, int on_device)
{
	int n = 0;

	for (const struct orr_worker *o = orr_self()->core->workers; o < w; o++)
		n += o->arch == w->arch && (!on_device || o->devid == w->devid);
	return n;
}

static int is_of(const struct orr_worker *w, enum starpu_worker_archtype type)
{
	return type == STARPU_ANY_WORKER || w->arch == type;
}

/* ---- counting and finding ---- */

static unsigned count(enum starpu_worker_archtype type)
{
	struct orr_process *proc = orr_self();
	unsigned n = 0;

	for (unsigned i = 0; i < proc->core->nworkers; i++)
		n += is_of(&proc->core->workers[i], type);
	return n;
}

unsigned starpu_worker_get_count(void)
{
	return orr_self()->core->nworkers;
}
unsigned starpu_cpu_worker_get_count(void)
{
	return count(STARPU_CPU_WORKER);
}
unsigned starpu_cuda_worker_get_count(void)
{
	return count(STARPU_CUDA_WORKER);
}
unsigned starpu_opencl_worker_get_count(void)
{
	return count(STARPU_OPENCL_WORKER);
}
unsigned starpu_mpi_ms_worker_get_count(void)
{
	return count(STARPU_MPI_MS_WORKER);
}
unsigned starpu_hip_worker_get_count(void)
{
	return count(STARPU_HIP_WORKER);
}

int starpu_worker_get_count_by_type(enum starpu_worker_archtype type)
{
	if (type != STARPU_ANY_WORKER && !starpu_worker_archtype_is_valid(type))
		return -EINVAL;
	return (int) count(type);
}

int starpu_worker_get_id(void)
{
	struct orr_worker *w = orr_thread_self()->worker;

	return w ? (int) w->id : -1;
}

unsigned starpu_worker_get_id_check(void)
{
	int id = starpu_worker_get_id();

	if (id < 0)
		orr_fatal(
			"starpu_worker_get_id_check: the calling thread is not a worker: call it in kernels only");
	return (unsigned) id;
}

unsigned starpu_worker_get_ids_by_type(enum starpu_worker_archtype type, int *workerids,
				       unsigned maxsize)
{
	struct orr_process *proc = orr_self();
	unsigned n = 0;

	for (unsigned i = 0; i < proc->core->nworkers && n < maxsize; i++)
		if (is_of(&proc->core->workers[i], type))
			workerids[n++] = (int) i;
	return n;
}

int starpu_worker_get_by_type(enum starpu_worker_archtype type, int num)
{
	struct orr_process *proc = orr_self();

	for (unsigned i = 0; i < proc->core->nworkers; i++)
		if (is_of(&proc->core->workers[i], type) && num-- == 0)
			return (int) i;
	return -1;
}

int starpu_worker_get_range_by_id(int id)
{
	const struct orr_worker *w = worker(id);

	return w ? place_of(w, 0) : -1;
}

int starpu_worker_get_range(void)
{
	return starpu_worker_get_range_by_id(starpu_worker_get_id());
}

int starpu_worker_get_by_devid(enum starpu_worker_archtype type, int devid)
{
	struct orr_process *proc = orr_self();

	for (unsigned i = 0; i < proc->core->nworkers; i++)
		if (is_of(&proc->core->workers[i], type) && proc->core->workers[i].devid == devid)
			return (int) i;
	return -1;
}

int starpu_worker_get_devids(enum starpu_worker_archtype type, int *devids, int num)
{
	struct orr_process *proc = orr_self();
	int n = 0, j;

	for (unsigned i = 0; i < proc->core->nworkers && n < num; i++) {
		if (!is_of(&proc->core->workers[i], type))
			continue;
		for (j = 0; j < n && devids[j] != proc->core->workers[i].devid; j++)
			;
		if (j == n)
			devids[n++] = proc->core->workers[i].devid;
	}
	return n;
}

int starpu_worker_get_stream_workerids(unsigned devid, int *workerids,
				       enum starpu_worker_archtype type)
{
	struct orr_process *proc = orr_self();
	int n = 0;

	for (unsigned i = 0; i < proc->core->nworkers; i++)
		if (is_of(&proc->core->workers[i], type) &&
		    proc->core->workers[i].devid == (int) devid)
			workerids[n++] = (int) i;
	return n;
}

/* ---- describing one ---- */

enum starpu_worker_archtype starpu_worker_get_type(int id)
{
	struct orr_worker *w = worker(id);

	return w ? w->arch : STARPU_UNKNOWN_WORKER;
}

int starpu_worker_get_devid(int id)
{
	struct orr_worker *w = worker(id);

	return w ? w->devid : -1;
}

int starpu_worker_get_subworkerid(int id)
{
	const struct orr_worker *w = worker(id);

	return w ? place_of(w, 1) : -1;
}

int starpu_worker_get_bindid(int workerid)
{
	struct orr_worker *w = worker(workerid);

	return w ? w->bindid : -1;
}

void starpu_worker_get_name(int id, char *dst, size_t maxlen)
{
	struct orr_worker *w = worker(id);

	if (maxlen)
		snprintf(dst, maxlen, "%s", w ? w->name : "no worker");
}

void starpu_worker_wait_for_initialisation(void)
{
	struct orr_process *proc = orr_self();

	while (ORR_ATOMIC_LOAD(&proc->state) == ORR_PROCESS_STARTING)
		orr_sys_sleep_us(100);
}

void starpu_worker_display_count(FILE *output, enum starpu_worker_archtype type)
{
	unsigned n = count(type);

	fprintf(output, "%u %s%sworker%s\n", n,
		type == STARPU_ANY_WORKER ? "" : starpu_worker_get_type_as_string(type),
		type == STARPU_ANY_WORKER ? "" : " ", n == 1 ? "" : "s");
}

void starpu_worker_display_names(FILE *output, enum starpu_worker_archtype type)
{
	struct orr_process *proc = orr_self();

	starpu_worker_display_count(output, type);
	for (unsigned i = 0; i < proc->core->nworkers; i++)
		if (is_of(&proc->core->workers[i], type))
			fprintf(output, "\t%s\n", proc->core->workers[i].name);
}

void starpu_worker_display_all(FILE *output)
{
	for (int type = 0; type < STARPU_NARCH; type++)
		if (count((enum starpu_worker_archtype) type))
			starpu_worker_display_names(output, (enum starpu_worker_archtype) type);
}

/* ---- memory nodes ---- */

unsigned starpu_worker_get_local_memory_node(void)
{
	struct orr_worker *w = orr_thread_self()->worker;

	return w ? w->memnode : STARPU_MAIN_RAM;
}

unsigned starpu_worker_get_memory_node(unsigned workerid)
{
	struct orr_worker *w = worker((int) workerid);

	return w ? w->memnode : STARPU_MAIN_RAM;
}

int starpu_worker_get_devnum(int id)
{
	return starpu_worker_get_devid(id);
}

void starpu_worker_get_current_task_exp_end(unsigned workerid, struct timespec *date)
{
	(void) workerid;
	if (date)
		date->tv_sec = date->tv_nsec = 0;
	orr_refuse(__func__, "ask starpu_task_expected_length for the length of a task");
}
