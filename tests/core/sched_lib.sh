#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# STARPU_SCHED_LIB: policies of a shared object, found by either of the two
# functions that it may define. Invariant: a library or a name that is not there
# is refused with a message that says which.
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"

command -v "${CC%% *}" > /dev/null || skip "needs a C compiler"

cat > policy.c << 'END'
#include <starpu.h>
#include <string.h>
static struct starpu_task_list list;
static starpu_pthread_mutex_t mutex = STARPU_PTHREAD_MUTEX_INITIALIZER;
static void init(unsigned ctx) { (void) ctx; starpu_task_list_init(&list); }
static int push(struct starpu_task *task)
{
	STARPU_PTHREAD_MUTEX_LOCK(&mutex);
	starpu_task_list_push_back(&list, task);
	STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
	return 0;
}
static struct starpu_task *pop(unsigned ctx)
{
	struct starpu_task *task;
	(void) ctx;
	STARPU_PTHREAD_MUTEX_LOCK(&mutex);
	task = starpu_task_list_empty(&list) ? NULL : starpu_task_list_pop_back(&list);
	STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
	return task;
}
#pragma GCC visibility push(default)
static struct starpu_sched_policy policy = { .init_sched = init, .push_task = push, .pop_task = pop, .policy_name = "mine" };
#ifdef ONE
struct starpu_sched_policy *starpu_get_sched_lib_policy(const char *name) { return strcmp(name, "mine") ? NULL : &policy; }
#endif
#ifdef ALL
static struct starpu_sched_policy *policies[] = { &policy, NULL };
struct starpu_sched_policy **starpu_get_sched_lib_policies(void) { return policies; }
#endif
END

program=$ORR_TEST_BUILDDIR/tests/core/sched_lib
for how in ONE ALL NONE; do
	ok $CC -pthread -fPIC -shared -D$how -I"$ORR_TEST_SRCDIR/include" -I"$ORR_TEST_BUILDDIR/include" policy.c -o "lib$how.so"
done
for how in ONE ALL; do
	STARPU_SCHED=mine STARPU_SCHED_LIB=$PWD/lib$how.so "$program" mine || die "the policy of lib$how.so does not work"
done
# A policy that walks through collections and wakes workers itself.
printf '#include "own_policy.h"\n#pragma GCC visibility push(default)\nstruct starpu_sched_policy *starpu_get_sched_lib_policy(const char *name) { (void) own_hold; return strcmp(name, "own") ? NULL : &own_policy; }\n' > own.c
ok $CC -std=gnu11 -pthread -fPIC -shared -I"$ORR_TEST_SRCDIR/tests/core" -I"$ORR_TEST_SRCDIR/include" -I"$ORR_TEST_BUILDDIR/include" own.c -o libOWN.so
STARPU_SCHED=own STARPU_SCHED_LIB=$PWD/libOWN.so "$program" own || die "the policy of libOWN.so does not work"
if [ "${ORR_TEST_SIM:-yes}" = yes ]; then
	STARPU_SCHED=own STARPU_SCHED_LIB=$PWD/libOWN.so ok timeout 60 "$ORRERY" sim -n 2 "$program.sim" own
fi
# Each simulated node has the policy's variables for itself.
if [ "${ORR_TEST_SIM:-yes}" = yes ]; then
	for n in 1 3; do
		STARPU_SCHED=mine STARPU_SCHED_LIB=$PWD/libONE.so ok timeout 60 "$ORRERY" sim -n $n "$program.sim" mine
		[ "$(sed -n 's/.*virtual time, \([0-9]*\) tasks.*/\1/p' err)" = $((100 * n)) ] || die "$n nodes: $(cat err)"
	done
	(cd / && LD_LIBRARY_PATH=$OLDPWD STARPU_SCHED=mine STARPU_SCHED_LIB=libALL.so "$ORRERY" sim -n 2 "$program.sim" mine) || die "a library found by name"
fi
# A name that we have wins over the library's.
STARPU_SCHED=prio STARPU_SCHED_LIB=$PWD/libONE.so "$program" prio || die "our policies cannot be chosen any more"

# refused TEXT NAME=VALUE...
refused() {
	text=$1
	shift
	status=0
	env "$@" "$program" > out 2>&1 || status=$?
	[ $status = 3 ] || die "status $status instead of an error of starpu_init with $*"
	grep -q "$text" out || die "no \"$text\" in: $(cat out)"
}
refused 'has no policy "yours"' STARPU_SCHED=yours "STARPU_SCHED_LIB=$PWD/libONE.so"
refused 'has no policy "yours"' STARPU_SCHED=yours "STARPU_SCHED_LIB=$PWD/libALL.so"
refused 'defines neither' STARPU_SCHED=mine "STARPU_SCHED_LIB=$PWD/libNONE.so"
refused 'libGONE.so' STARPU_SCHED=mine "STARPU_SCHED_LIB=$PWD/libGONE.so"
exit 0
