# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The script of `make scaling`: every run has a line, a simulated one loses efficiency with the number of ranks, and the shares
# of the workers' time add up to all of it.
# orr-test: timeout 200
# orr-test: world sim
# orr-test: sanitizer none
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_SIM" = yes ] || skip "no simulated world"
ok "$PYTHON" "$ORR_TEST_SRCDIR/tests/bench/scaling.py" --build "$ORR_TEST_BUILDDIR" --only simulated --most 16
"$PYTHON" -c '
lines = [l.split() for l in open("out")][1:]
assert len(lines) == 12, lines
for l in lines:
    shares = [float(x) for x in l[-7:]]
    assert abs(sum(shares) - 100) < 1, l
    assert 0 < float(l[-8]) < 101, l
cholesky = [l for l in lines if l[:2] == ["cholesky", "strong"]]
assert float(cholesky[0][-8]) == 100 > float(cholesky[2][-8]), cholesky
assert float(cholesky[2][-6]) > 1, "no time is lost to messages on 16 ranks: %s" % cholesky[2]
' || die "the table is wrong: $(cat out)"
