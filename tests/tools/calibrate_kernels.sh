# SPDX-License-Identifier: LGPL-2.1-or-later
# orr-test: timeout 300
#
# `orrery calibrate --kernels`: what is made of runs whose answer is known, the file
# that it writes of a real program, which simulations read, and what it refuses.
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"

PYTHONPATH=$ORR_TEST_SRCDIR/tools "$PYTHON" -B - <<'END' || die "known runs are not understood"
import types
import orrery_contention as c
from orrery_cli import UserError

def task(number, name, start, end):
    return types.SimpleNamespace(key=(0, number), rank=0, name=name.lower(), model=name if name.isupper() else None, submit=number, start=start * 1000, end=end * 1000)

def run(*tasks):
    return c.executions(types.SimpleNamespace(tasks={i: task(i, *t) for i, t in enumerate(tasks)}))

# Half of it beside one of its kind, a quarter beside another one.
one = run(("a", 0, 100), ("a", 50, 150), ("b", 25, 50))
assert [(e.name, e.place, e.us) for e in one] == [("a", 0, 100), ("a", 1, 100), ("b", 0, 25)], one
assert abs(one[0].company - 1.75) < 1e-12 and abs(one[0].own - 2 / 3) < 1e-12, one
assert abs(one[1].company - 1.5) < 1e-12 and one[1].own == 1 and one[2].company == 2 and one[2].own == 0, one
assert c.executions(types.SimpleNamespace(tasks={})) == []
assert [e.name for e in run(("MODEL", 0, 1), ("a", 1, 2))] == ["MODEL", "a"]

# Tasks of two sizes, one after the other alone, and beside each other twice as long each: sizes do not matter.
alone = run(*[("a", 100 * i, 100 * i + (10 if i < 3 else 50)) for i in range(6)])
beside = run(*[("a", 1000 * (i // 2), 1000 * (i // 2) + (20 if i < 3 else 100)) for i in range(6)])
found, said = c.curves({1: [alone], 2: [beside]})
assert found == {"a": [(2, c.Slowdown(2.0, 2.0, 2.0, 5))]}, found  # of the last of the small ones a fifth was beside another
# Medians over the runs; a kernel that is too seldom beside others; a slowdown does not fall.
fast = run(*[("a", 1000 * (i // 2), 1000 * (i // 2) + (15 if i < 3 else 75)) for i in range(6)])
found, said = c.curves({1: [alone] * 3, 2: [beside, beside, fast]})
assert found["a"] == [(2, c.Slowdown(2.0, 1.5, 2.0, 15))], found
found, said = c.curves({1: [alone], 2: [alone]})
assert found == {} and said == ["a with 2 workers: 0 of its 6 executions had 2 kernels at once, which is too few"], said
three = run(*[("a", 1000 * (i // 3), 1000 * (i // 3) + (15 if i < 3 else 75)) for i in range(6)])
found, said = c.curves({1: [alone], 2: [beside], 3: [three]})
assert [(n, s.value) for n, s in found["a"]] == [(2, 2.0), (3, 2.0)] and "0.75 times the time of fewer" in said[0], (found, said)
# The company of others is told.
mixed = run(*[("ab"[i % 2], 1000 * (i // 2), 1000 * (i // 2) + 20) for i in range(12)])
both = run(*[("ab"[i % 2], 100 * i, 100 * i + 10) for i in range(12)])
found, said = c.curves({1: [both], 2: [mixed]})
assert [found[k][0][1].value for k in "ab"] == [2.0, 2.0] and said[0] == "a with 2 workers: 0 % of those beside it were of its own kind; the others are counted as if they were", said
# Runs that do not have the same tasks.
found, said = c.curves({1: [both], 2: [mixed + mixed[:1]]})
assert "its tasks are not the same in each run" in said[0] and found["a"][0][1].value == 2, said

assert c.numbers_of_workers(None, 12) == [1, 2, 4, 8, 12] and c.numbers_of_workers(None, 2) == [1, 2]
assert c.numbers_of_workers("4,2", 8) == [1, 2, 4]
assert c.fits("a b: c") and not any(map(c.fits, ("", " a", "#a", "a\nb")))
END

ok "$PYTHON" -c 'import sys; sys.path.insert(0, sys.argv[1]); import orrery_run; print(orrery_run.usable_cores())' "$ORR_TEST_SRCDIR/tools"
cores=$(cat out)
stencil=$ORR_TEST_BUILDDIR/examples/stencil/stencil

fails 2 '--kernels measures those of a program; give it behind' "$ORRERY" calibrate --kernels
fails 2 '--kernels measures those of a program' "$ORRERY" calibrate --kernels --
fails 2 'true: a program only goes with --kernels' "$ORRERY" calibrate -- true
fails 2 '--workers only goes with --kernels' "$ORRERY" calibrate --workers 2
fails 2 '--elastic and --kernels measure different things' "$ORRERY" calibrate --kernels --elastic -- true
fails 2 '--cpus does not go with --kernels' "$ORRERY" calibrate --kernels --cpus 2 -- true
fails 2 '--rounds 0: expected a whole number' "$ORRERY" calibrate --kernels --rounds 0 -- true
place() { "$ORRERY" calibrate --kernels -o place --name box "$@"; }
fails 2 'no such program' place -- ./nothing
fails 2 '--workers 2,x: expected whole numbers' place --workers 2,x -- true
fails 2 "--workers $((cores + 1)): only $cores core" place --workers $((cores + 1)) -- true
fails 1 'kernels beside each other need two cores' place --workers 1 -- true
[ "$cores" -gt 1 ] || skip "kernels beside each other need two cores"
fails 1 'true recorded nothing; it has to be a program of Orrery' place --workers 2 -- true
fails 1 'false failed with exit status 1' place --workers 2 -- false
if [ -e place/bus/box.contention ]; then die "a file of nothing"; fi
[ "$ORR_TEST_MPI" = yes ] || exit 0

mkdir -p place/bus
printf '# of another program\ncontention 1\n# other: by hand\nother kernel: 2 1.5 4 2\norrery_stencil_update: 2 7\n' > place/bus/box.contention
printf '%s # Number of CPUs\n' "$cores" > place/bus/box.config
STARPU_SILENT=1 ok place --workers 2 --rounds 2 -- "$stencil" -nx 4 -ny 4 -b 256 --niter 30
cat place/bus/box.contention
[ "$(cat out)" = place/bus/box.contention ] || die "the file is not named"
has err 'orrery_stencil_update: [0-9.]+ times the time alone with 2 workers$'
has place/bus/box.contention '^contention 1$'
has place/bus/box.contention '^# other: by hand$'
has place/bus/box.contention '^other kernel: 2 1.5 4 2$'
has place/bus/box.contention '^orrery_stencil_update: 2 [1-9][0-9.]*$'
[ "$(grep -c '^orrery_stencil_update' place/bus/box.contention)" = 1 ] || die "a curve twice"
has place/bus/box.contention '^# orrery_stencil_update: measured by `orrery calibrate --kernels -- .*stencil -nx 4'
has place/bus/box.contention '^#   2 workers: [0-9]+ executions, [0-9.]+ to [0-9.]+ in the runs$'
# The runs with one worker have calibrated its models.
[ -s place/codelets/45/orrery_stencil_update.box ] || die "the model was not calibrated"
ok "$ORRERY" machine place/box
has out '^	other kernel	2: 1.5, 4: 2$'

sed -i '/^# checksum/d' place/bus/box.contention
cp place/bus/box.contention before
echo 'more: 2 0.5' >> place/bus/box.contention
fails 1 'box.contention:[0-9]+: expected companies that rise' place --workers 2 --rounds 1 -- "$stencil" -nx 4 -ny 4 -b 256 --niter 10
has place/bus/box.contention '^more: 2 0.5$'
fails 1 'box.contention:[0-9]+: expected companies' "$ORRERY" machine place/box
cp before place/bus/box.contention

[ "$ORR_TEST_SIM" = yes ] || exit 0
us() { ok "$ORRERY" sim --kernels skip --report r.json --machine place/box --cpus 2 "$stencil.sim" -nx 4 -ny 4 -b 256 --niter 30; awk '/"makespan_s"/ { printf "%.0f", $2 * 1e9 }' r.json; }
rm place/bus/box.contention
plain=$(us)
printf 'contention 1\norrery_stencil_update: 2 1\norrery_stencil_init: 2 1\n' > place/bus/box.contention
[ "$(us)" = "$plain" ] || die "kernels that do not slow each other down: not $plain ns"
printf 'contention 1\norrery_stencil_update: 2 2\ninit: 2 2\n' > place/bus/box.contention
slow=$(us)
[ "$slow" -gt $((plain * 3 / 2)) ] || die "kernels that take twice the time beside each other: $slow ns, and $plain ns if they do not"
