/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Our part in SimGrid's main loop (sim/sys/actors/sim_turns.h) in its messages (early.cpp) and its
 * collective operations (flat.cpp): functions that the library calls through the loader's table,
 * which belong to the executable, as interpose.c explains.
 *
 * Invariant: SimGrid's own end of a round is always called; its own search for the next event is
 * left out while an event of ours comes first. */
#include "interpose.h"
#include "simgrid_private.h"

double simgrid_solve(const void *engine, double max_s) __asm__(ORR_SIMGRID_SOLVE);
void simgrid_end_actions(const void *engine) __asm__(ORR_SIMGRID_END_ACTIONS);
void *simgrid_comm_start(void *message) __asm__(ORR_SIMGRID_COMM_START);
void simgrid_comm_end(void *message) __asm__(ORR_SIMGRID_COMM_END);
void simgrid_add_event(void *set, double date_s, void *event) __asm__(ORR_SIMGRID_ADD_EVENT);
int simgrid_reduce_binary(const void *terms, void *sums, int n, void *type, void *op, int root,
			  void *comm) __asm__(ORR_SIMGRID_REDUCE_BINARY);
void simgrid_access(const void *code, const void *item) __asm__(ORR_SIMGRID_ACCESS);
void simgrid_init_smp(void *comm) __asm__(ORR_SIMGRID_INIT_SMP);
void *simgrid_intra_comm(const void *comm) __asm__(ORR_SIMGRID_INTRA_COMM);
int *simgrid_leaders_map(const void *comm) __asm__(ORR_SIMGRID_LEADERS_MAP);

double simgrid_solve(const void *engine, double max_s)
{
	static double (*own)(const void *, double);
	if (!own)
		own = (double (*)(const void *, double)) interpose_simgrid(ORR_SIMGRID_SOLVE);
	return orrery_sim_advance(engine, max_s, own);
}

void simgrid_end_actions(const void *engine)
{
	static void (*own)(const void *);
	if (!own)
		own = (void (*)(const void *)) interpose_simgrid(ORR_SIMGRID_END_ACTIONS);
	own(engine);
	orrery_sim_round_ended();
}

/* The result is an object of C++. The caller has room for it, whose address comes beside the
 * parameter, in a way of each processor's own. */
#if defined(__x86_64__)

/* As if it were the first parameter. */
void *simgrid_isend(void *result, void *message) __asm__(ORR_SIMGRID_ISEND);

void *simgrid_isend(void *result, void *message)
{
	static void *(*own)(void *, void *);
	if (!own)
		own = (void *(*) (void *, void *) ) interpose_simgrid(ORR_SIMGRID_ISEND);
	return orrery_sim_isend(result, message, own);
}

#elif defined(__aarch64__)

/* In the register x8. */
#define FUNCTION(name) ".p2align 2\n.globl " name "\n.type " name ", %function\n" name ":\n"
#define END(name) ".size " name ", .-" name "\n"

void *orr_interpose_isend(void *result, void *message) __attribute__((used, visibility("hidden")));
void *orr_interpose_own_isend(void *result, void *message) __attribute__((visibility("hidden")));
void *orr_interpose_isend_at __attribute__((used, visibility("hidden")));

__asm__(".text\n" FUNCTION(ORR_SIMGRID_ISEND) /* */
	"	mov x1, x0\n"
	"	mov x0, x8\n"
	"	b orr_interpose_isend\n" END(ORR_SIMGRID_ISEND)                 /* */
	".hidden orr_interpose_own_isend\n" FUNCTION("orr_interpose_own_isend") /* */
	"	mov x8, x0\n"
	"	mov x0, x1\n"
	"	adrp x16, orr_interpose_isend_at\n"
	"	ldr x16, [x16, :lo12:orr_interpose_isend_at]\n"
	"	br x16\n" END("orr_interpose_own_isend"));

void *orr_interpose_isend(void *result, void *message)
{
	if (!orr_interpose_isend_at)
		orr_interpose_isend_at = interpose_simgrid(ORR_SIMGRID_ISEND);
	return orrery_sim_isend(result, message, orr_interpose_own_isend);
}

#else
#error "find out how this processor's functions return objects of C++ (doc/leaning.md)"
#endif

void *simgrid_comm_start(void *message)
{
	static void *(*own)(void *);
	if (!own)
		own = (void *(*) (void *) ) interpose_simgrid(ORR_SIMGRID_COMM_START);
	return orrery_sim_comm_start(message, own);
}

/* Called by the table of virtual functions, which the loader fills in by name. */
void simgrid_comm_end(void *message)
{
	static void (*own)(void *);
	if (!own)
		own = (void (*)(void *)) interpose_simgrid(ORR_SIMGRID_COMM_END);
	orrery_sim_comm_end(message, own);
}

void simgrid_add_event(void *set, double date_s, void *event)
{
	static void (*own)(void *, double, void *);
	if (!own)
		own = (void (*)(void *, double, void *)) interpose_simgrid(ORR_SIMGRID_ADD_EVENT);
	orrery_sim_profiles(set);
	own(set, date_s, event);
}

/* SimGrid's own leaves a call in the actor that it never makes. Actors that are suspended without a
 * call of their own would make it then. */
void simgrid_access(const void *code, const void *item)
{
	(void) item;
	orrery_sim_access(code);
}

/* ---- collective operations, see flat.cpp ---- */

void simgrid_init_smp(void *comm)
{
	static void (*own)(void *);
	if (orrery_sim_flat_nodes(comm))
		return;
	if (!own)
		own = (void (*)(void *)) interpose_simgrid(ORR_SIMGRID_INIT_SMP);
	own(comm);
}

void *simgrid_intra_comm(const void *comm)
{
	static void *(*own)(const void *);
	void *node = orrery_sim_flat_node(comm);
	if (!own)
		own = (void *(*) (const void *) ) interpose_simgrid(ORR_SIMGRID_INTRA_COMM);
	return node ? node : own(comm);
}

int *simgrid_leaders_map(const void *comm)
{
	static int *(*own)(const void *);
	int *firsts = orrery_sim_flat_firsts(comm);
	if (!own)
		own = (int *(*) (const void *) ) interpose_simgrid(ORR_SIMGRID_LEADERS_MAP);
	return firsts ? firsts : own(comm);
}

/* SMPI's tree of one rank has a parent that is no rank. */
int simgrid_reduce_binary(const void *terms, void *sums, int n, void *type, void *op, int root,
			  void *comm)
{
	int (*own)(const void *, void *, int, void *, void *, int, void *);
	*(void **) &own = interpose_simgrid(orrery_sim_is_single(comm) ? ORR_SIMGRID_REDUCE_LINEAR
								       : ORR_SIMGRID_REDUCE_BINARY);
	return own(terms, sums, n, type, op, root, comm);
}
