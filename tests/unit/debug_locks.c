/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A debug build notices locks that are taken against their order, released by others than their
 * holders, used before they were initialised, or held across a wait; and leaves alone what the
 * order allows.
 *
 * Invariant: each mistake is made in a child of its own. */
#include <pthread.h>
#include "base/process.h"
#include "debug_child.h"

#ifndef ORR_DEBUG
int main(void)
{
	puts("SKIP: this is not a debug build");
	return 77;
}
#else

static orr_lock_t process = ORR_LOCK_INIT(PROCESS), memnode = ORR_LOCK_INIT(MEMNODE),
		  memnode2 = ORR_LOCK_INIT(MEMNODE), none;
static orr_lock_t handle[40]; /* more than a thread's list has places for */

static void against_the_order(void)
{
	orr_lock(&memnode);
	orr_lock(&process);
}

static void below_a_lock_taken_earlier(void)
{
	orr_lock(&memnode);
	orr_trylock(&handle[1]);
	orr_lock(&process); /* above the handle only */
}

static void equals_together(void)
{
	orr_lock(&memnode);
	orr_lock(&memnode2);
}

static void handles_downwards(void)
{
	orr_lock(&handle[1]);
	orr_lock(&handle[0]);
}

static void twice(void)
{
	orr_lock(&process);
	orr_lock(&process);
}

static void tried_twice(void)
{
	orr_lock(&handle[0]);
	orr_trylock(&handle[0]);
}

static void not_held(void)
{
	orr_unlock(&process);
}

static void *take_process(void *arg)
{
	orr_lock(&process);
	return arg;
}

static void held_by_another(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, take_process, NULL);
	pthread_join(thread, NULL);
	orr_unlock(&process);
}

static void never_initialised(void)
{
	orr_lock(&none);
}

static void asleep_with_a_lock(void)
{
	orr_lock(&process);
	orr_sys_sleep_us(1);
}

static void waits_with_a_lock(void)
{
	orr_waitq_t q;

	orr_waitq_init(&q);
	orr_lock(&handle[0]);
	orr_waitq_wait(&q, orr_waitq_prepare(&q), 1);
}

static void settles_with_a_lock(void)
{
	orr_lock(&handle[0]);
	orr_sys_settle(orr_thread_self());
}

static void asserted_and_not_held(void)
{
	orr_assert_locked(&process);
}

static void says_why(void)
{
	int answer = 41;

	orr_assertf(answer == 42, "the answer is %d", answer);
}

/* Locks that the order allows. */
static void allowed(void)
{
	unsigned n = sizeof(handle) / sizeof(handle[0]);

	orr_assert_no_lock();
	for (unsigned i = 0; i < n; i++)
		orr_lock(&handle[i]);
	orr_lock(&process);
	orr_lock(&memnode);
	for (unsigned i = 0; i < n; i += 2)
		orr_unlock(&handle[i]);
	orr_assert_locked(&handle[1]);
	orr_assert(!orr_lock_is_mine(&handle[2]));
	orr_assert(orr_trylock(&handle[2])); /* against the order, but without waiting */
	orr_unlock(&handle[2]);
	for (unsigned i = 1; i < n; i += 2)
		orr_unlock(&handle[i]);
	orr_unlock(&process);
	orr_unlock(&memnode);
}

static void all_given_back(void)
{
	orr_lock(&process);
	orr_trylock(&handle[3]);
	orr_unlock(&process);
	orr_unlock(&handle[3]);
	orr_assert_no_lock();
	orr_lock(&handle[3]);
	orr_lock(&process);
	orr_lock_abandon();
	orr_assert_no_lock();
	orr_lock(&process); /* free again */
	orr_unlock(&process);
}

int main(void)
{
	int ok = 1;

	for (unsigned i = 0; i < sizeof(handle) / sizeof(handle[0]); i++)
		orr_lock_init(&handle[i], ORR_RANK_HANDLE);
#define CAUGHT(mistake, expected) ok &= is_caught(#mistake, mistake, expected)
	CAUGHT(against_the_order, "PROCESS (orr_process.lock) is taken while MEMNODE");
	CAUGHT(below_a_lock_taken_earlier, "PROCESS (orr_process.lock) is taken while MEMNODE");
	CAUGHT(equals_together, "MEMNODE (orr_memnode.lock) is taken while MEMNODE");
	CAUGHT(handles_downwards, "lock order: HANDLE");
	CAUGHT(twice, "PROCESS is taken by the thread that holds it");
	CAUGHT(tried_twice, "HANDLE is tried by the thread that holds it");
	CAUGHT(not_held, "PROCESS (orr_process.lock) is released by a thread that does not");
	CAUGHT(held_by_another, "PROCESS (orr_process.lock) is released by a thread that does not");
	CAUGHT(never_initialised, "has no rank");
	CAUGHT(asleep_with_a_lock, "no lock is held: PROCESS");
	CAUGHT(waits_with_a_lock, "no lock is held: HANDLE");
	CAUGHT(settles_with_a_lock, "no lock is held: HANDLE");
	CAUGHT(asserted_and_not_held, "orr_lock_is_mine(&process)");
	CAUGHT(says_why, "says_why: answer == 42: the answer is 41");
	allowed();
	all_given_back();
	return !ok;
}
#endif
