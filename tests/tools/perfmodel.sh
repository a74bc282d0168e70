# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery perfmodel`, starpu_perfmodel_display and starpu_perfmodel_plot: lists,
# shows, exports and draws the gallery's models and recorded ones; bad input.
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
ok "$display" -d
fails 2 'hexadecimal' "$display" -s orrery_dtrsm -f xyz
fails 2 'nothing to do' "$display"
fails 2 'options only' "$display" -l what
fails 1 'there are a, b, c' "$display" -s orrery_dtrsm -p delta
fails 1 'no measurements for cuda' "$display" -s orrery_dtrsm -a cuda
fails 1 'nosuch: no file for machine quickstart' "$display" -s nosuch
unset STARPU_HOSTNAME STARPU_PERF_MODEL_DIR

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
fails 2 'does not exist; create it' "$ORRERY" perfmodel -s orrery_dgemm -m h200x8 --plot -o no/such/p.pdf
fails 2 '-o p.what: ' "$ORRERY" perfmodel -s orrery_dgemm -m h200x8 --plot -o p.what
fails 1 'no measurements for opencl' "$ORRERY" perfmodel -s orrery_dgemm -m h200x8 -a opencl --plot
