# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Sourced by scripts that lose hosts and ranks, after lib/hosts.sh and hosts_up: starts runs on all hosts from h1, and looks at
# what is left after them.
#     begin OPTIONS PROGRAM [ARGS]     starts a run by `orrery run OPTIONS` with this program; its words are in out and err
#     begun REGEX                      waits until it has said that
#     has_checkpoint                   waits until the first checkpoint is there
#     rank_at HOST N                   "RANK PROCESS" of the Nth rank there
#     start_anew HOST                  what a computer does
#     now                              seconds
#     left_on HOST                     what a run has left there: processes, shared memory, files; nothing if all is well
: > out
: > err

begin() {
	# What the last run said is gone before anybody looks for it again.
	: > out
	: > err
	# shellcheck disable=SC2086 # options
	on h1 "$ORRERY" run $1 --mpirun "$2" "$3" $4 > out 2> err &
	run=$!
}

begun() {
	for _ in $(seq 800); do
		if grep -q "$1" out; then return; fi
		sleep 0.05
	done
	cat out err
	die "the run does not begin"
}

has_checkpoint() {
	for _ in $(seq 800); do
		if [ -d orrery-checkpoints ] && [ -n "$(ls orrery-checkpoints | grep -v lock)" ]; then return; fi
		sleep 0.05
	done
	cat out err
	die "there is no checkpoint"
}

now() { read -r now _ < /proc/uptime; echo "${now%.*}"; }

rank_at() {
	for process in $(hosts_processes "$1"); do
		tr '\0' '\n' < "/proc/$process/environ" | sed -n "s/^$rank_variable=\(.*\)/\1 $process/p"
	done 2> /dev/null | sort -n | sed -n "${2}p"
}

start_anew() {
	hosts_kill "$1"
	on "$1" sh -c 'rm -rf /dev/shm/* /tmp/ompi*'
}

left_on() {
	hosts_idle "$1" || for p in $(hosts_processes "$1"); do tr '\0' ' ' < "/proc/$p/cmdline"; echo; done
	# A tree that lies in /tmp is common, and other tests run in it.
	on "$1" sh -c 'find /dev/shm /tmp /run/host -mindepth 1 "(" -path "$ORR_TEST_SRCDIR" -o -path "$ORR_TEST_BUILDDIR" ")" -prune \
		-o "(" -path "/dev/shm/*" -o -path "*ompi*" ")" -print; find "$TMPDIR" -path "*ompi*"'
}
