#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery trace --perfetto`: protoc decodes the file by the part of Perfetto's schema that it uses, with
# no unknown field; kernels, messages, counters and marks are those of the tables, to the nanosecond.
# orr-test: timeout 120
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"

command -v protoc > /dev/null || skip "no protoc (Debian: protobuf-compiler)"
tasks=$ORR_TEST_BUILDDIR/tests/mpi/trace_steps

# perfetto FILE [OPTION...]
perfetto() {
	ok "$ORRERY" trace "$@" --perfetto -o file.pftrace
	ok "$ORRERY" trace "$@" --sqlite -o run.db
	ok protoc --proto_path="$ORR_TEST_SRCDIR/tests/tools" --decode=perfetto.protos.Trace perfetto.proto < file.pftrace
	cp out decoded
	ok "${PYTHON:-python3}" -B "$ORR_TEST_SRCDIR/tests/tools/trace_perfetto.py" decoded run.db
}

if [ "${ORR_TEST_SIM:-yes}" = yes ]; then
	ok "$ORRERY" sim -n 3 --trace a "$tasks.sim"
	perfetto a
	cp file.pftrace first
	perfetto a
	cmp first file.pftrace || die "the same trace gives another file"
	ok "$ORRERY" sim -n 64 --kernels skip --trace tree "$ORR_TEST_BUILDDIR/examples/cholesky/cholesky.sim" -nt 24
	perfetto tree
	whole=$(wc -c < file.pftrace)
	perfetto tree --from 0.0002 --to 0.0005
	[ "$(wc -c < file.pftrace)" -lt "$whole" ] || die "a window is as large as the whole"
	perfetto tree --ranks 2-3
	for bytes in 20000 1000000; do
		head -c $bytes tree > cut
		perfetto cut
	done
fi
if [ "${ORR_TEST_MPI:-yes}" = yes ]; then
	ok "$ORRERY" run -n 3 --trace r "$tasks"
	perfetto r
fi
