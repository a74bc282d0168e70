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

/* Call func(arg) from workers that have nothing to execute now, in each of their threads (one for
 * all workers of a process in a simulated run), also before starpu_init. Non-zero from func:
 * nothing left to do, the worker may sleep until it is woken. 0: it is called again, at the latest
 * some 20 microseconds after. func must not wait; it may submit tasks. starpu_shutdown drops what
 * is still registered. Returns an id >= 0, -ENOMEM, or -EINVAL without func. */
int starpu_progression_hook_register(unsigned (*func)(void *arg), void *arg);
/* The hook is not called any more once this returns, unless a call of it is under way. */
void starpu_progression_hook_deregister(int hook_id);

/* Same, for workers that do not wait for the data of a task either. */
int starpu_idle_hook_register(unsigned (*func)(void *arg), void *arg);
void starpu_idle_hook_deregister(int hook_id);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
