# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The examples of data management check their own results, in both worlds, with several sizes; uneven ones too.
# orr-test: timeout 120
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
examples=$ORR_TEST_BUILDDIR/examples
[ "$ORR_TEST_MPI$ORR_TEST_SIM" != nono ] || skip "no examples were built"

# both NAME ARGS...: the example in each world that was built.
both() {
	p=$1
	shift
	if [ "$ORR_TEST_MPI" = yes ]; then ok "$examples/$p/$p" "$@"; has out 'check: OK'; fi
	if [ "$ORR_TEST_SIM" = yes ]; then ok "$ORRERY" sim -n 1 "$examples/$p/$p.sim" "$@"; has out 'check: OK'; fi
}

both variable_size
both variable_size --steps 200
both vector_scal
both vector_scal -n 1001 -p 7 -s 3
both manual_partition
both manual_partition -x 7 -y 5 --rounds 10
both custom_filter
both custom_filter -n 64 -t 8
both custom_filter -n 5 -t 5
both complex_interface
both complex_interface -n 1001 -p 13
both out_of_core
both out_of_core -nt 7 -b 50 --backend stdio
both out_of_core -nt 5 -b 100 --backend unistd_o_direct --disk here
[ ! -e here ] && [ ! -e out_of_core.disk ] || die "files are left"
if [ "$ORR_TEST_SIM" = yes ]; then ok "$ORRERY" sim -n 1 --kernels skip "$examples/out_of_core/out_of_core.sim" --no-check; fi
# With devices, and with some that have no pointers.
export STARPU_NCPU=1 ORRERY_FAKE_DEVICES=2
for e in variable_size manual_partition custom_filter complex_interface out_of_core; do both $e; done
export ORRERY_FAKE_DEVICES=0 ORRERY_FAKE_OPENCL=2
for e in variable_size manual_partition custom_filter out_of_core; do both $e; done
# With a device that OpenCL drives, where there is one: the worker of a CPU shares the work, or there is none of OpenCL.
export ORRERY_FAKE_OPENCL=0 STARPU_OPENCL_ON_CPUS=1
both vector_scal -n 1001 -p 7 -s 5
both complex_interface -n 1001 -p 13
both multiformat
