# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Sourced by scripts that let tests/elastic/follow.c grow and shrink many times. Invariant: nothing
# is run when it is sourced.
. "$ORR_TEST_SRCDIR/tests/lib/processes.sh"

# changes N [FIRST]: writes the file `script` for N times a process more, and one less, and the sizes that a
# run of FIRST processes (2) has then to $sizes.
changes() {
	first=${2:-2}
	sizes=$first
	: > script
	for _ in $(seq "$1"); do
		printf 'at 0.01 grow 1\nat 0.01 shrink 1\n' >> script
		sizes="$sizes $((first + 1)) $first"
	done
}

# ended PATTERN: no process whose command matches is there, at the latest after a while.
ended() {
	for _ in $(seq 100); do
		left=$(processes_like "$1")
		[ -n "$left" ] || return 0
		sleep 0.2
	done
	echo "$left"
	die "a process is still there"
}
