#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The commands of the manual's chapter "On a cluster" run on three hosts, called as there, and print what it says
# (tests/tools/manual.py); a real run and its simulation take about the same time. A command that is wrong is found.
# orr-test: debug none
# orr-test: sanitizer none
# orr-test: timeout 900
# orr-test: waits
# orr-test: world real
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
. "$ORR_TEST_SRCDIR/tests/lib/hosts.sh"
[ "$ORR_TEST_MPI$ORR_TEST_SIM" = yesyes ] || skip "the chapter has both worlds"
case ${ORR_TEST_MPI_LIBRARY-openmpi4} in openmpi4) ;; *) skip "the chapter shows Open MPI 4" ;; esac
hosts_world "$@"
hosts_up 3
for k in 1 2 3; do
	hosts_shape h$k 200mbit || skip "links cannot be shaped"
	on h$k hostname node$k
	for file in pid variables; do ln -s h$k.$file $hosts/node$k.$file; done
	echo "10.77.0.$k node$k" >> $hosts/names
done
# All hosts have the same cores, so a rank has one, and lets others have it while it waits.
export STARPU_NCPU=1 OMPI_MCA_mpi_yield_when_idle=1 HOME="$PWD"
mkdir bin
cat > bin/ssh <<- END
	#!/bin/sh
	while :; do
		case \$1 in
		-o) shift 2 ;;
		-*) shift ;;
		*) break ;;
		esac
	done
	exec $hosts_agent "\$@"
END
chmod +x bin/ssh
export PATH="$PWD/bin:$PATH" OMPI_MCA_plm_rsh_agent=ssh
chapter() { on h1 env ORR_TEST_FACTOR=$((2 * ${ORR_TEST_FACTOR:-1})) timeout $((350 * ${ORR_TEST_FACTOR:-1})) "$PYTHON" -B "$ORR_TEST_SRCDIR/tests/tools/manual.py" "$1" "$ORR_TEST_BUILDDIR" doc/cluster.md; }

# Wrong in two ways.
mkdir -p wrong/doc wrong/tests/tools
cp "$ORR_TEST_SRCDIR/tests/tools/manual_app.c" wrong/tests/tools
printf 'Wrong:\n\n    orrery doctor --hots node1\n\nWrong, too:\n\n    $ orrery doctor --quick --host node1,node2\n    3 hosts (--host): node1 node2\n      reach  by pigeon\n' > wrong/doc/cluster.md
touch wrong/README.md
chapter wrong > out 2>&1 && { cat out; die "a wrong chapter is accepted"; }
has out '^fault: doc/cluster.md:3: status 2 of: orrery doctor --hots'
has out '^fault: doc/cluster.md:7: nothing printed: reach by pigeon'

chapter "$ORR_TEST_SRCDIR" > out 2>&1 || { cat out; die "the chapter is wrong"; }
cat out
# Hosts that are alike and have no other network than TCP.
[ -n "$(ls /sys/class/infiniband /sys/class/cxi 2> /dev/null)" ] || has cluster/sim.json '"network": "tcp, '
"$PYTHON" - cluster/real.json cluster/sim.json <<- 'END' || die "a simulation that is of another cluster"
	import json, sys
	real, simulated = (json.load(open(path))["makespan_s"] for path in sys.argv[1:])
	print("real %.3f s, simulated %.3f s" % (real, simulated))
	sys.exit(not 0.4 < simulated / real < 2.5)
END
exit 0
