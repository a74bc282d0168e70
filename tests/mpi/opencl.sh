# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Data between ranks whose devices have no pointers, only handles and offsets (handbook 27.7), and with every payload in a message of its
# own, in each world that was built.
# orr-test: timeout 200
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
tests=$ORR_TEST_BUILDDIR/tests/mpi
export STARPU_NCPU ORRERY_FAKE_OPENCL ORRERY_FAKE_DEVICES STARPU_MPI_EAGER_LIMIT
STARPU_NCPU=1

# both NAME: in each world.
both() {
	[ "$ORR_TEST_MPI" != yes ] || ok "$ORRERY" run -n 2 --oversubscribe "$tests/$1"
	[ "$ORR_TEST_SIM" != yes ] || ok "$ORRERY" sim -n 2 "$tests/$1.sim"
}

for STARPU_MPI_EAGER_LIMIT in 0 4096; do
	ORRERY_FAKE_OPENCL=1 ORRERY_FAKE_DEVICES=0
	both devices
	ORRERY_FAKE_OPENCL=0 ORRERY_FAKE_DEVICES=1
	both devices
done
