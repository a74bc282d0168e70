# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A text of several lines that a rank tells people is written at once: a launcher that passes on the output
# of many ranks may put what others say between two writes.
# orr-test: timeout 120
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
pieces() { "$PYTHON" -B "$ORR_TEST_SRCDIR/tests/tools/pieces.py" "$@" > out || { cat out; die "pieces.py $*"; }; }

export STARPU_WORKER_STATS=1 STARPU_BUS_STATS=1 STARPU_MEMORY_STATS=1 STARPU_MPI_STATS=1
devices="env STARPU_NCPU=1 ORRERY_FAKE_DEVICES=1 STARPU_LIMIT_CUDA_MEM=4 STARPU_MINIMUM_CLEAN_BUFFERS=0"
pieces 0 $devices "$ORR_TEST_BUILDDIR/tests/data/evict_order"
has out "Data transfer statistics:.*RAM 0 .*CUDA 0 .*RAM 0 "
has out "Worker statistics:.*CPU 0 .*tasks.*CUDA 0.*tasks"
has out "Memory statistics:.*RAM 0 .*in use.*CUDA 0 .*evictions"
pieces 0 env STARPU_NCPU=3 STARPU_WORKERS_NOBIND=1 "$ORR_TEST_BUILDDIR/tests/core/query"
has out "CPU 0: .*CPU 1: .*CPU 2: "
pieces 0 env STARPU_SCHED=help STARPU_PERF_MODEL_DIR="$PWD/models" "$ORR_TEST_BUILDDIR/tests/core/locale" measure
has out "scheduling policies.*lws.*dmda"
has out "Statistics of codelet .*24 tasks .100"
if [ "${ORR_TEST_SANITIZER#*thread}" = "$ORR_TEST_SANITIZER" ]; then
	pieces fails env ORRERY_STALL_TIMEOUT=300000 "$ORR_TEST_BUILDDIR/tests/real/stuck" chain
	has out "task first .*task third "
fi
if [ "$ORR_TEST_MPI" = yes ]; then
	pieces 0 "$ORR_TEST_BUILDDIR/examples/ring/ring"
	has out "starpu_comm_stats.*TOTAL"
fi
exit 0
