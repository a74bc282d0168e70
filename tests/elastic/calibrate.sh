#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What processes cost that join and leave is measured by `orrery calibrate --elastic`, and `orrery sim --elastic --machine` uses it;
# options go before it, and a file that cannot be read is named.
# orr-test: timeout 120
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_MPI" = yes ] || skip "needs MPI"

fails 2 '[-]-elastic and --network measure different things' "$ORRERY" calibrate --elastic --network
fails 2 '[-]-rounds 0: expected a whole number, from 1 to 20' "$ORRERY" calibrate --elastic --rounds 0
ok "$ORRERY" calibrate --elastic -o machine --name here --rounds 1
has out '^machine/bus/here.elastic$'
for word in request start start_each join leave switch begin; do
	has machine/bus/here.elastic "^${word}_us [0-9.]+$"
done
[ "$(awk '/^start_(each_)?us/ { start += $2 } /^join_us|^switch_us/ { way += $2 } /^leave_us/ { leave = $2 }
	END { print (start > 1000) (way > 1000) (leave > 1000) }' machine/bus/here.elastic)" = 111 ] || die "$(cat machine/bus/here.elastic)"
[ "$ORR_TEST_SIM" = yes ] || exit 0

for f in "$ORR_TEST_SRCDIR"/platforms/machines/laptop8/bus/laptop8.*; do cp "$f" "machine/bus/here.${f##*.}"; done
program=$ORR_TEST_BUILDDIR/tests/elastic/sets.sim
start=$(sed -n 's/^start_us //p' machine/bus/here.elastic)
ok "$ORRERY" sim --show -n 2 --elastic --max 4 --machine machine/here "$program"
has out "--cost-start $start "
ok "$ORRERY" sim --show -n 2 --elastic --max 4 --machine machine/here --cost-start 7 "$program"
has out "--cost-start 7 "
if grep -q -e "--cost-start $start " out; then die "a cost that was given is replaced"; fi
ok "$ORRERY" sim --show -n 2 --machine machine/here "$program"
if grep -q "cost-start" out; then die "costs of processes in a run that does not change"; fi
echo 'start_us soon' > machine/bus/here.elastic
fails 1 'here.elastic:1: expected one of request_us' "$ORRERY" sim -n 2 --elastic --machine machine/here "$program"
exit 0
