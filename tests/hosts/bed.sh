#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The hosts of lib/hosts.sh are several computers: names, networks, memory, /tmp and clocks of their own, files in
# common; ssh's environment; links that are slow or cut; hosts that crash or hang; and nothing that stays.
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
. "$ORR_TEST_SRCDIR/tests/lib/hosts.sh"
if [ -z "${HOSTS_WORLD-}${HOSTS_STAY-}" ]; then
	before=$(cat /etc/hosts; hostname)
	# The world ends with its script, whatever it has started.
	(exec env HOSTS_STAY=1 sh "$0") > world.txt 2>&1 || { cat world.txt; if grep -q '^SKIP' world.txt; then exit 77; else die "no world"; fi; }
	read -r there < stays
	[ "$there" = stays ] || die "no process was left behind"
	for process in /proc/[0-9]*; do
		! tr '\0' ' ' 2> /dev/null < "$process/cmdline" | grep -q '^sleep 765432' || die "a process has stayed"
	done
	[ "$before" = "$(cat /etc/hosts; hostname)" ] || die "the machine has changed"
	if grep -e ' /run/host' -e ' /etc/hosts ' -e "$PWD" /proc/self/mountinfo; then die "a mount has left the world"; fi
	if ip link show bed > bed.txt 2>&1; then die "a link has left the world"; fi
fi
hosts_world "$@"
if [ -n "${HOSTS_STAY-}" ]; then
	hosts_up 1
	on h1 sleep 765432 &
	sleep 0.2
	hosts_processes h1 > /dev/null
	[ -z "$(hosts_processes h1)" ] || echo stays > stays
	exit 0
fi

# is WHAT COMMAND...: the command prints that.
is() {
	want=$1
	shift
	ok "$@"
	[ "$(cat out)" = "$want" ] || die "'$(cat out)', not '$want', of: $*"
}

hosts_up 3
is h2 on h2 hostname
is "$PWD" on h2 pwd
on h1 sh -c 'echo 1 > /dev/shm/own; echo 1 > /tmp/own; echo 1 > common'
is common on h2 sh -c 'ls common /dev/shm/own /tmp/own 2> /dev/null; true'
is 1 on h2 cat common
# The link, by names with and without domain.
cat > say.py << 'END'
import socket, sys
if sys.argv[1] == "listen":
    server = socket.create_server(("", 4567))
    server.settimeout(20)
    print("ready", flush=True)
    connection, peer = server.accept()
    connection.sendall(("hello %s from %s" % (peer[0], socket.gethostname())).encode())
else:
    try:
        print(socket.create_connection((sys.argv[2], 4567), 2).makefile().read())
    except OSError as error:
        sys.exit(str(error))
END
for name in h2 h2.bed; do
	rm -f ready
	on h2 "${PYTHON:-python3}" say.py listen > ready &
	for _ in $(seq 100); do
		[ ! -s ready ] || break
		sleep 0.05
	done
	is "hello 10.77.0.3 from h2" on h3 "${PYTHON:-python3}" say.py ask $name
done

# A switch that lets packets wait: the first and the second packet of a connection do, 50 ms each.
cat > took.py << 'END'
import socket, sys, time
start = time.monotonic()
try:
    socket.create_connection((sys.argv[1], 4568), 20)
except ConnectionRefusedError:
    pass
print("late" if time.monotonic() - start >= 0.1 else "soon")
END
connects() { on h1 "${PYTHON:-python3}" took.py 10.77.0.2; }
hosts_late 50000 h1 h2 || die "no switch that is late"
[ "$(connects)" = late ] || die "packets are not late"
hosts_punctual h1 h2
took=
for _ in $(seq 20); do
	took=$(connects)
	[ "$took" != soon ] || break
done
[ "$took" = soon ] || die "packets are still late"

# As ssh: an environment of its own, and the caller's folder.
export OF_THE_CALLER=1
is "h3 $PWD" on h1 "$hosts_agent" h3 'echo $(hostname) $PWD $OF_THE_CALLER $OF_THE_HOST'
hosts_variable h3 OF_THE_HOST=2
is "h3 2" on h1 "$hosts_agent" root@h3.bed 'echo $(hostname)' '$OF_THE_CALLER' '$OF_THE_HOST'
fails 255 'no such host' "$hosts_agent" h9 true

hosts_cut h2
fails 255 'No route to host' "$hosts_agent" h2 true
fails 1 'timed out|No route|unreachable' on h3 "${PYTHON:-python3}" say.py ask h2
hosts_mend h2
is h2 "$hosts_agent" h2 hostname

[ -z "$(hosts_processes h1)" ] || die "processes on h1: $(hosts_processes h1)"
on h1 sleep 1000 &
on h2 sleep 1000 &
for _ in $(seq 100); do
	process=$(hosts_processes h1)
	[ -z "$process" ] || break
	sleep 0.05
done
[ -n "$process" ] || die "no process on h1"
hosts_freeze h1
has "/proc/$process/status" '^State:.T'
hosts_thaw h1
has "/proc/$process/status" '^State:.[SR]'
hosts_kill h1
hosts_idle h1 || die "h1 was not killed"
[ -n "$(hosts_processes h2)" ] || die "h2 was killed, too"

# Time since the start is each host's own, where the kernel can do that.
if [ -n "$(cat $hosts/time)" ]; then
	first=$(on h1 sed 's/\..*//' /proc/uptime) third=$(on h3 sed 's/\..*//' /proc/uptime)
	[ $((third - first)) -gt 19000 ] || die "hosts have one clock: $first $third"
fi
exit 0
