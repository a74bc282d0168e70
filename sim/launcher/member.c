/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The callers of SMPI. To it each of its processes is one actor; a rank has more of them: kernels,
 * callbacks and threads of the program, which are that process, too. So SMPI is told the rank's
 * main actor, whoever asks (interpose_own.c), while SimGrid knows who really waits.
 *
 * Threads of the system that are no actors, as OpenMP's, may ask which rank they are, but SimGrid
 * cannot let them wait. Nor can an actor wait in a region of OpenMP: others of the same thread
 * would go on in the middle of it.
 *
 * Invariant: an actor that is in the midst of its own call of SMPI (`itself`) is told the truth. */
#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "calls.h"
#include "launcher.h"
#include "actors/sim_guard.h"
#include "actors/sim_own.h"
#include "sim_progress.h"

#define FRAMES 64

/* A function of the program's libgomp, or NULL. */
static int (*threads_of_region)(void);

static int begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* The function of MPI that the program has called, and whether it did so in a region of OpenMP. */
static const char *find_call(int *in_region)
{
	void *frames[FRAMES];
	const char *call = NULL;
	Dl_info info;
	int n = backtrace(frames, FRAMES);

	*in_region = 0;
	for (int i = 0; i < n; i++) {
		if (!dladdr(frames[i], &info) || !info.dli_sname)
			continue;
		if (begins(info.dli_sname, "MPI_") || begins(info.dli_sname, "PMPI_") ||
		    begins(info.dli_sname, "mpi_"))
			call = info.dli_sname;
		*in_region |= begins(info.dli_sname, "GOMP_parallel");
	}
	return call;
}

/* Asks a function of the program's libgomp without arguments; -1: there is none. */
static int ask_openmp(const char *name)
{
	void *gomp = dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NOLOAD);
	int (*f)(void) = gomp ? (int (*)(void)) dlsym(gomp, name) : NULL;
	return f ? f() : -1;
}

static void __attribute__((noreturn)) refuse(const struct orr_sim_actor *a, const char *call)
{
	orr_sim_progress_clear();
	orr_sim_own_lines();
	fflush(stdout);
	fprintf(stderr,
		"orrery sim: rank %d: %s() by thread %d of %d in a parallel region of OpenMP: not possible in a simulated run, whose threads are not OpenMP's; "
		"call it outside of the region, or in a thread of pthread_create()\n",
		a->rank->rank, *call == 'P' ? call + 1 : call, ask_openmp("omp_get_thread_num"),
		ask_openmp("omp_get_num_threads"));
	orr_sim_leave(EXIT_FAILURE);
}

/* Is the caller in a region of OpenMP with other threads? Or some actor that waits there. */
static int region_is_open(void)
{
	if (!threads_of_region && orr_sim.ranks && orr_sim.ranks[0].object) {
		void *gomp = dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NOLOAD);
		if (gomp)
			threads_of_region = (int (*)(void)) dlsym(gomp, "omp_get_num_threads");
		if (!threads_of_region)
			orrery_sim_asked &= ~2;
	}
	return threads_of_region && threads_of_region() > 1;
}

void orrery_sim_who(void)
{
	struct orr_sim_actor *a;
	const char *call;
	int in_region;

	orr_sim_called.context_self = 1;
	orr_sim_part();
	if ((a = orr_sim_own_beside())) {
		if ((call = find_call(&in_region)))
			refuse(a, call);
	} else if (__builtin_expect(region_is_open(), 0)) {
		if ((a = orr_sim_own_running()) && (call = find_call(&in_region)) && in_region)
			refuse(a, call);
	}
}

void launcher_region_check(const char *call)
{
	struct orr_sim_actor *a;
	int in_region = 1;

	if (!(orrery_sim_asked & 2) || !region_is_open())
		return;
	if (!(a = orr_sim_own_beside()) && (a = orr_sim_own_running()))
		find_call(&in_region);
	if (a && in_region)
		refuse(a, call);
}

static void note(enum orr_sim_asks what)
{
	switch (what) {
	case ORR_SIM_ASKS_ACTOR: orr_sim_called.actor_self = 1; break;
	case ORR_SIM_ASKS_PID: orr_sim_called.get_pid = 1; break;
	case ORR_SIM_ASKS_HOST: orr_sim_called.host_self = 1;
	}
}

int orrery_sim_member(enum orr_sim_asks what, struct orr_sim_member *m)
{
	struct orr_sim_actor *a = orr_sim_actor_self();

	note(what);
	if (!a)
		a = orr_sim_own_beside();
	if (!a || a->itself || !a->rank || !a->rank->main || !a->rank->main->actor)
		return 0;
	m->actor = a->rank->main->actor;
	m->pid = sg_actor_get_pid(m->actor);
	m->host = a->rank->host;
	return 1;
}

int orrery_sim_is_main(void)
{
	const struct orr_sim_actor *a = orr_sim_actor_self();
	return a && a == a->rank->main;
}
