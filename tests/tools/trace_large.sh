# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The bench of traces of many nodes (tests/bench/trace_large.sh), with 300 nodes: the file stays within its limit, the virtual
# time is that of a run without a trace, and explain and report read the file, within seconds. Another time is told.
# orr-test: sim
# orr-test: timeout 240
# orr-test: debug none
# orr-test: sanitizer none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ -x /usr/bin/time ] || skip "no /usr/bin/time"
"${PYTHON:-python3}" -c 'import numpy' 2> err || skip "no numpy"
export TMPDIR=$PWD/bench ORR_BENCH_NODES=300 ORR_BENCH_TILES=48 ORR_BENCH_LIMIT=8M
bench() { rm -rf "$TMPDIR"; mkdir "$TMPDIR"; }
bench
ok sh "$ORR_TEST_SRCDIR/tests/bench/trace_large.sh"
has out 'recorded, explained and drawn: .*: met'
has out '^\.\.\. memory .*: met'
has bench/out.explain 'simulated run of 300 ranks'
has bench/out.explain 'of the path is recorded'
# A command that changes virtual times when it records does not pass.
cat > changes << 'END_OF_SH'
#!/bin/sh
case "$*" in *--trace-limit*) "$REAL" "$@" | sed 's/time_s=/time_s=9/' ;; *) exec "$REAL" "$@" ;; esac
END_OF_SH
chmod +x changes
REAL=$ORRERY
export REAL
bench
if ORRERY=$PWD/changes sh "$ORR_TEST_SRCDIR/tests/bench/trace_large.sh" > out 2>&1; then die "another virtual time passes"; fi
has out 'virtual times: CHANGED'
