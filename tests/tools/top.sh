# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery top` of a run that is under way, in both worlds: attached later, one look, JSON, columns, one rank,
# runs that have ended or were killed, several runs, another user.
# orr-test: timeout 180
# orr-test: waits
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
program=$ORR_TEST_BUILDDIR/tests/tools/top_app
pid=
trap 'if [ -n "$pid" ]; then kill -9 "$pid" 2> /dev/null; fi' EXIT

# says EXPRESSION: the expression of r, the object in out, is true.
says() {
	"$PYTHON" -c 'import json, sys; r = json.load(open("out")); sys.exit(0 if eval(sys.argv[1]) else 1)' "$1" || { cat out; die "not so: $1"; }
}

# up RANKS: all ranks of the run of $pid answer, and wait.
up() {
	for _ in $(seq 100); do
		if "$ORRERY" top "$pid" --once --json > out 2> err && "$PYTHON" -c 'import json, sys; r = json.load(open("out"))
sys.exit(not (r["size"] == int(sys.argv[1]) == sum(x["state"] == "running" and x["submitted"] == 30 and x["tasks"] == 25
                                             and x.get("messages") == 1 and x["lists"]["posted"] == 1 for x in r["ranks"])))' "$1"; then return; fi
		sleep 0.1
	done
	cat out err app.err
	die "the run does not answer"
}

# look WORLD RANKS: of the run of $pid, whose ranks hold a task each, with four that wait for it.
look() {
	ok "$ORRERY" top "$pid" --once --json
	says "r['run']['world'] == '$1' and 'top_app' in r['run']['command'] and r['size'] == $2 and not r['missing'] and not r['busy']"
	says "[x['rank'] for x in r['ranks']] == list(range($2))"
	says 'all(x["submitted"] == 30 and x["tasks"] == 25 and x["busy"] == 1 and x["workers"] == 2 for x in r["ranks"])'
	# A message to the next rank has come; a receive is posted, for which there is none.
	says 'all(x["messages"] == 1 and x["bytes"] == 4096 and x["lists"]["posted"] == 1 for x in r["ranks"])'
	says 'all(x["memory_bytes"] >= 0 and x["progression"] in ("busy", "idle", "asleep") and x["tasks_s"] == 0 for x in r["ranks"])'
	# All of the progression's time is one thing or another, mostly nothing: nobody has work for it.
	says 'all(abs(sum(x[k] for k in ("messages_pc", "callbacks_pc", "tasks_pc", "poll_pc", "asleep_pc")) - 100) < 1 for x in r["ranks"] if x["turns"]["seconds"] > 0 and "messages_pc" in x)'
	if [ "$1" = real ]; then says 'all(x["asleep_pc"] + x["poll_pc"] > 50 and x["callbacks_pc"] == 0 and x["tasks_pc"] == 0 for x in r["ranks"])'; fi
	says 'r["end"]["seconds"] is None and "no task was completed" in r["end"]["text"]'
	ok "$ORRERY" top "$pid" --once --sort -rank --filter 'left>=5'
	has out "^.*top_app.*, $1 run, $2 ranks, [0-9.]+ s after its start"
	has out "^$2 running; tasks: $((25 * $2)) of $((30 * $2)) submitted; busy workers: $2 of $((2 * $2)); messages: $2, "
	has out '^end: not known: no task was completed in the last 0\.[0-9] s; [0-9]+ are left$'
	[ "$(sed -n '5p' out | awk '{ print $1 }')" = 0 ] || { cat out; die "the order is not by rank, from 0 on"; }
	ok "$ORRERY" top "$pid" --once --sort rank
	[ "$(sed -n '5p' out | awk '{ print $1 }')" = $(($2 - 1)) ] || { cat out; die "the last rank is not first"; }
	ok "$ORRERY" top "$pid" --once --filter rank=1
	[ "$(wc -l < out)" = 5 ] || { cat out; die "not one rank alone"; }
	ok "$ORRERY" top "$pid" --rank 1 --once --json
	says 'len(r["ranks"]) == 1 and r["ranks"][0]["rank"] == 1 and len(r["ranks"][0]["each_worker"]) == 2'
	says 'sum(w["tasks"] for w in r["ranks"][0]["each_worker"]) == 25 and sum(w["busy"] for w in r["ranks"][0]["each_worker"]) == 1'
	says "[(p['peer'], p['messages'], p['bytes']) for p in r['ranks'][0]['peers']] == [($((2 % $2)), 1, 4096)]"
	says 'r["ranks"][0]["memory"][0]["name"] == "RAM 0"'
	ok "$ORRERY" top "$pid" --rank 1 --once
	has out '^sent to '
	fails 1 'there is no rank 99 in this run' "$ORRERY" top "$pid" --rank 99 --once
	# Again and again, until the reader has enough.
	"$ORRERY" top "$pid" --json --interval 0.1 2> err | head -n 3 > out
	[ "$(wc -l < out)" = 3 ] || { cat out err; die "not three looks"; }
	stranger
}

# Another user is refused, and the run goes on. (Not where the files of the system are root's alone.)
stranger() {
	[ "$(id -u)" = 0 ] || return 0
	[ -x "$(command -v setpriv)" ] || return 0
	setpriv --reuid 65533 --regid 65533 --clear-groups "$PYTHON" -c pass 2> err || return 0
	setpriv --reuid 65533 --regid 65533 --clear-groups env HOME=/ "$PYTHON" -B - "$ORR_TEST_SRCDIR/tools" "$pid" > out 2> err << 'END' || { cat out err; die "a stranger: status $?"; }
import socket, sys
sys.path.insert(0, sys.argv[1])
import orrery_live
runs, refused = orrery_live.find(int(sys.argv[2]))
assert not runs and refused, (runs, refused)
assert not orrery_live.find()[0], "a run of another user is shown"
# One who connects and says nothing, or much, is not listened to.
for words in (b"", b"-1\n", b"9" * 100):
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(5)
        s.connect("\0" + [name for _, pid, name in orrery_live.sockets() if pid == refused[0][1]][0])
        try:
            s.sendall(words)
            assert s.recv(100) == b"", "a stranger is answered"
        except ConnectionError:
            pass
END
	up "$ranks"
}

# ended: the run of $pid goes on when the file is there, and it is said that it has ended.
ended() {
	"$ORRERY" top "$pid" --interval 0.1 > live 2> liveerr &
	watcher=$!
	for _ in $(seq 200); do
		[ ! -s live ] || break
		sleep 0.05
	done
	touch go
	wait "$pid" || { cat app.err; die "the run failed"; }
	wait "$watcher" || { cat liveerr; die "top failed"; }
	has liveerr '^orrery top: the run has ended'
	fails 1 "process $pid has ended" "$ORRERY" top "$pid" --once
	pid=
	gone_names
	rm go
}

# No socket of ours is left.
gone_names() {
	"$PYTHON" -B -c 'import sys; sys.path.insert(0, sys.argv[1]); import orrery_live
def command(pid):
    try:
        return open("/proc/%d/cmdline" % pid).read()
    except OSError:
        return ""
sys.exit(any(sys.argv[2] in command(pid) for _, pid, _ in orrery_live.sockets()))' "$ORR_TEST_SRCDIR/tools" "$program" || die "a socket is left"
}

fails 2 'a rank is a number' "$ORRERY" top --rank 1x
fails 2 'no such column; there are rank, ' "$ORRERY" top --sort size
fails 2 'filter left: it takes a column' "$ORRERY" top --filter left
fails 2 'one process is named by its number' "$ORRERY" top me
fails 1 "process $$ is of no run under way" "$ORRERY" top $$ --once

# both WORLD RANKS COMMAND...: a run in the background, looked at, that comes to its end; and one that is killed.
both() {
	world=$1 ranks=$2
	shift 2
	"$@" "$PWD/go" > app.out 2> app.err &
	pid=$!
	up "$ranks"
	look "$world" "$ranks"
	ended
	"$@" "$PWD/go" > app.out 2> app.err &
	pid=$!
	up "$ranks"
	victim=$("$PYTHON" -c 'import json; print(json.load(open("out"))["pids"][0])')
	kill -9 "$victim"
	wait "$pid" 2> /dev/null
	for _ in $(seq 100); do
		"$ORRERY" top "$victim" --once > out 2> err || break
		sleep 0.1
	done
	fails 1 "process $victim has ended" "$ORRERY" top "$victim" --once
	pid=
	gone_names
	# Who does not want that is not asked.
	ORRERY_TOP=0 "$@" "$PWD/go" > app.out 2> app.err &
	pid=$!
	sleep 2
	fails 1 'is of no run under way.*ORRERY_TOP=0' "$ORRERY" top "$pid" --once
	touch go
	wait "$pid" || { cat app.err; die "the run failed"; }
	pid=
	rm go
}

export STARPU_NCPU=2

# A look does not change virtual times.
if [ "$ORR_TEST_SIM" = yes ]; then
	# Messages by SMPI, which takes long enough for several looks.
	ring="--network smpi $ORR_TEST_BUILDDIR/examples/ring/ring.sim -n 25000 --no-check"
	# The words are split on purpose.
	# shellcheck disable=SC2086
	{
		ok "$ORRERY" sim -n 4 --kernels skip --report alone.json $ring
		"$ORRERY" sim -n 4 --kernels skip --report seen.json $ring > app.out 2> app.err &
	}
	pid=$!
	for _ in $(seq 50); do
		"$ORRERY" top "$pid" --json --interval 0.05 > out 2> err && break
		sleep 0.05
	done
	wait "$pid" || { cat app.err; die "the simulation failed"; }
	pid=
	"$PYTHON" -c 'import json, sys
looks = [json.loads(line) for line in open("out")]
# At the end, ranks whose runtime has stopped count no tasks; no rank comes back.
stopped = [sum(x["state"] == "without runtime" for x in r["ranks"]) for r in looks]
first = next((i for i, n in enumerate(stopped) if n == 0), len(looks))
assert stopped[first:] == sorted(stopped[first:]), stopped
done = [sum(x.get("tasks", 0) for x in r["ranks"]) for r, n in zip(looks, stopped) if n == 0]
assert len(done) >= 3 and done == sorted(done) and 0 < done[1] < 100000, done
a, b = [json.load(open(name)) for name in ("alone.json", "seen.json")]
assert a["makespan_s"] == b["makespan_s"] and a["tasks"] == b["tasks"] == 100000, (a, b)' || { cat out err; die "looks"; }
fi

# The end is foretold if it can be known.
if [ "$ORR_TEST_MPI" = yes ]; then
	"$ORRERY" run -n 2 --oversubscribe "$program" none 160 > app.out 2> app.err &
	pid=$!
	for _ in $(seq 100); do
		"$ORRERY" top "$pid" --once --json > out 2> err && grep -q '"end": {"seconds": [1-9]' out && break
		sleep 0.1
	done
	began=$(date +%s%N)
	says 'r["end"]["text"].startswith("in about ") and "if the program submits no more" in r["end"]["text"]'
	foretold=$("$PYTHON" -c 'import json; print(json.load(open("out"))["end"]["seconds"])')
	wait "$pid" || { cat app.err; die "the run failed"; }
	pid=
	"$PYTHON" -c 'import sys; took, said = (int(sys.argv[2]) - int(sys.argv[1])) / 1e9, float(sys.argv[3])
print("end in %.1f s, foretold %.1f s" % (took, said)); sys.exit(not abs(took - said) < 0.35 * took + 0.5)' "$began" "$(date +%s%N)" "$foretold" || die "the end"
fi

# On a terminal the table comes again, and q ends it.
if [ "$ORR_TEST_MPI" = yes ]; then
	"$ORRERY" run -n 2 --oversubscribe "$program" "$PWD/go" > app.out 2> app.err &
	pid=$!
	up 2
	"$PYTHON" - "$ORRERY" "$pid" << 'END' || die "the terminal"
import os, pty, select, sys, time
pid, fd = pty.fork()
if not pid:
    os.execv(sys.argv[1], [sys.argv[1], "top", sys.argv[2], "--interval", "0.2"])
text, until, pressed = b"", time.time() + 20, 0
while time.time() < until:
    if not select.select([fd], [], [], 0.2)[0]:
        continue
    try:
        part = os.read(fd, 65536)
    except OSError:
        break
    if not part:
        break
    text += part
    if text.count(b"\033[H") >= 3 and not pressed:
        os.write(fd, b"s")
        pressed = 1
    if b"sorted by tasks" in text and pressed == 1:
        os.write(fd, b"q")
        pressed = 2
_, status = os.waitpid(pid, 0)
assert status == 0 and pressed == 2, (status, pressed, text[-3000:])
assert b"\033[?1049h" in text and text.rstrip().endswith(b"\033[?1049l"), text[-300:]
END
	touch go
	wait "$pid" || { cat app.err; die "the run failed"; }
	pid=
	rm go
fi

if [ "$ORR_TEST_SIM" = yes ]; then both simulated 4 "$ORRERY" sim -n 4 --kernels run "$program.sim"; fi
if [ "$ORR_TEST_MPI" = yes ]; then both real 2 "$ORRERY" run -n 2 --oversubscribe "$program"; fi
exit 0
