/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tags: dependencies between tasks that name each other by number.
 *
 * A tag fires when what it stands for is over: its task completed, or the program said so. A tag
 * with declared dependencies passes them to its task, which waits until all have fired; a tag with
 * dependencies and without a task fires when they have. Dependencies stay until a tag is removed. A
 * tag that fired and is used again (restarted, declared anew, or given another task) begins a new
 * round: it waits for those that it depends on that have not fired, or are restarted before it is
 * given a task. One that fired by itself before it was given its first task had fired too early:
 * what counted it, and has neither a task nor fired otherwise, waits for the task. Several live
 * tasks may have one tag: each waits for its dependencies, and the first that ends fires it. The
 * tag of a task that regenerates begins its next round when it fires, since those that it lets go
 * may end before the task is submitted again. Where a task that regenerates stands at either end of
 * a link, each firing counts: one that finds the other tag in the middle of a round is for a later
 * round of it.
 *
 * Invariant: a task with a tag waits for all its missing links, or for none any more (it may have
 * begun; `tag_missing` says which). `missing` counts the links to a tag that are MISSING; all of
 * this is under node->tag_lock; tasks are released outside of it. */
#include "core/flow/tag.h"
#include "base/map.h"
#include "base/log.h"
#include "core/worker/core.h"
#include "base/park.h"
#include "core/task/task.h"
#include "core/task/task_array.h"
#include "core/task/task_trace.h"
#include "core/flow/task_state.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

/* A link's answer to the tag that depends, in its round: not fired yet; had fired when the round
 * began; fired in this round. */
enum link_state { MISSING, BEFORE, FIRED };

/* One tag depends on another. */
struct link {
	struct orr_tag *from, *to;         /* `to` depends on `from` */
	struct link *next_out, **prev_out; /* of from, in the order of declaration */
	struct link *next_in, **prev_in;   /* of to */
	enum link_state state;
	uint64_t nahead; /* firings for later rounds of `to` */
};

struct orr_tag {
	uint64_t id;           /* key of the map */
	struct orr_task *task; /* submitted with this tag and not complete, linked by tag_next */
	uint8_t fired;
	uint8_t pure;   /* dependencies, no task: fires by itself */
	uint8_t alone;  /* it fired by itself, last time */
	uint8_t cycles; /* the last task that it was given regenerates */
	unsigned missing;
	struct link *out, **out_end; /* to those that depend on it; where the next one goes */
	struct link *in;             /* from those that it depends on */
	unsigned nout, nin;
	unsigned nfired;          /* how often it fired, for those who wait */
	uint64_t cause;           /* of its last firing; 0: the program */
	unsigned nwaiting;        /* threads in starpu_tag_wait */
	struct orr_tag *fired_by; /* while it fires: the pure tag that made it do so... */
	struct link *firing;      /* ...and the next of its links that it fires */
};

static struct orr_map *table(struct orr_process *proc)
{
	if (!proc->core->tags) {
		proc->core->tags = malloc(sizeof(struct orr_map));
		if (!proc->core->tags)
			orr_fatal("out of memory for tags");
		orr_map_init(proc->core->tags, offsetof(struct orr_tag, id));
	}
	return proc->core->tags;
}

/* Under tag_lock. */
static struct orr_tag *tag_get(struct orr_process *proc, uint64_t id)
{
	orr_assert_locked(&proc->core->tag_lock);

	struct orr_map *m = table(proc);
	struct orr_tag *tag = orr_map_find(m, id);

	if (tag)
		return tag;
	tag = calloc(1, sizeof(*tag));
	if (tag) {
		tag->id = id;
		tag->out_end = &tag->out;
	}
	if (!tag || orr_map_insert(m, tag))
		orr_fatal("out of memory for tag %llu", (unsigned long long) id);
	return tag;
}

/* ---- links ---- */

static struct link *find_link(const struct orr_tag *from, const struct orr_tag *to)
{
	struct link *l;

	if (from->nout < to->nin)
		for (l = from->out; l && l->to != to; l = l->next_out)
			;
	else
		for (l = to->in; l && l->from != from; l = l->next_in)
			;
	return l;
}

static struct link *new_link(struct orr_tag *from, struct orr_tag *to)
{
	struct link *l = calloc(1, sizeof(*l));

	if (!l)
		orr_fatal("out of memory for dependencies of tag %llu",
			  (unsigned long long) to->id);
	l->from = from;
	l->to = to;
	l->state = BEFORE;
	l->prev_out = from->out_end;
	*l->prev_out = l;
	from->out_end = &l->next_out;
	from->nout++;
	l->next_in = to->in;
	l->prev_in = &to->in;
	if (to->in)
		to->in->prev_in = &l->next_in;
	to->in = l;
	to->nin++;
	return l;
}

static void free_link(struct link *l)
{
	orr_assertf(*l->prev_out == l && *l->prev_in == l, "a link of tags is in no list");
	orr_assert(l->from->nout > 0 && l->to->nin > 0);
	orr_assertf(l->state != MISSING || l->to->missing > 0,
		    "tag %llu misses more than it counts", (unsigned long long) l->to->id);
	*l->prev_out = l->next_out;
	*(l->next_out ? &l->next_out->prev_out : &l->from->out_end) = l->prev_out;
	l->from->nout--;
	*l->prev_in = l->next_in;
	if (l->next_in)
		l->next_in->prev_in = l->prev_in;
	l->to->nin--;
	l->to->missing -= l->state == MISSING;
	free(l);
}

/* ---- firing, and beginning anew; all under tag_lock ---- */

/* While a trace is recorded: t, which waits for tag `from`, or did, comes after what let it fire. A
 * tag without a task fires by the last one that it depends on, and comes after the others all the
 * same. */
static void trace_edges(const struct orr_task *t, const struct orr_tag *from, int waits)
{
	struct orr_process *proc = orr_self();

	if (!proc->trace)
		return;
	if (!waits)
		orr_task_trace_comes_after(proc, t, from->cause);
	for (const struct link *l = from->pure ? from->in : NULL; l; l = l->next_in)
		if (l->from->cause != from->cause)
			orr_task_trace_comes_after(proc, t, l->from->cause);
}

/* Begins to fire a tag, if it has not fired, because `by` did. Returns the tag that fires next. */
static struct orr_tag *fire_begin(struct orr_tag *tag, struct orr_tag *by)
{
	if (tag->fired)
		return by;
	orr_assertf(!tag->firing, "tag %llu fires while it fires", (unsigned long long) tag->id);
	tag->fired = 1;
	tag->nfired++;
	tag->cause = orr_thread_cause(orr_thread_self());
	tag->fired_by = by;
	tag->alone = by != NULL;
	tag->firing = tag->out;
	return tag;
}

/* Fires one link. Returns the tag that fires next. */
static struct orr_tag *fire_link(struct link *l, struct orr_task_array *released)
{
	struct orr_tag *s = l->to;
	enum link_state was = l->state;

	l->state = FIRED;
	if (was != MISSING) {
		l->nahead += l->from->cycles | s->cycles;
		return l->from;
	}
	orr_assertf(s->missing > 0 && s->missing <= s->nin, "tag %llu misses %u of %u",
		    (unsigned long long) s->id, s->missing, s->nin);
	s->missing--;
	if (!s->task)
		return !s->missing && s->pure ? fire_begin(s, l->from) : l->from;
	for (struct orr_task *t = s->task; t; t = t->tag_next) {
		if (!t->tag_missing)
			continue;
		t->tag_missing--;
		orr_assert(t->tag_missing == s->missing);
		trace_edges(t, l->from, 1);
		if (orr_task_array_add(released, t))
			orr_fatal("out of memory while firing tag %llu",
				  (unsigned long long) l->from->id);
	}
	return l->from;
}

/* Fires a tag: collects the tasks that this releases (one entry per dependency). Tags without a
 * task that thereby fire do so in between; chains of them may be long. */
static void fire(struct orr_tag *tag, struct orr_task_array *released)
{
	struct link *l;

	tag = fire_begin(tag, NULL);
	while (tag) {
		l = tag->firing;
		if (l) {
			tag->firing = l->next_out;
			tag = fire_link(l, released);
		} else {
			tag = tag->fired_by;
		}
	}
}

static void miss(struct link *l)
{
	orr_assert(l->state != MISSING);
	l->state = MISSING;
	l->to->missing++;
	orr_assertf(l->to->missing <= l->to->nin, "tag %llu misses %u of %u",
		    (unsigned long long) l->to->id, l->to->missing, l->to->nin);
	for (struct orr_task *t = l->to->task; t; t = t->tag_next)
		if (t->tag_missing) {
			orr_assert(ORR_ATOMIC_LOAD(&t->owner.ndeps) > 0);
			t->tag_missing++;
			ORR_ATOMIC_ADD(&t->owner.ndeps, 1);
		}
}

/* A tag that fired begins a new round. Tasks that have the tag and wait for links already go on to
 * do so. */
static void begin(struct orr_tag *tag)
{
	orr_assert_locked(&orr_self()->core->tag_lock);
	tag->fired = 0;
	for (struct link *l = tag->in; l; l = l->next_in) {
		if (l->state == MISSING)
			continue;
		l->state = l->nahead ? FIRED : BEFORE;
		if (l->nahead)
			l->nahead--;
		else if (!l->from->fired)
			miss(l);
	}
}

/* Those that already began a new round, and counted it as fired, wait for it after all: the order
 * of restarts does not matter. */
static void restart(struct orr_tag *tag)
{
	struct link *l;

	if (!tag->fired)
		return;
	begin(tag);
	for (l = tag->out; l; l = l->next_out)
		if (l->state == BEFORE && !l->to->fired && !l->to->task)
			miss(l);
}

/* A tag that had fired by itself gets a task: what counted that, and does not go on yet, waits for
 * the task. Chains of such tags may be long: fired_by links those that are still to be looked at.
 */
static void take_back(struct orr_tag *tag)
{
	struct orr_tag *next = tag;

	tag->fired_by = NULL;
	while (next) {
		tag = next;
		next = tag->fired_by;
		for (struct link *l = tag->out; l; l = l->next_out) {
			struct orr_tag *to = l->to;
			if (l->state == MISSING || to->task || (to->fired && !to->alone))
				continue;
			miss(l);
			if (!to->fired)
				continue;
			to->fired = 0;
			to->fired_by = next;
			next = to;
		}
	}
}

static void release_all(struct orr_process *proc, struct orr_task_array *released)
{
	orr_assert_no_lock();
	for (unsigned i = 0; i < released->n; i++)
		orr_task_release(orr_task_array_get(released, i));
	if (released->cap)
		free(released->v);
	orr_waitq_wake(&proc->done);
}

void orr_tag_task_submitted(struct orr_task *t)
{
	struct orr_process *proc = orr_self();

	orr_lock(&proc->core->tag_lock);
	struct orr_tag *tag = tag_get(proc, t->pub->tag_id);
	orr_assertf(!t->tag && !t->tag_next && !t->tag_missing, "task %s gets a second tag",
		    orr_task_name(t->pub));
	if (tag->fired && !tag->task) {
		int early = tag->alone && tag->pure;
		begin(tag);
		if (early)
			take_back(tag);
	}
	t->tag_next = tag->task;
	tag->task = t;
	tag->pure = 0;
	tag->cycles = t->pub->regenerate;
	t->tag = tag;
	t->tag_missing = tag->missing;
	for (const struct link *l = tag->in; l; l = l->next_in)
		if (l->state != MISSING)
			trace_edges(t, l->from, 0);
	if (tag->missing)
		ORR_ATOMIC_ADD(&t->owner.ndeps, (int32_t) tag->missing);
	orr_unlock(&proc->core->tag_lock);
}

/* t has the tag no more. */
static void leave(struct orr_tag *tag, struct orr_task *t)
{
	struct orr_task **p = &tag->task;

	orr_assertf(!t->tag_missing, "task %s ends and its tag waits", orr_task_name(t->pub));
	while (*p != t) {
		orr_assert(*p);
		p = &(*p)->tag_next;
	}
	*p = t->tag_next;
	t->tag_next = NULL;
}

void orr_tag_task_done(struct orr_task *t, struct orr_task_array *released)
{
	struct orr_process *proc = orr_self();

	orr_lock(&proc->core->tag_lock);
	leave(t->tag, t);
	fire(t->tag, released);
	/* A task that is released now may end before this one is submitted again. */
	t->tag_begun = t->pub->regenerate && !t->tag->task;
	if (t->tag_begun)
		begin(t->tag);
	orr_unlock(&proc->core->tag_lock);
	orr_waitq_wake(&proc->done);
}

int orr_tag_round_ends(struct orr_task *t, uint64_t *id)
{
	struct orr_process *proc = orr_self();

	orr_lock(&proc->core->tag_lock);
	leave(t->tag, t);
	int begun = !t->tag->task;

	*id = t->tag->id;
	if (begun)
		begin(t->tag);
	orr_unlock(&proc->core->tag_lock);
	return begun;
}

void orr_tag_round_fires(uint64_t id, int begun, struct orr_task_array *released)
{
	struct orr_process *proc = orr_self();

	orr_lock(&proc->core->tag_lock);
	struct orr_tag *tag = tag_get(proc, id);
	fire(tag, released);
	if (begun && tag->task)
		tag->fired = 0;
	orr_unlock(&proc->core->tag_lock);
	orr_waitq_wake(&proc->done);
}

void orr_tag_task_ends(struct orr_task *t)
{
	struct orr_process *proc = orr_self();

	if (!t->tag_begun || t->pub->regenerate)
		return;
	orr_lock(&proc->core->tag_lock);
	if (!t->tag->task) {
		t->tag->fired = 1;
		t->tag->cycles = 0;
		for (struct link *l = t->tag->in; l; l = l->next_in)
			l->nahead = 0;
	}
	orr_unlock(&proc->core->tag_lock);
}

void starpu_tag_declare_deps_array(starpu_tag_t id, unsigned ndeps, starpu_tag_t *array)
{
	struct orr_process *proc = orr_self();
	struct orr_tag *tag;

	orr_lock(&proc->core->tag_lock);
	tag = tag_get(proc, id);
	if (tag->fired)
		begin(tag);
	tag->pure = 1;
	for (unsigned i = 0; i < ndeps; i++) {
		struct orr_tag *dep = tag_get(proc, array[i]);
		struct link *l = find_link(dep, tag);

		if (!l)
			l = new_link(dep, tag);
		if (l->state != MISSING && !dep->fired)
			miss(l);
	}
	orr_unlock(&proc->core->tag_lock);
}

void starpu_tag_declare_deps(starpu_tag_t id, unsigned ndeps, ...)
{
	starpu_tag_t *deps = malloc((ndeps ? ndeps : 1) * sizeof(*deps));
	va_list ap;

	if (!deps)
		orr_fatal("out of memory for dependencies of tag %llu", (unsigned long long) id);
	va_start(ap, ndeps);
	for (unsigned i = 0; i < ndeps; i++)
		deps[i] = va_arg(ap, starpu_tag_t);
	va_end(ap);
	starpu_tag_declare_deps_array(id, ndeps, deps);
	free(deps);
}

/* Has the tag fired, since the caller counted it among those that wait? */
static int has_fired(struct orr_process *proc, const struct orr_tag *tag, unsigned seen)
{
	int yes;

	orr_lock(&proc->core->tag_lock);
	yes = tag->fired || tag->nfired != seen;
	orr_unlock(&proc->core->tag_lock);
	return yes;
}

static void wait_one(struct orr_process *proc, starpu_tag_t id)
{
	struct orr_tag *tag;
	unsigned seen;
	double since_us = orr_trace_wait_begin(proc);

	orr_lock(&proc->core->tag_lock);
	tag = tag_get(proc, id);
	tag->nwaiting++;
	seen = tag->nfired;
	orr_unlock(&proc->core->tag_lock);
	ORR_PARK_UNTIL(proc, "starpu_tag_wait", has_fired(proc, tag, seen));
	orr_lock(&proc->core->tag_lock);
	orr_assert(tag->nwaiting > 0);
	tag->nwaiting--;
	uint64_t cause = tag->cause;
	orr_unlock(&proc->core->tag_lock);
	if (since_us >= 0 && proc->trace)
		orr_trace_waited(proc, since_us, "starpu_tag_wait", cause);
}

int starpu_tag_wait_array(unsigned ntags, starpu_tag_t *id)
{
	struct orr_process *proc = orr_self();
	struct orr_task *t = orr_thread_self()->task;

	if (t) {
		orr_error(
			"starpu_tag_wait called inside task or callback %s, which would block its worker",
			orr_task_name(t->pub));
		return -EDEADLK;
	}
	orr_sys_settle(orr_thread_self());
	orr_about_to_wait(proc);
	for (unsigned i = 0; i < ntags; i++)
		wait_one(proc, id[i]);
	return 0;
}

int starpu_tag_wait(starpu_tag_t id)
{
	return starpu_tag_wait_array(1, &id);
}

static void notify(starpu_tag_t id, int again)
{
	struct orr_process *proc = orr_self();
	struct orr_task_array released = { 0 };
	struct orr_tag *tag;

	orr_lock(&proc->core->tag_lock);
	tag = tag_get(proc, id);
	fire(tag, &released);
	if (again)
		restart(tag);
	orr_unlock(&proc->core->tag_lock);
	release_all(proc, &released);
}

void starpu_tag_notify_from_apps(starpu_tag_t id)
{
	notify(id, 0);
}
void starpu_tag_notify_restart_from_apps(starpu_tag_t id)
{
	notify(id, 1);
}

void starpu_tag_restart(starpu_tag_t id)
{
	struct orr_process *proc = orr_self();

	orr_lock(&proc->core->tag_lock);
	restart(tag_get(proc, id));
	orr_unlock(&proc->core->tag_lock);
}

void starpu_tag_remove(starpu_tag_t id)
{
	struct orr_process *proc = orr_self();
	struct orr_task_array released = { 0 };
	struct orr_tag *tag;

	orr_lock(&proc->core->tag_lock);
	tag = orr_map_find(table(proc), id);
	if (tag && !tag->task) {
		fire(tag, &released);
		while (tag->in)
			free_link(tag->in);
		while (tag->out)
			free_link(tag->out);
		orr_assertf(!tag->nin && !tag->nout && !tag->missing, "tag %llu keeps links",
			    (unsigned long long) id);
		tag->pure = 0;
		tag->fired = 0;
		if (!tag->nwaiting) {
			orr_map_remove(table(proc), tag);
			free(tag);
		}
	}
	orr_unlock(&proc->core->tag_lock);
	release_all(proc, &released);
}

void starpu_tag_clear(void)
{
	struct orr_process *proc = orr_self();
	uint64_t *ids = NULL;
	uint32_t n = 0;

	orr_lock(&proc->core->tag_lock);
	struct orr_map *m = table(proc);
	if (m->n)
		ids = malloc(m->n * sizeof(*ids));
	if (m->n && !ids)
		orr_fatal("out of memory while all tags are removed");
	for (uint32_t i = 0; ids && i < m->cap; i++)
		if (orr_map_at(m, i))
			ids[n++] = ((struct orr_tag *) orr_map_at(m, i))->id;
	orr_unlock(&proc->core->tag_lock);
	while (n-- > 0)
		starpu_tag_remove(ids[n]);
	free(ids);
}

struct starpu_task *starpu_tag_get_task(starpu_tag_t id)
{
	struct orr_process *proc = orr_self();
	struct starpu_task *task;
	struct orr_tag *tag;

	orr_lock(&proc->core->tag_lock);
	tag = tag_get(proc, id);
	task = tag->task ? tag->task->pub : NULL; /* the last one submitted */
	orr_unlock(&proc->core->tag_lock);
	return task;
}

void starpu_create_sync_task(starpu_tag_t sync_tag, unsigned ndeps, starpu_tag_t *deps,
			     void (*callback)(void *), void *callback_arg)
{
	struct starpu_task *task;
	int ret;

	starpu_tag_declare_deps_array(sync_tag, ndeps, deps);
	task = starpu_task_create();
	if (!task)
		orr_fatal("out of memory while creating a synchronisation task");
	task->use_tag = 1;
	task->tag_id = sync_tag;
	task->callback_func = callback;
	task->callback_arg = callback_arg;
	ret = starpu_task_submit(task);
	if (ret)
		orr_fatal("a synchronisation task cannot be submitted (%d)", ret);
}

static void each(struct orr_process *proc, void (*f)(struct orr_tag *, void *), void *arg)
{
	struct orr_map *m = proc->core->tags;

	for (uint32_t i = 0; m && i < m->cap; i++)
		if (orr_map_at(m, i))
			f(orr_map_at(m, i), arg);
}

static void free_tag(struct orr_tag *tag, void *arg)
{
	(void) arg;
	orr_assertf(!tag->nwaiting, "tag %llu ends and a thread waits for it",
		    (unsigned long long) tag->id);
	while (tag->in)
		free_link(tag->in);
	while (tag->out)
		free_link(tag->out);
	free(tag);
}

void orr_tag_exit(struct orr_process *proc)
{
	if (!proc->core->tags)
		return;
	each(proc, free_tag, NULL);
	orr_map_exit(proc->core->tags);
	free(proc->core->tags);
	proc->core->tags = NULL;
}

static void dump_tag(struct orr_tag *tag, void *arg)
{
	if (!tag->fired && (tag->nout || tag->nwaiting))
		fprintf(arg,
			"  tag %llu has not fired: %u tags depend on it, %u threads wait for it%s\n",
			(unsigned long long) tag->id, tag->nout, tag->nwaiting,
			tag->task ? "" : "; no task has it");
}

void orr_tag_dump(struct orr_process *proc, FILE *f)
{
	each(proc, dump_tag, f);
}
