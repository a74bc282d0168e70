# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Examples with kernels for devices: with --devices only these compute, on OpenCL devices of PoCL's,
# and the results are verified. Where nvcc compiles the kernels of CUDA, the programs name them.
# orr-test: timeout 240
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_MPI" = yes ] || skip "no real world with ranks"
examples=$ORR_TEST_BUILDDIR/examples
export STARPU_NCPU=1 ORRERY_OPENCL_PARTS=1

# --devices is refused where there is none.
for p in vector_scal complex_interface ring stencil cholesky lu; do
	STARPU_NOPENCL=0 fails 77 'no device executes' "$examples/$p/$p" --devices
done

if [ "$ORR_TEST_OPENCL" != yes ]; then
	fails 77 'built without OpenCL' "$examples/lu/lu" --clblast
	skip "built without OpenCL"
fi
export STARPU_OPENCL_ON_CPUS=1
"$examples/vector_scal/vector_scal" --devices > found 2>&1 ||
	{ [ $? = 77 ] && skip "no OpenCL device computes on CPUs here (Debian: pocl-opencl-icd)"; die "$(cat found)"; }
grep -q 'on_cpu=0 on_devices=40' found || die "$(cat found)"

# checked PROGRAM ARGS...: its kernels run on devices and the result is right.
checked() { p=$1; shift; ok "$examples/$p/$p" --devices "$@"; has out 'check: OK'; }
checked complex_interface -n 1000 -p 7
checked stencil -nx 3 -ny 2 -b 9 --niter 5 --check
checked stencil -nx 1 -ny 1 -b 1 --niter 4 --check
checked cholesky -nt 4 -b 17 --check
checked cholesky -nt 3 -b 8 --single --check
checked lu -nt 4 -b 17 --check
ok "$examples/multiformat/multiformat" --steps 6
has out 'check: OK'
has out 'to_device=3 to_cpu=3'

# Data of devices in messages.
many() { p=$1; shift; ok "$ORRERY" run -n 2 --oversubscribe "$examples/$p/$p" --devices "$@"; }
many ring -n 5
many cholesky -nt 4 -b 8 --check
has out 'check: OK'

# CLBlast, where the build found it.
status=0
"$examples/lu/lu" --devices --clblast -nt 2 -b 16 --check > out 2> err || status=$?
[ $status = 0 ] || [ $status = 77 ] || die "lu --clblast: $(cat err)"
exit 0
