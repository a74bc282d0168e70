/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Transactions (see transaction.h).
 *
 * Invariant: epoch->waiting is empty once epoch->decided is set; one thread at a time opens epochs
 * of a transaction and submits tasks to it. */
#include "core/flow/transaction.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/worker/core.h"
#include "core/task/task_array.h"
#include "core/flow/task_state.h"

struct orr_trs_epoch {
	struct starpu_transaction *trs;
	struct orr_trs_epoch *before; /* freed when this one is decided */
	void *arg;                    /* of the program's function */
	int last;                     /* no epoch: its gate ends the transaction */
	int run;                      /* valid when decided */
	orr_lock_t lock;              /* protects the two that follow */
	int decided;
	struct orr_task_array waiting; /* tasks that wait for the decision */
};

struct starpu_transaction {
	int (*do_start)(void *buffer, void *arg);
	struct orr_trs_epoch *open; /* where tasks enter */
	struct starpu_task *gate;   /* of the epoch behind it, not submitted yet */
	struct orr_trs_epoch *next; /* that epoch */
};

/* The gate is over: the epoch is decided, or the transaction is at its end. */
static void decide(void *arg)
{
	struct orr_trs_epoch *e = arg;
	struct orr_task_array waiting;

	orr_assert_no_lock();
	orr_assertf(!e->decided && (!e->last || !e->waiting.n), "an epoch is decided twice");
	orr_assertf(!e->before || (e->before->decided && !e->before->waiting.n),
		    "an epoch is decided before the one before it");
	/* Its tasks and its gate were what this gate has waited for. */
	free(e->before);
	e->before = NULL;
	if (e->last) {
		free(e->trs);
		free(e);
		return;
	}
	e->run = e->trs->do_start(NULL, e->arg) != 0;
	orr_lock(&e->lock);
	e->decided = 1;
	waiting = e->waiting;
	memset(&e->waiting, 0, sizeof(e->waiting));
	orr_unlock(&e->lock);
	orr_assert_no_lock();
	for (unsigned i = 0; i < waiting.n; i++)
		orr_task_release(orr_task_array_get(&waiting, i));
	orr_task_array_free(&waiting);
}

/* Prepares the epoch behind the one that is open, and its gate. 0 or -ENOMEM. */
static int prepare(struct starpu_transaction *trs)
{
	struct orr_trs_epoch *e = calloc(1, sizeof(*e));
	struct starpu_task *gate = e ? starpu_task_create() : NULL;

	if (!gate) {
		free(e);
		return -1;
	}
	e->trs = trs;
	e->before = trs->open;
	orr_lock_init(&e->lock, ORR_RANK_TASK);
	gate->name = "start of an epoch";
	gate->epilogue_callback_func = decide;
	gate->epilogue_callback_arg = e;
	trs->gate = gate;
	trs->next = e;
	return 0;
}

/* Opens the epoch that was prepared, or ends the transaction. Another gate stands behind it from
 * now on, unless it is the end. */
static void advance(struct starpu_transaction *trs, void *arg, int last)
{
	struct starpu_task *gate = trs->gate;
	struct orr_trs_epoch *e = trs->next;

	orr_assertf(e->before == trs->open && !e->waiting.n && !e->decided,
		    "a transaction opens an epoch that was open");
	e->arg = arg;
	e->last = last;
	trs->open = e;
	if (!last) {
		if (prepare(trs))
			orr_fatal("out of memory for an epoch of a transaction");
		starpu_task_declare_deps_array(trs->gate, 1, &gate);
	}
	/* The last gate frees the transaction. */
	int ret = starpu_task_submit(gate);
	if (ret)
		orr_fatal("the start of an epoch of a transaction cannot be submitted: %s",
			  strerror(-ret));
}

struct starpu_transaction *starpu_transaction_open(int (*do_start_func)(void *buffer, void *arg),
						   void *do_start_arg)
{
	struct starpu_transaction *trs;

	if (ORR_ATOMIC_LOAD(&orr_self()->state) != ORR_PROCESS_UP || !do_start_func) {
		orr_error("starpu_transaction_open: %s",
			  do_start_func ? "call starpu_init first"
					: "a function must decide whether epochs start");
		return NULL;
	}
	trs = calloc(1, sizeof(*trs));
	if (!trs || prepare(trs)) {
		free(trs);
		orr_error("starpu_transaction_open: out of memory");
		return NULL;
	}
	trs->do_start = do_start_func;
	advance(trs, do_start_arg, 0);
	return trs;
}

void starpu_transaction_next_epoch(struct starpu_transaction *p_trs, void *do_start_arg)
{
	if (p_trs)
		advance(p_trs, do_start_arg, 0);
	else
		orr_error("starpu_transaction_next_epoch: the transaction is NULL");
}

void starpu_transaction_close(struct starpu_transaction *p_trs)
{
	if (p_trs)
		advance(p_trs, NULL, 1);
	else
		orr_error("starpu_transaction_close: the transaction is NULL");
}

/* ---- tasks ---- */

int orr_transaction_enter(struct orr_task *t)
{
	struct starpu_transaction *trs = t->pub->transaction;
	struct orr_trs_epoch *e = trs->open;
	int ret = 0;

	t->pub->trs_epoch = e;
	orr_lock(&e->lock);
	if (!e->decided) {
		ret = orr_task_array_add(&e->waiting, t);
		if (!ret)
			ORR_ATOMIC_ADD(&t->owner.ndeps, 1);
	}
	orr_unlock(&e->lock);
	if (!ret)
		starpu_task_declare_deps_array(trs->gate, 1, &t->pub);
	return ret;
}

int orr_transaction_is_cancelled(const struct orr_task *t)
{
	const struct orr_trs_epoch *e = t->pub->trs_epoch;

	orr_assertf(e && e->decided, "task %s begins before its epoch is decided",
		    orr_task_name(t->pub));
	return !e->run;
}
