#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Cost of an empty task (task_overhead.c), and of many small tasks on overlapping
# windows (windows.c), here and in the StarPU that pkg-config finds: from one
# source, alternating, and the ratio of the medians. StarPU is used as it is
# installed; without its pkg-config file nothing is compared.
set -u
command -v pkg-config > /dev/null || { echo "compare_starpu: no pkg-config, skipped"; exit 77; }
module=
# Our own build may provide a file of the same name: StarPU's own is asked for.
for m in starpu-1.4 starpu-1.3; do
	if env -u PKG_CONFIG_PATH pkg-config --exists $m && ! env -u PKG_CONFIG_PATH pkg-config --libs $m | grep -q orrery; then
		module=$m
		break
	fi
done
[ -n "$module" ] || { echo "compare_starpu: StarPU is not installed (Debian: libstarpu-dev), skipped"; exit 77; }
mkdir -p "$TMPDIR/compare"
cd "$TMPDIR/compare" || exit 1
STARPU_HOME=$PWD STARPU_SILENT=1 STARPU_NCPU=1
export STARPU_HOME STARPU_SILENT STARPU_NCPU

# compare PROGRAM UNIT WHAT...: runs both in turn; a row for each thing that they print.
compare() {
	program=$1 unit=$2
	shift 2
	# shellcheck disable=SC2046
	${CC:-cc} -O2 -std=gnu11 -w -o other "$ORR_TEST_SRCDIR/tests/bench/$program.c" $(env -u PKG_CONFIG_PATH pkg-config --cflags --libs $module) ||
		{ echo "compare_starpu: $program.c does not compile with $module"; exit 1; }
	ours=$ORR_TEST_BUILDDIR/tests/bench/$program
	[ -x "$ours" ] || { echo "compare_starpu: $ours is not built"; exit 1; }
	./other > /dev/null 2>&1	# its first start measures the machine
	: > ours.txt
	: > other.txt
	for i in 1 2 3; do
		"$ours" >> ours.txt || exit 1
		./other >> other.txt 2> /dev/null || exit 1
	done
	for what; do
		awk -v what="$what" -v unit="$unit" -v module=$module -v version="$(env -u PKG_CONFIG_PATH pkg-config --modversion $module)" '
			$2 == what ":" { v[FILENAME] = v[FILENAME] " " $4 }
			function median(text, a, n, i, j, t) {
				n = split(text, a, " ")
				for (i = 1; i <= n; i++)
					for (j = i + 1; j <= n; j++)
						if (a[j] + 0 < a[i] + 0) { t = a[i]; a[i] = a[j]; a[j] = t }
				return a[int((n + 1) / 2)]
			}
			END {
				a = median(v["ours.txt"]); b = median(v["other.txt"])
				printf "compare_starpu %s: %d %s, %s (%s) %d, ratio %.2f\n", what, a, unit, module, version, b, a / b
			}' ours.txt other.txt
	done
}

compare task_overhead "ns per task" no_data one_datum
unset STARPU_NCPU # the program says how many it wants
compare windows "us per round" lws prio eager
