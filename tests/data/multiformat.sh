# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Multiformat data changes its layout exactly when it changes sides: the example, whose tasks are sent to given workers,
# without devices, with them, and with nothing else, in each world that was built; it checks its results.
# orr-test: timeout 120
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
example=$ORR_TEST_BUILDDIR/examples/multiformat/multiformat
[ "$ORR_TEST_MPI$ORR_TEST_SIM" != nono ] || skip "no examples were built"

# both REGEX ARGS...: the example in each world; what it counted must match.
both() {
	regex=$1
	shift
	if [ "$ORR_TEST_MPI" = yes ]; then ok "$example" "$@"; has out 'check: OK'; has out "$regex"; fi
	if [ "$ORR_TEST_SIM" = yes ]; then ok "$ORRERY" sim -n 1 "$example.sim" "$@"; has out 'check: OK'; has out "$regex"; fi
}

export ORRERY_FAKE_DEVICES STARPU_NCPU STARPU_SCHED
for STARPU_SCHED in eager dmda; do
	# CPUs only: one layout.
	ORRERY_FAKE_DEVICES=0 STARPU_NCPU=2
	both 'to_device=0 to_cpu=0$'
	# In turn: the six odd steps run on devices, and what each made goes back, to the next step or at the end.
	for ORRERY_FAKE_DEVICES in 1 2; do
		both 'to_device=6 to_cpu=6$'
		both 'to_device=1 to_cpu=1$' -n 1 -s 2
		both 'to_device=0 to_cpu=0$' -s 0
		both 'to_device=20 to_cpu=20$' -n 100000 -s 40
	done
	# Devices only: one stays, two exchange the data in their own layout.
	STARPU_NCPU=0
	ORRERY_FAKE_DEVICES=1
	both 'to_device=1 to_cpu=1$'
done
# The GPUs of a machine compute with functions for the CPU, in the format of CPUs.
unset ORRERY_FAKE_DEVICES STARPU_NCPU
if [ "$ORR_TEST_SIM" = yes ]; then
	ok "$ORRERY" sim -n 1 --machine h200x8 "$example.sim" -s 40
	has out 'check: OK'
	has out 'to_device=0 to_cpu=0$'
fi
export STARPU_NCPU=0
# Between two devices, how often main memory is passed is the runtime's business; the result is not.
export ORRERY_FAKE_DEVICES=2
both 'check: OK'
