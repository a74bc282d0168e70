/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Explicit dependencies between tasks, and tags.
 *
 * Invariant: a task starts only when everything it was declared to depend on has completed.
 * Dependencies add up with those that the runtime infers from data.  Any thread may call, unless
 * said otherwise.
 */
#ifndef STARPU_TASK_DEP_H
#define STARPU_TASK_DEP_H

#include <stdint.h>
#include <starpu_config.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct starpu_task;

/* --- Between tasks
 * -------------------------------------------------------------------------------------- */

/* Make `task`, which is not submitted yet, start after the ndeps given tasks.  Those may have been
 * submitted or not, but must not have been destroyed: a task with the destroy flag may vanish once
 * it is submitted. */
void starpu_task_declare_deps_array(struct starpu_task *task, unsigned ndeps,
				    struct starpu_task *task_array[]);
/* Same, with ndeps arguments of type struct starpu_task *. */
void starpu_task_declare_deps(struct starpu_task *task, unsigned ndeps, ...);

/* Make `task` count as completed (its successors and waiters) only after the given tasks are. */
void starpu_task_declare_end_deps_array(struct starpu_task *task, unsigned ndeps,
					struct starpu_task *task_array[]);
void starpu_task_declare_end_deps(struct starpu_task *task, unsigned ndeps, ...);

/* Store up to ndeps tasks that wait for `task` into task_array; returns how many there are. */
int starpu_task_get_task_succs(struct starpu_task *task, unsigned ndeps,
			       struct starpu_task *task_array[]);

/* Make the completion of t wait for nb_deps calls of starpu_task_end_dep_release(t).  To be called
 * before t completes, for instance from its own kernel. */
void starpu_task_end_dep_add(struct starpu_task *t, int nb_deps);
void starpu_task_end_dep_release(struct starpu_task *t);

/* --- Tags
 * -----------------------------------------------------------------------------------------------
 */

/* A number that the program chooses; a task carries it when its use_tag is set.  It may be used in
 * dependencies before the task exists. */
typedef uint64_t starpu_tag_t;

/* Make the task of tag id start after the ndeps given tags; to be called before that task is
 * submitted.  The variadic arguments must be of type starpu_tag_t: cast constants. */
void starpu_tag_declare_deps(starpu_tag_t id, unsigned ndeps, ...);
void starpu_tag_declare_deps_array(starpu_tag_t id, unsigned ndeps, starpu_tag_t *array);

/* Wait until the task of the tag (each tag) has completed.  0, or -EDEADLK when called from a
 * kernel or a callback, where blocking is not allowed. */
int starpu_tag_wait(starpu_tag_t id);
int starpu_tag_wait_array(unsigned ntags, starpu_tag_t *id);

/* Prepare a tag that completed (its task did, or it was notified) for being used once more: it is
 * not complete any more, it can be given another task or be notified again, and the tags that
 * depended on it still do. It keeps the dependencies it had as well: its next task waits for those
 * that are restarted too, in any order, before it is submitted. Nothing happens to a tag that has
 * not completed. */
void starpu_tag_restart(starpu_tag_t id);
/* Forget a tag, what depends on it and what it depends on, and free what it holds; a tag whose task
 * has not completed stays. Tasks that still wait for it are let go. */
void starpu_tag_remove(starpu_tag_t id);
/* Mark the tag as completed, as if its task had run; for events of the program. */
void starpu_tag_notify_from_apps(starpu_tag_t id);
/* Same, then restart the tag in one step: what waits for it now goes on, what comes later waits for
 * the next time. */
void starpu_tag_notify_restart_from_apps(starpu_tag_t id);
/* The task of the tag, or NULL. */
struct starpu_task *starpu_tag_get_task(starpu_tag_t id);

/* Submit an empty task that carries sync_tag, depends on ndeps tags, and calls
 * callback(callback_arg) at its end; callback may be NULL. */
void starpu_create_sync_task(starpu_tag_t sync_tag, unsigned ndeps, starpu_tag_t *deps,
			     void (*callback)(void *), void *callback_arg);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
