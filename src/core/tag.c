/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tags: dependencies between tasks that name each other by number.
 *
 * A tag fires when what it stands for is over: its task completed, or the program said so. A tag with declared dependencies passes them
 * to its task, which waits until all have fired; a tag with dependencies and without a task fires when they have. Invariant: all
 * of this is under node->tag_lock; tasks are released outside of it. */
#include "core/worker.h"
#include "core/map.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

struct orr_tag {
	uint64_t id;			/* key of the map */
	struct orr_task *task;		/* submitted with this tag and not complete */
	uint8_t fired;
	uint8_t pure;			/* dependencies, no task: fires by itself */
	unsigned missing;		/* declared dependencies that have not fired */
	struct orr_tag **succ;		/* tags that depend on this one */
	unsigned nsucc, cap;
	unsigned nwaiting;		/* threads in starpu_tag_wait */
};

static struct orr_map *table(struct orr_node *node)
{
	if (!node->tags) {
		node->tags = malloc(sizeof(struct orr_map));
		if (!node->tags)
			orr_fatal("out of memory for tags");
		orr_map_init(node->tags, offsetof(struct orr_tag, id));
	}
	return node->tags;
}

/* Under tag_lock. */
static struct orr_tag *get(struct orr_node *node, uint64_t id)
{
	struct orr_map *m = table(node);
	struct orr_tag *tag = orr_map_find(m, id);

	if (tag)
		return tag;
	tag = calloc(1, sizeof(*tag));
	if (tag)
		tag->id = id;
	if (!tag || orr_map_insert(m, tag))
		orr_fatal("out of memory for tag %llu", (unsigned long long) id);
	return tag;
}

/* Fires a tag: collects the tasks that this releases (one entry per dependency). Under tag_lock. */
static void fire(struct orr_tag *tag, struct orr_task_array *released)
{
	unsigned i;

	if (tag->fired)
		return;
	tag->fired = 1;
	for (i = 0; i < tag->nsucc; i++) {
		struct orr_tag *s = tag->succ[i];

		s->missing--;
		if (s->task) {
			if (orr_task_array_add(released, s->task))
				orr_fatal("out of memory while firing tag %llu", (unsigned long long) tag->id);
		} else if (!s->missing && s->pure) {
			fire(s, released);
		}
	}
	tag->nsucc = 0;
}

static void release_all(struct orr_node *node, struct orr_task_array *released)
{
	unsigned i;

	for (i = 0; i < released->n; i++)
		orr_task_release(orr_task_array_get(released, i));
	if (released->cap)
		free(released->v);
	orr_waitq_wake(&node->done);
}

void orr_tag_task_submitted(struct orr_task *t)
{
	struct orr_node *node = orr_self();
	struct orr_tag *tag;

	orr_lock(&node->tag_lock);
	tag = get(node, t->pub->tag_id);
	if (tag->task && tag->task != t) {
		orr_unlock(&node->tag_lock);
		orr_fatal("tag %llu: task %s uses it while task %s, which has it too, is not complete", (unsigned long long) tag->id,
			  orr_task_name(t->pub), orr_task_name(tag->task->pub));
	}
	tag->task = t;
	tag->fired = 0;
	tag->pure = 0;
	t->tag = tag;
	if (tag->missing)
		ORR_ATOMIC_ADD(&t->ndeps, (int32_t) tag->missing);
	orr_unlock(&node->tag_lock);
}

void orr_tag_task_done(struct orr_task *t)
{
	struct orr_node *node = orr_self();
	struct orr_task_array released = { 0 };

	orr_lock(&node->tag_lock);
	t->tag->task = NULL;
	fire(t->tag, &released);
	orr_unlock(&node->tag_lock);
	release_all(node, &released);
}

void starpu_tag_declare_deps_array(starpu_tag_t id, unsigned ndeps, starpu_tag_t *array)
{
	struct orr_node *node = orr_self();
	struct orr_tag *tag;
	unsigned i;

	orr_lock(&node->tag_lock);
	tag = get(node, id);
	tag->fired = 0;
	tag->pure = 1;
	for (i = 0; i < ndeps; i++) {
		struct orr_tag *dep = get(node, array[i]);

		if (dep->fired)
			continue;
		if (dep->nsucc == dep->cap) {
			unsigned cap = dep->cap ? 2 * dep->cap : 4;
			void *v = realloc(dep->succ, cap * sizeof(*dep->succ));

			if (!v)
				orr_fatal("out of memory for dependencies of tag %llu", (unsigned long long) id);
			dep->succ = v;
			dep->cap = cap;
		}
		dep->succ[dep->nsucc++] = tag;
		tag->missing++;
		if (tag->task)
			ORR_ATOMIC_ADD(&tag->task->ndeps, 1);
	}
	if (!tag->missing && !tag->task && ndeps)
		tag->fired = 0;	/* its task, if one comes, fires it */
	orr_unlock(&node->tag_lock);
}

void starpu_tag_declare_deps(starpu_tag_t id, unsigned ndeps, ...)
{
	starpu_tag_t *deps = malloc((ndeps ? ndeps : 1) * sizeof(*deps));
	unsigned i;
	va_list ap;

	if (!deps)
		orr_fatal("out of memory for dependencies of tag %llu", (unsigned long long) id);
	va_start(ap, ndeps);
	for (i = 0; i < ndeps; i++)
		deps[i] = va_arg(ap, starpu_tag_t);
	va_end(ap);
	starpu_tag_declare_deps_array(id, ndeps, deps);
	free(deps);
}

int starpu_tag_wait_array(unsigned ntags, starpu_tag_t *id)
{
	struct orr_node *node = orr_self();
	struct orr_task *t = orr_thread_self()->task;
	unsigned i;

	if (t) {
		orr_error("starpu_tag_wait called inside task or callback %s, which would block its worker", orr_task_name(t->pub));
		return -EDEADLK;
	}
	orr_sys_settle(orr_thread_self());
	orr_about_to_wait(node);
	for (i = 0; i < ntags; i++)
		for (;;) {
			unsigned key = orr_waitq_prepare(&node->done);
			struct orr_tag *tag;
			int fired;

			orr_lock(&node->tag_lock);
			tag = get(node, id[i]);
			fired = tag->fired;
			tag->nwaiting += !fired;
			orr_unlock(&node->tag_lock);
			if (fired) {
				orr_waitq_cancel(&node->done);
				break;
			}
			orr_waitq_wait(&node->done, key, -1);
			orr_lock(&node->tag_lock);
			tag->nwaiting--;
			orr_unlock(&node->tag_lock);
		}
	return 0;
}

int starpu_tag_wait(starpu_tag_t id) { return starpu_tag_wait_array(1, &id); }

static void notify(starpu_tag_t id, int restart)
{
	struct orr_node *node = orr_self();
	struct orr_task_array released = { 0 };
	struct orr_tag *tag;

	orr_lock(&node->tag_lock);
	tag = get(node, id);
	fire(tag, &released);
	if (restart)
		tag->fired = 0;
	orr_unlock(&node->tag_lock);
	release_all(node, &released);
}

void starpu_tag_notify_from_apps(starpu_tag_t id) { notify(id, 0); }
void starpu_tag_notify_restart_from_apps(starpu_tag_t id) { notify(id, 1); }

void starpu_tag_restart(starpu_tag_t id)
{
	struct orr_node *node = orr_self();

	orr_lock(&node->tag_lock);
	get(node, id)->fired = 0;
	orr_unlock(&node->tag_lock);
}

/* Others may still point to the tag (successors): it is emptied, and freed with the table. */
void starpu_tag_remove(starpu_tag_t id)
{
	struct orr_node *node = orr_self();
	struct orr_task_array released = { 0 };
	struct orr_tag *tag;

	orr_lock(&node->tag_lock);
	tag = orr_map_find(table(node), id);
	if (tag && !tag->task) {
		fire(tag, &released);
		free(tag->succ);
		tag->succ = NULL;
		tag->cap = 0;
		tag->fired = 0;
		tag->pure = 0;
	}
	orr_unlock(&node->tag_lock);
	release_all(node, &released);
}

struct starpu_task *starpu_tag_get_task(starpu_tag_t id)
{
	struct orr_node *node = orr_self();
	struct starpu_task *task;
	struct orr_tag *tag;

	orr_lock(&node->tag_lock);
	tag = get(node, id);
	task = tag->task ? tag->task->pub : NULL;
	orr_unlock(&node->tag_lock);
	return task;
}

void starpu_create_sync_task(starpu_tag_t sync_tag, unsigned ndeps, starpu_tag_t *deps, void (*callback)(void *), void *callback_arg)
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

static void each(struct orr_node *node, void (*f)(struct orr_tag *, void *), void *arg)
{
	struct orr_map *m = node->tags;
	uint32_t i;

	for (i = 0; m && i < m->cap; i++)
		if (m->v[i])
			f(m->v[i], arg);
}

static void free_tag(struct orr_tag *tag, void *arg)
{
	(void) arg;
	free(tag->succ);
	free(tag);
}

void orr_tags_exit(struct orr_node *node)
{
	if (!node->tags)
		return;
	each(node, free_tag, NULL);
	orr_map_exit(node->tags);
	free(node->tags);
	node->tags = NULL;
}

static void dump_tag(struct orr_tag *tag, void *arg)
{
	if (!tag->fired && (tag->nsucc || tag->nwaiting))
		fprintf(arg, "  tag %llu has not fired: %u tags depend on it, %u threads wait for it%s\n", (unsigned long long) tag->id, tag->nsucc,
			tag->nwaiting, tag->task ? "" : "; no task has it");
}

void orr_tag_dump(struct orr_node *node, FILE *f) { each(node, dump_tag, f); }
