# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Sourced by tests/hosts/programs_*.sh, which run a ring, a stencil and a mixture of all kinds of messages on three hosts
# over one transport. ORR_HOSTS=all runs each program with one rank and with two on each host; otherwise the ring has
# one, the stencil two. Invariant: h1 is where a user is logged in, and its environment goes to other hosts
# only as far as `orrery run` takes it there.
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
. "$ORR_TEST_SRCDIR/tests/lib/hosts.sh"
[ "$ORR_TEST_MPI" = yes ] || skip "no mpirun"

# over TRANSPORT RANKS PROGRAM...: that many ranks on each of three hosts.
over() {
	export ORRERY_TRANSPORT="$1"
	each=$2
	shift 2
	ok on h1 timeout 60 "$ORRERY" run -n $((3 * each)) --mpirun "--host h1:$each,h2:$each,h3:$each --bind-to none -x ORR_SOAK_STEPS" "$@"
	has err "^orrery run: $((3 * each)) ranks,"
	has err "^orrery run: machine h1 .*transports .*"
}

# programs TRANSPORT
programs() {
	hosts_up 3
	examples=$ORR_TEST_BUILDDIR/examples
	export STARPU_NCPU=2 STARPU_MPI_STATS=1 ORR_SOAK_STEPS=20
	for each in 1 2; do
		if [ $each = 1 ] || [ "${ORR_HOSTS-}" = all ]; then over "$1" $each "$examples/ring/ring"; fi
		if [ $each = 2 ] || [ "${ORR_HOSTS-}" = all ]; then over "$1" $each "$examples/stencil/stencil" --check; fi
		over "$1" $each "$ORR_TEST_BUILDDIR/tests/mpi/soak"
	done
}
