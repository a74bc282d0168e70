/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads of the runtime in a real run: one per worker and one for the progression engine, bound to cores where asked for.
 *
 * Invariant: a thread is bound and named before its function is called. */
#include "sys/real.h"
#include "core/binding.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct orr_sys_thread {
	pthread_t id;
	struct orr_node *node;
	int cpu;
	char name[16];		/* what the kernel accepts */
	void *(*fn)(void *);
	void *arg;
};

int orr_real_bind(struct orr_node *node, int cpu)
{
	cpu_set_t set;

	if (node->topo.hwloc)
		return orr_bind_self(node, cpu);
	if (cpu < 0 || cpu >= CPU_SETSIZE)
		return -EINVAL;
	CPU_ZERO(&set);
	CPU_SET((unsigned) cpu, &set);
	return -pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

static void *thread_main(void *p)
{
	struct orr_sys_thread *t = p;

	pthread_setname_np(pthread_self(), t->name);
	if (t->cpu >= 0) {
		int ret = orr_real_bind(t->node, t->cpu);

		/* A foreign topology (STARPU_HWLOC_INPUT) cannot be bound to. */
		if (ret && ret != -ENOSYS)
			orr_warn("thread %s could not be bound to core %d (%s): it runs unbound; STARPU_WORKERS_NOBIND=1 avoids the attempt",
				 t->name, t->cpu, strerror(-ret));
	}
	return t->fn(t->arg);
}

orr_sys_thread_t *orr_sys_thread_start(struct orr_node *node, enum orr_role role, const char *name, int cpu, void *(*fn)(void *), void *arg)
{
	struct orr_sys_thread *t = calloc(1, sizeof(*t));
	int ret;

	(void) role;	/* every thread is an ordinary one here */
	if (!t) {
		errno = ENOMEM;
		return NULL;
	}
	t->node = node;
	t->cpu = cpu;
	t->fn = fn;
	t->arg = arg;
	snprintf(t->name, sizeof(t->name), "%s", name ? name : "orrery");
	ret = pthread_create(&t->id, NULL, thread_main, t);
	if (ret) {
		free(t);
		errno = ret;
		return NULL;
	}
	return t;
}

void *orr_sys_thread_join(orr_sys_thread_t *t)
{
	void *ret = NULL;

	pthread_join(t->id, &ret);
	free(t);
	return ret;
}

unsigned orr_sys_ngroups(unsigned nworkers) { return nworkers; }

double orr_sys_spin_us(struct orr_node *node)
{
	const struct orr_real *real = node->sys;
	unsigned nprocs = real ? real->nprocs : 1, cores = node->topo.ncores, threads;

	/* Processes that are not bound share the machine's cores. */
	if (cores >= node->topo.nmachine && nprocs > 1)
		cores = (cores + nprocs - 1) / nprocs;
	if (cores <= 1)
		return 0;
	threads = node->ngroups + 1 + (ORR_ATOMIC_LOAD(&node->mpi) != NULL);
	return cores >= threads ? 20 : 2;
}
