# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Real ranks that all wait for what never comes: one of them says so, with the culprit first, within a screen, and
# the run ends. One that a thread, a timer, a kernel, MPI or a message on its way may still go on with is left alone.
# orr-test: timeout 240
# orr-test: waits
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_MPI" = yes ] || exit 77
program=$ORR_TEST_BUILDDIR/tests/real/stuck_ranks
ORRERY_STALL_TIMEOUT=100000 STARPU_NCPU=1
export ORRERY_STALL_TIMEOUT STARPU_NCPU

run() { timeout 60 "$ORRERY" run -n "$1" --oversubscribe "$program" "$2"; }

# stuck RANKS CASE LINE2 PATTERN...: it ends with status 1, and says all that; LINE2 comes behind the error.
stuck() {
	n=$1 what=$2 second=$3
	shift 3
	run "$n" "$what" > out 2> all
	status=$?
	without_launcher all > err
	[ $status = 1 ] || die "$what: status $status: $(cat err)"
	[ "$(grep -c 'nothing can act any more' err)" = 1 ] || die "$what: not told once: $(cat err)"
	has err "^.orrery.(.[0-9]+.)? error: nothing can act any more: $n of $n ranks wait for ever"
	# mpirun may put its own lines in between.
	grep '^  ' err | head -n 1 > second
	has second "$second"
	for pattern in "$@"; do has err "$pattern"; done
	[ "$(wc -l < err)" -le 24 ] || die "$what: more than a screen: $(cat err)"
}
# The sanitizer for threads has one of its own, so that nobody is sure.
case ${ORR_TEST_SANITIZER:-no} in *thread*) ;; *)
	stuck 2 circle 'ranks wait for each other in a circle: rank [01] for tag 7 of rank [01], rank [01] for tag 7 of rank [01]; none of these was sent' \
		'program waits in starpu_mpi_recv'
	# UCX may have a thread before main(), which is no thread of the program.
	cat > ucx.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>
static void *serve(void *arg)
{
	for (;;)
		pause();
	return arg;
}
static void __attribute__((constructor)) begin(void)
{
	pthread_t t;
	if (!pthread_create(&t, NULL, serve, NULL))
		pthread_setname_np(t, "fuse");
}
END
	if ${CC:-cc} -shared -fPIC ucx.c -o ucx.so -Wl,-soname,libucs_fuse.so.0 -pthread; then
		printf '#!/bin/sh\nLD_PRELOAD=%s exec "%s" "$@"\n' "$PWD/ucx.so" "$program" > beside_ucx
		chmod +x beside_ucx
		own=$program program=$PWD/beside_ucx
		stuck 2 circle 'ranks wait for each other in a circle'
		program=$own
	fi
	stuck 3 barrier 'rank 0 never sent tag 7, which rank 1 waits for ."value"' 'program waits in a barrier of all ranks'
	stuck 3 end 'rank 0 never sent tag 7, which rank 1 waits for ."value"' 'program waits in a call that all ranks make'
	stuck 2 synchronous 'rank 0 never sent tag 7, which rank 1 waits for ."value".; its message with tag 5 is there, and nobody asks for it'
	stuck 1 self 'rank 0 never sent tag 7, which rank 0 waits for|circle: rank 0 for tag 7 of rank 0'
	stuck 2 tags 'rank 0 waits' 'program waits in starpu_tag_wait'
	# Who has more to send than it says is not said to have sent nothing.
	stuck 2 many '2 ranks, as rank 0' 'program waits in starpu_mpi_wait_for_all'
	;;
esac
run 3 later > out 2> err || die "status $?: $(cat out err)"
if grep 'nothing can act' err; then die "a false alarm"; fi
has err '^unmatched at'
ORRERY_STALL_TIMEOUT=0 timeout 2 "$ORRERY" run -n 2 --oversubscribe "$program" circle > out 2> err
status=$?
[ $status = 124 ] || [ $status = 143 ] || die "it ends although nobody watches: status $status: $(cat err)"
if grep 'nothing can act' err; then die "it says although nobody watches"; fi
echo "what cannot advance is told, and nothing else"
