#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# STARPU_MPI_TRACE_SYNC_CLOCKS: traces of ranks whose clocks differ by an hour have one clock, that
# of rank 0; with 0 each has its own.
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_MPI:-yes}" = yes ] || skip "this build has no real world"
unshare -T --monotonic 3600 true 2> /dev/null || skip "this system has no time namespaces for us"
cat > shifted << 'END'
#!/bin/sh
[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}" = 1 ] || exec "$@"
exec unshare -T --monotonic 3600 "$@"
END
chmod +x shifted

# apart VALUE: seconds between the first events of both ranks
apart() {
	ok env ORRERY_TRACE="$PWD/t" STARPU_MPI_TRACE_SYNC_CLOCKS="$1" "$ORRERY" run -n 2 \
		./shifted "$ORR_TEST_BUILDDIR/tests/mpi/ring_blocking"
	for rank in 0 1; do "$ORRERY" trace t --text --ranks $rank | grep '^[0-9]' | head -n 1 | cut -d' ' -f1; done |
		awk 'NR == 1 { a = $1 } NR == 2 { d = ($1 - a) * 1e-6; print int(d < 0 ? -d : d) }'
}
with=$(apart 1) || exit 1
without=$(apart 0) || exit 1
[ "$with" -lt 60 ] || die "the clocks are still $with s apart"
[ "$without" -gt 3000 ] || die "the clocks are only $without s apart without synchronisation"
