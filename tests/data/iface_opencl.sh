# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Every interface, filter and copy with devices whose memory has no pointers, only handles and offsets (handbook 27.7), in each world
# that was built.
# orr-test: timeout 300
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
tests=$ORR_TEST_BUILDDIR/tests/data
ORRERY_FAKE_OPENCL=2
export ORRERY_FAKE_OPENCL STARPU_NCPU STARPU_SCHED STARPU_LIMIT_OPENCL_MEM

# both NAME: in each world.
both() {
	ok "$tests/$1"
	[ "$ORR_TEST_SIM" != yes ] || ok "$ORRERY" sim -n 1 "$tests/$1.sim"
}

STARPU_SCHED=random
for t in iface_device iface_offset iface_pack filter_shadow iface_user filter_sync filter_plan filter_auto cpy cpy_dup_ro nodes resize redux_devices scratch_devices commute_devices; do
	for STARPU_NCPU in 1 2; do
		both $t
	done
done
STARPU_NCPU=0
for t in filter_plan filter_auto cpy cpy_dup_ro; do
	both $t
done
# So little memory that everything is evicted all the time.
STARPU_LIMIT_OPENCL_MEM=1 STARPU_NCPU=1
both iface_device
