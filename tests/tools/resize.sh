#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Stencil and Cholesky grow and shrink while they run, and verify their results, in both worlds; both
# worlds move the same data and bytes, a larger simulated run ends sooner on more ranks, and wrong
# sizes end with a message. With a resource manager, processes join and leave.
# orr-test: timeout 200
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
examples=$ORR_TEST_BUILDDIR/examples
[ "$ORR_TEST_MPI$ORR_TEST_SIM" != nono ] || skip "no world with ranks"

# real N PROGRAM ARGS...: a real run; sim N PROGRAM ARGS...: a simulated one.
real() { n=$1 p=$2; shift 2; ok "$ORRERY" run -n $n --oversubscribe "$examples/$p/$p" "$@" --check; has out 'check: OK'; }
sim() { n=$1 p=$2; shift 2; ok "$ORRERY" sim --quiet --cpus 2 -n $n "$examples/$p/$p.sim" "$@" --check; has out 'check: OK'; }

# both N CHANGES PROGRAM ARGS...: in each world; they move the same.
both() {
	n=$1 changes=$2
	shift 2
	: > moved
	for world in real sim; do
		case $world$ORR_TEST_MPI$ORR_TEST_SIM in realno*|simyesno|simnono) continue ;; esac
		$world $n "$@"
		has out "_resize changes=$changes moved=[1-9]"
		grep '_resize' out >> moved
	done
	[ "$(sort -u moved | wc -l)" = 1 ] || die "the worlds differ: $(cat moved)"
}
both 4 4 cholesky -nt 12 -b 16 --sizes 2,4,1,3
both 4 5 cholesky -nt 9 -b 8 --sizes 1,2,3,2,4
both 4 4 stencil_lb --sizes 2,4,1,3 -b 200
both 3 3 stencil_lb --sizes 1,3,2 -b 50 --blocks 31 --niter 9

# elastic_sim PROGRAM ARGS..., elastic_real PROGRAM OPTION VALUES ARGS...: processes join and leave.
# In the simulated runs, rank 0 is among those that leave.
printf 'at 0.05 grow 2\nat 0.06 shrink 1\n' > real-script
printf 'at 0.003 grow 2\nat 0.01 leave node-0\nat 0.011 grow 1\n' > sim-script
elastic_sim() {
	p=$1
	shift
	ok "$ORRERY" sim --quiet -n 2 --cpus 2 --elastic --max 5 --scenario sim-script --cost-start 1000 --cost-start-each 100 \
		--cost-join 1000 --cost-leave 1000 --cost-switch 100 --cost-begin 100 "$examples/$p/$p.sim" --elastic --check "$@"
	has out 'check: OK'
	has out '_resize changes=3 moved=[1-9]'
	has out 'nodes=4'
}
elastic_real() {
	p=$1 option=$2 values=$3
	shift 3
	# Until the run is so long that processes start meanwhile, and that it has a point left at which the one that the second
	# change took out of use leaves.
	for value in $values; do
		ok "$ORRERY" run -n 2 --elastic --max 4 --manager script:real-script "$examples/$p/$p" --elastic --check $option $value "$@"
		has out 'check: OK'
		grep -q '_resize changes=2 moved=[1-9]' out && grep -q 'nodes=3' out && break
	done
	has out '_resize changes=2 moved=[1-9]'
	has out 'nodes=3'
}
if [ "$ORR_TEST_SIM" = yes ]; then
	elastic_sim cholesky -nt 32 -b 48
	elastic_sim stencil_lb -b 4000 --blocks 32 --niter 1000
fi
if [ "$ORR_TEST_MPI" = yes ]; then
	if [ "${ORR_TEST_ELASTIC-yes}" = yes ]; then # not every MPI lets processes come and go
		elastic_real cholesky -b '72 84 108 160' -nt 40
		elastic_real stencil_lb --niter '600 1000 2400 10000' -b 20000 --blocks 32
	fi
	fails 1 'does not run elastically' "$ORRERY" run -n 1 "$examples/cholesky/cholesky" --elastic
fi

if [ "$ORR_TEST_SIM" = yes ]; then
	sim 16 cholesky -nt 20 -b 16 --sizes 4,16,9
	seconds() { sim "$@"; sed -n 's/.*time_s=\([0-9.]*\).*/\1/p' out; }
	few=$(seconds 32 stencil_lb --blocks 256 --sizes 4)
	more=$(seconds 32 stencil_lb --blocks 256 --sizes 4,32)
	[ "$("$PYTHON" -c "print($more < 0.7 * $few)")" = True ] || die "4 ranks take $few s, 4 and then 32 take $more s"
	fails 1 '5 ranks cannot be in use: the communicator has 4' "$ORRERY" sim -n 4 "$examples/cholesky/cholesky.sim" --sizes 2,5
	fails 1 '[-]-sizes takes up to 16 numbers of ranks' "$ORRERY" sim -n 4 "$examples/stencil_lb/stencil_lb.sim" --sizes 2,,4
	for other in '--checkpoint 2' --elastic; do
		# shellcheck disable=SC2086
		fails 1 'sizes and --checkpoint exclude' "$ORRERY" sim -n 4 "$examples/cholesky/cholesky.sim" --sizes 2,4 $other
	done
fi
exit 0
