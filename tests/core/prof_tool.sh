#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# STARPU_PROF_TOOL: a shared object is told of the start and the end, of workers, of kernels, and of
# transfers. Invariant: what begins ends, and each kernel and each transfer is told once.
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"

command -v "${CC%% *}" > /dev/null || skip "needs a C compiler"

cat > tool.c << 'END'
#include <starpu.h>
#include <starpu_profiling_tool.h>
#include <stdio.h>
static unsigned long n[starpu_prof_tool_event_user_end + 1], bytes, off;
static void *kernel;
static void count(struct starpu_prof_tool_info *i, union starpu_prof_tool_event_info *e, struct starpu_prof_tool_api_info *a)
{
	(void) a;
	if (e->event_type != i->event_type || i->starpu_version[0] != 1 || !i->conf)
		printf("wrong information\n");
	__atomic_add_fetch(&n[i->event_type], 1, __ATOMIC_SEQ_CST);
	if (i->event_type == starpu_prof_tool_event_end_transfer)
		__atomic_add_fetch(&bytes, i->bytes_transfered, __ATOMIC_SEQ_CST);
	if (i->event_type == starpu_prof_tool_event_start_cpu_exec) {
		kernel = i->fun_ptr;
		if (i->worker_id < 0 || i->memnode != 0)
			printf("wrong worker\n");
	}
	if (i->event_type != starpu_prof_tool_event_terminate)
		return;
	printf("tool %p:", kernel);
	for (int k = 1; k <= starpu_prof_tool_event_end_transfer; k++)
		printf(" %lu", n[k]);
	printf(", %lu bytes, %lu\n", bytes, off);
}
static void never(struct starpu_prof_tool_info *i, union starpu_prof_tool_event_info *e, struct starpu_prof_tool_api_info *a)
{
	(void) i; (void) e; (void) a;
	off++;
}
#pragma GCC visibility push(default)
#ifndef NONE
void starpu_prof_tool_library_register(starpu_prof_tool_entry_register_func reg, starpu_prof_tool_entry_register_func unreg)
{
	enum starpu_prof_tool_event k;
	for (k = starpu_prof_tool_event_init; k <= starpu_prof_tool_event_user_end; k++)
		reg(k, count, starpu_prof_tool_command_reg);
	/* Switched off in three ways. */
	reg(starpu_prof_tool_event_start_cpu_exec, never, starpu_prof_tool_command_reg);
	unreg(starpu_prof_tool_event_start_cpu_exec, never, starpu_prof_tool_command_reg);
	reg(starpu_prof_tool_event_end_cpu_exec, never, starpu_prof_tool_command_reg);
	reg(starpu_prof_tool_event_end_cpu_exec, never, starpu_prof_tool_command_toggle);
	reg(starpu_prof_tool_event_init_end, never, starpu_prof_tool_command_toggle_per_thread);
	reg(1000, never, starpu_prof_tool_command_reg);
}
#endif
END

program=$ORR_TEST_BUILDDIR/tests/core/prof_tool
for how in ALL NONE; do
	ok $CC -pthread -fPIC -shared -D$how -I"$ORR_TEST_SRCDIR/include" -I"$ORR_TEST_BUILDDIR/include" tool.c -o "lib$how.so"
done

# told FILE WORKERS TRANSFERS BYTES HOW-OFTEN: init, terminate, init_begin, init_end, four of each
# worker, kernels and transfers.
told() {
	[ "$(grep -c "kernel 0x" "$1")" = "$5" ] || die "not $5 kernels in: $(cat "$1")"
	for kernel in $(sed -n 's/.*kernel \(0x[0-9a-f]*\).*/\1/p' "$1"); do
		grep -q "tool $kernel: 1 1 1 1 $2 $2 $2 $2 50 50 0 0 $3 $3, $4 bytes, 0" "$1" || die "workers $2, transfers $3: $(cat "$1")"
	done
}
STARPU_PROF_TOOL=$PWD/libALL.so ok "$program"
told out 2 0 0 1
[ "$(grep -c 'is refused' err)" = 2 ] || die "two calls of reg are mistakes: $(cat err)"
ORRERY_FAKE_DEVICES=1 STARPU_PROF_TOOL=$PWD/libALL.so ok "$program"
told out 3 1 4000 1
if [ "${ORR_TEST_SIM:-yes}" = yes ]; then
	STARPU_PROF_TOOL=$PWD/libALL.so ok timeout 60 "$ORRERY" sim -n 3 "$program.sim"
	told out 2 0 0 3
fi

# refused TEXT LIBRARY
refused() {
	status=0
	STARPU_PROF_TOOL=$2 "$program" > out 2>&1 || status=$?
	[ $status = 3 ] || die "status $status instead of an error of starpu_init with $2"
	grep -q "$1" out || die "no \"$1\" in: $(cat out)"
}
refused 'does not define starpu_prof_tool_library_register' "$PWD/libNONE.so"
refused 'libGONE.so' "$PWD/libGONE.so"
exit 0
