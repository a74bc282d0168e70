#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery top` of a run on several hosts: from each of them it shows all ranks, asked by the agent that mpirun uses;
# one rank of another host in detail; a host that cannot be asked is named, and the others are shown; nothing of it is
# left behind when it ends, and nothing listens at a network for it.
# orr-test: timeout 180
# orr-test: debug none
# orr-test: sanitizer none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
. "$ORR_TEST_SRCDIR/tests/lib/hosts.sh"
[ "$ORR_TEST_MPI" = yes ] || skip "no mpirun"
hosts_world "$@"
hosts_up 3
program=$ORR_TEST_BUILDDIR/tests/tools/top_app
export STARPU_NCPU=2

says() {
	"$PYTHON" -c 'import json, sys; r = json.load(open("out")); sys.exit(0 if eval(sys.argv[1]) else 1)' "$1" || { cat out err; die "not so: $1"; }
}

# up HOST: from there, all ranks answer, and wait.
up() {
	for _ in $(seq 100); do
		if on "$1" "$ORRERY" top --once --json > out 2> err && "$PYTHON" -c 'import json, sys; r = json.load(open("out"))
sys.exit(not (r["size"] == 4 == sum(x["state"] == "running" and x["tasks"] == 25 and x.get("messages") == 1 for x in r["ranks"])))'; then return; fi
		sleep 0.2
	done
	cat out err app.err
	die "the run does not answer from $1"
}

on h1 timeout 150 "$ORRERY" run -n 4 --mpirun "--host h1:2,h2,h3 --bind-to none --oversubscribe" "$program" "$PWD/go" > app.out 2> app.err &
run=$!
for host in h1 h2; do
	up $host
	says '[x["rank"] for x in r["ranks"]] == [0, 1, 2, 3] and not r["missing"] and len(r["hosts"]) == 2 and not any(r["hosts"].values())'
	says 'all(x["submitted"] == 30 and x["busy"] == 1 and x["workers"] == 2 and x["lists"]["posted"] == 1 for x in r["ranks"])'
done
ok on h1 "$ORRERY" top --once
has out '^4 running; tasks: 100 of 120 submitted; busy workers: 4 of 8'
ok on h1 "$ORRERY" top --rank 3 --once --json
says 'len(r["ranks"]) == 1 and r["ranks"][0]["rank"] == 3 and len(r["ranks"][0]["each_worker"]) == 2'
fails 1 'there is no rank 99 in this run' on h1 "$ORRERY" top --rank 99 --once
# It goes on and on.
on h1 "$ORRERY" top --json --interval 0.2 2> err | head -n 3 > out
[ "$(wc -l < out)" = 3 ] || { cat out err; die "not three looks"; }
# The command on the other host has no socket but that of its question.
on h1 "$ORRERY" top --json --interval 0.2 > looks 2> err &
looker=$!
for _ in $(seq 100); do
	there=$(ps -eo pid,args | awk '/[p]ython.*top --relay/ { print $1 }')
	[ "$(echo "$there" | wc -w)" -lt 2 ] || [ "$(wc -l < looks)" -lt 2 ] || break
	sleep 0.1
done
[ "$(echo "$there" | wc -w)" -ge 2 ] || { cat looks err; die "no command on the other hosts"; }
for pid in $there; do
	if on h2 ss -lntup | grep -q "pid=$pid,"; then die "it listens at a network"; fi
	if on h3 ss -lntup | grep -q "pid=$pid,"; then die "it listens at a network"; fi
done
for pid in $(ps -eo pid,args | awk '/[p]ython.*top --json --interval/ { print $1 }'); do kill "$pid"; done
wait $looker 2> /dev/null
# No rank, no run.
fails 1 'no run of yours is under way on this computer' "$ORRERY" top --once
# A host that the agent cannot reach is named, and so is what it says; the run goes on.
cat > agent <<- END
	#!/bin/sh
	case \$1 in h3) echo "h3 is asleep" >&2; exit 255 ;; esac
	exec $hosts_agent "\$@"
END
chmod +x agent
ok on h1 env "OMPI_MCA_plm_rsh_agent=$PWD/agent" "$ORRERY" top --once --json
says 'r["missing"] == [3] and r["hosts"] == {"h2": None, "h3": "h3 is asleep"}'
ok on h1 env "OMPI_MCA_plm_rsh_agent=$PWD/agent" "$ORRERY" top --once
has out '^host h3 cannot be asked: h3 is asleep$'
has out '^1 of 4 ranks do not answer \(3\)'
ok on h1 env OMPI_MCA_plm_rsh_agent=./nowhere "$ORRERY" top --once
has out '^host h2 cannot be asked: ./nowhere is not there$'
# Nothing is left but the run: what was started on other hosts ends with the one that asked.
for _ in $(seq 50); do
	left=$(ps -eo args | grep -- 'top --rela[y]')
	[ -n "$left" ] || break
	sleep 0.1
done
[ -z "$left" ] || die "left behind: $left"
touch go
wait $run || { cat app.out app.err; die "the run failed"; }
exit 0
