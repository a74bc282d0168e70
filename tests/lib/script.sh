# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Sourced by test scripts: what they assert with. The current directory is empty
# and the test's own. Invariant: the first assertion that fails ends the test.
set -u

die() { echo "FAIL: $*" >&2; exit 1; }

# ok COMMAND...: must succeed; its output is in out and err.
ok() {
	"$@" > out 2> err
	got=$?
	[ $got = 0 ] || { cat out err; die "exit status $got of: $*"; }
}

# The model of the network that needs private names of SimGrid; empty where a build has none.
smpi=smpi
[ "${ORR_TEST_SIM_INTERFACE-}" != public ] || smpi=

# may COMMAND...: as ok, but false where the command needs private names of SimGrid and the build has none.
may() {
	if [ -n "$smpi" ]; then ok "$@" && return; fi
	"$@" > out 2> err
	got=$?
	[ $got = 0 ] && return
	grep -q 'simgrid-interface=private' err || { cat out err; die "exit status $got of: $*"; }
	return 1
}

# fails STATUS REGEX COMMAND...: must exit with STATUS and say REGEX on standard
# error, without a Python traceback.
fails() {
	want=$1 regex=$2
	shift 2
	"$@" > out 2> err
	got=$?
	cat err
	[ $got = "$want" ] || die "exit status $got, not $want, of: $*"
	[ -z "$regex" ] || grep -E -q -e "$regex" err || die "standard error does not say '$regex': $*"
	if grep -q Traceback err; then die "a traceback: $*"; fi
}

# Open MPI 5's launcher ends its notice of an abort with a byte 0, which makes the file binary to grep.
grep() { command grep -a "$@"; }

# without_launcher FILE: without what Open MPI 5's launcher adds when a run is aborted: framed notices, and where
# it finds no way between the addresses of the machine.
without_launcher() {
	case ${ORR_TEST_MPI_LIBRARY-} in
	openmpi5) sed -e '/^-\{50,\}$/,/^-\{50,\}$/d' -e '/btl_tcp_proc/d' "$1" | tr -d '\000' ;;
	*) cat "$1" ;;
	esac
}

# said FILE: without what AddressSanitizer says about the stacks of actors, with addresses that differ each time.
said() { grep -v -e '^==.*ASan is ignoring' -e '^False positive error' -e '^For details see' "$1"; }

# has FILE REGEX
has() { grep -E -q -e "$2" "$1" || { cat "$1"; die "$1 has no line like: $2"; }; }

# In this variable the launcher tells a process its rank.
case ${ORR_TEST_MPI_LIBRARY-} in
mpich) rank_variable=PMI_RANK ;;
*) rank_variable=OMPI_COMM_WORLD_RANK ;;
esac

skip() { echo "SKIP: $*"; exit 77; }

# From here on, programs drive devices of the stub of the CUDA runtime (lib/cudart/cudart.h).
use_cuda_stub() {
	[ "$ORR_TEST_CUDA" = yes ] || skip "configured with --disable-cuda"
	export ORRERY_CUDART="$ORR_TEST_BUILDDIR/tests/lib/cudart/.libs/libcudart.so"
}
