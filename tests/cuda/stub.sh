# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The CUDA driver on the stub of the CUDA runtime (tests/lib/cudart/cudart.h): kernels, interfaces,
# filters and copies on one device and on two, with several streams, delays and small memories; and
# errors of the runtime, each of which is told or worked around.
# orr-test: timeout 300
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
tests=$ORR_TEST_BUILDDIR/tests
use_cuda_stub
export STARPU_NCPU=1 ORR_CUDART_DEVICES ORR_CUDART_MEMORY

# Pointers of devices lead nowhere.
ok "$tests/cuda/kernels"
has out '^1 workers, 1 devices'
for STARPU_CUDA_PIPELINE in 0 2 4; do
	export STARPU_CUDA_PIPELINE
	ORR_CUDART_DEVICES=2 ORR_CUDART_KERNEL_US=200 ORR_CUDART_COPY_MBS=500 STARPU_NWORKER_PER_CUDA=3 ok "$tests/cuda/kernels"
	has out '^6 workers, 2 devices'
done
unset STARPU_CUDA_PIPELINE

# One thread for each worker, for each device, and for all of them.
for thread in WORKER=1 DEV=1 DEV=0; do
	env STARPU_CUDA_THREAD_PER_$thread ORR_CUDART_DEVICES=2 STARPU_NWORKER_PER_CUDA=3 ORR_CUDART_KERNEL_US=200 \
		"$tests/cuda/kernels" > out 2> err || die "STARPU_CUDA_THREAD_PER_$thread: $(cat out err)"
	has out '^6 workers, 2 devices'
	case $thread in WORKER=1) n=6 ;; DEV=1) n=2 ;; *) n=1 ;; esac
	has out "^$n threads drive them"
done

# Little memory, and copies that are waited for.
ORR_CUDART_MEMORY=2 ok "$tests/cuda/kernels"
STARPU_LIMIT_CUDA_MEM=1 ok "$tests/cuda/kernels"
STARPU_DISABLE_ASYNCHRONOUS_CUDA_COPY=1 ok "$tests/cuda/kernels"

# The program chooses devices.
ORR_CUDART_DEVICES=3
STARPU_NCUDA=2 ok "$tests/cuda/kernels"
has out '^2 workers, 2 devices'
STARPU_NCUDA=0 ok "$tests/cuda/kernels"
has out '^0 workers, 0 devices'
STARPU_WORKERS_CUDAID="0 2" ok "$tests/cuda/kernels"
has out '^2 workers, 2 devices'
STARPU_WORKERS_CUDAID=0 STARPU_ENABLE_CUDA_GPU_GPU_DIRECT=0 ok "$tests/cuda/kernels"
has out '^1 workers, 1 devices'

unset STARPU_WORKERS_CUDAID

# Errors: what can be worked around is, all else ends the program with a message.
ORR_CUDART_DEVICES=2
ORR_CUDART_FAIL=malloc:3 ok "$tests/cuda/kernels"
# Copies that take long are waited for; others go on.
ORR_CUDART_FAIL=slow:3,slow:8 ok "$tests/cuda/kernels"
ORR_CUDART_FAIL=peer:1 ok "$tests/cuda/kernels"
has err 'does not reach the memory of device .*: copies go through main memory'
ORR_CUDART_FAIL=driver:1 ok "$tests/cuda/kernels"
has out '^0 workers, 0 devices'
has err 'there are no CUDA workers'
ORR_CUDART_FAIL=launch:10 fails 1 'task .* failed on CUDA .*, or one before it: ' "$tests/cuda/kernels"
ORR_CUDART_FAIL=lost:5 fails 1 'CUDA|copy' "$tests/cuda/kernels"
ORR_CUDART_FAIL=copy:5 fails 1 'CUDA|copy' "$tests/cuda/kernels"
ORRERY_CUDART=$PWD/none.so ok "$tests/cuda/kernels"
has err 'ORRERY_CUDART: .*none.so.*; there are no CUDA workers'

# Tests whose kernels are C functions that compute on pointers of the device.
export ORR_CUDART_OPEN=1 ORR_CUDART_DEVICES=1 ORRERY_FAKE_DEVICES=0 STARPU_SCHED=random
passed=
for t in iface_device filter_shadow cpy cpy_dup_ro redux_devices scratch_devices commute_devices iface_user initial; do
	status=0
	"$tests/data/$t" > out 2> err || status=$?
	case $status in
	0) passed="$passed $t" ;;
	77) ;;
	*) cat err; die "exit status $status of $t" ;;
	esac
done
[ "$(echo $passed | wc -w)" -ge 5 ] || die "only$passed ran"

# Conversions of multiformat data, beside those of a fake OpenCL device.
ORRERY_FAKE_OPENCL=1 ok "$tests/data/iface_multiformat"

# Random sequences on small memories: the stress test chooses policies, limits and numbers of workers itself.
ORR_STRESS_CUDA=1 ORR_CUDART_DEVICES=2 ok "$tests/data/stress" 150 1

# Data between ranks, small ones and each in a message of its own.
for limit in 0 4096; do
	[ "$ORR_TEST_MPI" != yes ] || STARPU_MPI_EAGER_LIMIT=$limit ok "$ORRERY" run -n 2 --oversubscribe "$tests/mpi/devices"
done
exit 0
