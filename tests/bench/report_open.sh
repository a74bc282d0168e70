#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The time that a browser takes to open the page of `orrery report` from a file: Cholesky on 1,024 simulated nodes, with every task and
# every message. From the start of the navigation until all is drawn, by the page's own clock, and from the start of the
# browser; against a bar of 3 s.
#     ORR_BENCH_RUNS     how often (default 7)
#     ORR_BENCH_NODES    nodes (default 1024)
set -u
runs=${ORR_BENCH_RUNS:-7}
nodes=${ORR_BENCH_NODES:-1024}
[ "$ORR_TEST_SIM" = yes ] || { echo "no simulations"; exit 77; }
command -v chromium > /dev/null || { echo "no chromium"; exit 77; }
[ -e /usr/share/javascript/d3/d3.min.js ] || { echo "no D3 (Debian: libjs-d3)"; exit 77; }
cd "$TMPDIR" || exit 1
"$ORRERY" sim -n "$nodes" --kernels skip --trace run "$ORR_TEST_BUILDDIR/examples/cholesky/cholesky.sim" -nt $((nodes <= 64 ? 64 : 128)) -b 960 > out 2>&1 || { cat out; exit 1; }
"$ORRERY" report run -o page.html > out 2>&1 || { cat out; exit 1; }
cat out
# The page says when it is ready, which is when a frame with all of it is there.
sed '0,/<head>/s|<head>|<head><script>document.addEventListener("report-ready", () => console.log("report-ready " + performance.now().toFixed(0)));</script>|' page.html > timed.html
now() { date +%s%N | sed 's/......$//'; }
for run in $(seq "$runs"); do
	rm -rf profile log
	began=$(now)
	timeout 120 chromium --headless=new --no-sandbox --disable-gpu --disable-background-networking --disable-component-update \
		--disable-sync --no-first-run --user-data-dir="$PWD/profile" --window-size=1300,1000 --enable-logging=stderr \
		"file://$PWD/timed.html" > /dev/null 2> log < /dev/null &
	browser=$!
	until grep -q 'report-ready [0-9]' log || ! kill -0 $browser 2> /dev/null; do sleep 0.02; done
	ended=$(now)
	kill $browser 2> /dev/null
	{ wait $browser; } 2> /dev/null
	ms=$(sed -n 's/.*report-ready \([0-9]*\).*/\1/p' log | sed -n 1p)
	[ -n "$ms" ] || { echo "run $run: the page did not become ready"; tail -n 5 log; exit 1; }
	echo "$ms" >> page.ms
	echo "$((ended - began))" >> browser.ms
done
median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)], v[1], v[NR] }'; }
row() { echo "$(median "$2")" | awk -v words="$1" '{ printf "report_open %-36s median %5.2f s, %.2f to %.2f\n", words, $1 / 1e3, $2 / 1e3, $3 / 1e3 }'; }
row "the page, $nodes nodes" page.ms
row "... with the start of the browser" browser.ms
sort -n page.ms | awk '{ v[NR] = $1 } END { m = v[int((NR + 1) / 2)]; print "report_open " (m < 3000 ? "within" : "BEYOND") " the bar of 3 s"; }'
