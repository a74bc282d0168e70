# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Sourced by test scripts that need several computers, after lib/script.sh: hosts h1, h2, ... on this one. Each host
# has its network, name, shared memory (/dev/shm, System V), /tmp, /run/host, and time since its start; the files of
# all other folders are common, as on a cluster. A host's processes are those in its network namespace.
#     hosts_world "$@"          first of all: starts the script again in a world of its own, or skips the test
#     hosts_up N                makes hosts h1 to hN, 10.77.0.1 to N, also known as hK.bed; h0 is this shell's computer
#     on HOST COMMAND...        as a user who is logged in there: environment and folder are kept
#     $hosts_agent HOST WORDS   as ssh: the words are for a shell, which has an environment of its own
#     hosts_shape HOST RATE [DELAY [LOSS]]
#                               its link, as tc says it: 200mbit 1ms 30%; fails where the kernel cannot
#     hosts_lose HOST PERCENT   its link loses so many packets at random, both ways, on any kernel; udp: all of UDP
#     hosts_loses HOST          whether it has lost one
#     hosts_late US HOST...     nothing but a switch joins these hosts, which lets a packet wait that long, on any kernel;
#                               it needs tests/real/late. hosts_punctual HOST...: the usual one again
#     hosts_cut HOST, hosts_mend HOST      takes its link away; gives it back, without loss
#     hosts_processes HOST      the processes there, without the one that holds it
#     hosts_idle HOST           waits until none is left; fails after ten seconds
#     hosts_kill HOST, hosts_freeze HOST, hosts_thaw HOST     what a crash does, what a hang does, and its end
#     hosts_variable HOST NAME=VALUE       for shells that $hosts_agent starts there
# Variables before hosts_up: HOSTS_FULL=1 lets hosts call themselves hK.bed. Before hosts_shape: HOSTS_BURST (128kb) passes an
# idle link at once; HOSTS_QUEUE (200ms) of its time wait before it, what is more is lost.
#
# Invariant: all of that is in namespaces that end with the script, and mounts do not leave them. So tests run
# beside each other, nothing of the machine changes, and no process stays.
hosts=/run/hosts
hosts_agent=$hosts/agent
PATH=$PATH:/usr/sbin:/sbin

# hosts_lack: why there can be no hosts here; nothing if there can.
hosts_lack() {
	if [ "$(id -u)" != 0 ]; then
		echo "only root can make hosts"
		return
	fi
	for tool in ip tc unshare nsenter mount; do
		command -v $tool > /dev/null || { echo "$tool is not there (Debian: iproute2, util-linux)"; return; }
	done
	# In a changed root that is no mount, propagation cannot be changed; there it must be private already.
	hosts_propagation=private
	unshare --mount --propagation private true 2> /dev/null || hosts_propagation=unchanged
	mkdir -p probe
	unshare --mount --propagation $hosts_propagation --net --pid --uts --ipc --fork --kill-child --mount-proc sh -c '
		mount -t tmpfs probe probe && ip link set lo up && ip link add bed type bridge && ip link add v type veth peer name w &&
			mount -t sysfs -o ro sysfs /sys' > probe.txt 2>&1 || { echo "hosts cannot be made: $(tail -n 1 probe.txt)"; return; }
	if grep -q " $PWD/probe " /proc/self/mountinfo; then
		umount probe
		echo "mounts would reach the machine"
	fi
	rmdir probe
}

hosts_world() {
	if [ -z "${HOSTS_WORLD-}" ]; then
		hosts_lack > lack.txt
		[ ! -s lack.txt ] || skip "$(cat lack.txt)"
		export HOSTS_WORLD=1
		# The first process adopts those that lose their parents, and collects them while it waits.
		exec unshare --mount --propagation $hosts_propagation --net --pid --ipc --uts --fork --kill-child --mount-proc \
			/bin/sh -c '/bin/sh "$0" "$@"; exit $?' "$0" "$@"
	fi
	mount -t tmpfs -o mode=755 run /run || die "no folder /run of our own"
	mkdir -p $hosts /run/host
	cp /etc/hosts $hosts/names
	printf '10.77.0.254 h0 h0.bed\nfd77::254 h0 h0.bed\n' >> $hosts/names
	mount --bind $hosts/names /etc/hosts || die "no file /etc/hosts of our own"
	mount -t sysfs -o ro sysfs /sys || die "no folder /sys of our own"
	hostname h0
	ip link set lo up
	ip link add bed type bridge
	ip addr add 10.77.0.254/24 dev bed
	ip addr add fd77::254/64 dev bed nodad 2> /dev/null # a kernel may have no IPv6
	ip link set bed up || die "no bridge"
	cat > $hosts_agent <<- 'END'
		#!/bin/sh
		# HOST WORDS...: what ssh is on a cluster. The environment is that of a login, and not the caller's.
		# Exceptions are the sanitizers' options (sanitizers.sh), since ranks elsewhere have the same foreign libraries, and
		# hwloc's (run-test), which concern this machine.
		host=${1##*@} folder=$PWD
		host=${host%.bed}
		shift
		[ -e /run/hosts/$host.pid ] || { echo "ssh: $host: there is no such host" >&2; exit 255; }
		[ ! -e /run/hosts/$host.cut ] || { echo "ssh: connect to host $host port 22: No route to host" >&2; exit 255; }
		read -r pid < /run/hosts/$host.pid
		read -r time < /run/hosts/time
		exec nsenter -t "$pid" --net --uts --ipc --mount $time --root \
			/usr/bin/env -i HOME="${HOME:-/root}" USER=root LOGNAME=root SHELL=/bin/sh PATH="$PATH" \
			${ASAN_OPTIONS+"ASAN_OPTIONS=$ASAN_OPTIONS"} ${LSAN_OPTIONS+"LSAN_OPTIONS=$LSAN_OPTIONS"} \
			${TSAN_OPTIONS+"TSAN_OPTIONS=$TSAN_OPTIONS"} ${UBSAN_OPTIONS+"UBSAN_OPTIONS=$UBSAN_OPTIONS"} \
			${UCX_MEM_EVENTS+"UCX_MEM_EVENTS=$UCX_MEM_EVENTS"} ${HWLOC_COMPONENTS+"HWLOC_COMPONENTS=$HWLOC_COMPONENTS"} \
			/bin/sh -c '. /run/hosts/$0.variables; cd "$1" 2> /dev/null; shift; eval "$*"' "$host" "$folder" "$@"
	END
	chmod +x $hosts_agent
	echo > $hosts/time
	if unshare --time --monotonic 1000 --boottime 1000 true 2> /dev/null; then echo --time > $hosts/time; fi
	export OMPI_MCA_plm_rsh_agent=$hosts_agent PRTE_MCA_plm_ssh_agent=$hosts_agent
}

# hosts_hold: what the process of a host does first; it has its namespaces already.
hosts_hold='
	hostname "$1"
	ip link set lo up
	mount -t sysfs -o ro sysfs /sys
	mount -t tmpfs -o mode=1777 shm /dev/shm
	mount -t tmpfs -o mode=755 host /run/host
	mkdir /run/host/tmp
	mount -t tmpfs -o mode=1777 tmp /run/host/tmp
	# A tree that lies in /tmp stays visible there.
	for tree in "$ORR_TEST_SRCDIR" "$ORR_TEST_BUILDDIR"; do
		case $tree in /tmp/*) mkdir -p "/run/host$tree" && mount --bind "$tree" "/run/host$tree" ;; esac
	done
	mount --move /run/host/tmp /tmp
	echo $$ > /run/hosts/$2.new && mv /run/hosts/$2.new /run/hosts/$2.pid
	exec sleep infinity'

# host_up K: one host, with its link.
host_up() {
	name=h$1
	if [ -n "${HOSTS_FULL-}" ]; then name=h$1.bed; fi
	time=$(cat $hosts/time)
	if [ -n "$time" ]; then time="--time --monotonic ${1}0000 --boottime ${1}0000"; fi
	: > "$hosts/h$1.variables"
	# shellcheck disable=SC2086 # the options of time are words
	unshare --mount --propagation unchanged --net --uts --ipc $time ${time:+--fork --kill-child} \
		sh -c "$hosts_hold" sh "$name" "h$1" < /dev/null > "$hosts/h$1.log" 2>&1 &
	for _ in $(seq 500); do
		[ ! -e "$hosts/h$1.pid" ] || break
		sleep 0.02
	done
	[ -e "$hosts/h$1.pid" ] || { cat "$hosts/h$1.log"; die "host h$1 does not come up"; }
	read -r holder < "$hosts/h$1.pid"
	printf '10.77.0.%s h%s h%s.bed\nfd77::%s h%s h%s.bed\n' "$1" "$1" "$1" "$1" "$1" "$1" >> $hosts/names
	ip link add "v$1" type veth peer name eth0 netns "$holder" && ip link set "v$1" master bed up || die "no link to h$1"
	on "h$1" ip addr add "10.77.0.$1/24" dev eth0
	on "h$1" ip addr add "fd77::$1/64" dev eth0 nodad 2> /dev/null
	on "h$1" ip link set eth0 up || die "no link of h$1"
}

hosts_up() {
	for k in $(seq "$1"); do host_up "$k"; done
}

on() {
	there=$1
	shift
	read -r holder < "$hosts/$there.pid" || die "there is no host $there"
	# shellcheck disable=SC2046 # no word, or one
	nsenter -t "$holder" --net --uts --ipc --mount $(cat $hosts/time) --root --wd="$PWD" "$@"
}

hosts_shape() {
	# Both directions: what leaves the host, and what arrives.
	for side in "on $1 tc qdisc replace dev eth0" "tc qdisc replace dev v${1#h}"; do
		$side root handle 1: tbf rate "$2" burst "${HOSTS_BURST:-128kb}" latency "${HOSTS_QUEUE:-200ms}" || return 1
	done
	if [ -n "${3-}" ]; then on "$1" tc qdisc replace dev eth0 parent 1:1 netem delay "$3" ${4:+loss "$4"}; fi
}

hosts_lose() {
	k=${1#h}
	ip link set "v$k" nomaster && ip link add "c$k" type veth peer name "d$k" && ip link set "d$k" master bed up && ip link set "c$k" up || return 1
	: > "$hosts/$1.lossy"
	"${PYTHON:-python3}" "$ORR_TEST_SRCDIR/tests/lib/lossy.py" "v$k" "c$k" "$2" > "$hosts/$1.lossy" 2>&1 &
	echo $! > "$hosts/$1.cable"
	for _ in $(seq 200); do
		[ ! -s "$hosts/$1.lossy" ] || break
		sleep 0.05
	done
	grep -q '^joined' "$hosts/$1.lossy" || { cat "$hosts/$1.lossy"; return 1; }
}

hosts_loses() { grep -q '^lost' "$hosts/$1.lossy"; }

hosts_late() {
	us=$1 ports=
	shift
	for host; do
		ip link set "v${host#h}" nomaster || return 1
		ports="$ports v${host#h}"
	done
	: > $hosts/late
	# shellcheck disable=SC2086 # names
	nice -n -20 "$ORR_TEST_BUILDDIR/tests/real/late" "$us" $ports > $hosts/late 2>&1 &
	echo $! > $hosts/late.pid
	for _ in $(seq 200); do
		[ ! -s $hosts/late ] || break
		sleep 0.05
	done
	grep -q '^joined' $hosts/late || { cat $hosts/late; return 1; }
}

hosts_punctual() {
	kill "$(cat $hosts/late.pid)"
	for host; do ip link set "v${host#h}" master bed || return 1; done
}

hosts_cut() {
	ip link set "v${1#h}" down
	: > "$hosts/$1.cut"
}

hosts_mend() {
	if [ -e "$hosts/$1.cable" ]; then
		kill "$(cat "$hosts/$1.cable")"
		rm -f "$hosts/$1.cable"
		ip link del "c${1#h}" && ip link set "v${1#h}" master bed
	fi
	ip link set "v${1#h}" up
	rm -f "$hosts/$1.cut"
}

hosts_variable() { echo "export '$2'" >> "$hosts/$1.variables"; }

hosts_processes() {
	read -r holder < "$hosts/$1.pid"
	network=$(readlink "/proc/$holder/ns/net" | sed 's/[][]/\\&/g')
	# shellcheck disable=SC2012 # names of processes are numbers
	for process in $(ls -l /proc/[0-9]*/ns/net 2> /dev/null | sed -n "s|.* /proc/\([0-9]*\)/ns/net -> $network\$|\1|p"); do
		# A process that has ended has no command; unshare waits for the holder of the host.
		case $(tr '\0' ' ' 2> /dev/null < "/proc/$process/cmdline") in
		'' | 'sleep infinity ' | 'unshare --mount '*) ;;
		*) echo "$process" ;;
		esac
	done 2> /dev/null
}

# hosts_idle HOST: no process runs there, at the latest after ten seconds.
hosts_idle() {
	for _ in $(seq 100); do
		[ -n "$(hosts_processes "$1")" ] || return 0
		sleep 0.1
	done
	return 1
}

# hosts_signal SIGNAL HOST: in rounds, since one process may start another meanwhile.
hosts_signal() {
	for _ in 1 2; do
		for process in $(hosts_processes "$2"); do kill "-$1" "$process" 2> /dev/null; done
	done
	return 0
}

hosts_kill() { hosts_signal KILL "$1"; }
hosts_freeze() { hosts_signal STOP "$1"; }
hosts_thaw() { hosts_signal CONT "$1"; }
