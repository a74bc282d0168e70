# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Threads that drive devices are bound beside them on the PCI bus, on machines that this script describes: devices of
# the stub of the CUDA runtime (tests/lib/cudart/cudart.h), whose numbers on the bus are 1 and 2, and PoCL's, which
# beside.c says to be 3.
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
use_cuda_stub
export ORR_CUDART_DEVICES=2 ORR_CUDART_OPEN=1
program=$ORR_TEST_BUILDDIR/tests/cuda/beside

# machine PROCESSORS DEVICES: hwloc's description of a machine with a package for each list of processors
# ("0,1 2,3"), and one for each list of devices there ("2 1,3"), "-" for none.
machine() {
	"$PYTHON" - "$@" <<'END'
import itertools
import sys
number = itertools.count(1)
packages = [[int(p) for p in part.split(",")] for part in sys.argv[1].split()]
devices = [part.split(",") if part != "-" else [] for part in sys.argv[2].split()]
def sets(processors, allowed=False):
    mask = sum(1 << p for p in processors)
    text = ",".join("0x%08x" % (mask >> shift & 0xffffffff) for shift in range(max(processors) // 32 * 32, -1, -32))
    names = ["cpuset", "complete_cpuset"] + ["allowed_cpuset"] * allowed
    nodes = ["nodeset", "complete_nodeset"] + ["allowed_nodeset"] * allowed
    return "".join(' %s="%s"' % (n, text) for n in names) + "".join(' %s="0x00000001"' % n for n in nodes)
def begin(kind, index, text):
    print('<object type="%s" os_index="%d" gp_index="%d"%s>' % (kind, index, next(number), text))
end = "</object>"
everything = sum(packages, [])
print('<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n<topology version="2.0">')
begin("Machine", 0, sets(everything, True))
begin("NUMANode", 0, sets(everything) + ' local_memory="1073741824"')
print(end)
core = 0
for i, (package, buses) in enumerate(zip(packages, devices)):
    begin("Package", i, sets(package))
    for p in package:
        begin("Core", core, sets([p]))
        begin("PU", p, sets([p]))
        print(end + end)
        core += 1
    for bus in buses:
        print('<object type="PCIDev" os_index="%d" gp_index="%d" pci_busid="0000:%02x:00.0" '
              'pci_type="0302 [10de:2330] [10de:16c1] a1" pci_link_speed="0.000000"/>' % (int(bus) << 12, next(number), int(bus)))
    print(end)
print(end + "\n</topology>")
END
}

# The packages have the cores 0 and 1, 2 and 3.
machine "0,1 2,3" "2 1,3" > box.xml
export STARPU_HWLOC_INPUT="$PWD/box.xml"
if ! "$program" > out 2> err; then
	grep -q 'needs a build with hwloc' err || die "$(cat out err)"
	skip "this build is without hwloc"
fi
has out '^CUDA 0 .*: unit 3,'
has out '^CUDA 1 .*: unit 1,'
has out '^CPU 0: unit 0,'
has out '^CPU 1: unit 2,'

# Everybody sees it.
ok "$ORRERY" machine
has out 'CUDA 0 .*: memory 1, bound to 3$'
STARPU_DISPLAY_BINDINGS=1 ok "$program"
has err '^CUDA 1 .*: unit 1 '

# A thread for each worker, and one for all; the main thread's unit is the last choice.
STARPU_CUDA_THREAD_PER_WORKER=1 STARPU_NWORKER_PER_CUDA=2 ok "$program"
for line in 'CUDA 0.*\.0: unit 3,' 'CUDA 0.*\.1: unit 2,' 'CUDA 1.*\.0: unit 1,' 'CUDA 1.*\.1: unit 0,'; do has out "^$line"; done
STARPU_CUDA_THREAD_PER_DEV=0 ok "$program"
has out '^CUDA 0 .*: unit 3,'
has out '^CUDA 1 .*: unit 3,'
STARPU_MAIN_THREAD_CPUID=3 ok "$program"
has out '^CUDA 0 .*: unit 2,'

# The user's settings come first.
STARPU_WORKERS_NOBIND=1 ok "$program"
has out '^CUDA 0 .*: unit -1,'

# Lists of units are for the threads of devices, in their order, then for workers of CPUs.
for list in CPUID COREID; do
	env STARPU_WORKERS_$list="2 1 3" STARPU_NCPU=2 "$program" > out 2> err || die "STARPU_WORKERS_$list: $(cat out err)"
	for line in 'CUDA 0 .*: unit 2,' 'CUDA 1 .*: unit 1,' 'CPU 0: unit 3,' 'CPU 1: unit 2,'; do has out "^$line"; done
done
export STARPU_NWORKER_PER_CUDA=2 STARPU_WORKERS_CPUID="3 0-2"
ok "$program"
for line in 'CUDA 0.*\.0: unit 3,' 'CUDA 0.*\.1: unit 3,' 'CUDA 1.*\.0: unit 0,' 'CPU 0: unit 1,'; do has out "^$line"; done
STARPU_CUDA_THREAD_PER_WORKER=1 ok "$program"
for line in 'CUDA 0.*\.1: unit 0,' 'CUDA 1.*\.0: unit 1,' 'CUDA 1.*\.1: unit 2,' 'CPU 0: unit 3,'; do has out "^$line"; done
STARPU_CUDA_THREAD_PER_DEV=0 ok "$program"
for line in 'CUDA 0.*\.1: unit 3,' 'CUDA 1.*\.1: unit 3,' 'CPU 0: unit 0,'; do has out "^$line"; done
unset STARPU_NWORKER_PER_CUDA STARPU_WORKERS_CPUID

# A device that the machine does not know is nowhere.
machine "0,1 2,3" "- 2" > box.xml
ok "$program"
has out '^CUDA 0 .*: unit -1,'
has out '^CUDA 1 .*: unit 3,'

# OpenCL.
machine "0,1 2,3" "3 -" > box.xml
STARPU_NCUDA=0 STARPU_OPENCL_ON_CPUS=1 ok "$program"
if grep -q '^OpenCL' out; then has out '^OpenCL 0 .*: unit 1,'; fi
STARPU_NCUDA=1 STARPU_OPENCL_ON_CPUS=1 ORRERY_OPENCL_PARTS=1 STARPU_NCPU=2 STARPU_WORKERS_CPUID="0 2 1 3" ok "$program"
has out '^CUDA 0 .*: unit 0,'
if grep -q '^OpenCL' out; then has out '^OpenCL 0 .*: unit 2,' && has out '^CPU 1: unit 3,'; fi

# Threads and memory of this machine are really bound. It has one NUMA node for all that, so memory is where it was.
unset STARPU_HWLOC_INPUT
set -- $("$PYTHON" -c 'import os; print(*sorted(os.sched_getaffinity(0)))')
[ $# -ge 2 ] || skip "only one processor may be used here"
machine "$1 $2" "1 2" > box.xml
export HWLOC_XMLFILE="$PWD/box.xml" HWLOC_THISSYSTEM=1
ok "$program"
has out "^CUDA 0 .*: unit 0, processors $1$"
has out "^CUDA 1 .*: unit 1, processors $2$"
# 1 is MPOL_PREFERRED; systems without NUMA have no policies.
has out '^policy (1|5|-1)$'
STARPU_WORKERS_CPUID="1 0" STARPU_NCPU=1 ok "$program"
for line in "CUDA 0 .*: unit 1, processors $2" "CUDA 1 .*: unit 0, processors $1" "CPU 0: unit 1, processors $2"; do has out "^$line$"; done
STARPU_WORKERS_NOBIND=1 ok "$program"
has out '^CUDA 0 .*: unit -1, processors .* '
exit 0
