# SPDX-License-Identifier: LGPL-2.1-or-later
# orr-test: timeout 300
# orr-test: sanitizer none
#
# What `make fidelity` runs, at sizes that say nothing about accuracy: the table is complete and its numbers are finite, and
# a bar that is missed is told and makes the status 1.
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_MPI$ORR_TEST_SIM" = yesyes ] || skip "it takes both worlds"
fidelity="$PYTHON $ORR_TEST_SRCDIR/tests/fidelity/fidelity.py"

ok $fidelity --build "$ORR_TEST_BUILDDIR" --output table --tiny --rounds 1 --workers 1 --ranks 2 --bar node=1e9,1e9 --bar ranks=1e9,1e9
for line in 'cholesky +4 x 16 +1 worker ' 'lu +4 x 16 +1 worker ' 'stencil .* 1 worker ' 'cholesky +4 x 16 +2 ranks ' 'stencil .* 2 ranks '; do
	has out "^$line +[0-9.]+ +\([0-9.]+ \.\. [0-9.]+\) +[0-9.]+ +\([0-9.]+ \.\. [0-9.]+\) +[-+][0-9.]+$"
done
has out '^one node: median absolute error [0-9.]+ % \(bar: 1e\+09 %\)$'
has out '^several ranks: worst absolute error [0-9.]+ % \(bar: 1e\+09 %\)$'
"$PYTHON" - table/fidelity.csv <<'END' || die "the CSV is not what it should be"
import csv
import math
import sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert len(rows) == 6 and [r["ranks"] for r in rows] == ["1"] * 3 + ["2"] * 3, rows
for row in rows:
    numbers = [float(v) for k, v in row.items() if k.endswith("_s")]
    assert len(numbers) == 6 and all(math.isfinite(x) and x > 0 for x in numbers), row
    assert math.isfinite(float(row["error_percent"])) and row["runs"] == "1", row
END

$fidelity --judge table/fidelity.csv --bar node=0,0 > out && die "a bar that was missed is no failure"
has out 'MISSED$'
ok $fidelity --judge table/fidelity.csv --bar node=1e9,1e9 --bar ranks=1e9,1e9
fails 2 'no line of the table' $fidelity --build "$ORR_TEST_BUILDDIR" --only nothing
