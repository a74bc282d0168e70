# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Partitions and copies with devices of their own memory, where pieces move between nodes, and without any CPU worker.
# orr-test: timeout 300
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
tests=$ORR_TEST_BUILDDIR/tests/data
ORRERY_FAKE_DEVICES=2
export ORRERY_FAKE_DEVICES

for t in filter_sync filter_plan filter_auto cpy cpy_dup_ro; do
	for cpus in 0 2; do
		for sched in eager random; do
			STARPU_NCPU=$cpus STARPU_SCHED=$sched
			export STARPU_NCPU STARPU_SCHED
			[ $t$cpus != filter_sync0 ] || continue	# has a kernel for CPUs only
			ok "$tests/$t"
			[ "$ORR_TEST_SIM" != yes ] || ok "$ORRERY" sim -n 1 "$tests/$t.sim"
		done
	done
done
