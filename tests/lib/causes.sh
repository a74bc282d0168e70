# shellcheck shell=sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Runs that `orrery explain` explains: whether it names the right cause first, and gains what it says
# (sourced by tests/tools/explain_causes.sh and explain_real.sh, after lib/script.sh).
# Invariant: a run counts only if the pieces of its path are its makespan; $FEW are those whose
# change is made, or all of them with ORR_CAUSES=all.

echo "run             cause                 predicted      measured     error" > table

# The first answer about the trace: cause, subject, seconds, and "about" or "at most"; its pieces are the makespan.
cat > first.py << 'END'
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import orrery_explain  # noqa: E402
import orrery_tracefile  # noqa: E402
trace = orrery_tracefile.Trace(sys.argv[2])
if len(sys.argv) > 3:
    times = [e[0] for e in trace.events()]
    print((times[-1] - times[0]) * 1e-9)
    sys.exit()
found = orrery_explain.answer(trace)
total = sum(part["seconds"] for part in found["path"])
assert abs(total - found["makespan_seconds"]) <= 0.001 * total, (total, found["makespan_seconds"])
some = found["findings"] or [dict(k, cause="none", subject=k["name"]) for k in found["kernels"]]
print(some[0]["cause"], some[0]["subject"].replace(" ", "_"), some[0]["seconds"], "about" if some[0]["sure"] else "at_most", total)
END
first() { ok "${PYTHON:-python3}" first.py "$ORR_TEST_SRCDIR/tools" trace "$@"; }

# run NAME=VALUE... COMMAND...
run() { ok env "$@"; }

# named PATTERN WORD...: whether the first answer about that run, "CAUSE SUBJECT", is of that pattern, at one of $TRIES tries: other
# load delays real runs.
named() {
	pattern=$1
	shift
	for try in $(seq "${TRIES:-1}"); do
		run "$@"
		first
		read -r got_cause got_subject predicted how slow < out
		# shellcheck disable=SC2254
		case "$got_cause $got_subject" in $pattern) return 0 ;; esac
		"$ORRERY" explain trace
		echo "$name: '$got_cause $got_subject' is named first, not '$pattern', at try $try"
	done
	return 1
}

# is CAUSE SUBJECT NAME WORD... -- WORD...: what is said first of the first command, of a pattern of subjects, and what the second
# one gains
is() {
	cause=$1 subject=$2 name=$3
	shift 3
	before=
	while [ "$1" != -- ]; do before="$before $1"; shift; done
	shift
	# shellcheck disable=SC2086
	named "$cause $subject" $before || die "$name: another cause is named first"
	case " $FEW " in *" $name "*) ;; *) [ "${ORR_CAUSES-}" = all ] || return 0 ;; esac
	run "$@"
	first makespan
	read -r fast < out
	awk -v name="$name" -v cause="$([ "$cause" = none ] && echo "kernel $subject" || echo "$cause")" -v p="$predicted" -v how="$how" -v a="$slow" -v b="$fast" 'BEGIN {
		m = a - b; error = m ? (p - m) / m : 1
		printf "%-15s %-17s %11.6f s %11.6f s %+7.1f %%%s\n", name, cause, p, m, 100 * error, how == "at_most" ? " (at most)" : "" }' >> table
}

# healthy NAME WORD...: accuses nothing
healthy() {
	name=$1
	shift
	named "none *" "$@" || die "$name is healthy"
}

# half_right: half of the errors in the table are within a tenth.
half_right() {
	cat table
	awk 'NR > 1 { e = $(NF - (/at most/ ? 3 : 1)) + 0; n++; good += e <= 10 && e >= -10 }
		END { printf "%d runs, %d of them predicted within 10 %%\n", n, good; exit !(n && 2 * good > n) }' table || die "the median error is above 10 %"
}
