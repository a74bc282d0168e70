/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parallel workers (see team.h).
 *
 * Invariant: a team that is free and could execute a queued task does so: tasks are given out when
 * they come and when a team becomes free, under one lock. */
#include "core/flow/team.h"

#include <stdlib.h>

#include "base/log.h"
#include "core/ctx/combined.h"
#include "core/flow/dispatch.h"
#include "core/flow/parallel.h"
#include "core/ctx/sched_ctx.h"
#include "core/task/task_impl.h"

/* ---- giving out tasks ---- */

/* Any kind of codelet may use the cores: what counts is that the first worker can execute it. */
static int can_run(struct orr_process *proc, const struct orr_team *team, struct orr_task *t)
{
	const struct orr_ctx *ctx = proc->core->ctx[t->ctx];

	if (team->comb ? !orr_combined_in_ctx(proc, team->comb, ctx)
		       : !orr_ctx_has(ctx, &proc->core->workers[team->worker]))
		return 0;
	return orr_task_first_impl(&proc->core->workers[team->worker], t->pub) >= 0;
}

/* Without locks: the team is busy with t. */
static void launch(struct orr_process *proc, struct orr_team *team, struct orr_task *t)
{
	if (team->comb)
		orr_dispatch_combined(proc, t, team->comb);
	else
		orr_dispatch_local(proc, t, (unsigned) team->worker);
}

/* Asks the program's can_execute, so that nobody must under the lock. Returns 0 if no team can. */
static int ask(struct orr_process *proc, struct starpu_parallel_worker_config *c,
	       struct orr_team_waiting *entry)
{
	int possible = 0;

	for (unsigned i = 0; i < c->n; i++) {
		entry->can[i] = (uint8_t) can_run(proc, &c->team[i], entry->t);
		possible |= entry->can[i];
	}
	return possible;
}

/* The task goes to the policy that the parallel workers have. All of their first workers are woken:
 * one that sleeps may be waiting for the rest of its team. */
static void give_to_policy(struct orr_process *proc, unsigned id, struct orr_task *t)
{
	struct orr_ctx *ctx = proc->core->ctx[id];

	ORR_ATOMIC_ADD(&ctx->nsubmitted, 1);
	ORR_ATOMIC_STORE_RELAXED(&t->ctx, (uint8_t) id);
	t->pub->sched_ctx = id;
	if (ctx->policy->submit_hook)
		ctx->policy->submit_hook(t->pub);
	orr_ctx_push(proc, t);
	orr_ctx_wake_all(proc, ctx);
}

/* A free team for the task becomes busy; NULL: the task is queued. */
static struct orr_team *claim(struct orr_process *proc, struct starpu_parallel_worker_config *c,
			      struct orr_team_waiting *entry)
{
	struct orr_team *team = NULL;

	orr_task_assert_of(entry->t, ORR_TASK_OF_POLICY);
	orr_lock(&proc->lock);
	orr_assert(!*c->end && (c->queue || c->end == &c->queue));
	for (unsigned i = 0; i < c->n && !team; i++)
		if (entry->can[i] && !c->team[i].busy)
			team = &c->team[i];
	if (team) {
		orr_assert(!entry->t->team && !entry->t->parallel);
		team->busy = 1;
		entry->t->team = (uint16_t) (team - c->team + 1);
	} else {
		*c->end = entry;
		c->end = &entry->next;
	}
	orr_unlock(&proc->lock);
	return team;
}

int orr_team_push(struct orr_process *proc, struct orr_task *t)
{
	struct starpu_parallel_worker_config *c = proc->core->teams;
	struct orr_team_waiting *entry = calloc(1, sizeof(*entry) + c->n);

	if (!entry)
		orr_fatal("out of memory for task %s, which a parallel worker executes",
			  orr_task_name(t->pub));
	entry->t = t;
	if (!ask(proc, c, entry)) {
		free(entry);
		return 0;
	}
	if (c->ctx && !t->ctx) {
		free(entry);
		give_to_policy(proc, c->ctx, t);
		return 1;
	}
	struct orr_team *team = claim(proc, c, entry);
	if (team) {
		free(entry);
		launch(proc, team, t);
	}
	return 1;
}

/* The most urgent queued task that the team can execute, taken off the queue; NULL: none. Under
 * proc->lock. */
static struct orr_team_waiting *team_take(struct starpu_parallel_worker_config *c, unsigned number)
{
	struct orr_team_waiting **best = NULL;

	orr_assert_locked(&orr_self()->lock);
	for (struct orr_team_waiting **p = &c->queue; *p; p = &(*p)->next)
		if ((*p)->can[number] &&
		    (!best || (*p)->t->pub->priority > (*best)->t->pub->priority))
			best = p;
	struct orr_team_waiting *found = best ? *best : NULL;
	if (found) {
		*best = found->next;
		if (c->end == &found->next)
			c->end = best;
	}
	return found;
}

static void take_next(struct orr_process *proc, unsigned number)
{
	struct starpu_parallel_worker_config *c = proc->core->teams;
	struct orr_team *team = &c->team[number];

	orr_lock(&proc->lock);
	orr_assert(team->busy);
	struct orr_team_waiting *next = team_take(c, number);
	if (next)
		next->t->team = (uint16_t) (number + 1);
	else
		team->busy = 0;
	orr_unlock(&proc->lock);
	if (next)
		launch(proc, team, next->t);
	free(next);
}

void orr_team_over(struct orr_process *proc, struct orr_task *t)
{
	unsigned number = t->team - 1U;

	orr_assertf(t->team && proc->core->teams && number < proc->core->teams->n,
		    "task %s was executed by parallel worker %u", orr_task_name(t->pub), number);
	orr_assert_no_lock();
	t->team = 0;
	if (proc->core->ctx[t->ctx]->of_teams)
		t->pub->sched_ctx = 0; /* where the program submitted it, and may do so again */
	else
		take_next(proc, number);
}

/* ---- teams with a policy ---- */

struct starpu_task *orr_team_take(struct orr_worker *w, struct orr_process *proc,
				  struct starpu_task *task)
{
	struct starpu_parallel_worker_config *c = proc->core->teams;
	struct orr_task *t = orr_task_of(task);
	unsigned i;

	if (!proc->core->ctx[t->ctx]->of_teams)
		return task;
	for (i = 0; i < c->n && c->team[i].worker != (int) w->id; i++)
		;
	orr_assertf(i < c->n, "worker %u leads no parallel worker", w->id);
	orr_assert(!t->team && !t->parallel);
	t->team = (uint16_t) (i + 1);
	if (!c->team[i].comb)
		return task;
	orr_parallel_launch(proc, t, c->team[i].comb);
	return NULL;
}
