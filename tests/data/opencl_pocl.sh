# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Interfaces, filters and copies, and data between ranks, with devices that OpenCL drives: PoCL's, which compute on CPUs. Their kernels
# are C functions that reach the data by starpu_interface_copy(), as on fake devices (iface_opencl.sh).
# orr-test: timeout 300
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
tests=$ORR_TEST_BUILDDIR/tests
export STARPU_NCPU STARPU_OPENCL_ON_CPUS ORRERY_OPENCL_PARTS
STARPU_OPENCL_ON_CPUS=1 STARPU_NCPU=1 ORRERY_OPENCL_PARTS=1

[ "$ORR_TEST_OPENCL" = yes ] || skip "built without OpenCL"
"$tests/data/opencl" > found 2>&1 || die "$(cat found)"
grep -q '^[1-9][0-9]* devices' found || skip "no OpenCL device computes on CPUs here (Debian: pocl-opencl-icd)"

# Kernels and copies at once.
ok "$tests/data/device_overlap"

# What asks for fewer devices, or for none.
export STARPU_NOPENCL=0
ok "$tests/data/opencl"
has out '^0 devices'
STARPU_OPENCL_ON_CPUS=0 STARPU_NOPENCL=-1
ok "$tests/data/opencl"
has out '^0 devices'
STARPU_OPENCL_ONLY_ON_CPUS=1 ok "$tests/data/opencl"
has out '^[1-9] devices'
STARPU_OPENCL_ON_CPUS=1
cores=$(nproc) few=
if [ "$cores" -ge 2 ]; then
	ORRERY_OPENCL_PARTS=2
	ok "$tests/data/opencl"
	# PoCL 7 as Debian's sid builds it cuts none; before, all did.
	if grep -m 1 'its driver cuts none' err; then
		few=yes
		has out '^1 devices'
	else
		has out '^[2-8] devices'
		export STARPU_WORKERS_OPENCLID="1 99"
		ok "$tests/data/opencl"
		has out '^1 devices'
		has err 'STARPU_WORKERS_OPENCLID: there is no OpenCL device 99'
		unset STARPU_WORKERS_OPENCLID
	fi
	STARPU_NOPENCL=1 ok "$tests/data/opencl"
	has out '^1 devices'
fi

export STARPU_SCHED=random
for t in iface_device iface_offset iface_pack filter_shadow iface_user filter_plan filter_auto cpy cpy_dup_ro nodes redux_devices scratch_devices commute_devices; do
	# Some need two devices.
	"$tests/data/$t" > out 2> err || { [ $? = 77 ] && [ -n "$few" ]; } || { cat out err; die "$t fails"; }
done
export STARPU_LIMIT_OPENCL_MEM=1
ok "$tests/data/iface_device"
unset STARPU_LIMIT_OPENCL_MEM

# Random sequences on small memories: the stress test chooses policies, limits and numbers of workers itself.
ORR_STRESS_OPENCL=1
export ORR_STRESS_OPENCL
for ORRERY_OPENCL_PARTS in 1 2; do
	[ "$ORRERY_OPENCL_PARTS" -le "$cores" ] || continue
	ok "$tests/data/stress" 150 1
done
unset STARPU_NOPENCL STARPU_SCHED

# Data between ranks, small ones and each in a message of its own.
ORRERY_OPENCL_PARTS=1
export STARPU_MPI_EAGER_LIMIT
for STARPU_MPI_EAGER_LIMIT in 0 4096; do
	[ "$ORR_TEST_MPI" != yes ] || ok "$ORRERY" run -n 2 --oversubscribe "$tests/mpi/devices"
done
exit 0
