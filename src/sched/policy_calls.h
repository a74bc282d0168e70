/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Help for the functions that programs' policies call.
 *
 * Invariant: a number that names no worker is refused with a message. */
#ifndef ORR_SCHED_POLICY_CALLS_H
#define ORR_SCHED_POLICY_CALLS_H

struct orr_worker;

/* The worker of that number, or NULL after a message that begins with `what`. */
struct orr_worker *orr_policy_worker(int workerid, const char *what);

#endif
