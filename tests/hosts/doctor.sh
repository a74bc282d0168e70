#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery doctor` accuses nobody on three hosts that are well, and names each defect that is prepared on them: the host,
# what is wrong, and its remedy. It never hangs, and nothing of it stays on any host.
# orr-test: debug none
# orr-test: timeout 600
# orr-test: waits
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
. "$ORR_TEST_SRCDIR/tests/lib/hosts.sh"
[ "$ORR_TEST_MPI" = yes ] || skip "no mpirun"
hosts_world "$@"
hosts_up 3
# All hosts have the same cores.
export OMPI_MCA_mpi_yield_when_idle=1
export HOME="$PWD/home" STARPU_HOME="$PWD/home"
bus=$HOME/.starpu/sampling/bus
mkdir -p "$bus"
for h in h1 h2 h3; do hosts_shape $h 200mbit || skip "links cannot be shaped"; done
processor=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)

# calibrate HOST [CORES [PROCESSOR]]: the files of a machine, as `orrery calibrate` writes them.
calibrate() {
	echo "${2-$(nproc)} # Number of CPUs" > "$bus/$1.config"
	printf '# Microseconds that the runtime itself takes: measured by `orrery calibrate` on %s, 2026-01-31\nsubmit_us 1\n' "${3-$processor}" > "$bus/$1.costs"
}
for h in h1 h2 h3; do calibrate $h; done

# One line for each defect: CHECK|HOSTS|WHAT; CONSEQUENCE|REMEDY.
cat > rows.py << 'END'
import json, sys
for row in json.load(open("json"))["defects"]:
    print("|".join([row["check"], " ".join(row["hosts"]), row["what"] + "; " + row["consequence"], row["remedy"]]))
END

# doctor STATUS OPTION...: runs it on h1; its defects are in defects.
doctor() {
	want=$1
	shift
	on h1 timeout 200 "$ORRERY" doctor --json "$@" > json 2> err
	got=$?
	"${PYTHON:-python3}" rows.py > defects || { cat json err; die "no JSON of: orrery doctor $*"; }
	[ $got = "$want" ] || { cat json err; die "exit status $got, not $want, of: orrery doctor $*"; }
}

# accused CHECK HOST WHAT REMEDY: a defect, with expressions.
accused() { has defects "^$1\|$2\|.*$3.*\|.*$4"; }
only() { [ "$(wc -l < defects)" = "$1" ] || { cat defects; die "$(wc -l < defects) defects, not $1"; }; }

# Hosts that are well, in words and in JSON.
printf '<platform><cluster id="c" bw="24e6Bps" lat="100us"/></platform>\n' > fast.xml
ok on h1 timeout 200 "$ORRERY" doctor --host h1,h2,h3 --platform fast.xml
if grep DEFECT out; then die "somebody is accused"; fi
for check in reach build folder names limits memory cores clocks home calibration TCP MPI links transports; do has out "^  $check  *[^ ]"; done
has out '^  links .*as calibrated'
has out '^no defect; orrery run -n 3 --mpirun .* \./app$'
[ ! -s err ] || die "progress where there is no terminal"
printf 'h1 slots=2\nh2 # comment\nh3.bed\n' > file
doctor 0 --hostfile file
doctor 0
# Each pair, in both directions over TCP.
ok "${PYTHON:-python3}" -c 'import json; d = json.load(open("json")); assert d["hosts"] == ["h1"], d'
on h1 env PBS_JOBID=7 PBS_NODEFILE="$PWD/file" timeout 200 "$ORRERY" doctor --json > json 2> err || die "a job: $(cat json err)"
ok "${PYTHON:-python3}" -c 'import json; d = json.load(open("json")); assert d["origin"] == "the job" and len(d["hosts"]) == 3, d
tcp = [l for l in d["links"] if l["layer"] == "tcp"]; mpi = [l for l in d["links"] if l["layer"] == "mpi"]
assert len(tcp) == 6 and len(mpi) == 3 and all(10e6 < l["bytes_per_s"] < 34e6 for l in mpi), d["links"]'

# The list: a name twice, a host under two names, a name that nobody knows.
doctor 1 --quick --host h1,h2,h1
accused hosts h1 'stands 2 times' 'name it once'
only 1
doctor 1 --quick --host h1,h2,h2.bed
accused hosts h2.bed 'the same host as h2' 'name it once'
doctor 1 --quick --host h1,h2,h9
accused reach h9 'does not resolve' 'DNS|/etc/hosts'
only 1

# The agent that reaches hosts: missing, asks for a password, refused, slow, hangs.
doctor 1 --quick --host h1,h2 --agent no-such-agent
accused reach h2 'no-such-agent is not there' 'openssh-client'
only 1
# says HOST TEXT [SECONDS]: an agent that says that about a host after a time, and fails.
says() {
	printf '#!/bin/sh\nif [ "$1" = %s ]; then sleep %s; %s; fi\nexec %s "$@"\n' "$1" "${3-0}" "${2:+echo '$2' >&2; exit 255}" "$hosts_agent" | sed 's/; *; fi/; fi/' > agent
	chmod +x agent
}
says h2 'root@h2: Permission denied (publickey,password).'
doctor 1 --quick --host h1,h2 --agent ./agent
accused reach h2 'asks for a password' 'ssh-copy-id h2'
says h2 'Host key verification failed.'
doctor 1 --quick --host h1,h2 --agent ./agent
accused reach h2 'host key is not known' 'ssh-keyscan h2'
says h2 'ssh: connect to host h2 port 22: Connection refused'
doctor 1 --quick --host h1,h2 --agent ./agent
accused reach h2 'refuses the connection' 'sshd'
says h2 '' 2.5
doctor 1 --quick --host h1,h2 --agent ./agent --timeout 4
accused reach h2 'took [2-4]\.[0-9] s to answer' 'UseDNS'
says h2 '' 600
doctor 1 --quick --host h1,h2 --agent ./agent --timeout 2
accused reach h2 'no answer within 2 s' '--timeout'
# In a job of Slurm, srun.
mkdir bin
cat > bin/srun << 'END'
#!/bin/sh
while [ "$1" != -w ]; do shift; done
echo "$2" >> srun.txt
read -r pid < /run/hosts/$2.pid
shift 2
exec nsenter -t "$pid" --net --uts --ipc --mount --root --wd="$PWD" "$@"
END
chmod +x bin/srun
on h1 env PATH="$PWD/bin:$PATH" SLURM_JOB_ID=7 'SLURM_NODELIST=h[1-3]' timeout 200 "$ORRERY" doctor --quick > out 2> err || { cat out err; die "a job of Slurm"; }
has out '^3 hosts \(the job\): h1 h2 h3$'
has out '^  reach  *3 hosts by srun'
[ "$(sort srun.txt | tr '\n' ' ')" = 'h2 h3 ' ] || die "srun was not asked: $(cat srun.txt)"
hosts_cut h3
doctor 1 --quick --host h1,h2,h3
accused reach h3 'down, cut off' 'switch it on'
only 1
hosts_mend h3

# The installed software: another build, none, another MPI, a folder that is not there.
library=$(readlink -f "$ORR_TEST_BUILDDIR/.libs/liborrery.so")
cp "$library" other.so
echo >> other.so
on h2 mount --bind other.so "$library"
doctor 1 --quick --host h1,h2,h3
accused build h2 'liborrery\.so[.0-9]* is another build' 'LD_LIBRARY_PATH'
only 1
on h2 umount "$library"
on h2 mount -t tmpfs none "$ORR_TEST_BUILDDIR"
doctor 1 --quick --host h1,h2
accused reach h2 'this Orrery is not there' 'same path'
on h2 umount "$ORR_TEST_BUILDDIR"
on h1 mkdir /tmp/own
on h1 sh -c 'cd /tmp/own && exec "$0" doctor --quick --json --host h1,h2' "$ORRERY" > json
"${PYTHON:-python3}" rows.py > defects
accused folder h2 '/tmp/own is not there' 'share'
cat > fake.c << 'END'
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/syscall.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *t)
{
	long ret = syscall(SYS_clock_gettime, clock, t);
	while (clock == CLOCK_REALTIME && getenv("FAKE_HANG") && strstr(program_invocation_name, "doctor-host"))
		pause();
	if (clock == CLOCK_REALTIME && getenv("FAKE_CLOCK"))
		t->tv_sec += atoi(getenv("FAKE_CLOCK"));
	return (int) ret;
}
END
cat > mpi.c << 'END'
#include <string.h>
int MPI_Get_library_version(char *text, int *length)
{
	strcpy(text, "Open MPI v1.2.3, package: made up");
	*length = (int) strlen(text);
	return 0;
}
END
for f in fake mpi; do ok ${CC:-cc} -shared -fPIC -o $f.so $f.c; done
variables=$hosts/h2.variables
# variable HOST LINE: of the shells that the agent starts there; none: they are as before.
variable() { if [ $# = 1 ]; then : > "$hosts/$1.variables"; else echo "$2" >> "$hosts/$1.variables"; fi; }
variable h2 "export LD_PRELOAD=$PWD/mpi.so"
doctor 1 --quick --host h1,h2
accused MPI h2 'its MPI is Open MPI 1\.2\.3, here it is' 'install the same MPI'
variable h2

# Clocks.
variable h3 "export LD_PRELOAD=$PWD/fake.so FAKE_CLOCK=300"
doctor 1 --quick --host h1,h2,h3
accused clocks h3 'its clock is 300 s ahead' 'chrony'
only 1
variable h3

# A host that stops answering in the middle.
variable h3 "export LD_PRELOAD=$PWD/fake.so FAKE_HANG=1"
doctor 1 --quick --host h1,h2,h3 --timeout 10
accused reach h3 'no answer any more' 'whether the host still runs'
only 1
variable h3

# Limits, memory, cores: many on one host.
variable h2 'prlimit --pid $$ --nofile=200:300 --memlock=16384:16384 --nproc=100: --stack=524288 --as=4294967296'
[ "$(nproc)" = 1 ] || variable h2 'taskset -pc 0 $$ > /dev/null'
echo 1000 > maps
on h2 mount --bind maps /proc/sys/vm/max_map_count
on h2 mount -o remount,size=1m /dev/shm
on h3 mount -t tmpfs cgroup /sys/fs/cgroup
on h3 sh -c 'echo "50000 100000" > /sys/fs/cgroup/cpu.max; mkdir /sys/fs/cgroup/cpu; echo 50000 > /sys/fs/cgroup/cpu/cpu.cfs_quota_us; echo 100000 > /sys/fs/cgroup/cpu/cpu.cfs_period_us'
variable h3 'export TMPDIR=/proc/absent'
doctor 1 --quick --host h1,h2,h3
accused limits h2 'only 200 files may be open' 'administrator raises nofile'
accused limits h2 'only 16 KiB may be locked' 'memlock'
accused limits h2 'only 100 processes and threads' 'ulimit -u [0-9]+'
accused limits h2 'stack of a thread has 512 KiB' 'stack|ulimit -s'
accused limits h2 'has 4 GiB of addresses' 'as|ulimit -v'
accused limits h2 'only 1000 pieces of memory \(vm.max_map_count\)' 'sysctl -w vm.max_map_count'
accused memory h2 '/dev/shm has 1 MiB' 'remount,size'
accused memory h3 '/proc/absent cannot be written' 'TMPDIR'
accused cores h3 'may use 0\.5 cores' 'STARPU_NCPU=1'
[ "$(nproc)" = 1 ] || accused cores h2 "only 1 of its $(nproc) cores" 'taskset'
if grep -v '^\(limits\|memory\|cores\)|' defects; then die "something else is accused"; fi
on h2 umount /proc/sys/vm/max_map_count
on h2 mount -o remount,size=50% /dev/shm
on h3 umount /sys/fs/cgroup
variable h2
variable h3

# Names: a host that believes to be at 127.0.1.1, and one that does not know another one.
{ printf '127.0.0.1 localhost\n127.0.1.1 h2\n'; grep ' h[13] ' /etc/hosts | grep '^10'; } > names
on h2 mount --bind names /etc/hosts
doctor 1 --quick --host h1,h2,h3
accused names h2 'own name h2 is the loopback address 127.0.1.1' 'its /etc/hosts'
sed -i '/ h3 /d' names
on h2 umount /etc/hosts
on h2 mount --bind names /etc/hosts
doctor 1 --quick --host h1,h2,h3
accused TCP h2 'name h3 does not resolve there' '/etc/hosts'
on h2 umount /etc/hosts

# Homes and calibrations.
on h2 mount --bind "$HOME" "$HOME"
on h2 mount -o remount,bind,ro "$HOME"
calibrate h2 $(($(nproc) + 62))
calibrate h3 "$(nproc)" 'another processor'
doctor 1 --quick --host h1,h2,h3
accused home h2 'cannot be written: Read-only' 'STARPU_HOME'
accused calibration h2 "is of a machine with $(($(nproc) + 62)) cores" 'orrery calibrate'
accused calibration h3 'measured on another processor, and this is ' 'orrery calibrate'
only 3
on h2 umount "$HOME"
rm "$bus/h2.config"
calibrate h3
doctor 1 --quick --host h1,h2,h3
accused calibration h2 'it has none' 'orrery calibrate'
only 1
calibrate h2

# Links: no way between two hosts, a range of ports, slow ones.
on h2 ip route add prohibit 10.77.0.3
doctor 1 --quick --host h1,h2,h3
accused TCP h2 'no way to h3' 'firewalls'
on h2 ip route del prohibit 10.77.0.3
# A packet for another port of TCP than 20000 to 29999 is dropped, and one that comes from another one, too.
firewall() {
	on h2 ip rule add pref 9 iif eth0 ipproto tcp sport 20000-29999 lookup local &&
		on h2 ip rule add pref 10 iif eth0 ipproto tcp dport 20000-29999 lookup local &&
		on h2 ip rule add pref 11 iif eth0 ipproto tcp dport 1024-65534 blackhole &&
		on h2 ip rule add pref 12 lookup local && on h2 ip rule del pref 0
}
if firewall; then
	doctor 1 --quick --host h1,h2
	accused TCP h1 'a firewall lets only some ports through to h2: 5 of 32 that were tried, within 21500 to 29500' '--ports'
	doctor 0 --host h1,h2 --ports 20000-20199
	# UCX keeps to it, too.
	if grep -q '"check": "transports"' json; then
		ok "${PYTHON:-python3}" -c 'import json; d = json.load(open("json")); assert all(n["check"] != "transports" for n in d["notes"]), d["notes"]'
	fi
	doctor 1 --quick --host h1,h2 --ports 30000-30199
	accused TCP h1 'no way to h2 at ports 30000 to 30199' 'open these ports'
	on h2 ip rule add pref 0 lookup local
	for pref in 9 10 11 12; do on h2 ip rule del pref $pref; done
else
	echo "no rules for ports here: the firewall was left out"
fi
printf '<platform><cluster id="c" bw="60Mbps" lat="100us"/></platform>\n' > slow.xml
hosts_shape h3 50mbit
doctor 1 --host h1,h2,h3 --platform fast.xml
accused links h3 'between h[12] and h3: [0-9.]* MB/s, calibrated are 24' 'ethtool'
if grep 'h1 and h2' defects; then die "a quick link is accused"; fi
doctor 0 --host h1,h2,h3 --platform slow.xml
hosts_shape h3 20mbit
doctor 1 --host h1,h2,h3
accused links h3 'between h[12] and h3: [0-9.]* MB/s, other pairs have up to [12]' 'ethtool'
hosts_shape h3 200mbit
doctor 0 --host h1,h2,h3

for h in h1 h2 h3; do hosts_idle $h || die "processes stay on $h: $(hosts_processes $h)"; done
[ -z "$(find "$HOME" -name '.orrery-doctor-*')" ] || die "a file stays"

# Mistakes of the user.
fails 2 '--host and --hostfile both' "$ORRERY" doctor --host a --hostfile b
fails 2 '--hostfile absent: No such file' "$ORRERY" doctor --hostfile absent
: > empty
fails 2 'names no host' "$ORRERY" doctor --hostfile empty
fails 2 'expected names of hosts' "$ORRERY" doctor --host a,,b
fails 2 'expected names of hosts' "$ORRERY" doctor --host=-oProxyCommand=x
fails 2 '--ports 5: expected a range' "$ORRERY" doctor --ports 5
fails 2 'at least 10' "$ORRERY" doctor --ports 20000-20003
fails 2 '--timeout 0: expected' "$ORRERY" doctor --timeout 0
fails 2 '--platform absent: No such file' "$ORRERY" doctor --platform absent
fails 2 'neither a <cluster>' "$ORRERY" doctor --platform file
fails 2 'names hosts; give them by --host' "$ORRERY" doctor --mpirun "--host a"
fails 2 'leave one of them out' "$ORRERY" doctor --quick --platform fast.xml
fails 2 'unknown option --hots' "$ORRERY" doctor --hots a
fails 2 'LSB_DJOB_HOSTFILE|the job does not say its hosts' env LSB_JOBID=7 "$ORRERY" doctor
exit 0
