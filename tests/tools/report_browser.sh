# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The page of `orrery report` in a browser without a screen, from a file: zooming, keys, selection with
# ancestors and descendants, search, filters, messages, saved plots; also at 400 pixels' width; of a run of
# either world, of one that was killed, and of one whose page has blocks instead of tasks.
# orr-test: timeout 300
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
"$PYTHON" -c 'import numpy' 2> err || skip "no numpy"
[ -e /usr/share/javascript/d3/d3.min.js ] || skip "no D3 (Debian: libjs-d3)"
command -v chromium > /dev/null || skip "no chromium"
tasks=$ORR_TEST_BUILDDIR/tests/mpi/trace_steps

# browse PAGE WIDTH: uses the page in a window of that width; all that it checks is right
browse() {
	"$PYTHON" -c '
import sys
page, script = (open(name, encoding="utf-8").read() for name in sys.argv[1:3])
open("tested.html", "w", encoding="utf-8").write(page.replace("<head>", "<head><script>\n\"use strict\";\nconst asked = " + sys.argv[3] + ";\n" + script + "</script>", 1))' \
		"$1" "$ORR_TEST_SRCDIR/tests/tools/report_browser.js" "$2"
	# In a frame, because windows are not that narrow.
	cat > around.html <<- END
		<pre id="result"></pre>
		<script>addEventListener("message", event => document.getElementById("result").textContent = event.data);</script>
		<iframe src="tested.html" style="border: 0; width: $2px; height: 900px"></iframe>
	END
	# A browser that did not start, or ended before the page did, says nothing about the page: it has another try. What
	# the page said is final.
	for try in 1 2 3; do
		rm -rf profile
		timeout 120 chromium --headless=new --no-sandbox --disable-gpu --disable-quic --disable-background-networking \
			--disable-component-update --disable-sync --no-first-run --user-data-dir="$PWD/profile" \
			--window-size=1300,1000 --virtual-time-budget=120000 --dump-dom "file://$PWD/around.html" > dom 2> err < /dev/null
		status=$?
		"$PYTHON" -c '
import html, re
found = re.search("<pre id=\"result\">(.*?)</pre>", open("dom", encoding="utf-8").read(), re.S)
print(html.unescape(found.group(1)) if found else "")' > result
		if grep -q '^done$' result || grep -q '^WRONG' result; then break; fi
		echo "chromium ended with status $status and no result for $1 at $2 pixels, try $try; it said:"
		tail -n 5 err
	done
	echo "$1 at $2 pixels: $(grep -c '^ok' result) right"
	if grep '^WRONG' result || ! grep -q '^done$' result; then
		cat result
		die "$1 at $2 pixels"
	fi
}

# page TRACE OPTION...
page() {
	trace=$1
	shift
	ok "$ORRERY" report "$trace" -o "$trace.html" "$@"
}

if [ "$ORR_TEST_SIM" = yes ]; then
	ok "$ORRERY" sim -n 3 --trace s "$tasks.sim"
	page s
	browse s.html 1200
	browse s.html 400
	ok "$ORRERY" sim -n 3 --like ethernet-10 --trace t "$tasks.sim"
	ok "$ORRERY" report --compare s t -o st.html
	browse st.html 1200
	browse st.html 400
	fails 137 'ended by signal 9' "$ORRERY" sim -n 3 --trace k "$tasks.sim" killed
	page k
	browse k.html 1200
	ok "$ORRERY" sim -n 64 --kernels skip --trace c "$ORR_TEST_BUILDDIR/examples/cholesky/cholesky.sim" -nt 24
	ok "$PYTHON" -B -c '
import sys
sys.path.insert(0, sys.argv[1])
import orrery_report, types
orrery_report.TASKS, orrery_report.MESSAGES, orrery_report.PAIRS = 300, 200, 100
orrery_report.main(types.SimpleNamespace(settings={"version": "0"}), ["c", "-o", "c.html"])' "$ORR_TEST_SRCDIR/tools"
	browse c.html 1200
	ok "$ORRERY" machine quickstart --add cuda:1 --speedup 10 --device-memory 4096 -o gpu
	ok env STARPU_SCHED=dmdas STARPU_NCPU=2 "$ORRERY" sim --machine ./gpu -n 1 --trace u "$ORR_TEST_BUILDDIR/tests/mpi/explain_causes.sim" \
		units blocks=16 tasks=16 rounds=2 cpu=50000 device=10000 bytes=4194304
	page u
	browse u.html 1200
	printf 'at 0.02 grow 1\nat 0.15 shrink 2\nat 0.2 grow 2\n' > script
	ok env STARPU_NCPU=1 FOLLOW_PAUSE_US=1000 "$ORRERY" sim -n 2 --elastic --max 3 --scenario script --trace e \
		"$ORR_TEST_BUILDDIR/tests/elastic/follow.sim" 5 2 3 1 3
	page e
	browse e.html 1200
fi
if [ "$ORR_TEST_SIM" = yes ]; then
	ok "$ORRERY" sim -n 2 --trace m "$ORR_TEST_BUILDDIR/tests/mpi/trace_marks.sim"
	page m
	grep -q '"iteration 10"' m.html || die "the page has no iterations"
	browse m.html 1200
fi
if [ "$ORR_TEST_MPI" = yes ]; then
	ok "$ORRERY" run -n 3 --oversubscribe --trace r "$tasks"
	page r
	browse r.html 1200
fi
