# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery machine NAME --add KIND:N`: a machine with more devices, which the simulator takes, and on which
# kernels take a share of their time on a core. A folder that lacks a file says which.
# orr-test: timeout 120
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"

ok "$ORRERY" machine quickstart --add cuda:2 --speedup 100 --device-memory 5000 --link 20000 --latency 4 -o new/fast
has out 'assumed: 6 of 6 kernels take 1/100 of their time on a core, and copies go at 20000 MB/s after 4 us'
ok "$ORRERY" machine new/fast
has out '^2 CUDA workers'
has out 'RAM	-	2e\+04	2e\+04|RAM	-	20000	20000'
has out 'cuda1 5000 MiB'
[ "$(grep -c '^[0-9a-f]\{8\}' new/fast/codelets/45/orrery_dgemm.fast)" = 15 ] || die "not three sections of 5 sizes"
# On top of it: the devices that are there stay, and those of the other kind come behind.
ok "$ORRERY" machine new/fast --add opencl:1 --speedup 2
has out '^fast-opencl1: fast with 1 more OpenCL device of 16384 MiB'
ok "$ORRERY" machine ./fast-opencl1
has out '^2 CUDA workers'
has out '^1 OpenCL worker$'
ok "$ORRERY" perfmodel -m ./fast-opencl1 -s orrery_dgemm

fails 2 'fast-opencl1 exists' "$ORRERY" machine new/fast --add opencl:1
fails 2 '--add gpu:1: expected cuda:N or opencl:N' "$ORRERY" machine quickstart --add gpu:1
fails 2 '--add cuda:0: expected' "$ORRERY" machine quickstart --add cuda:0
fails 2 '--speedup 0: expected a number from 0.001' "$ORRERY" machine quickstart --add cuda --speedup 0
fails 2 '--speedup is about devices that --add adds' "$ORRERY" machine quickstart --speedup 3
fails 2 '--add cuda:1: to which machine' "$ORRERY" machine --add cuda:1

if [ "$ORR_TEST_SIM" = yes ]; then
	program=$ORR_TEST_BUILDDIR/examples/cholesky/cholesky.sim
	virtual() { ok env STARPU_SCHED=dmda "$ORRERY" sim --kernels skip --report report --machine "$1" "$program" -nt 8 -b 960; sed -n 's/.*"makespan_s": \(.*\),/\1/p' report; }
	slow=$(virtual quickstart) fast=$(virtual new/fast)
	awk -v slow="$slow" -v fast="$fast" 'BEGIN { exit !(fast < slow / 3) }' || die "$fast s with devices, $slow s without"
	rm new/fast/bus/fast.config
	fails 1 'the folder new/fast lacks the file bus/fast.config' "$ORRERY" sim --machine new/fast "$program"
	cp -r new/fast-opencl1 new 2> /dev/null || cp -r fast-opencl1 new
	rm new/fast-opencl1/bus/fast-opencl1.bandwidth
	fails 1 'fast-opencl1.bandwidth: missing' "$ORRERY" sim --machine new/fast-opencl1 "$program"
	ok "$ORRERY" sim -n 2 "$ORR_TEST_BUILDDIR/examples/vector_scal/vector_scal.sim"
	has err 'is uncalibrated: '
	has err 'assumed for these: [0-9]+ cores a node \(machine default\), a network of .*/s and .* us\. To measure: .orrery calibrate'
fi
