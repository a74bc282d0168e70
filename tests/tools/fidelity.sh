# SPDX-License-Identifier: LGPL-2.1-or-later
# orr-test: timeout 600
# orr-test: sanitizer none
#
# What `make fidelity` runs, at sizes that say nothing about accuracy: the table is complete and its numbers are finite, and
# a bar that is missed is told and makes the status 1.
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_MPI$ORR_TEST_SIM" = yesyes ] || skip "it takes both worlds"
fidelity="$PYTHON $ORR_TEST_SRCDIR/tests/fidelity/fidelity.py"

ok $fidelity --build "$ORR_TEST_BUILDDIR" --output table --tiny --rounds 1 --most-rounds 1 --workers 1 --ranks 2 --models share,queue --bar node=1e9,1e9 --bar ranks=1e9,1e9 --bar device=1e9,1e9
for line in 'cholesky +4 x 16 +1 worker ' 'lu +4 x 16 +1 worker ' 'stencil .* 1 worker ' 'cholesky +4 x 16 +2 ranks ' 'stencil .* 2 ranks '; do
	has out "^$line +[0-9.]+ +\([0-9.]+ \.\. [0-9.]+\) +[0-9.]+ +\([0-9.]+ \.\. [0-9.]+\) +[-+][0-9.]+ +\?$"
done
# Each model has a column and a median.
has out '^program +size +on +real ms +floor % +share +queue$'
[ "$(grep -E -c ' 2 ranks +[0-9.]+ +[?] +[-+][0-9.]+ +[-+][0-9.]+$' out)" = 3 ] || { cat out; die "no errors of three lines by model"; }
has out '^median absolute error +[0-9.]+ +[0-9.]+$'
# One run has no halves.
has out '^one node: median absolute error [0-9.]+ % \(bar: 1e\+09 %\) NOT JUDGED: the noise floor, \? %'
has out '^several ranks: worst absolute error [0-9.]+ % \(bar: 1e\+09 %\) NOT JUDGED'
"$PYTHON" - table/fidelity.csv <<'END' || die "the CSV is not what it should be"
import csv
import math
import sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert [r["ranks"] for r in rows if r["device"] == "0"] == ["1"] * 3 + ["2"] * 3, rows
assert [r["program"] for r in rows if r["device"] == "1"] in ([], ["cholesky", "stencil"]), rows
for row in rows:
    numbers = [float(v) for k, v in row.items() if k.endswith("_s")]
    assert len(numbers) == 6 and all(math.isfinite(x) and x > 0 for x in numbers), row
    assert math.isfinite(float(row["error_percent"])) and row["runs"] == "1", row
END

# line ERROR FLOOR [RANKS]: a line of a table, in per cent.
line() {
	simulated=$(awk "BEGIN { printf \"%.6f\", 1 + $1 / 100 }")
	echo "cholesky,16 x 128,${3-1},1,7,1.0,1.0,1.0,$simulated,$simulated,$simulated,$1,$2,${4-0}"
}
judge() {
	{ head -n 1 table/fidelity.csv; "$@"; } > judged.csv
	$fidelity --judge judged.csv > out
}
calm() { line 3 1; line 4 1; line 14 1; line 9 1 2; line 9 1 1 1; }
missed() { line 3 1; line 16 1; }
slow_device() { line 3 1; line 11 1 1 1; }
noisy() { line 3 1; line 4 1; line 60 8; line 12 6 2; }
hidden() { line 60 9; line 60 9; }
judge calm || die "bars that were kept are a failure: $(cat out)"
has out '^one node: worst absolute error 14.0 % \(bar: 15 %\)$'
has out '^OpenCL device: median absolute error 9.0 % \(bar: 10 %\)$'
judge slow_device && die "a bar of devices that was missed is no failure"
judge missed && die "a bar that was missed is no failure"
has out 'worst absolute error 16.0 % \(bar: 15 %\) MISSED$'
judge noisy || die "a bar that noise hides is a failure: $(cat out)"
has out '^one node: worst absolute error 4.0 % \(bar: 15 %\)$'
has out '^one node: not judged by the worst error, its noise floor is 8.0 %: cholesky 16 x 128, 1 worker$'
has out '^several ranks: median absolute error 12.0 % \(bar: 10 %\) NOT JUDGED: the noise floor, 6.0 %, is not below half of it$'
judge hidden || die "a bar that noise hides is a failure: $(cat out)"
has out '^one node: worst absolute error 60.0 % \(bar: 15 %\) NOT JUDGED'

# The floor, and the lines that get more rounds.
PYTHONPATH=$ORR_TEST_SRCDIR/tests/fidelity "$PYTHON" -B - <<'END' || die "the noise floor is not what it should be"
import fidelity
assert fidelity.noise_floor([2.0] * 7) == 0 and fidelity.noise_floor([2.0]) == float("inf")
assert abs(fidelity.noise_floor([1.0, 1.1]) - 200 * 0.1 / 2.1) < 1e-9
steady, wild = [1.0, 1.01] * 20, [1.0, 1.5] * 20
assert fidelity.noise_floor(steady) < 1 and fidelity.noise_floor(wild) > 10
assert fidelity.noise_floor(wild) == fidelity.noise_floor(wild)
cases = [fidelity.Case("lu", str(i), "", None) for i in range(3)]
for case, real in zip(cases, (steady, steady, wild)):
    case.real = real
assert fidelity.too_noisy(cases, fidelity.BARS) == cases[2:]
cases[1].real = [1.0, 1.06] * 20
assert fidelity.too_noisy(cases[1:], {"node": (2.0, None)}) == cases[1:]
assert fidelity.too_noisy(cases, {"node": (None, None), "ranks": (1.0, 1.0)}) == []
END
# Books of workers: a line for each world, and how they compare.
ok $fidelity --books --build "$ORR_TEST_BUILDDIR" --output table --tiny --rounds 1 --workers 1 --ranks 2
for world in real simul.; do
	[ "$(grep -E -c "^(cholesky|stencil) .* $world( +[0-9.]+){7}  [a-z]+; [a-z]+$" out)" = 4 ] || { cat out; die "no books of four lines"; }
done
[ "$(grep -E -c '^ +points( +[-+][0-9.]+){7}  (agree|DIFFER): [0-9.]+ points of [a-z]+ \(real runs: 0.0\)' out)" = 4 ] || { cat out; die "no differences of four lines"; }
has out '^books: [0-4] of 4 lines name the same largest cost, with shares within 5 points$'
PYTHONPATH=$ORR_TEST_SRCDIR/tests/fidelity "$PYTHON" -B - <<'END' || die "books are not compared as they should be"
import books
def book(**shares):
    return dict({kind: 0.0 for kind in books.KINDS}, **shares)
same = book(kernels=60.0, runtime=40.0)
assert books.compare(same, same)[0] == 0 and books.compare(same, same)[2:] == (True, True)
assert books.compare(same, book(kernels=54.0, runtime=46.0)) == (6.0, "kernels", True, True)
assert books.compare(same, book(kernels=49.0, runtime=51.0))[2:] == (False, True)
assert books.compare(same, book(kernels=60.0, data=40.0)) == (40.0, "data", True, False)
assert books.compare(book(kernels=98.0, idle=2.0), book(kernels=98.0, data=2.0)) == (2.0, "idle", True, None)
assert books.medians([book(kernels=k) for k in (1.0, 9.0, 2.0)])["kernels"] == 2.0
END
fails 2 'no line of the table' $fidelity --books --build "$ORR_TEST_BUILDDIR" --only nothing
fails 2 'no line of the table' $fidelity --build "$ORR_TEST_BUILDDIR" --only nothing
