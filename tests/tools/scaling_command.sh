# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery scaling`: a program on more and more nodes in both worlds, strong and weak; table, CSV and
# plot agree, and a run that fails has a message and no line.
# orr-test: timeout 200
# orr-test: debug none
# orr-test: sanitizer none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_SIM" = yes ] || skip "no simulated world"
cholesky=$ORR_TEST_BUILDDIR/examples/cholesky/cholesky
plot=--no-plot
"$PYTHON" -c 'import matplotlib' 2> err && plot=
ranks=none
if [ "$ORR_TEST_MPI" = yes ]; then ranks=1,2; fi
run='--oversubscribe'

# The words of $plot are split on purpose.
# shellcheck disable=SC2086
ok "$ORRERY" scaling $plot --nodes 1,4,16 --ranks $ranks --sim "--kernels skip" --run "$run" -o made "$cholesky" -nt 16 -b 64
has out '^strong scaling of cholesky$'
[ -s made/cholesky_scaling.csv ] || die "no CSV"
if [ -z "$plot" ]; then
	[ -s made/cholesky_scaling.png ] || die "no plot"
	head -c 5 made/cholesky_scaling.pdf | grep -q '%PDF-' || die "not a PDF file"
fi
cat > judge.py << 'END'
import csv
import sys

rows = list(csv.DictReader(open(sys.argv[1])))
kinds = [name for name in rows[0] if name.endswith("_percent") and name != "efficiency_percent"]
for world, nodes in (("simulated", [1, 4, 16]), ("real", [] if sys.argv[2] == "none" else [1, 2])):
    mine = [row for row in rows if row["world"] == world]
    assert [int(row["nodes"]) for row in mine] == nodes, (world, mine)
    for row in mine:
        n, first = int(row["nodes"]), mine[0]
        assert abs(sum(float(row[kind]) for kind in kinds) - 100) < 1, row
        assert abs(float(row["speedup"]) - float(first["seconds"]) / float(row["seconds"])) < 1e-4, row
        assert abs(float(row["efficiency_percent"]) - 100 * float(row["speedup"]) / n) < 1e-3, row
last = [row for row in rows if row["world"] == "simulated"][-1]
assert float(last["efficiency_percent"]) < 100 and float(last["messages_percent"]) > 1, last
END
ok "$PYTHON" judge.py made/cholesky_scaling.csv $ranks

# Weak: the size grows with n, and the efficiency is of the same work for each node.
ok "$ORRERY" scaling --no-plot --nodes 1,8 --ranks none --sim "--kernels skip" --prefix weak "$cholesky.sim" -nt '{round(6*cbrt(n))}' -b 64
has out '^weak scaling of cholesky'
has out '^simulated +1 .* 100.0 .* -nt 6 -b 64$'
has out '^simulated +8 .* -nt 12 -b 64$'
has weak.csv '^simulated,8,-nt 12 -b 64,'
# The time that the program prints itself.
ok "$ORRERY" scaling --no-plot --nodes 1,4 --ranks none --sim "--kernels skip" --time 'time_s=([0-9.]+)' "$cholesky.sim" -nt 8 -b 64
has out '^simulated +4 '
has out 'of the time that --time .* finds; .*in the whole run$'

# Real runs can be repeated: the one with the median time counts. A simulation is done once.
cat > repeat.py << 'END'
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import orrery_scaling  # noqa: E402

for world, times, expected in (("real", [3, 9, 1, 4], 3), ("real", [5, 2, 8], 5), ("simulated", [7], 7), ("real", [1, None], None)):
    runner, left = orrery_scaling.Runner.__new__(orrery_scaling.Runner), list(times)
    runner.request = orrery_scaling.Request(["--repeat", str(max(1, len(times) if None not in times else 3)), "app"])
    runner.run = lambda *_: (lambda seconds: None if seconds is None else (seconds, {}))(left.pop(0))
    found = runner.median(world, 4, "")
    assert (found and found[0]) == expected and not left, (world, times, found)
END
ok "$PYTHON" repeat.py "$ORR_TEST_SRCDIR/tools"
fails 2 '--repeat 0: it takes a positive number of runs' "$ORRERY" scaling --repeat 0 "$cholesky.sim"

# An option behind the program is the program's; a run that fails says so, once.
fails 1 "orrery scaling: --nodes stands behind PROGRAM, so the program got it; options of .orrery scaling' come before PROGRAM" \
	"$ORRERY" scaling --no-plot --nodes 1,2 --ranks none --sim "--kernels skip" "$cholesky.sim" -nt 8 -b -1 --nodes 1,4
[ "$(grep -c 'orrery scaling: .*stands behind' err)" = 1 ] || die "not once"
fails 1 "orrery sim: --n stands behind PROGRAM" "$ORRERY" sim --kernels skip "$cholesky.sim" -nt 8 -b -1 --n 4
ok "$ORRERY" sim --kernels skip "$cholesky.sim" -nt 8 -b 64
fails 2 '-o /proc/m: this folder cannot be made .*choose another place' "$ORRERY" scaling --no-plot -o /proc/m "$cholesky.sim"

fails 1 '4 nodes: exit status [0-9]+: ' "$ORRERY" scaling --no-plot --nodes 1,4 --ranks none --sim "--kernels skip" "$cholesky.sim" -nt 8 -b '{64 - 32 * (n - 1)}'
has err '^    to repeat it: orrery sim -n 4 --kernels skip .*/cholesky.sim -nt 8 -b -32$'
# The cause, not the last line; and not Orrery's summary for output of the program.
fails 1 '2 nodes: exit status [0-9]+: .*no scheduling policy "lsw"; is lws' env STARPU_SCHED=lsw "$ORRERY" scaling --no-plot --nodes 2 --ranks none "$cholesky.sim"
fails 1 '1 nodes: --time finds no number .* own output; it matches Orrery.s summary' \
	"$ORRERY" scaling --no-plot --nodes 1 --ranks none --time 'took ([0-9.]+)' "$cholesky.sim" -nt 4 -b 16
fails 1 '1 nodes: --time finds no number' "$ORRERY" scaling --no-plot --nodes 1 --ranks none --time 'nowhere ([0-9]+)' "$cholesky.sim" -nt 4 -b 16
fails 1 '1 nodes: no end within 1 s' "$ORRERY" scaling --no-plot --nodes 1 --ranks none --limit 1 "$cholesky.sim" -nt 40 -b 256
fails 2 '\{nodes\}: \{nodes\} is no number for n = 1: it has something other than n' "$ORRERY" scaling "$cholesky.sim" -nt '{nodes}'
fails 2 'is no number for n = 1: ' "$ORRERY" scaling "$cholesky.sim" -nt '{9**9**9}'
fails 2 '--nodes 1,x: it takes positive whole numbers' "$ORRERY" scaling --nodes 1,x "$cholesky.sim"
fails 2 'there is neither nothing for the real world nor nothing.sim' "$ORRERY" scaling nothing
fails 2 'unknown option --kernels.*--sim' "$ORRERY" scaling --kernels skip "$cholesky.sim"
