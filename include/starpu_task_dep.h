/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Explicit dependencies between tasks, and tags.
 *
 * Invariant: a task starts only when everything that it was declared to depend on has completed.
 * These dependencies add to those that the runtime infers from data. Any thread may call these
 * functions, unless a comment says otherwise.
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

/* --- Between tasks ------------------------------------------------------------------- */

/* Make `task`, which is not submitted yet, start after the ndeps given tasks. These may be
 * submitted or not, but must not have been destroyed; a task with the destroy flag may be, as soon
 * as it is submitted.
 *
 * A dependency on a task without the destroy flag, or with the regenerate flag, lasts: each time
 * `task` is submitted again, it waits until each such task has ended once more: its n-th round
 * begins after their n-th ends, which may be many rounds ahead. A graph can be submitted again as a
 * whole, in any order, for instance by the callback of its last task. The dependency goes when
 * either task is cleaned or destroyed. */
void starpu_task_declare_deps_array(struct starpu_task *task, unsigned ndeps,
				    struct starpu_task *task_array[]);
/* Same, with ndeps arguments of type struct starpu_task *. */
void starpu_task_declare_deps(struct starpu_task *task, unsigned ndeps, ...);

/* Make `task` count as completed (its successors and waiters) only after the given tasks are. */
void starpu_task_declare_end_deps_array(struct starpu_task *task, unsigned ndeps,
					struct starpu_task *task_array[]);
void starpu_task_declare_end_deps(struct starpu_task *task, unsigned ndeps, ...);

/* Store up to ndeps tasks that wait for `task` into task_array: those that were declared, and those
 * that come directly after it in the use of its data. Returns how many there are, which may be more
 * than ndeps; then a task that waits for several reasons may be counted several times. `task` must
 * not end meanwhile, nor those that it stores while they are used. */
int starpu_task_get_task_succs(struct starpu_task *task, unsigned ndeps,
			       struct starpu_task *task_array[]);

/* Make the completion of t wait for nb_deps calls of starpu_task_end_dep_release(t). Call it before
 * t completes, for instance in its own kernel. */
void starpu_task_end_dep_add(struct starpu_task *t, int nb_deps);
void starpu_task_end_dep_release(struct starpu_task *t);

/* --- Tags ---------------------------------------------------------------------------- */

/* A number that the program chooses. A task whose use_tag is set carries it. Dependencies may name
 * it before the task exists. Several live tasks may carry one tag: each waits for the dependencies
 * of the tag, and the first that ends completes it. Tags of tasks with the regenerate flag count
 * rounds as dependencies on tasks do. */
typedef uint64_t starpu_tag_t;

/* Make the task of tag id start after the ndeps given tags. Call it before that task is submitted.
 * A tag without a task completes when the last of these tags does. If all have before the call,
 * only starpu_tag_notify_from_apps() completes it, since a task may still be given that tag. Where
 * it is given its first task after it completed so, tasks that depend on it and are submitted later
 * wait for that task. The variadic arguments must have the type starpu_tag_t: cast constants. */
void starpu_tag_declare_deps(starpu_tag_t id, unsigned ndeps, ...);
void starpu_tag_declare_deps_array(starpu_tag_t id, unsigned ndeps, starpu_tag_t *array);

/* Wait until the task of the tag (each tag) has completed. 0, or -EDEADLK when called from a
 * kernel or a callback, where blocking is not allowed. */
int starpu_tag_wait(starpu_tag_t id);
int starpu_tag_wait_array(unsigned ntags, starpu_tag_t *id);

/* Prepare a tag that has completed (its task has, or the tag was notified) for another use: it is
 * incomplete again, and can get another task or be notified again. The tags that depended on it
 * still do, and it keeps its own dependencies: its next task waits for those that are restarted, in
 * any order, before it is submitted. Has no effect on a tag that has not completed. */
void starpu_tag_restart(starpu_tag_t id);
/* Free a tag and forget its dependencies in both directions. Tasks that still wait for it no longer
 * do. A tag whose task has not completed stays. */
void starpu_tag_remove(starpu_tag_t id);
/* Mark the tag as completed, as if its task had run; for events of the program. */
void starpu_tag_notify_from_apps(starpu_tag_t id);
/* Same, and restart the tag in the same step: tasks that wait for it now go on, later ones wait for
 * the next notification. */
void starpu_tag_notify_restart_from_apps(starpu_tag_t id);
/* The task of the tag, or NULL. */
struct starpu_task *starpu_tag_get_task(starpu_tag_t id);

/* Submit an empty task that carries sync_tag, depends on ndeps tags, and calls
 * callback(callback_arg) at its end; callback may be NULL. */
void starpu_create_sync_task(starpu_tag_t sync_tag, unsigned ndeps, starpu_tag_t *deps,
			     void (*callback)(void *), void *callback_arg);

/* The successors of a task that are submitted, as starpu_task_get_task_succs() gives all of them.
 */
int starpu_task_get_task_scheduled_succs(struct starpu_task *task, unsigned ndeps,
					 struct starpu_task *task_array[]);
/* Remove all tags as starpu_tag_remove() does, but for those of tasks that have not completed. */
void starpu_tag_clear(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
