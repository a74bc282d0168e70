#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The resource manager grows and shrinks a set that is malleable, by a script in both worlds, by a
# socket in the real one; in a simulated run a host goes away, and another one fails.
# orr-test: timeout 120
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"

program=$ORR_TEST_BUILDDIR/tests/elastic/manager
cat > script <<'END'
# two more, and three less
at 0.2 grow 2
at 0.3 shrink 3
at 0.1 pool 4
END
sizes() { sed -n 's/^change \([0-9]*\): operation \([0-9]*\), \([0-9]*\) processes$/\1:\2:\3/p' out | tr '\n' ' '; }
is() { [ "$(sizes)" = "$1" ] || { cat out err; die "changes are $(sizes)"; }; }

if [ "$ORR_TEST_SIM" = yes ]; then
	ok "$ORRERY" sim -n 2 --elastic --max 8 --scenario script "$program.sim" 2
	is '1:5:4 2:6:1 '
	printf 'at 0.5 leave node-1\nat 1 grow 1\nat 2 fail node-0\n' > hosts
	ok "$ORRERY" sim -n 2 --elastic --max 4 --scenario hosts "$program.sim" 2
	is '1:6:1 2:5:2 '
	printf 'at 0.5 fail node-2\n' > hosts
	ok "$ORRERY" sim -n 3 --elastic --scenario hosts "$program.sim" 1
	is '1:6:2 '
	printf 'at 0.5 fail node-0\n' > hosts
	fails 1 'process 0 failed, and no other process is left' "$ORRERY" sim -n 1 --elastic --scenario hosts "$program.sim" 1
fi
[ "$ORR_TEST_MPI" = yes ] || exit 0
ok "$ORRERY" run -n 2 --elastic --max 8 --manager script:script "$program" 2
is '1:5:4 2:6:1 '

command -v "$PYTHON" > /dev/null || exit 0
cat > ask.py <<'END'
import socket, sys, time
for attempt in range(200):
    try:
        s = socket.socket(socket.AF_UNIX)
        s.connect("socket")
        break
    except OSError:
        time.sleep(0.05)
f = s.makefile("rw")
for line in sys.argv[1:]:
    f.write(line + "\n")
    f.flush()
    print(f.readline().strip())
END
"$PYTHON" ask.py "grow 1" "grow much" "shrink 2" > answers &
ok "$ORRERY" run -n 2 --elastic --max 4 --manager unix:socket "$program" 2
wait
is '1:5:3 2:6:1 '
[ "$(cut -d' ' -f1 answers | tr '\n' ' ')" = 'ok error ok ' ] || { cat answers; die "answers of the manager"; }
[ ! -e socket ] || die "the socket is still there"
exit 0
