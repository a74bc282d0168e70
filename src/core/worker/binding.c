/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Binding of the runtime's and of the program's threads to units of the machine.
 *
 * Invariant: a unit has at most one active thread: a worker, or a thread of the program that
 * reserved or bound it with STARPU_THREAD_ACTIVE. Where units are not known (a simulated run),
 * every request is granted and nothing is bound. */
#include "core/worker/binding.h"
#include "base/log.h"
#include "base/notice.h"
#include "base/seam_machine.h"
#include "data/data.h"
#include "core/worker/core.h"

#include <errno.h>
#include <string.h>

/* The worker bound to that unit, or NULL. */
static struct orr_worker *worker_on(struct orr_process *proc, int cpu)
{
	for (unsigned i = 0; i < proc->core->nworkers; i++)
		if (proc->core->workers[i].bindid == cpu)
			return &proc->core->workers[i];
	return NULL;
}

/* The use that the program's threads make of a unit: RESERVED by starpu_get_next_bindid but nobody
 * is there yet, or in use. */
enum { FREE, RESERVED_ACTIVE, RESERVED, ACTIVE };

static int is_known(const struct orr_process *proc, int cpu)
{
	return cpu >= 0 && (unsigned) cpu < proc->topo.nunits;
}

static int use_of(struct orr_process *proc, int cpu)
{
	return is_known(proc, cpu) ? ORR_ATOMIC_LOAD(&proc->topo.unit_use[cpu]) : FREE;
}

/* Changes what a unit is used for, unless somebody else did so meanwhile. */
static int change_use(struct orr_process *proc, int cpu, int from, int to)
{
	uint8_t old = (uint8_t) from;

	return !is_known(proc, cpu) ||
	       ORR_ATOMIC_CAS(&proc->topo.unit_use[cpu], &old, (uint8_t) to);
}

void orr_bind_to_workers(struct orr_process *proc, const int *workers, unsigned n)
{
	int units[STARPU_NMAXWORKERS];

	if (proc->core->workers[workers[0]].bindid < 0)
		return;
	for (unsigned i = 0; i < n; i++)
		units[i] = proc->core->workers[workers[i]].bindid;
	orr_sys_bind(proc, units, n);
}

static int usable(struct orr_process *proc, int cpu)
{
	for (unsigned i = 0; i < proc->topo.ncores; i++)
		if (proc->topo.core_ids[i] == cpu)
			return 1;
	return 0;
}

/* Takes a unit that no worker and no other thread of the program has. */
static int reserve(struct orr_process *proc, int cpu, unsigned flags)
{
	return usable(proc, cpu) && !worker_on(proc, cpu) &&
	       change_use(proc, cpu, FREE,
			  flags & STARPU_THREAD_ACTIVE ? RESERVED_ACTIVE : RESERVED);
}

unsigned starpu_get_next_bindid(unsigned flags, unsigned *preferred, unsigned npreferred)
{
	struct orr_process *proc = orr_self();

	for (unsigned i = 0; i < npreferred; i++)
		if (reserve(proc, (int) preferred[i], flags))
			return preferred[i];
	for (unsigned i = 0; i < proc->topo.ncores; i++)
		if (reserve(proc, proc->topo.core_ids[i], flags))
			return (unsigned) proc->topo.core_ids[i];
	/* Nothing is left: a thread that mostly sleeps shares the last unit, one that computes must
	 * not. */
	if (flags & STARPU_THREAD_ACTIVE || proc->topo.ncores == 0)
		return (unsigned) -1;
	return (unsigned) proc->topo.core_ids[proc->topo.ncores - 1];
}

/* Says and returns whether the calling thread could be bound; a machine where nothing is bound is
 * fine. */
static int bind_to(struct orr_process *proc, int cpu, const char *name)
{
	int ret = orr_sys_bind(proc, &cpu, 1);

	if (ret == 0 || ret == -ENOSYS)
		return 0;
	if (ret == -EINVAL)
		orr_warn(
			"thread %s cannot be bound to unit %d: the machine has no such unit, see starpu_topology_print()",
			name, cpu);
	else
		orr_warn("thread %s could not be bound to unit %d: %s", name, cpu, strerror(-ret));
	return ret;
}

int starpu_bind_thread_on(int cpuid, unsigned flags, const char *name)
{
	struct orr_process *proc = orr_self();
	int active = flags & STARPU_THREAD_ACTIVE, use;

	if (!name)
		name = "of the program";
	if (cpuid < 0) {
		if (active)
			orr_warn(
				"thread %s has no unit of its own: leave it one with STARPU_RESERVE_NCPU or STARPU_NCPU",
				name);
		return -1;
	}
	if (active) {
		struct orr_worker *w = worker_on(proc, cpuid);

		do {
			use = use_of(proc, cpuid);
			if (w || use == ACTIVE) {
				orr_warn(
					"thread %s is not bound to unit %d, where %s computes already: ask starpu_get_next_bindid() for a free one",
					name, cpuid, w ? w->name : "another thread of the program");
				return -1;
			}
		} while (!change_use(proc, cpuid, use, ACTIVE));
	}
	if (bind_to(proc, cpuid, name) == 0)
		return 0;
	if (active)
		change_use(proc, cpuid, ACTIVE, FREE);
	return -1;
}

void starpu_bind_thread_on_worker(unsigned workerid)
{
	struct orr_process *proc = orr_self();

	if (workerid >= proc->core->nworkers) {
		orr_error("starpu_bind_thread_on_worker: there is no worker %u, they are 0 to %u",
			  workerid, proc->core->nworkers - 1);
		return;
	}
	if (proc->core->workers[workerid].bindid >= 0)
		bind_to(proc, proc->core->workers[workerid].bindid,
			proc->core->workers[workerid].name);
}

void starpu_bind_thread_on_main(void)
{
	struct orr_process *proc = orr_self();
	unsigned i;

	/* The unit that workers left over, else the first one. */
	for (i = 0; i < proc->topo.ncores; i++)
		if (!worker_on(proc, proc->topo.core_ids[i]) &&
		    use_of(proc, proc->topo.core_ids[i]) != ACTIVE)
			break;
	if (i == proc->topo.ncores)
		i = 0;
	if (proc->topo.ncores)
		bind_to(proc, proc->topo.core_ids[i], "main");
}

void starpu_bind_thread_on_cpu(int cpuid)
{
	bind_to(orr_self(), cpuid, "of the program");
}

/* ---- for people ---- */

void starpu_topology_print(FILE *f)
{
	struct orr_process *proc = orr_self();

	fprintf(f, "Machine %s: %u units, %u of them usable by this process\n",
		orr_sys_machine_name(proc), proc->topo.nmachine, proc->topo.ncores);
	for (unsigned i = 0; i < proc->topo.ncores; i++) {
		int cpu = proc->topo.core_ids[i];

		fprintf(f, "\tunit %d (system %d):", cpu, starpu_cpu_os_index(cpu));
		for (unsigned j = 0; j < proc->core->nworkers; j++)
			if (proc->core->workers[j].bindid == cpu)
				fprintf(f, " %s", proc->core->workers[j].name);
		if (use_of(proc, cpu) != FREE)
			fputs(" (taken by the program)", f);
		fputc('\n', f);
	}
	for (unsigned i = 0; i < proc->data->nmemnodes; i++) {
		char name[32];

		starpu_memory_node_get_name(i, name, sizeof(name));
		fprintf(f, "\tmemory node %u: %s\n", i, name);
	}
}

void starpu_display_bindings(void)
{
	struct orr_process *proc = orr_self();
	struct orr_notice n;
	FILE *f = orr_notice_open(&n);

	for (unsigned i = 0; i < proc->core->nworkers; i++) {
		const struct orr_worker *w = &proc->core->workers[i];

		if (w->bindid >= 0)
			fprintf(f, "%s: unit %d (system %d)\n", w->name, w->bindid,
				starpu_cpu_os_index(w->bindid));
		else
			fprintf(f, "%s: not bound\n", w->name);
	}
	orr_notice_write(&n);
}
