/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls of MPI by the program, and by the runtime, without private names of SimGrid. All go through
 * functions of the executable (interpose_mpi.c) which call the two here.
 *
 * SMPI knows the caller by its actor. So only the main thread of a rank may call what has to do
 * with communicators; it gives its turn back before. Kernels, callbacks and threads may call what
 * has not.
 *
 * SMPI starts a message when its receive is posted, also one for which MPI_Send() does not wait:
 * messages arrive later than in simulations with private names, and on platforms with routes of
 * different latencies they share links otherwise. So messages of the program's own MPI are refused,
 * unless the environment variable ORRERY_SIM_OWN_MPI is "late".
 *
 * Invariant: a call that is not refused is made by the actor that SMPI takes for its caller. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <smpi/smpi.h>
#include <xbt/config.h>
#include "actors/sim_actor.h"
#include "actors/sim_glue.h"
#include "actors/sim_own.h"
#include "actors/sim_rank.h"
#include "launcher/calls.h"
#include "launcher/launcher.h"
#include "public/public.h"
#include "sim_clock.h"
#include "sim_progress.h"
#include "base/assert.h"
#include "base/log.h"

/* Functions that ask nobody, whatever thread calls them. Those that end with a star: all that begin
 * so. */
static const char *const about_nobody[] = {
	"MPI_Type_*",     "MPI_Pack*",       "MPI_Unpack*",     "MPI_Get_count",
	"MPI_Get_elem*",  "MPI_Get_addr*",   "MPI_Address",     "MPI_Error_*",
	"MPI_Add_error*", "MPI_Initialized", "MPI_Finalized",   "MPI_Query_thread",
	"MPI_Info_*",     "MPI_Op_*",        "MPI_Get_version", "MPI_Get_library_version",
	"MPI_Aint_*",     "MPI_Wtick",       "MPI_Status_*",    "MPI_Is_thread_main",
	"MPI_Alloc_mem",  "MPI_Free_mem",    "MPI_Pcontrol",    "MPI_Test_cancelled",
};
/* Those that need no message, but the right caller. */
static const char *const alone[] = {
	"MPI_Comm_rank",          "MPI_Comm_size",      "MPI_Comm_group",   "MPI_Comm_compare",
	"MPI_Comm_get_*",         "MPI_Comm_set_*",     "MPI_Comm_test_*",  "MPI_Comm_remote_*",
	"MPI_Comm_create_k*",     "MPI_Comm_create_e*", "MPI_Comm_free_k*", "MPI_Comm_delete_*",
	"MPI_Comm_call_*",        "MPI_Comm_f2c",       "MPI_Comm_c2f",     "MPI_Attr_*",
	"MPI_Keyval_*",           "MPI_Errhandler_*",   "MPI_Group_*",      "MPI_Topo_test",
	"MPI_Get_processor_name", "MPI_Buffer_*",       "MPI_Request_f2c",  "MPI_Request_c2f",
};
/* Those that need neither, but may wait in SimGrid. */
static const char *const calm[] = { "MPI_Init", "MPI_Init_thread", "MPI_Finalize", "MPI_Abort" };

static int is_one(const char *name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t length = strlen(list[i]);
		if (list[i][length - 1] == '*' ? !strncmp(name, list[i], length - 1)
					       : !strcmp(name, list[i]))
			return 1;
	}
	return 0;
}
#define IS_ONE(name, list) is_one(name, list, sizeof(list) / sizeof(*(list)))

static void __attribute__((noreturn))
refuse(const struct orr_sim_actor *a, const char *name, const char *why)
{
	orr_sim_progress_clear();
	orr_sim_own_lines();
	fflush(stdout);
	fprintf(stderr,
		"orrery sim: rank %d: %s() %s; this Orrery was built without private names of SimGrid "
		"(--with-simgrid-interface=public)\n",
		a->rank->rank, name, why);
	orr_sim_leave(EXIT_FAILURE);
}

/* ---- functions that take the place of SMPI's ---- */

/* MPI_COMM_WORLD is a placeholder in SMPI where smpirun is not used, and only private names tell
 * what it stands for. All functions take it but for the matching of messages. So where programs may
 * send some, the world of each is a copy of that communicator. To make it takes messages, and so
 * time of SimGrid's, which is before the beginning of ours.
 *
 * Measured: 1 s for 256 ranks, 4 s for 512 and 40 s for 1,024 with SimGrid 3.32. */

static struct {
	orr_waitq_t all;      /* have called MPI_Init() */
	int started, entered; /* so many the launcher has called it for; so many have */
	unsigned char *ranks; /* for each: 1: the launcher has called SMPI's; 2: the program, too */
} init;

void orr_sim_public_init(void)
{
	if (!init.ranks && !(init.ranks = calloc((size_t) orr_sim.nranks, 1)))
		orr_fatal("out of memory for %d ranks", orr_sim.nranks);
	struct orr_sim_actor *a = orr_sim_actor_self();
	MPI_Comm world = NULL;
	PMPI_Init(NULL, NULL);
	if (orr_sim_public_late)
		PMPI_Comm_dup(orr_sim_public_placeholder(), &world);
	init.ranks[a->rank->rank] = 1;
	a->rank->world = world;
	if (++init.started == orr_sim.nranks)
		orr_sim_public_begin();
	orr_sim_block(a, -1);
}

/* As SMPI's: nobody goes on before all have called it. */
static int init_program(int *argc, char ***argv)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	(void) argc;
	(void) argv;
	init.ranks[a->rank->rank] = 2;
	if (++init.entered == orr_sim.nranks) {
		orr_waitq_wake(&init.all);
		orr_sim_glue_yield(a); /* they go on in the order in which they came */
	}
	while (init.entered < orr_sim.nranks) {
		unsigned key = orr_waitq_prepare(&init.all);
		if (init.entered < orr_sim.nranks)
			orr_waitq_wait(&init.all, key, -1);
		else
			orr_waitq_cancel(&init.all);
	}
	return MPI_SUCCESS;
}

static int initialized(int *flag)
{
	*flag = init.ranks[orr_sim_actor_self()->rank->rank] > 1;
	return MPI_SUCCESS;
}

/* As SMPI's, which takes time after it has looked, so that loops that wait for a time end. */
static double wtime(void)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	double took_s = sg_cfg_get_double("smpi/wtime"), at_s = orrery_sim_now_us() * 1e-6;
	if (init.ranks && init.ranks[a->rank->rank] > 1 && took_s > 0)
		orr_sim_sleep_until(a, orr_sim_clock_s() + took_s);
	return at_s;
}

/* SMPI's tree of one rank, which the choices of Open MPI have, sends to a rank that is none. What
 * one rank reduces, it has itself. */
static int reduce(const void *terms, void *sums, int n, MPI_Datatype type, MPI_Op op, int root,
		  MPI_Comm comm)
{
	int size = 0;
	if (comm != MPI_COMM_NULL && !PMPI_Comm_size(comm, &size) && size == 1)
		return PMPI_Allreduce(terms, sums, n, type, op, comm);
	return PMPI_Reduce(terms, sums, n, type, op, root, comm);
}

/* A call that cannot wait is under way: SMPI's own calls within it are none of the program's. */
static int within;

static void *stay(void **who)
{
	within = 1;
	*who = &within;
	return NULL;
}

/* The caller, or NULL: SMPI itself, the launcher, or another thread of the system. */
static struct orr_sim_actor *caller(const char *name)
{
	struct orr_sim_actor *a = orr_sim_own_running();
	if (!a && (a = orr_sim_own_beside()) && !IS_ONE(name, about_nobody)) {
		launcher_region_check(name);
		refuse(a, name, "by a thread that is no thread of the simulation");
	}
	if (!a || within || !orr_sim_own_running())
		return NULL;
	a = orr_sim_actor_self();
	/* While an actor has its turn, SMPI goes on with the call of another one. */
	if (a->seat && sg_actor_self() != a->actor)
		return NULL;
	return a;
}

void *orrery_sim_mpi_begin(const char *name, void **who)
{
	struct orr_sim_actor *a = caller(name);
	*who = NULL;
	if (!a)
		return NULL;
	if (!strcmp(name, "MPI_Initialized"))
		return (void *) (uintptr_t) initialized;
	if (IS_ONE(name, about_nobody))
		return stay(who);
	if (!strcmp(name, "MPI_Wtime"))
		return (void *) (uintptr_t) wtime;
	if (!a->seat)
		refuse(a, name,
		       "by a kernel, callback or thread: SMPI would take it for another process");
	if (IS_ONE(name, alone))
		return stay(who);
	launcher_region_check(name); /* others of the thread would go on in the midst of it */
	if (!strcmp(name, "MPI_Init") && init.ranks[a->rank->rank])
		return (void *) (uintptr_t) init_program;
	if (!IS_ONE(name, calm) && init.started == orr_sim.nranks && orr_sim.nranks > 1 &&
	    !orr_sim_public_late)
		refuse(a, name,
		       "would send messages that leave late, when their receive is posted; set ORRERY_SIM_OWN_MPI=late if that is good enough");
	*who = a;
	orr_sim_public_away(a);
	return strcmp(name, "MPI_Reduce") ? NULL : (void *) (uintptr_t) reduce;
}

void orrery_sim_mpi_end(void *who)
{
	if (who == &within)
		within = 0;
	else if (who)
		orr_sim_public_back(who);
}
