#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A cluster of two kinds of nodes, with GPUs and without: its hosts' properties
# choose their machines; data that only a GPU holds travel (mixed.c), and a
# Cholesky factorization on it is right.
# orr-test: world sim
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
build=$ORR_TEST_BUILDDIR

mkdir -p m/bus m/codelets/45
printf '4 # Number of CPUs\n2 # Number of CUDA devices\n0 # Number of OpenCL devices\n' > m/bus/fast.config
printf '0 1000 1000\n1000 0 2000\n1000 2000 0\n' > m/bus/fast.bandwidth
printf '0 10 10\n10 0 20\n10 20 0\n' > m/bus/fast.latency
printf '3 # Number of CPUs\n0 # Number of CUDA devices\n0 # Number of OpenCL devices\n' > m/bus/slow.config

# comb TYPE DEVICE BYTES US; model SYMBOL BYTES US_FAST_CPU US_GPU US_SLOW_CPU
comb() { printf '1\n%s\n%s\n1\n1\n1\n0 0 0 0 nan nan 0 0 0\nnan nan nan\n0\n12345678 %s 0 %s 0 %s 0 10\n' "$1" "$2" "$3" "$4" "${4}0"; }
model() {
	{ printf '45\n3\n'; comb 0 0 "$2" "$3"; comb 1 0 "$2" "$4"; comb 1 1 "$2" "$4"; } > "m/codelets/45/$1.fast"
	{ printf '45\n1\n'; comb 0 0 "$2" "$5"; } > "m/codelets/45/$1.slow"
}
model mixed_add 8000 100 20 200
model mixed_fill 4000 50 10 100
model mixed_potrf 8192 100 80 200
model mixed_trsm 16384 200 40 400
model mixed_syrk 16384 200 30 400
model mixed_gemm 24576 400 20 800

cat > mixed.xml <<'END'
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<zone id="all" routing="Full">
  <host id="a" speed="1Gf"><prop id="machine" value="fast"/></host>
  <host id="b" speed="1Gf"><prop id="machine" value="slow"/></host>
  <host id="c" speed="1Gf"><prop id="machine" value="fast"/></host>
  <host id="d" speed="1Gf"/>
  <link id="wire" bandwidth="1GBps" latency="5us" sharing_policy="FATPIPE"/>
  <link id="self" bandwidth="10GBps" latency="1us" sharing_policy="FATPIPE"/>
  <route src="a" dst="b"><link_ctn id="wire"/></route>
  <route src="a" dst="c"><link_ctn id="wire"/></route>
  <route src="a" dst="d"><link_ctn id="wire"/></route>
  <route src="b" dst="c"><link_ctn id="wire"/></route>
  <route src="b" dst="d"><link_ctn id="wire"/></route>
  <route src="c" dst="d"><link_ctn id="wire"/></route>
  <route src="a" dst="a"><link_ctn id="self"/></route>
  <route src="b" dst="b"><link_ctn id="self"/></route>
  <route src="c" dst="c"><link_ctn id="self"/></route>
  <route src="d" dst="d"><link_ctn id="self"/></route>
</zone>
</platform>
END

# cluster COMMAND...: on the four of them; the last host takes --machine.
cluster() { ok env STARPU_SILENT=1 "$@"; }
sim="$ORRERY sim -n 4 --platform mixed.xml --machine slow --machine-path $PWD/m --report r.json"
makespan() { sed -n 's/.*"makespan_s": \([0-9.]*\),.*/\1/p' r.json; }

for sched in eager lws dmda dmdas heteroprio; do
	cluster STARPU_SCHED=$sched $sim "$build/tests/sim/mixed.sim"
	first=$(makespan)
	cluster STARPU_SCHED=$sched $sim "$build/tests/sim/mixed.sim"
	[ "$first" = "$(makespan)" ] || die "$sched: $first s, then $(makespan) s"
done
cluster STARPU_CUDA_PIPELINE=0 $sim "$build/tests/sim/mixed.sim"

cluster STARPU_SCHED=dmdas $sim --bound "$build/examples/cholesky/cholesky.sim" --models mixed_ -nt 12 -b 32 --check
has out 'check: OK'
has err 'the run took'
rm m/bus/slow.config
fails 1 'host b has the machine slow, which is unknown' $sim "$build/tests/sim/mixed.sim"
