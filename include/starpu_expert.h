/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * For programs that drive the runtime by hand: waking workers and hooking into
 * idle progression.
 *
 * Invariant: nothing here is needed for correct execution; each call only makes
 * something happen earlier.
 */
#ifndef STARPU_EXPERT_H
#define STARPU_EXPERT_H

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Make every sleeping worker of this process look for work again. Any thread. */
void starpu_wake_all_blocked_workers(void);

/* From now on, workers without a task call func(arg), in each of their threads (one for all workers
 * of a process in a simulated run). func returns non-zero when there is nothing left to do: the
 * worker may sleep until it is woken. After 0 it is called again, some 20 microseconds later at
 * most. func must not wait; it may submit tasks. Call this before or after starpu_init();
 * starpu_shutdown() removes all hooks. Returns an id >= 0, -ENOMEM, or -EINVAL without func. */
int starpu_progression_hook_register(unsigned (*func)(void *arg), void *arg);
/* No call of the hook begins after this returns; one that is under way goes on. */
void starpu_progression_hook_deregister(int hook_id);

/* Same, for workers that do not wait for the data of a task either. */
int starpu_idle_hook_register(unsigned (*func)(void *arg), void *arg);
void starpu_idle_hook_deregister(int hook_id);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
