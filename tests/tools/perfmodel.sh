# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery perfmodel`, starpu_perfmodel_display and starpu_perfmodel_plot: lists,
# shows, exports and draws the gallery's models and recorded ones; bad input.
# orr-test: timeout 300
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
display=$ORR_TEST_BUILDDIR/starpu_perfmodel_display
gallery=$ORR_TEST_SRCDIR/platforms/machines

ok "$ORRERY" perfmodel -l -m quickstart
has out '^file: <orrery_dgemm.quickstart>$'
ok "$ORRERY" perfmodel -s orrery_dgemm -m quickstart
has out 'cpu0_impl0'
has out '^581b1061	6291456 '
ok "$ORRERY" perfmodel -s orrery_dgemm -m h200x8 -a cuda
has out 'cuda0_impl0'
if grep -q cpu0 out; then die "--arch shows other units"; fi
ok "$ORRERY" perfmodel -s orrery_dgemm -m "$gallery/quickstart" --xml
"$PYTHON" - out <<'END' || die "the XML is not what it should be"
import sys
import xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
assert root.tag == "perfmodel" and root.get("version") == "45"
assert {e.get("footprint") for e in root.iter("entry")} >= {"581b1061", "753cab6e"}
END
export STARPU_HOSTNAME=quickstart STARPU_PERF_MODEL_DIR="$gallery/quickstart"
ok "$display" -s orrery_dtrsm -f b26a4ac8
[ "$(grep -c '^[0-9a-f]\{8\}	' out)" = 1 ] || { cat out; die "--footprint shows others"; }
ok "$display" -s orrery_dtrsm -p path-file-debug
has out 'orrery_dtrsm.quickstart$'
ok "$display" -s orrery_dtrsm -p alpha
has out '^nan$'
ok "$display" -s orrery_dtrsm -f b26a4ac8 -p mean
[ "$(grep -c '^[0-9.]*e+' out)" = 1 ] || { cat out; die "not one mean"; }
ok "$display" -s orrery_dtrsm -p stddev
[ "$(grep -c '^[0-9.]*e[+-]' out)" -gt 1 ] || { cat out; die "not all deviations"; }
ok "$display" -d
has out "^directory: <$gallery/quickstart>$"
ok "$display" -s orrery_dtrsm -a cpu:1
has out 'cpu0_impl0'
fails 1 'no measurements for cpu:4' "$display" -s orrery_dtrsm -a cpu:4
fails 2 'hexadecimal' "$display" -s orrery_dtrsm -f xyz
fails 2 'nothing to do' "$display"
fails 2 'options only' "$display" -l what
fails 1 'there are a, b, c, alpha, beta, mean' "$display" -s orrery_dtrsm -p delta
fails 1 'no measurements for cuda' "$display" -s orrery_dtrsm -a cuda
fails 1 'nosuch: no file for machine quickstart' "$display" -s nosuch
if grep -q 'did you mean' err; then cat err; die "a far name is suggested"; fi
fails 1 'did you mean orrery_dgemm' "$display" -s orery_dgem
fails 1 'did you mean .*orrery_dtrsm' "$display" -s dtrsm
unset STARPU_HOSTNAME STARPU_PERF_MODEL_DIR

# ---- where models are: STARPU_PERF_MODEL_DIR, else below STARPU_HOME, else below HOME ----
STARPU_HOME=$PWD/there ok "$display" -d
has out "^directory: <$PWD/there/.starpu/sampling>$"
HOME=$PWD/home ok env -u STARPU_HOME "$display" -d
has out "^directory: <$PWD/home/.starpu/sampling>$"
STARPU_BUS_CALIBRATE=1 ok "$ORR_TEST_BUILDDIR/starpu_machine_display" --count
has err 'orrery calibrate'

# ---- a model of several devices, implementations and regressions, with a hostile name ----
mkdir -p many/codelets/45
unit() { printf '%s\n' "$@"; }
regressions='0 0 0 0 2e-3 1.5 10 100 10000
1e-3 1.4 5
0'
{
	unit 45 3 1 0 0 1 1 2 "$regressions" '0000000a 1000 2e6 100 5 1000 100250 10' '0000000b 4000 3.2e7 800 9 8000 6400810 10'
	unit 1 0 0 4 1 1 "$regressions" '0000000c 4000 3.2e7 250 9 2500 625810 10'
	unit 2 0 0 1 1 10 1 1 1 "$regressions" '0000000d 4000 3.2e7 50 1 500 25010 10'
} > many/codelets/45/a--b-.box
cp many/codelets/45/a--b-.box many/codelets/45/plain.box
mkdir many/bus && cp "$gallery/quickstart/bus/quickstart.config" many/bus/box.config
ok "$ORRERY" perfmodel -m many/box --machine-path many -s plain -a cpu:4 -p mean
[ "$(cat out)" = "2.500000e+02" ] || { cat out; die "mean of four cores"; }
ok "$ORRERY" perfmodel -m many/box --machine-path many -s plain -a cpu0_impl0 -p alpha
[ "$(cat out)" = "2.000000e-03" ] || { cat out; die "alpha"; }
ok "$ORRERY" perfmodel -m many/box --machine-path many -s plain -lc
[ "$(cat out)" = "0	cpu0
1	cpu0:4
2	cpu0 cuda10" ] || { cat out; die "combinations"; }
fails 1 'no measurements for cuda1;' "$ORRERY" perfmodel -m many/box -s plain -a cuda1
ok "$ORRERY" perfmodel -m many/box -s a--b- -x
"$PYTHON" -c 'import xml.etree.ElementTree as t; t.parse("out")' || { cat out; die "no XML"; }
fails 2 'gflops goes with --plot' "$ORRERY" perfmodel -m many/box -s plain --gflops
fails 2 'takes a number, see -lc' "$ORRERY" perfmodel -m many/box -s plain --plot -c x

mkdir -p bad/bus bad/codelets/45
cp "$gallery"/quickstart/bus/* bad/bus/
head -n 40 "$gallery/quickstart/codelets/45/orrery_dgemm.quickstart" > bad/codelets/45/orrery_dgemm.quickstart
echo 'nonsense' >> bad/codelets/45/orrery_dgemm.quickstart
fails 1 'orrery_dgemm.quickstart:[0-9]+: ' "$ORRERY" perfmodel --machine-path bad -m quickstart -s orrery_dgemm
fails 2 'give -l to list' "$ORRERY" perfmodel
fails 2 'no machine nosuch' "$ORRERY" perfmodel -l -m nosuch
fails 2 'unknown option --what' "$ORRERY" perfmodel --what
fails 2 '-o goes with --plot' "$ORRERY" perfmodel -s orrery_dgemm -o x.pdf

if [ -n "$ORR_PERFMODELS_SAMPLES" ]; then
	ok "$ORRERY" perfmodel -m "$ORR_PERFMODELS_SAMPLES/mirage" -s chol_model_gemm
	has out 'cuda2_impl0'
fi

"$PYTHON" -c 'import matplotlib' 2> err || exit 0
ok "$ORRERY" perfmodel -s orrery_dgemm -m h200x8 --plot
head -c 5 orrery_dgemm.pdf | grep -q '%PDF-' || die "not a PDF file"
ok "$ORR_TEST_BUILDDIR/starpu_perfmodel_plot" -s orrery_dinit -m quickstart -o init.png
[ -s init.png ] || die "init.png is empty or missing"
ok "$ORR_TEST_BUILDDIR/starpu_perfmodel_plot" -l -m quickstart
has out 'orrery_dgemm'
for option in "" "--gflops" "--energy" "-c 1" "-a cpu:4"; do
	# shellcheck disable=SC2086
	ok "$ORRERY" perfmodel -m many/box -s plain --plot $option -o many.png
	head -c 8 many.png | grep -q PNG || die "no picture: $option"
	rm many.png
done
fails 1 'for combination 7 to draw' "$ORRERY" perfmodel -m many/box -s plain --plot -c 7
sed 's/[0-9.]*e[67]/0/' many/codelets/45/plain.box > many/codelets/45/noflops.box
fails 1 'how many flops' "$ORRERY" perfmodel -m many/box -s noflops --plot -f
fails 2 'does not exist; create it' "$ORRERY" perfmodel -s orrery_dgemm -m h200x8 --plot -o no/such/p.pdf
fails 2 '-o p.what: ' "$ORRERY" perfmodel -s orrery_dgemm -m h200x8 --plot -o p.what
fails 1 'no measurements for opencl' "$ORRERY" perfmodel -s orrery_dgemm -m h200x8 -a opencl --plot
