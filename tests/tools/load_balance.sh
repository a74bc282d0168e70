# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The stencil with a slow rank: right with load balancing and without, in both
# worlds; in the simulated one at least 1.5 times as fast with it, and the same
# run twice takes the same time.
# orr-test: timeout 120
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
stencil=$ORR_TEST_BUILDDIR/examples/stencil_lb/stencil_lb

if [ "$ORR_TEST_MPI" = yes ]; then
	for n in 1 2 4; do
		ok "$ORRERY" run -n $n --oversubscribe "$stencil" -b 500 --slow 1 --check
		has out 'check: OK'
	done
	STARPU_MPI_LB=heat ok "$ORRERY" run -n 2 --oversubscribe "$stencil" --no-balance -b 5000 --slow 0 --check
	has out 'check: OK'
	if grep -q 'moved=0 ' out; then die "STARPU_MPI_LB did not start load balancing"; fi
fi
[ "$ORR_TEST_SIM" = yes ] || exit 0
sim() { ok "$ORRERY" sim --quiet --cpus 2 "$@" --check; has out 'check: OK'; sed -n 's/.*time_s=//p' out; }
for n in 1 3 9; do sim -n $n "$stencil.sim" --slow 1; done
with=$(sim -n 8 "$stencil.sim" --slow 3 --blocks 128)
again=$(sim -n 8 "$stencil.sim" --slow 3 --blocks 128)
without=$(sim -n 8 "$stencil.sim" --slow 3 --blocks 128 --no-balance)
[ "$with" = "$again" ] || die "the same run took $with s, then $again s"
[ "$("$PYTHON" -c "print($without >= 1.5 * $with)")" = True ] ||
	die "with load balancing it takes $with s, without $without s"
exit 0
