# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A real program that waits for what never comes ends with a message that names the tasks and their
# dependencies; one that something may still go on with is left alone, as with
# ORRERY_STALL_TIMEOUT=0.
# orr-test: timeout 180
# orr-test: waits
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
program=$ORR_TEST_BUILDDIR/tests/real/stuck
ORRERY_STALL_TIMEOUT=300000
export ORRERY_STALL_TIMEOUT

# stuck CASE PATTERN...: it ends with a status that is not 0, and says all that.
stuck() {
	what=$1
	shift
	timeout 60 "$program" "$what" > out 2> err
	status=$?
	[ $status != 0 ] && [ $status != 124 ] || die "$what: status $status: $(cat err)"
	has err 'error: .* waits for ever: all 2 workers sleep'
	for pattern in "$@"; do has err "$pattern"; done
}
# The sanitizer for threads has one of its own, so that nobody is sure.
case ${ORR_TEST_SANITIZER:-no} in *thread*) ;; *)
	stuck circle 'starpu_task_wait_for_all waits' 'task hen .*blocked, 1 dependencies missing' 'task egg .*blocked'
	stuck chain 'task first .*blocked; before task second .*, 1 dep' 'task third .*blocked'
	stuck task 'starpu_task_wait waits' 'task second .*; before task third'
	stuck tag 'starpu_tag_wait waits'
	stuck datum 'task reader .*blocked'
	;;
esac
for what in thread timer kernel callback busy; do ok timeout 60 "$program" "$what"; done
ORRERY_STALL_TIMEOUT=0 timeout 2 "$program" tag > out 2> err
[ $? = 124 ] || die "it ends although nobody watches: $(cat err)"
[ ! -s err ] || die "it says: $(cat err)"
echo "what cannot advance is told"
