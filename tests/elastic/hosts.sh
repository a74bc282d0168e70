#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# In the real world a host is taken back, another one fails, and some do not exist. The launcher gets three hosts: one is
# this machine, and two are made up, because its agent starts their processes here, too. No process is put on a host that
# was taken back. The run ends with an error when the last host fails.
# orr-test: timeout 60
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_MPI" = yes ] || skip "needs Open MPI"
command -v "$PYTHON" > /dev/null || skip "needs Python"

cat > agent <<'END'
#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
ORRERY_DYN_HOST=$1.example.org
# Daemons of two hosts that make one folder at the same time fail.
TMPDIR=$TMPDIR/$1
mkdir -p "$TMPDIR"
export ORRERY_DYN_HOST TMPDIR
shift
exec sh -c "$*"
END
chmod +x agent

# Each line is said when the text before it is in one of the run's files.
cat > manager.py <<'END'
import socket, sys, time

def wait(ready):
    for _ in range(600):
        if ready():
            return
        time.sleep(0.05)
    sys.exit("the run does not go on")

def connect():
    try:
        channel.connect("socket")
    except OSError:
        return False
    return True

def says(text):
    return text in open("out").read() + open("err").read()

channel = socket.socket(socket.AF_UNIX)
wait(connect)
lines = channel.makefile("rw")
for text, line in zip(sys.argv[1::2], sys.argv[2::2]):
    wait(lambda: says(text))
    lines.write(line + "\n")
    lines.flush()
    print(line, ":", lines.readline().strip())
END

ORRERY_DYN_HOST=node-0
export ORRERY_DYN_HOST
"$PYTHON" manager.py '' 'leave node-9' 'nobody leaves' 'at 0.01 leave node-0' 'change 1:' 'grow 1' 'was taken back' 'fail node-8' \
	'fail node-8' 'fail node-1' 'change 2:' 'fail node-2' > answers &
# Processes of one machine that think that they are not use TCP.
fails 1 'process [0-9]* failed, and no other process is left' "$ORRERY" run -n 4 --elastic --manager unix:socket \
	--mpirun "--host localhost:2,node-1:1,node-2:1 --mca plm_rsh_agent $PWD/agent --mca btl tcp,self --bind-to none" \
	"$ORR_TEST_BUILDDIR/tests/elastic/manager" 3
wait
sed 's/.* : //' answers | tr '\n' ' ' | grep -q '^ok ok ok error refused ok ok $' || { cat answers; die "answers of the registry"; }
has err 'no process of .* is on node-9; nobody leaves'
has err 'started on a host that was taken back; the run goes on without the 1 new processes'
has err 'fail node-8: no process of the run is on that host'
has out '^change 1: operation 6, 2 processes'
has out '^change 2: operation 6, 1 processes'
exit 0
