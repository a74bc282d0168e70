#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Launching on several hosts as people do: by a host file, by names with and without domain, from a computer that
# has no rank, inside of made-up jobs of PBS, LSF and Slurm, through a range of ports. The user's variables and the
# files that a run writes arrive; a folder that only one host has does, too.
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
. "$ORR_TEST_SRCDIR/tests/lib/hosts.sh"
[ "$ORR_TEST_MPI" = yes ] || skip "no mpirun"
hosts_world "$@"
hosts_up 3
ring=$ORR_TEST_BUILDDIR/examples/ring/ring
export STARPU_NCPU=1

# where HOSTS: the ranks that ran, in order, as names of hosts.
printf '#!/bin/sh\necho "$OMPI_COMM_WORLD_RANK $(hostname) $STARPU_NCPU $OTHER"\n' > where.sh
chmod +x where.sh
where() {
	[ "$(sort -n out | tr '\n' ';')" = "$1" ] || { cat out err; die "ranks ran elsewhere than: $1"; }
}

# A host file; what was shown is what happens.
printf 'h1 slots=2\nh2.bed slots=1\nh3 slots=1\n' > file
ok on h1 timeout 60 "$ORRERY" run --show --mpirun "--hostfile file" ./where.sh
if [ "${ORR_TEST_MPI_LIBRARY:-openmpi4}" = openmpi4 ]; then
	has out '^#   h1 *ranks 0-1$'
	has out '^#   h2(\.bed)? *rank 2$'
	has out '^#   h3 *rank 3$'
else
	has out '^# .* decides where ranks run, and cannot be asked'
fi
export OTHER=other
ok on h1 timeout 60 "$ORRERY" run --mpirun "--hostfile file --bind-to none" ./where.sh
where '0 h1 1 other;1 h1 1 other;2 h2 1 ;3 h3 1 ;'
ok on h1 timeout 60 "$ORRERY" run --mpirun "--hostfile file --bind-to none -x OTHER" ./where.sh
where '0 h1 1 other;1 h1 1 other;2 h2 1 other;3 h3 1 other;'

# Jobs: each line of a file of nodes is a rank.
printf 'h1\nh2\nh3\n' > nodes
for job in "PBS_JOBID=7 PBS_NODEFILE=$PWD/nodes" "LSB_JOBID=7 LSB_DJOB_HOSTFILE=$PWD/nodes" "OAR_JOB_ID=7 OAR_NODEFILE=$PWD/nodes"; do
	# shellcheck disable=SC2086 # variables
	ok on h1 env $job timeout 60 "$ORRERY" run ./where.sh
	where '0 h1 1 other;1 h2 1 ;2 h3 1 ;'
done
# Slurm's variables, with ssh instead of srun.
ok on h1 env SLURM_JOB_ID=7 SLURM_JOBID=7 SLURM_NTASKS=3 'SLURM_NODELIST=h[1-3]' SLURM_NNODES=3 'SLURM_TASKS_PER_NODE=1(x3)' \
	OMPI_MCA_plm=rsh PRTE_MCA_plm=ssh timeout 60 "$ORRERY" run ./where.sh
where '0 h1 1 other;1 h2 1 ;2 h3 1 ;'

# From a computer without a rank, with all files; all ranks know what the options said.
ok timeout 60 "$ORRERY" run -n 3 --report r.json --stats s.csv --statistics s.jsonl --trace t --mpirun "--host h1,h2,h3 --bind-to none" "$ring"
has err '^orrery run: 3 ranks, .* messages'
ok "${PYTHON:-python3}" -c 'import json; r = json.load(open("r.json")); assert r["nodes"] == 3, r; ranks = {json.loads(line).get("rank") for line in open("s.jsonl")}; assert ranks >= {0, 1, 2}, ranks'
has s.csv .
ok "$ORRERY" trace t
# A folder that only the host of rank 0 has.
on h1 mkdir /run/host/own
ok on h1 timeout 60 "$ORRERY" run -n 3 --report /run/host/own/r.json --stats /run/host/own/s.csv --mpirun "--host h1,h2,h3 --bind-to none" "$ring"
on h1 test -s /run/host/own/r.json || die "no report in a folder that is not shared"
on h1 test -s /run/host/own/s.csv || die "no statistics in a folder that is not shared"

# A range of ports, as a firewall wants it.
# All that listens at IPv4 on hosts without mpirun itself does so there.
cat > ports.sh <<- 'END'
	#!/bin/sh
	"$@" -n 400 &
	while [ "$(hostname)" != h1 ] && kill -0 $! 2> /dev/null; do
		ss -4Htln | sed -n 's/.* 0\.0\.0\.0:\([0-9][0-9]*\) .*/listens \1/p'
		sleep 0.1
	done
	wait $!
END
chmod +x ports.sh
case ${ORR_TEST_MPI_LIBRARY-} in openmpi5) daemons=--prtemca ;; *) daemons=--mca ;; esac
ok on h1 timeout 60 "$ORRERY" run -n 3 --mpirun "--host h1,h2,h3 --bind-to none --mca btl_tcp_port_min_v4 20000 --mca btl_tcp_port_range_v4 100 \
	$daemons oob_tcp_dynamic_ipv4_ports 20100-20199" ./ports.sh "$ring"
has out '^listens 200[0-9][0-9]$'
sed -n '/^listens 20[01][0-9][0-9]$/d; /^listens/p' out > others
[ ! -s others ] || die "ports outside of the range: $(cat others)"

# Hosts that call themselves by their full names.
for h in h1 h2 h3; do on $h hostname $h.bed; done
for list in h1,h2,h3 h1.bed,h2.bed,h3.bed; do
	ok on h1 timeout 60 "$ORRERY" run -n 3 --mpirun "--host $list --bind-to none" "$ring"
	has err '^orrery run: 3 ranks, .* messages'
done
exit 0
