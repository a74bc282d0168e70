/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elastic runs of the simulated world (contract: base/seam_dyn.h): the registry is in the
 * simulator, and a request costs virtual time.
 *
 * The registry's answers are kept until it has returned, because waking gives the processor away.
 *
 * SMPI gives each start of processes an instance of its own, which is their MPI_COMM_WORLD. Groups
 * of processes of several instances are made from the group of engines, with the numbers of the
 * main actors instead.
 *
 * Invariant: uids[uid] is the host of a process, or -1 when it has ended. */
#include "run/sim_dyn.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <smpi/smpi.h>
#include "actors/sim_actor.h"
#include "actors/sim_glue.h"
#include "actors/sim_thread.h"
#include "actors/sim_turns.h"
#include "actors/sim_own.h"
#include "net/sim_mpi.h"
#include "run/sim_process.h"
#include "sim_progress.h"
#include "base/assert.h"
#include "base/seam_dyn.h"
#include "dyn/registry.h"

#undef malloc
#undef calloc
#undef free

struct orr_sim_dyn orr_sim_dyn;

/* A request that waits for its answer. */
struct waiting {
	struct waiting *next;
	unsigned ticket;
	int done;
	struct orr_dyn_words answer;
	orr_waitq_t q;
};

/* A communicator that some of its processes have and others will get. */
struct joined {
	struct joined *next;
	long number;
	int missing;
	MPI_Group group;
};

static struct {
	struct orr_dyn_registry *registry;
	struct waiting *waiting;
	unsigned ticket;
	int *uids, nuids;
	int nstarts;
	MPI_Group engines;
	struct joined *joined;
	struct orr_dyn_script script;
} dyn;

/* ---- requests ---- */

static void say(void *arg, const char *line)
{
	(void) arg;
	orr_sim_progress_clear();
	fflush(stdout);
	fprintf(stderr, "orrery sim: %s (at %.6f s of virtual time)\n", line, orr_sim_clock_s());
}

static double now_s(void *arg)
{
	(void) arg;
	return orr_sim_clock_s();
}

static void reply(void *arg, int uid, unsigned ticket, const struct orr_dyn_words *answer)
{
	(void) arg;
	(void) uid;
	for (struct waiting *w = dyn.waiting; w; w = w->next) {
		if (w->ticket != ticket || w->done)
			continue;
		orr_dyn_words_copy(&w->answer, answer, 0);
		w->done = 1;
	}
}

/* Wakes all that were answered. Each wake-up may change the list. */
static void wake_answered(void)
{
	for (struct waiting *w = dyn.waiting; w;) {
		if (w->done != 1) {
			w = w->next;
			continue;
		}
		w->done = 2;
		orr_waitq_wake(&w->q);
		w = dyn.waiting;
	}
}

static void forget(struct waiting *w)
{
	struct waiting **at = &dyn.waiting;
	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
}

void orr_sys_dyn_call(const struct orr_dyn_words *request, struct orr_dyn_words *answer)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	struct waiting w = { .ticket = ++dyn.ticket };
	orr_sys_sleep_us(orr_sim_dyn.us[ORR_SIM_DYN_REQUEST]);
	w.next = dyn.waiting;
	dyn.waiting = &w;
	orr_dyn_request(dyn.registry, a->rank->uid, w.ticket, request);
	if (w.done)
		w.done = 2;
	wake_answered();
	while (!w.done) {
		unsigned key = orr_waitq_prepare(&w.q);
		if (w.done) {
			orr_waitq_cancel(&w.q);
			break;
		}
		orr_waitq_wait(&w.q, key, -1);
	}
	forget(&w);
	orr_dyn_words_free(answer);
	*answer = w.answer;
}

int orr_sys_dyn_on(void)
{
	return orr_sim_dyn.on;
}

void **orr_sys_dyn_slot(void)
{
	static void *nobody;
	struct orr_sim_actor *a = orr_sim_actor_self();
	return a ? &a->rank->dyn_client : &nobody;
}

void orr_sys_dyn_error(const char *fmt, ...)
{
	char line[2048];
	va_list list;
	struct orr_sim_actor *a = orr_sim_actor_self();
	va_start(list, fmt);
	vsnprintf(line, sizeof(line), fmt, list);
	va_end(list);
	orr_sim_progress_clear();
	fflush(stdout);
	fprintf(stderr, "[orrery][%d] error: %s\n", a ? a->rank->rank : -1, line);
}

/* ---- start and end of processes ---- */

/* The uid of a process and its host belong together from here on. */
static void settle(int uid, int host)
{
	if (uid >= dyn.nuids) {
		dyn.uids = orr_dyn_memory(dyn.uids, (size_t) (uid + 1) * sizeof(*dyn.uids));
		while (dyn.nuids <= uid)
			dyn.uids[dyn.nuids++] = -1;
	}
	dyn.uids[uid] = host;
}

int orr_sys_dyn_enter(void)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	int up;
	if (!orr_sim_dyn.on) {
		orr_sys_dyn_error(
			"MPI_Session_init: the program does not run elastically; start it with `orrery sim --elastic`");
		return -1;
	}
	PMPI_Initialized(&up);
	if (!up)
		orr_sim_mpi_init_program(NULL, NULL);
	while (!dyn.engines) /* groups are made from theirs */
		orr_sys_sleep_us(0.1);
	int uid = orr_dyn_arrive(dyn.registry, a->rank->start, a->rank->place,
				 sg_host_get_name(a->rank->host));
	if (uid < 0)
		orr_sys_dyn_leave();
	a->rank->uid = uid;
	settle(uid, a->rank->rank);
	return 0;
}

void orr_sys_dyn_leave(void)
{
	exit(0);
}

void orr_sys_dyn_world(int link, const int *uids, int n)
{
	(void) link;
	(void) uids;
	(void) n;
}

static int is_free(const struct orr_sim_rank *r)
{
	return r->vacant && !r->away && r->leaving < 0;
}

/* True if n hosts are free. The processes of a shrink may still be ending, so that it is worth to
 * wait a little. */
static int find_free(int n, struct orr_sim_rank **hosts)
{
	for (double waited_us = 0; waited_us <= 10e6; waited_us += 1000) {
		int found = 0;
		for (int i = 0; i < orr_sim.nranks && found < n; i++)
			if (is_free(&orr_sim.ranks[i]))
				hosts[found++] = &orr_sim.ranks[i];
		if (found == n)
			return 0;
		orr_sys_sleep_us(1000);
	}
	return -1;
}

/* In the engine's actor, whose child the main actor has to be. */
static void *start_main(void *arg)
{
	struct orr_sim_rank *r = arg;
	r->main = orr_sim_actor_start(r, ORR_ROLE_USER, "main", r->instance, orr_sim.stack_main,
				      orr_sim_dyn.program_main);
	if (!r->main)
		orr_sys_dyn_error("out of memory for a process");
	return NULL;
}

static void start_on(struct orr_sim_rank *r, const char *instance, int place, MPI_Comm world)
{
	snprintf(r->instance, sizeof(r->instance), "%s", instance);
	r->place = place;
	r->uid = -1;
	r->vacant = 0;
	r->ended = r->status = 0;
	r->world = world;
	r->dyn_client = NULL;
	orr_sim.nended--;
	orr_sim_own_renew(r);
	orr_sys_thread_start(r->proc, ORR_ROLE_ENGINE, "start", -1, start_main, r);
}

int orr_sys_dyn_spawn(int n, int start, const char *where)
{
	(void) where; /* the platform says which are free */
	struct orr_sim_rank **hosts = orr_dyn_memory(NULL, (size_t) n * sizeof(*hosts));
	char instance[32];
	if (find_free(n, hosts)) {
		orr_sys_dyn_error("%d hosts are asked for, and fewer are free", n);
		free(hosts);
		return -1;
	}
	for (int i = 0; i < n; i++) {
		hosts[i]->vacant = 0;
		hosts[i]->start = start;
	}
	orr_sys_sleep_us(orr_sim_dyn.us[ORR_SIM_DYN_START] + n * orr_sim_dyn.us[ORR_SIM_DYN_EACH]);
	snprintf(instance, sizeof(instance), "start-%d", ++dyn.nstarts);
	SMPI_app_instance_register(instance, NULL, n);
	MPI_Comm world = MPI_COMM_NULL;
	orr_sim_glue_world_find(instance, hosts[0]->host, &world);
	while (world == MPI_COMM_NULL)
		orr_sys_sleep_us(0.1);
	for (int i = 0; i < n; i++)
		start_on(hosts[i], instance, i, world);
	free(hosts);
	return 0;
}

static void end_client(struct orr_sim_rank *r)
{
	free(r->dyn_client);
	r->dyn_client = NULL;
}

static void tell_gone(struct orr_sim_rank *r)
{
	int uid = r->leaving;
	r->leaving = -1;
	if (orr_dyn_gone(dyn.registry, uid, r->status != 0) == ORR_DYN_NEEDED)
		say(NULL, "a process ended with an error while the others need it");
	wake_answered();
}

/* The program has ended, but its process takes a while until the registry learns of that. */
static void leave_main(struct orr_sim_actor *a)
{
	orr_sys_sleep_us(orr_sim_dyn.us[ORR_SIM_DYN_LEAVE]);
	tell_gone(a->rank);
	a->detached = 1;
	orr_sim_user_end(a, NULL);
}

void orr_sim_dyn_ended(struct orr_sim_rank *r, int status)
{
	int uid = r->uid;
	end_client(r);
	if (uid < 0) {
		if (*r->instance)
			orr_dyn_start_failed(dyn.registry, r->start);
		wake_answered();
		return;
	}
	r->uid = -1;
	dyn.uids[uid] = -1;
	r->status = status;
	r->leaving = uid;
	if (status || orr_sim_dyn.us[ORR_SIM_DYN_LEAVE] <= 0 ||
	    !orr_sim_actor_start(r, ORR_ROLE_USER, "leave", NULL, orr_sim.stack_small, leave_main))
		tell_gone(r);
}

/* ---- groups and communicators ---- */

void orr_sim_dyn_engines(void)
{
	if (!dyn.engines)
		PMPI_Comm_group(orr_sim_glue_world(), &dyn.engines);
}

static int group_of(const int *uids, int n, MPI_Group *group)
{
	int *hosts = orr_dyn_memory(NULL, (size_t) n * sizeof(*hosts)), ret = MPI_SUCCESS;
	for (int i = 0; i < n && !ret; i++) {
		hosts[i] = uids[i] < dyn.nuids ? dyn.uids[uids[i]] : -1;
		if (hosts[i] < 0)
			ret = MPI_ERR_GROUP;
	}
	if (!ret)
		ret = PMPI_Group_incl(dyn.engines, n, hosts, group);
	for (int i = 0; i < n && !ret; i++)
		orr_sim_glue_group_map(*group,
				       sg_actor_get_pid(orr_sim.ranks[hosts[i]].main->actor), i);
	free(hosts);
	if (ret)
		orr_sys_dyn_error("a process of the set has ended");
	return ret;
}

int orr_sys_dyn_group(const int *uids, int n, MPI_Group *group)
{
	if (n)
		return group_of(uids, n, group);
	*group = MPI_GROUP_EMPTY;
	return MPI_SUCCESS;
}

int orr_sim_dyn_hosts(void *group, int n, int *ranks)
{
	for (int i = 0; i < n; i++) {
		long pid = orr_sim_glue_group_pid(group, i);
		int at = 0;
		while (at < orr_sim.nranks &&
		       (orr_sim.ranks[at].ended || !orr_sim.ranks[at].main ||
			!orr_sim.ranks[at].main->actor ||
			sg_actor_get_pid(orr_sim.ranks[at].main->actor) != pid))
			at++;
		if (at == orr_sim.nranks)
			return -1;
		ranks[i] = at;
	}
	return 0;
}

int orr_sys_dyn_uids(MPI_Group group, int **uids)
{
	int n = 0;
	PMPI_Group_size(group, &n);
	*uids = orr_dyn_memory(NULL, (size_t) n * sizeof(**uids));
	int ret = orr_sim_dyn_hosts(group, n, *uids);
	for (int i = 0; i < n && !ret; i++)
		ret = ((*uids)[i] = orr_sim.ranks[(*uids)[i]].uid) < 0 ? -1 : 0;
	if (!ret)
		return n;
	free(*uids);
	*uids = NULL;
	return -1;
}

/* SMPI numbers its own from 0 on, and the engines theirs from 1 << 30. */
#define FIRST_ID (1 << 29)

static MPI_Group joined_group(long number, const int *uids, int n)
{
	struct joined **at = &dyn.joined, *j;
	while (*at && (*at)->number != number)
		at = &(*at)->next;
	if (!*at) {
		j = *at = orr_dyn_memory(NULL, sizeof(*j));
		*j = (struct joined){ .number = number, .missing = n };
		if (group_of(uids, n, &j->group))
			j->group = MPI_GROUP_NULL;
	}
	j = *at;
	MPI_Group group = j->group;
	if (--j->missing) {
		orr_sim_glue_group_share(group);
	} else {
		*at = j->next;
		free(j);
	}
	return group;
}

int orr_sys_dyn_comm(const struct orr_dyn_words *answer, const int *uids, int n, MPI_Comm *comm)
{
	long number = orr_dyn_number(answer, 1), connections = orr_dyn_number(answer, 3) - 1;
	MPI_Group group = joined_group(number, uids, n);
	if (group == MPI_GROUP_NULL)
		return MPI_ERR_GROUP;
	orr_sys_sleep_us((double) connections * orr_sim_dyn.us[ORR_SIM_DYN_JOIN]);
	*comm = orr_sim_glue_comm_of(group, FIRST_ID + (int) number);
	return *comm == MPI_COMM_NULL ? MPI_ERR_OTHER : MPI_SUCCESS;
}

/* ---- threads ---- */

struct thread_call {
	void (*f)(void *);
	void *arg;
};

static void *thread_main(void *arg)
{
	struct thread_call call = *(struct thread_call *) arg;
	free(arg);
	call.f(call.arg);
	orr_sim_actor_self()->detached = 1;
	return NULL;
}

int orr_sys_dyn_thread(void (*f)(void *), void *arg)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	struct thread_call *call = orr_dyn_memory(NULL, sizeof(*call));
	*call = (struct thread_call){ f, arg };
	if (orr_sys_thread_start(a->rank->proc, ORR_ROLE_USER, "request", -1, thread_main, call))
		return 0;
	free(call);
	return -1;
}

/* ---- the resource manager ---- */

static struct orr_sim_rank *host_named(const char *name)
{
	for (int i = 0; i < orr_sim.nranks; i++)
		if (!strcmp(sg_host_get_name(orr_sim.ranks[i].host), name))
			return &orr_sim.ranks[i];
	return NULL;
}

/* The host fails, and with it its process. */
static void fail(struct orr_sim_rank *r)
{
	int uid = r->uid, status = 0;
	r->away = 1;
	if (r->ended)
		return;
	orr_sim_turns_forget(r->main);
	sg_actor_kill(r->main->actor);
	r->uid = -1;
	if (r->mpi)
		r->mpi->active = 0; /* it could not call starpu_mpi_shutdown() */
	end_client(r);
	if (uid >= 0) {
		dyn.uids[uid] = -1;
		enum orr_dyn_end end = orr_dyn_gone(dyn.registry, uid, 1);
		if (end == ORR_DYN_NEEDED)
			say(NULL, "a host failed whose process the others need");
		status = end == ORR_DYN_NONE_LEFT;
		wake_answered();
	}
	orr_sim_rank_end(r, status);
}

static void obey(const struct orr_dyn_words *words)
{
	const char *what = orr_dyn_word(words, 0);
	struct orr_sim_rank *r = NULL;
	if (!strcmp(what, "leave") || !strcmp(what, "fail")) {
		r = host_named(orr_dyn_word(words, 1));
		if (!r) {
			say(NULL, "the scenario names a host that the run does not have");
			return;
		}
	}
	if (!strcmp(what, "fail")) {
		fail(r);
		return;
	}
	if (r)
		r->away = 1;
	orr_dyn_demand(dyn.registry, words);
}

static void manager_main(struct orr_sim_actor *a)
{
	for (int i = 0; i < dyn.script.n; i++) {
		orr_sys_sleep_us(dyn.script.events[i].s * 1e6 - orr_sys_now_us());
		obey(&dyn.script.events[i].words);
	}
	a->detached = 1;
	orr_sim_user_end(a, NULL);
}

void orr_sim_dyn_start(const struct orr_dyn_script *script)
{
	const struct orr_dyn_host host = { .reply = reply, .say = say, .now_s = now_s };
	dyn.registry = orr_dyn_registry_new(&host, orr_sim_dyn.n, orr_sim.nranks);
	orr_sim.hosts_of = orr_sim_dyn_hosts;
	dyn.script = *script;
	for (int i = 0; i < orr_sim.nranks; i++) {
		struct orr_sim_rank *r = &orr_sim.ranks[i];
		r->uid = r->leaving = -1;
		r->place = i;
		r->vacant = r->ended = i >= orr_sim_dyn.n;
	}
	orr_sim.nended = orr_sim.nranks - orr_sim_dyn.n;
	if (script->n)
		orr_sim_actor_start(&orr_sim.ranks[0], ORR_ROLE_USER, "manager", NULL,
				    orr_sim.stack_small, manager_main);
}
