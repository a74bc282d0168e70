/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Transactions: epochs of tasks that are cancelled together, decided just before the first of them
 * begins.
 *
 * Before each epoch stands a task without codelet, its gate. The gate of an epoch is submitted when
 * the epoch begins, and waits for the gate and all tasks of the epoch before. When it is over, the
 * program's function decides; the tasks of the epoch wait for that.
 *
 * Invariant: an epoch exists until the gate behind it is over, and so longer than its tasks look at
 * it. */
#ifndef ORR_CORE_TRANSACTION_H
#define ORR_CORE_TRANSACTION_H

#include "core/task/task.h"

/* A task of a transaction is being submitted, and nobody else has seen it: it enters the epoch that
 * is open. 0 or -ENOMEM. */
int orr_transaction_enter(struct orr_task *t);
/* The epoch of a task of a transaction is decided: is it cancelled? */
int orr_transaction_is_cancelled(const struct orr_task *t);

#endif
