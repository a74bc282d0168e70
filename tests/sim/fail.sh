# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Failures of simulated nodes: the run starts again from its last checkpoint, its
# result is right, and the makespan has the work that was lost and the delays; the
# same seed gives the same times, and shorter periods lose less.
# orr-test: timeout 240
# orr-test: waits
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_SIM" = yes ] || skip "needs the simulated world"
stencil=$ORR_TEST_BUILDDIR/examples/stencil/stencil.sim
sim="$ORRERY sim -n 4 --cpus 2 --report r.json"
# number KEY: of the report.
number() { "$PYTHON" -c "import json; print(json.load(open('r.json'))['$1'])"; }
# true EXPRESSION, of Python.
true_is() { [ "$("$PYTHON" -c "print(bool($1))")" = True ] || die "$1"; }
# run OPTIONS -- PERIOD: the stencil, which must give the right result; makespan and restarts.
run() { ok $sim "$@" "$stencil" -nx 6 -ny 6 -b 32 --niter 120 --checkpoint "$period" --check; has out 'check: OK'; time=$(number makespan_s); }

# Without failures, but with files.
period=10
export ORRERY_CHECKPOINT_DIR=$PWD/saved
run
unset ORRERY_CHECKPOINT_DIR
plain=$time
half=$("$PYTHON" -c "print($plain / 2)")
late=$("$PYTHON" -c "print($plain * 0.9)")
run --fail "1@$half" --restart-delay 1
[ "$(number failures)" = 1 ] || die "there should have been one restart"
has out 'goes on from checkpoint'
has err "node 1 fails after"
true_is "$half + 1 < $time < 1.01 * $plain + $half + 1"
once=$time
run --fail "1@$half" --restart-delay 1
true_is "$time == $once"

# Without a complete checkpoint all of it is done again.
period=119
few=$("$PYTHON" -c "print($half / 10)")
run --fail "0@$few"
if grep -q 'goes on from' out; then die "there was no checkpoint yet"; fi
again=$time
run --fail "0@100"
true_is "abs($again - $time - $few) < 1e-6"

# Several failures, one of them during the delay of another one.
period=10
run --fail "3@$half" --fail "2@$("$PYTHON" -c "print($half + 0.5)")" --restart-delay 1
[ "$(number failures)" = 1 ] || die "the second failure only makes the delay begin anew"
true_is "$half + 1.5 < $time"
run --fail "3@$half" --fail "2@$late"
[ "$(number failures)" -ge 1 ] || die "no restart"

# At random, by the seed.
mtbf=$("$PYTHON" -c "print($plain * 2)")
run --mtbf "$mtbf" --seed 7
first=$time restarts=$(number failures)
run --mtbf "$mtbf" --seed 7
true_is "$time == $first"
[ "$restarts" -ge 1 ] || die "no node failed in a run of half of their mean time"

fails 2 'only 4 nodes' $sim --fail 4@1 "$stencil"
fails 2 'expected NODE@TIME' $sim --fail soon "$stencil"
fails 2 'give --fail or --mtbf' $sim --restart-delay 1 "$stencil"
fails 1 'giving up after 0 restarts' $sim --restarts 0 --fail "1@$few" "$stencil" -nx 6 -ny 6 -b 32 --niter 120
exit 0
