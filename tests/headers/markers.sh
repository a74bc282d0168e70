#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The markers of starpu_task_insert: the constants and comments of
# starpu_task_util.h, which programs are written by, agree with the table that
# the parsers are made from (src/core/flow/insert_markers.h) in order, types of
# arguments, and which arguments are freed with the task. Numbers are consecutive.
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"

# Both as lines "NAME: TYPES" with " (freed)" behind: one logical line each first.
join() { sed -e ':a' -e '/\\$/N; s/[[:space:]]*\\\n[[:space:]]*/ /; ta' "$1"; }

# The comment of a constant begins with the types, up to a colon. A long comment
# may go on in further lines, which say nothing of types.
promised() {
	join "$1" | sed -n 's,^#define \(STARPU_[A-Z_]*\) *(\([0-9]*\) << 16) */\* *,\1 \2 ,p' | awk '
	{
		if ($2 != ++n) { print $1 " has the number " $2 ", not " n; exit }
		name = $1
		sub(/^[^ ]* [^ ]* /, "")
		freed = /freed with the task/ ? " (freed)" : ""
		sub(/ *\*\/.*/, "")
		sub(/:.*/, "")
		print name ": " $0 freed
	}'
}

# Rows ONE(name, type, freed, ...) and TWO(name, type, type, freed, ...).
parsed() {
	join "$1" | grep '#define ORR_MARKERS' | sed 's/\(ONE\|TWO\)(STARPU/\
\1(STARPU/g' | sed -n 's/^\(ONE\|TWO\)(/\1, /p' | awk -F ', *' '
	{
		types = $1 == "TWO" ? $3 ", " $4 : $3
		freed = $1 == "TWO" ? $5 : $4
		gsub(/orr_callback_t/, "void (*)(void *)", types)
		print $2 ": " types (freed == "NULL" ? "" : " (freed)")
	}'
}

promised "$ORR_TEST_SRCDIR/include/starpu_task_util.h" > promised
parsed "$ORR_TEST_SRCDIR/src/core/flow/insert_markers.h" > parsed
[ "$(wc -l < parsed)" -ge 45 ] || { cat parsed; die "fewer markers than there ever were"; }
diff promised parsed || die "< what starpu_task_util.h promises, > what the parsers do"
exit 0
