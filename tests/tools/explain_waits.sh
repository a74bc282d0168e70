#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery explain` follows what tasks wait for, whatever they wait by: data, declared dependencies, tags, ends of tasks.
# The answers are known: a chain of ten kernels of 10 ms is the path, without anything unusual; if the program takes
# 15 ms before it submits each of them, it gains 45 of 145 ms to submit them at once, and not more, because a link still
# comes after the one that was over. Real runs have the same edges, and are explained by kernels, too.
# orr-test: timeout 240
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
"${PYTHON:-python3}" -c 'import numpy' 2> err || skip "no numpy, without which gains are bounds"

app=$ORR_TEST_BUILDDIR/tests/mpi/explain_waits
cat > check.py << 'END'
import json
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import orrery_explain  # noqa: E402
import orrery_tracefile  # noqa: E402
from orrery_tracefile import cause_of  # noqa: E402

what, exact = sys.argv[2], sys.argv[3] == "sim"
trace = orrery_tracefile.Trace("trace")
found = orrery_explain.answer(trace)
print(json.dumps({k: found[k] for k in ("makespan_seconds", "path", "findings")}))
kernels = [p for p in found["path"] if (p["kind"], p["name"]) == ("kernel", "link")]
link, pieces = sum(p["seconds"] for p in kernels), sum(p["pieces"] for p in kernels)
if what == "path":
    # On a busy computer, an aside may delay a link in a real run.
    assert pieces == 10 and link >= (0.0999 if exact else 0.09), (pieces, link)
    assert not exact or (link >= 0.999 * found["makespan_seconds"] and not found["findings"])
elif what == "late":
    first = found["findings"][0]
    assert first["cause"] in ("late-submission", "slow-submission"), first
    assert first["sure"] and (not exact or abs(first["seconds"] - 0.045) < 0.001), first
# Each link but the first comes after the one before it: as an event says. The end of a hull stands for that of its link.
stands_for, names, after = {}, {}, {}
for _, _, kind, _, _, a, b, c, d, process in trace.events(("submit", "release", "ready", "done", "after")):
    name = orrery_tracefile.KINDS[kind]
    if name == "submit":
        names[b] = process.strings[a]
    elif name in ("release", "ready", "after"):
        after.setdefault(b, set()).add(cause_of(c))
    elif name == "done" and cause_of(c)[0] == "task":
        stands_for[b] = cause_of(c)[1]
links = [number for number in sorted(names) if names[number] == "link"]
assert len(links) == 10, names
for before, number in zip(links, links[1:]):
    tasks = {stands_for.get(n, n) for kind, n in after.get(number, ()) if kind == "task"}
    assert before in tasks, (what, before, number, tasks)
    if sys.argv[4] == "pure":
        assert any(names[n] == "aside" for n in tasks), (number, tasks)
END

# explained WHAT KIND [HOW]: as explained in a simulated and in a real run
explained() {
	what=$1
	shift
	if [ "${ORR_TEST_SIM:-yes}" = yes ]; then
		ok "$ORRERY" sim -n 1 --cpus 16 --trace trace "$app.sim" "$@"
		ok "${PYTHON:-python3}" check.py "$ORR_TEST_SRCDIR/tools" "$what" sim "$1"
	fi
	if [ "${ORR_TEST_MPI:-yes}" = yes ]; then
		ok env STARPU_NCPU=16 "$ORRERY" run --oversubscribe --quiet -n 1 --trace trace "$app" "$@"
		ok "${PYTHON:-python3}" check.py "$ORR_TEST_SRCDIR/tools" "$what" real "$1"
	fi
}

for kind in data deps tags mixed pure ends kernel; do
	explained path $kind
	explained late $kind late
done
explained path tags wait
