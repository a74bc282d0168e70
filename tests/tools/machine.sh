# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery machine` and starpu_machine_display, real and described machines; the
# gallery is complete and can be simulated; bad input.
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
display=$ORR_TEST_BUILDDIR/starpu_machine_display
gallery=$ORR_TEST_SRCDIR/platforms/machines

# ---- this machine ----
for command in "$display" "$ORRERY machine"; do
	STARPU_NCPU=1 ok $command --worker CPU --count --notopology
	[ "$(cat out)" = "1 CPU worker" ] || { cat out; die "not one worker: $command"; }
	STARPU_NCPU=1 ok $command
	has out '^1 CPU worker$'
	has out 'memory nodes'
	has out 'orrery calibrate'
	ok $command --worker cuda --count
	has out '^0 CUDA workers$'
	fails 2 'GPU: there are CPU, CUDA' $command --worker GPU
done
STARPU_NCPU=1 ORRERY_FAKE_DEVICES=2 ok "$display"
has out '^2 CUDA workers$'
fails 2 'see --help' "$display" --nonsense
fails 2 'options only' "$display" quickstart
fails 2 'run .orrery calibrate' "$display" --force
ok "$display" --info --notopology
has out '^directory: <'
has out '^bandwidth: <'
ok "$display" --version
has out 'Orrery'
fails 1 'standard output cannot be written' sh -c "'$display' --count > /dev/full"

if [ "$ORR_TEST_MPI" = yes ]; then
	STARPU_NCPU=1 ok "$ORRERY" run -n 2 "$display" --worker CPU --count --notopology
	[ "$(grep -c '^1 CPU worker$' out)" = 2 ] || { cat out; die "not one line per process"; }
fi

# ---- described machines ----
ok "$ORRERY" machine --list
for m in "$gallery"/*/; do
	m=$(basename "$m")
	has out "^$m	"
	[ -s "$gallery/$m/README" ] || die "$m does not tell where it comes from"
	grep -q "^$m  " "$gallery/README" || die "the list of machines does not have $m"
done
ok "$ORRERY" machine quickstart
has out '^16 CPU workers$'
has out 'submit_us +0\.'
has out 'orrery_dgemm$'
ok "$ORRERY" machine h200x8 --count
[ "$(cat out)" = "96 CPU workers
8 CUDA workers" ] || die "units of h200x8"
ok "$ORRERY" machine "$gallery/h200x8" --worker CUDA --notopology
[ "$(cat out)" = "8 CUDA workers" ] || die "--worker"
mkdir one && cp -r "$gallery"/laptop8/* one/
ok "$ORRERY" machine --machine-path "$PWD/one" laptop8 --count
mkdir derived && cp -r "$gallery"/derive.py "$gallery"/quickstart derived/ && chmod -R u+w derived
"$PYTHON" derived/derive.py || die "derive.py"
for m in h200x8 laptop8; do
	cp "$gallery/$m/README" derived/$m/
	diff -r "$gallery/$m" derived/$m || die "$m is not what derive.py writes"
done
fails 2 'no machine nosuch; there are: .*quickstart' "$ORRERY" machine nosuch
fails 2 'give one of the two' "$ORRERY" machine --real quickstart
# The hint holds for a machine by its path, and for one of a further directory.
(cd one && ok "$ORRERY" machine ../one/laptop8 && sed -n 's/^kernels .*see .\(orrery perfmodel .*\) -s NAME.$/\1/p' out > ../hint) || exit 1
[ "$(cat hint)" = "orrery perfmodel -m ../one/laptop8" ] || die "the hint is $(cat hint)"
ok "$ORRERY" machine --machine-path "$PWD/one" laptop8
has out "see .orrery perfmodel -m laptop8 --machine-path $PWD/one -s NAME"
fails 2 '--list names all described machines, and one/laptop8 is one' "$ORRERY" machine one/laptop8 --list
fails 2 'one machine at a time' "$ORRERY" machine quickstart laptop8
fails 2 'unknown option --what' "$ORRERY" machine --what

# ---- damaged descriptions: the tool and the simulator name file and line ----
damage() {
	mkdir -p d/bus && cp "$gallery"/h200x8/bus/* d/bus/ && cp d/bus/h200x8.$1 saved && printf '%s\n' "$2" > d/bus/h200x8.$1
	fails 1 "h200x8.$1:[0-9]+: expected" "$ORRERY" machine --machine-path d h200x8
	if [ "$ORR_TEST_SIM" = yes ]; then
		fails 1 "h200x8.$1:[0-9]+: " "$ORRERY" sim --machine "$PWD/d/h200x8" "$ORR_TEST_BUILDDIR/examples/ring/ring.sim"
	fi
	cp saved d/bus/h200x8.$1
}
damage config 'twelve # Number of CPUs'
damage bandwidth '0 1 2'
damage latency 'zero'
damage costs 'submit_us fast'
damage costs 'tea_us 3'
damage costs 'submit_us -1'

[ "$ORR_TEST_SIM" = yes ] || exit 0
program=$ORR_TEST_BUILDDIR/examples/cholesky/cholesky.sim
for m in quickstart ci-xeon2 ci-epyc2 h200x8 laptop8; do
	ok "$ORRERY" sim -n 4 --kernels skip --cpus 4 --machine $m "$program" -nt 8 -b 512
	if grep -q uncalibrated out err; then cat out err; die "$m: kernels of Cholesky without times"; fi
done
for p in h200x8-64 laptop8-4 mixed-8 ci-xeon2-2 ci-epyc2-2; do
	ok "$ORRERY" sim -n 2 --kernels skip --platform "$ORR_TEST_SRCDIR/platforms/$p.xml" "$program" -nt 4 -b 512
done
