/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The launcher of simulated runs: sets SimGrid up, creates the ranks, runs the simulation.
 *
 * For each rank, the launcher creates an actor for the program's main, which loads the rank's copy
 * of the program. The engine and the workers' driver borrow a stack when they have something to do
 * (sim/sys/actors/sim_turns.h).
 *
 * They have actors of their own with --network smpi, and in elastic runs, which make communicators
 * of SMPI from the engines. Then the launcher creates the engine's, which creates the other two:
 * SMPI finds a sender through its parent, so those two can ring the engine's bell
 * (sim/sys/net/sim_mpi.c). Each joins an SMPI instance of its own kind, so that messages of
 * programs and of engines never meet.
 *
 * Measured (2 cores, program of 16 KB): a ring over 1,024 ranks takes 0.16 s and 117 MB from start
 * to end, over 10,000 ranks 13 s and 970 MB (the loader compares the names of all objects at every
 * load). With so many ranks the guard pages of the stacks are left out (fit.c). */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <smpi/smpi.h>
#include "calls.h"
#include "guard.h"
#include "launcher.h"
#include "actors/sim_stacks.h"
#include "actors/sim_thread.h"
#include "machine/sim_memory.h"
#include "net/sim_native.h"
#include "net/sim_network.h"
#include "run/sim_dyn.h"
#include "sim_progress.h"
#include "simgrid_names.h"
#include "start/the_process.h"

#undef malloc
#undef calloc

static void configure_engine(const struct launcher_options *o)
{
	static const char *const fixed[] = {
		"network/model:SMPI",  "network/crosstraffic:0", "smpi/simulate-computation:no",
		"smpi/test:0",         "smpi/iprobe:0",          "smpi/grow-injected-times:no",
		ORR_SIMGRID_PRECISION, "debug/verbose-exit:no",  "debug/clean-atexit:no",
	};
	enum { nfixed = sizeof(fixed) / sizeof(*fixed) };
	const char **all = calloc((size_t) (nfixed + o->ncfg + 6), sizeof(*all));
	int n = 0;
	if (!all)
		launcher_fail("out of memory");
	for (int i = 0; i < nfixed; i++)
		all[n++] = fixed[i];
	if (!launcher_fit_guards(o->n))
		all[n++] = "contexts/guard-size:0";
	/* The lazy solver of SimGrid 3.32 gives a link away twice when several messages start at
	 * once. */
	if (orr_sim.network == ORR_SIM_MAXMIN)
		all[n++] = "network/optim:Full";
	if (o->mpich) {
		all[n++] = "smpi/coll-selector:mpich";
		/* SimGrid has MPICH's exchange in pairs for powers of two only. */
		all[n++] = "smpi/alltoall:ompi";
		all[n++] = "smpi/alltoallv:ompi_basic_linear";
	}
	for (int i = 0; i < o->ncfg; i++)
		all[n++] = o->cfg[i];
	launcher_engine_configure(all, n);
	free(all);
}

static void choose_stacks(const struct launcher_options *o)
{
	size_t kib = o->n <= 256 ? 8192 : o->n <= 4096 ? 2048 : 1024;
	if (o->stack_kib)
		kib = (size_t) (o->stack_kib < 64 ? 64 : o->stack_kib);
	orr_sim.stack_main = kib << 10;
	/* The driver's stack, on which kernels run, and the engine's. */
	orr_sim.stack_small = orr_sim.kernels == ORR_SIM_SKIP ? 256 << 10 : kib << 10;
}

static void program_main(struct orr_sim_actor *a)
{
	struct orr_sim_rank *r = a->rank;
	launcher_world_await();
	int (*entry)(int, char **) = launcher_program_load(r);
	orr_sim_stacks_trim(a);
	/* The waits in which the runtime starts, and the first ones after. */
	a->deep = 8;
	orrery_sim_exit(entry(orr_sim.argc, r->argv));
}

/* The main actor of a process that may leave while others stay: it ends as well, so that the host
 * is free for another process. It leaves the program's functions before the program is unloaded:
 * whoever looks at the callers of a function reads their code. */
static void elastic_main(struct orr_sim_actor *a)
{
	struct orr_sim_rank *r = a->rank;
	jmp_buf end;
	r->frame = __builtin_frame_address(0);
	r->end = &end;
	if (!setjmp(end))
		program_main(a);
	r = a->rank;
	launcher_exits_unload(r);
	launcher_rank_ended(r, r->status);
	r->vacant = !r->runtime_up;
	a->detached = 1;
	r->main = NULL;
	orr_sim_user_end(a, NULL);
}

/* An actor that never ends; one of each kind for each rank. */
static struct orr_sim_actor *start_for_ever(struct orr_sim_rank *r, enum orr_role role,
					    const char *name, const char *instance, size_t stack,
					    void (*code)(struct orr_sim_actor *))
{
	if (!orr_sim_dyn.on) /* else main actors end, and come again */
		orr_sim_stacks_expect((size_t) orr_sim.nranks);
	return orr_sim_actor_start(r, role, name, instance, stack, code);
}

static void driver_main(struct orr_sim_actor *a)
{
	orr_sim_mpi_init_actor(a);
	orr_sim_serve(a);
}

static void engine_main(struct orr_sim_actor *a)
{
	struct orr_sim_rank *r = a->rank;
	r->driver = start_for_ever(r, ORR_ROLE_WORKERS, "workers", "workers", orr_sim.stack_small,
				   driver_main);
	if (!r->vacant && orr_sim_dyn.on)
		r->main = orr_sim_actor_start(r, ORR_ROLE_USER, "main", "program",
					      orr_sim.stack_main, elastic_main);
	else if (!r->vacant)
		r->main = start_for_ever(r, ORR_ROLE_USER, "main", "program", orr_sim.stack_main,
					 program_main);
	if (!r->driver || (!r->vacant && !r->main))
		launcher_fail("out of memory for rank %d of %d", r->rank, orr_sim.nranks);
	orr_sim_mpi_init_actor(a);
	if (orr_sim_dyn.on)
		orr_sim_dyn_engines();
	orr_sim_serve(a);
}

static int start_engine(struct orr_sim_rank *r)
{
	r->engine = start_for_ever(r, ORR_ROLE_ENGINE, "engine", "engines", orr_sim.stack_small,
				   engine_main);
	return r->engine != NULL;
}

/* Begins in SimGrid's second round: launcher_world_find() takes the first. */
static void second_main(struct orr_sim_actor *a)
{
	orr_sys_yield();
	program_main(a);
}

/* The rank's main, and those that borrow their stack. */
static int share_stacks(struct orr_sim_rank *r)
{
	r->engine = orr_sim_actor_borrower(r, ORR_ROLE_ENGINE, "engine", orr_sim_turn);
	r->driver = orr_sim_actor_borrower(r, ORR_ROLE_WORKERS, "workers", orr_sim_turn);
	r->main = start_for_ever(r, ORR_ROLE_USER, "main", "program", orr_sim.stack_main,
				 second_main);
	return r->engine && r->driver && r->main;
}

/* A copy for each rank, because programs may write to their arguments. NULL without memory. */
static char **copy_arguments(char **argv, int argc)
{
	char **copy = calloc((size_t) argc + 1, sizeof(*copy));
	for (int i = 0; copy && i < argc; i++)
		if (!(copy[i] = strdup(argv[i])))
			return NULL;
	return copy;
}

static void rank_init(struct orr_sim_rank *r, const struct launcher_options *o)
{
	r->proc = orr_process_new();
	if (!r->proc)
		launcher_fail("out of memory for rank %d of %d", r->rank, o->n);
	r->proc->sys = r;
	r->own.folder = r->own.mask = -1;
	r->own.optind = r->own.opterr = 1;
	memcpy(r->proc->costs, orr_sim.costs, sizeof(orr_sim.costs));
	r->argv = copy_arguments(o->program, o->nprogram);
	if (!r->argv)
		launcher_fail("out of memory for rank %d of %d", r->rank, o->n);
}

static void create_ranks(const struct launcher_options *o, size_t nhosts)
{
	if ((size_t) o->n > nhosts)
		launcher_fail(
			"-n %d: the platform %s has only %zu hosts; ask for at most that many nodes or give a larger platform",
			o->n, o->platform, nhosts);
	orr_sim.nranks = o->n;
	orr_sim.argc = o->nprogram;
	orr_sim.ranks = calloc((size_t) o->n, sizeof(*orr_sim.ranks));
	if (!orr_sim.ranks)
		launcher_fail("out of memory for %d ranks", o->n);
	for (int i = 0; i < o->n; i++) {
		orr_sim.ranks[i].rank = orr_sim.ranks[i].place = i;
		orr_sim.ranks[i].host = launcher_host((size_t) i);
		orr_sim.ranks[i].slowness = launcher_noise_slowness(i);
	}
	launcher_machines_find(o);
	for (int i = 0; i < o->n; i++)
		rank_init(&orr_sim.ranks[i], o);
}

static void start_elastic(void)
{
	struct orr_dyn_script script = { 0 };
	const char *why = NULL;
	if (orr_sim_dyn.scenario)
		why = orr_dyn_script_read(&script, orr_sim_dyn.scenario);
	if (why)
		launcher_fail("--scenario %s", why);
	orr_sim_dyn.program_main = elastic_main;
	orr_sim_dyn_start(&script);
}

static void start_ranks(const struct launcher_options *o)
{
	orr_sim_memory_init();
	launcher_smpi_start();
	SMPI_app_instance_register("program", NULL, orr_sim_dyn.on ? orr_sim_dyn.n : o->n);
	if (!orr_sim.share_stacks) {
		SMPI_app_instance_register("engines", NULL, o->n);
		SMPI_app_instance_register("workers", NULL, o->n);
	}
	launcher_world_find("program");
	if (orr_sim_dyn.on)
		start_elastic();
	for (int i = 0; i < o->n; i++) {
		struct orr_sim_rank *r = &orr_sim.ranks[i];
		if (!(orr_sim.share_stacks ? share_stacks(r) : start_engine(r)))
			launcher_fail("out of memory for rank %d of %d", i, o->n);
	}
}

int orrery_sim_main(int argc, char **argv)
{
	struct launcher_options o;
	orr_sim.pid = getpid();
	orr_sim.wall_start = orr_sim_wall_s();
	orr_sim.command = orr_about_command("orrery sim", argv + 1, argc - 1);
	orr_sim.environment = orr_about_environment();
	launcher_options_read(&o, argc, argv);
	orr_sim.platform = o.platform;
	orr_sim.collectives = o.mpich ? "mpich" : "openmpi";
	launcher_program_check(o.program[0]);
	launcher_scope_narrow();
	choose_stacks(&o);
	orr_sim.share_stacks = orr_sim.network != ORR_SIM_SMPI && !orr_sim_dyn.on;
	launcher_fit_check(&o);
	orr_sim_mpi_route = orr_sim_network_route;
	orr_sim_mpi_to_itself_s = orr_sim_network_to_itself_s;
	orr_sim_mpi_owed_us = launcher_early_owed_us;
	orr_sim.carrier = orr_sim.network == ORR_SIM_SMPI ? &orr_sim_smpi : &orr_sim_native;
	launcher_guard_version();
	launcher_engine_init();
	launcher_ending_init(); /* after SimGrid has installed its own handlers */
	configure_engine(&o);
	launcher_guard_settings();
	size_t nhosts = launcher_platform_load(o.platform, o.like, o.n);
	launcher_options_network(
		&o, nhosts ? sg_host_get_property_value(launcher_host(0), "network") : NULL);
	if (orr_sim.noise.load > 0)
		orr_sim.on_message = launcher_background_start(&orr_sim.noise);
	if (orr_sim.network == ORR_SIM_MAXMIN || orr_sim.network == ORR_SIM_SMPI)
		launcher_loads_start();
	create_ranks(&o, nhosts);
	start_ranks(&o);
	launcher_fail_start(o.n);
	launcher_watch_start();
	launcher_guard_clock();
	launcher_run();
	/* The end of the last program calls orr_sim.finish, which does not return. So a program has
	 * not ended when we come here. */
	launcher_deadlock();
}
