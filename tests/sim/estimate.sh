#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery sim --estimate`: tasks and messages are those of the run that follows,
# and its memory is near what is said; a run that would not fit is not started; a
# program that needs other ranks is named.
# orr-test: world sim
# orr-test: timeout 120
# orr-test: sanitizer none
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
examples=$ORR_TEST_BUILDDIR/examples
stencil="$examples/stencil/stencil.sim -nx 40 -ny 40 -b 64 --niter 4"
cholesky="$examples/cholesky/cholesky.sim -nt 20 -b 64"

# estimated PROGRAM...: is estimated, and runs on 100 nodes.
estimated() {
	ok "$ORRERY" sim -n 100 --kernels skip --report r.json --estimate "$@"
	[ "$(grep -c 'estimate: 100 nodes' err)" = 1 ] || { cat err; die "no estimate"; }
	"${PYTHON:-python3}" - err r.json << 'P' || die "the estimate is far from the run: $*"
import json, re, sys
said = re.search(r"estimate: 100 nodes, (\S+) tasks and (\S+) messages take about (\S+) GB and (\S+) s here; at least (\S+) s", open(sys.argv[1]).read())
tasks, messages, gigabytes, seconds, makespan = map(float, said.groups())
r = json.load(open(sys.argv[2]))
print(said.group(0), r)
assert abs(tasks / r["tasks"] - 1) < 0.25 and abs(messages / r["messages"] - 1) < 0.25
assert 0.7 < gigabytes * 1e9 / r["peak_rss_bytes"] < 1.4
assert seconds > 0 and 0 < makespan < 1.01 * r["makespan_s"] + 1e-6
P
}
# shellcheck disable=SC2086
{
	estimated $stencil
	estimated $cholesky
	fails 1 'would not fit: it takes about [0-9.]+ GB of memory, but --memory allows 0.052 GB' \
		"$ORRERY" sim -n 100 --kernels skip --memory 50 --estimate $stencil
	[ ! -s out ] || die "a run that would not fit was started"
	ok "$ORRERY" sim -n 4 --quiet --estimate $stencil
	[ ! -s err ] || { cat err; die "an estimate although the run is to be quiet"; }
	fails 2 'leave it or --repeat out' "$ORRERY" sim -n 4 --estimate --repeat 3 $stencil
	fails 2 'leave it or --elastic out' "$ORRERY" sim -n 4 --elastic --estimate $stencil
}
fails 1 '--estimate: rank [0-9]+ alone ended with status [0-9]+: .*leave --estimate out' \
	"$ORRERY" sim -n 4 --estimate "$ORR_TEST_BUILDDIR/tests/mpi/ring_blocking.sim"
