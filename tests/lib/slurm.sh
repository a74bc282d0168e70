# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Sourced by test scripts after lib/hosts.sh: a Slurm on the hosts, with its real daemons. The controller runs on h0,
# slurmd on each of h1 to hN, and they share one munged. Commands (srun, salloc, ...) find it by $SLURM_CONF, also in
# shells that $hosts_agent starts.
#     slurm_lack                says why there can be no Slurm here; nothing if there can
#     slurm_up N CORES [LINE...]
#                               starts it on h1 to hN, which have CORES each; LINEs are more lines of slurm.conf
#     slurm_idle                waits until no job is there; fails after a minute, with what there is
#     slurm_state HOST REGEX    waits until the host is in a state that matches (idle, alloc, drain, down, ...)
#     slurm_clean HOST          waits until no process of a job is there; fails after half a minute, with what there is
#     slurm_down                ends the daemons, by id
# Variables: slurm (its folder), slurm_daemons (their names).
#
# Invariant: it reads and writes nothing of the machine's Slurm and munge. A daemon that a test forgets ends with the
# world of the hosts.
slurm=/run/slurm
slurm_daemons=

slurm_lack() {
	for tool in munged slurmctld slurmd srun salloc sbatch squeue scontrol scancel; do
		command -v $tool > /dev/null || { echo "$tool is not there (Debian: slurmctld slurmd slurm-client munge)"; return; }
	done
	ls /usr/lib/*/slurm*/mpi_pmix.so > pmix.txt 2>&1 || echo "Slurm was built without PMIx"
}

# slurm_daemon NAME HOST COMMAND...: starts it there in the background; its id is in $slurm/NAME.pid, what it says in
# $slurm/NAME.log.
slurm_daemon() {
	daemon=$1 host=$2
	shift 2
	start='echo $$ > "$0.pid.new" && mv "$0.pid.new" "$0.pid" && exec "$@"'
	if [ "$host" = h0 ]; then
		sh -c "$start" "$slurm/$daemon" "$@" > "$slurm/$daemon.log" 2>&1 < /dev/null &
	else
		on "$host" sh -c "$start" "$slurm/$daemon" "$@" > "$slurm/$daemon.log" 2>&1 < /dev/null &
	fi
	slurm_daemons="$daemon $slurm_daemons"
	for _ in $(seq 500); do
		[ ! -e "$slurm/$daemon.pid" ] || return 0
		sleep 0.02
	done
	die "$daemon was not started"
}

# slurm_wait SECONDS COMMAND...: until it succeeds.
slurm_wait() {
	tries=$(($1 * 10 * ${ORR_TEST_FACTOR:-1}))
	shift
	for _ in $(seq $tries); do
		! "$@" > "$slurm/wait.txt" 2>&1 || return 0
		sleep 0.1
	done
	return 1
}

slurm_configure() {
	count=$1 cores=$2
	shift 2
	cat > $slurm/slurm.conf <<- END
		ClusterName=bed
		SlurmctldHost=h0(10.77.0.254)
		SlurmUser=root
		SlurmdUser=root
		AuthType=auth/munge
		AuthInfo=socket=$slurm/munge/socket
		CredType=cred/munge
		StateSaveLocation=$slurm/state
		SlurmdSpoolDir=/run/host/slurmd
		SlurmctldPidFile=$slurm/slurmctld.own
		SlurmdPidFile=/run/host/slurmd.own
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		SwitchType=switch/none
		MpiDefault=none
		JobAcctGatherType=jobacct_gather/none
		AccountingStorageType=accounting_storage/none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_Core
		SchedulerParameters=sched_interval=1,sched_min_interval=0,bf_interval=1,batch_sched_delay=0
		SlurmdParameters=config_overrides
		SlurmdTimeout=20
		KillWait=15
		MessageTimeout=30
		ReturnToService=2
		MailProg=/bin/true
		NodeName=h[1-$count] CPUs=$cores State=UNKNOWN
		PartitionName=bed Nodes=ALL Default=YES MaxTime=INFINITE State=UP
	END
	echo PMIxCliTmpDirBase=/run/host > $slurm/mpi.conf # a folder of each host's own
	for line; do echo "$line" >> $slurm/slurm.conf; done
	echo CgroupPlugin=cgroup/v1 > $slurm/cgroup.conf # it is not used, and the other one wants a mount
}

slurm_up() {
	mkdir -p $slurm/munge $slurm/state
	chmod 755 $slurm/munge
	slurm_configure "$@"
	export SLURM_CONF=$slurm/slurm.conf
	head -c 1024 /dev/urandom > $slurm/munge/key
	chmod 600 $slurm/munge/key
	slurm_daemon munged h0 munged --foreground --force --num-threads=2 --socket=$slurm/munge/socket --key-file=$slurm/munge/key \
		--pid-file=$slurm/munge/own --log-file=$slurm/munge/log --seed-file=$slurm/munge/seed
	slurm_wait 20 test -S $slurm/munge/socket || { cat $slurm/munged.log; die "munged does not come up"; }
	slurm_daemon slurmctld h0 slurmctld -D -i -f $slurm/slurm.conf
	for k in $(seq "$1"); do
		hosts_variable "h$k" SLURM_CONF=$slurm/slurm.conf
		on "h$k" mkdir -p /run/host/slurmd
		slurm_daemon "slurmd-h$k" "h$k" slurmd -D -N "h$k" -f $slurm/slurm.conf
	done
	slurm_wait 30 slurm_are_idle "$1" || { sinfo -N; tail -n 5 $slurm/*.log; die "the hosts do not become idle"; }
}

slurm_are_idle() { [ "$(sinfo -h -N -t idle -o %N | sort -u | wc -l)" = "$1" ]; }
slurm_none() { [ -z "$(squeue -h)" ]; }
slurm_idle() { slurm_wait 60 slurm_none || { squeue; return 1; }; }
slurm_is() { sinfo -h -N -n "$1" -o %T | grep -E -q "$2"; }
slurm_state() { slurm_wait 60 slurm_is "$1" "$2" || { sinfo -N; return 1; }; }

# slurm_processes HOST: those there that are not of the daemon.
slurm_processes() {
	read -r slurmd < "$slurm/slurmd-$1.pid"
	hosts_processes "$1" | grep -v "^$slurmd\$"
}
slurm_has_no_process() { [ -z "$(slurm_processes "$1")" ]; }
slurm_clean() {
	slurm_wait 30 slurm_has_no_process "$1" && return 0
	for process in $(slurm_processes "$1"); do tr '\0' ' ' < "/proc/$process/cmdline"; echo; done
	return 1
}

slurm_ended() { ! kill -0 "$1"; }
slurm_down() {
	for daemon in $slurm_daemons; do # the last one first, since each needs those before it
		read -r process < "$slurm/$daemon.pid"
		kill "$process" 2> /dev/null
		slurm_wait 20 slurm_ended "$process" || kill -KILL "$process"
	done
	slurm_daemons=
}
