# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery report`: the page of a run of either world has the sums of its trace, also where it is too
# small for single tasks, and where the run was killed; it loads nothing. Users' mistakes are named.
# `orrery explain` says the same with numpy, which the page needs, and without.
# orr-test: timeout 200
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
"$PYTHON" -c 'import numpy' 2> err || skip "no numpy"
tasks=$ORR_TEST_BUILDDIR/tests/mpi/trace_steps
d3=/usr/share/javascript/d3/d3.min.js
check() { ok "$PYTHON" -B "$ORR_TEST_SRCDIR/tests/tools/report.py" "$ORR_TEST_SRCDIR/tools" "$@"; cat out; }

# page OPTION...: a.html of the traces
page() {
	rm -f a.html
	ok "$ORRERY" report -o a.html "$@"
	has out '^a\.html \([0-9.]+ MB\)$'
}

traces=
if [ "$ORR_TEST_SIM" = yes ]; then
	ok "$ORRERY" sim -n 3 --trace s "$tasks.sim"
	ok "$ORRERY" sim -n 64 --kernels skip --trace c "$ORR_TEST_BUILDDIR/examples/cholesky/cholesky.sim" -nt 24
	fails 137 'ended by signal 9' "$ORRERY" sim -n 3 --trace k "$tasks.sim" killed
	ok "$ORRERY" sim -n 4 --trace i "$ORR_TEST_BUILDDIR/examples/stencil_lb/stencil_lb.sim"
	traces="$traces s c k i"
fi
if [ "$ORR_TEST_MPI" = yes ]; then
	ok "$ORRERY" run -n 3 --oversubscribe --trace r "$tasks"
	"$ORRERY" run --trace rk "$tasks" killed > out 2> err && die "it was not killed"
	traces="$traces r rk"
fi
for trace in $traces; do
	check --same "$trace"
done
fails 1 'libjs-d3' "$ORRERY" report --d3 nowhere.js "$ORR_TEST_SRCDIR/README.md"
fails 2 'which run' "$ORRERY" report
fails 2 'unknown option --magic' "$ORRERY" report --magic
[ -e "$d3" ] || skip "no D3 (Debian: libjs-d3), so no page"
for trace in $traces; do
	page "$trace"
	case $trace in
	k | rk)
		has err 'did not come to their end; the page says so'
		grep -q '"state":"the run was cut short' a.html || die "the page of $trace does not say that it was cut short" ;;
	*) grep -q '"state":null' a.html || die "the page of $trace says that it is not whole" ;;
	esac
	check a.html "$trace"
done
# shellcheck disable=SC2086
page $traces --title 'A <b> & "c"' --memo '</script>'
# shellcheck disable=SC2086
check a.html $traces
if [ "$ORR_TEST_SIM" = yes ]; then has a.html '"iterations 0 to [0-9]+",.*"outside of iterations"'; fi
if [ "$ORR_TEST_SIM" = yes ]; then check --hosts c i; fi
if [ "$ORR_TEST_MPI" = yes ]; then has a.html '"hosts":\["[^"]+"\]'; fi
has a.html '<title>A &lt;b&gt; &amp; &quot;c&quot;</title>'
if grep -q '</script>"' a.html; then die "a memo ends the data"; fi
# Two runs against each other: of the same program, of others, and simulated against real.
compare() {
	page --compare "$1" "$2"
	check a.html "$1" "$2"
	has out '^compared: [0-9]+ parts'
}
if [ "$ORR_TEST_SIM" = yes ]; then
	ok "$ORRERY" sim -n 3 --like ethernet-10 --trace t "$tasks.sim"
	compare s t
	compare t c
	compare s k
	fails 2 '--compare needs two runs, and there is one' "$ORRERY" report --compare s
	fails 2 '--compare needs two runs, and there are 3' "$ORRERY" report --compare s t c
	if [ "$ORR_TEST_MPI" = yes ]; then compare s r; fi
fi
if [ "$ORR_TEST_SIM" = yes ]; then
	# A page with room for a tenth of it: sums stay.
	ok "$PYTHON" -B -c '
import sys
sys.path.insert(0, sys.argv[1])
import orrery_report, types
orrery_report.TASKS, orrery_report.MESSAGES, orrery_report.PAIRS = 300, 200, 100
orrery_report.main(types.SimpleNamespace(settings={"version": "0"}), ["c", "-o", "a.html"])' "$ORR_TEST_SRCDIR/tools"
	check a.html c
	has out 'tasks in (2[0-9][0-9]|300) blocks, 200 of'
	grep -q '"[0-9]* of [0-9]* tasks are in blocks' a.html || die "the page does not say that there are blocks"
	# A file that was copied in part.
	for bytes in 2200001 3600000; do
		head -c "$bytes" c > cut
		page cut
		check a.html cut
	done
	echo '// version: "5.16"' > other.js
	fails 1 'is not D3 in version 3' "$ORRERY" report --d3 other.js c
	fails 2 '--size small: give a number' "$ORRERY" report --size small c
	fails 2 'nowhere is not a folder' "$ORRERY" report -o nowhere/a.html c
	head -c 4096 c > empty
	fails 1 'nothing to draw' "$ORRERY" report empty
fi
fails 1 'is not a trace' "$ORRERY" report "$ORR_TEST_SRCDIR/README.md"
fails 1 'No such file' "$ORRERY" report missing
