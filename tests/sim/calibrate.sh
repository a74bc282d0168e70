#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# STARPU_CALIBRATE in a simulated run: said to have no effect, and has none, neither
# on the schedule nor on what is predicted nor on any file.
# orr-test: world sim
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"

cp -r "$ORR_TEST_SRCDIR/platforms/machines/quickstart" mine
chmod -R u+w mine
mv mine before && cp -r before mine
# factor VARIABLE=VALUE...: what the program says in out, the report without wall times, memory and environment in report
factor() {
	ok env "$@" STARPU_SCHED=dmda "$ORRERY" sim -n 2 --machine mine/quickstart --kernels skip --report r.json \
		"$ORR_TEST_BUILDDIR/examples/cholesky/cholesky.sim" -nt 6 -b 960
	sed '/wall_s/d; /peak_rss/d; /"environment":/d' r.json > report
}
factor STARPU_CALIBRATE=0
mv out out0 && mv report report0
! grep -q CALIBRATE err || die "a message about nothing"
for how in 1 2; do
	factor STARPU_CALIBRATE=$how
	cmp out out0 && cmp report report0 || { cat report0 report; die "STARPU_CALIBRATE=$how changes a simulated run"; }
	[ "$(grep -c "STARPU_CALIBRATE=$how has no effect in a simulated run" err)" = 1 ] || die "not said once: $(cat err)"
done
diff -r before mine || die "files of the machine were changed"
[ ! -e .starpu ] || die "models were written: $(find .starpu)"
