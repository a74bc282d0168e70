#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Structures without locks work in ARM's model of memory: for each there is a program in tests/litmus, with the
# instructions that compilers make of src/sys/orr_sys_types.h on arm64 (without the atomics of ARM 8.1, which order more).
# herd7 tries all executions: the outcome that would be an error is in none. With the weaker instructions that the
# program names, it is in some: each program can fail.
# A compiler for arm64, where there is one, is looked upon, too.
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
checked=no

# outcome FILE: Never, Sometimes or Always.
outcome() {
	ok herd7 "$1"
	outcome=$(sed -n 's/^Observation [a-z_]* \([A-Z][a-z]*\) .*/\1/p' out)
}

if command -v herd7 > /dev/null; then
	checked=yes
	for program in "$ORR_TEST_SRCDIR"/tests/litmus/*.litmus; do
		name=$(basename "$program" .litmus)
		outcome "$program"
		[ "$outcome" = Never ] || { cat out; die "$name: its outcome is possible ($outcome)"; }
		sed -n 's/^(\* weaker: \(.*\) \*)$/\1/p' "$program" > weaker
		[ -s weaker ] || die "$name names no weaker instructions"
		sed -f weaker "$program" > "$name.litmus"
		! cmp -s "$program" "$name.litmus" || die "$name: its weaker instructions are the same ones"
		outcome "$name.litmus"
		[ "$outcome" = Sometimes ] || { cat out; die "$name: its outcome is impossible with weaker instructions, too ($outcome)"; }
	done
fi

# listing NAME: the instructions of that function, in one line.
listing() { instructions=$(sed -n "/^$1:/,/\tret/p" atomics.s | sed -n 's/^\t\([a-z][a-z]*\).*/\1/p' | tr '\n' ' '); }
# instructions NAME REGEX
instructions() {
	listing "$1"
	echo " $instructions" | grep -E -q -e "$2" || die "$1() of arm64 has no '$2', but: $instructions"
}

if command -v aarch64-linux-gnu-gcc > /dev/null; then
	checked=yes
	sed -n '/---- atomics ----/,/---- locks/p' "$ORR_TEST_SRCDIR/src/sys/orr_sys_types.h" | sed '$d' > atomics.c
	cat >> atomics.c << 'END'
int load(int *p) { return ORR_ATOMIC_LOAD(p); }
void store(int *p, int v) { ORR_ATOMIC_STORE(p, v); }
int add(int *p, int v) { return ORR_ATOMIC_ADD(p, v); }
int or(int *p, int v) { return ORR_ATOMIC_OR(p, v); }
int and(int *p, int v) { return ORR_ATOMIC_AND(p, v); }
int fetch_and(int *p, int v) { return ORR_ATOMIC_FETCH_AND(p, v); }
int exchange(int *p, int v) { return ORR_ATOMIC_XCHG(p, v); }
int cas(int *p, int *old, int v) { return ORR_ATOMIC_CAS(p, old, v); }
END
	ok aarch64-linux-gnu-gcc -O2 -mno-outline-atomics -S atomics.c
	instructions load ' ldar '
	instructions store ' stlr '
	for name in add or and fetch_and exchange cas; do
		instructions $name ' stlxr .*dmb '
	done
fi
[ $checked = yes ] || skip "there are neither herd7 (Debian: herdtools7) nor a compiler for arm64"
exit 0
