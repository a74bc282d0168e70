# SPDX-License-Identifier: LGPL-2.1-or-later
#
# One rank of many, alone: it says what it would do, the same in both worlds; and two processes that
# play the same rank are told.
# orr-test: timeout 120
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
cholesky=$ORR_TEST_BUILDDIR/examples/cholesky/cholesky
args="-nt 16 -b 32 --no-prune"

# account FILE: what of the account does not depend on the world.
account() { sed -n 's/^.*rank 3 of 64, alone: //; s/, in [0-9.]* s .*//; s/; holds .*//; /^inserted\|^would send/p' err > "$1"; }

# The words of $args are split on purpose.
# shellcheck disable=SC2086
{
	ok env STARPU_DISABLE_KERNELS=1 STARPU_MPI_FAKE_RANK=3 STARPU_MPI_FAKE_SIZE=64 "$cholesky" $args
	account real
	has real '^inserted [0-9]{3,} tasks, [1-9][0-9]* of them its own$'
	has real '^would send [1-9][0-9]* messages, [1-9][0-9]* bytes, to [1-9][0-9]* ranks, and receive [1-9][0-9]* messages, [1-9][0-9]* bytes, from [1-9][0-9]* ranks$'
	has err 'holds at most [1-9][0-9]* bytes of data that the runtime allocated$'
	has err 'in [0-9.]+ s \([0-9.]+ us each\)$'
	if [ "$ORR_TEST_SIM" = yes ]; then
		ok "$ORRERY" sim --fake-rank 3 --fake-size 64 "$cholesky.sim" $args
		account sim
		cmp real sim || { cat real sim; die "the worlds have other accounts"; }
		# All ranks together send what they receive.
		total=$(for r in 0 1 2 3 4 5; do
			"$ORRERY" sim --quiet --fake-rank $r --fake-size 6 "$cholesky.sim" $args 2>&1 |
				sed -n 's/.*would send \([0-9]*\) messages, .* receive \([0-9]*\) messages.*/\1 \2/p'
		done | awk '{ s += $1; r += $2 } END { print s, r }')
		[ "${total% *}" = "${total#* }" ] && [ "${total% *}" -gt 10 ] || die "sent and received by all: $total"
		ok env STARPU_DISABLE_KERNELS=1 STARPU_MPI_FAKE_RANK=17 STARPU_MPI_FAKE_SIZE=64 "$ORRERY" sim -n 3 "$cholesky.sim" $args
		has err 'processes 0 and [12] of this run both play rank 17 of 64, and measure the same: start one process, or give each'
		[ "$(grep -c 'both play' err)" = 1 ] || { cat err; die "not told once"; }
	fi
	if [ "$ORR_TEST_MPI" = yes ]; then
		ok env STARPU_DISABLE_KERNELS=1 STARPU_MPI_FAKE_RANK=17 STARPU_MPI_FAKE_SIZE=64 "$ORRERY" run -n 3 \
			--oversubscribe "$cholesky" $args
		has err 'processes 0 and 1 of this run both play rank 17 of 64'
		[ "$(grep -c 'both play' err)" = 1 ] || { cat err; die "not told once"; }
	fi
}
if [ "$ORR_TEST_SIM" = yes ]; then
	fails 2 '--fake-rank 64: there are only the ranks 0 to 63 of --fake-size 64' "$ORRERY" sim --fake-rank 64 --fake-size 64 "$cholesky.sim"
	fails 2 '--fake-rank R and --fake-size N go together' "$ORRERY" sim --fake-rank 3 "$cholesky.sim"
	fails 2 '--fake-rank is about one rank alone; leave -n' "$ORRERY" sim -n 4 --fake-rank 3 --fake-size 64 "$cholesky.sim"
	# A simulated program that is started by itself says on a terminal that it has one node only.
	cat > terminal.py << 'END'
import os
import pty
import sys

text = b""


def read(fd):
    global text
    data = os.read(fd, 4096)
    text += data
    return data


status = os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:], read))
sys.exit(0 if status == 0 and b"runs on one simulated node; `orrery sim -n N" in text else "status %d: %r" % (status, text))
END
	ok "$PYTHON" terminal.py "$ORR_TEST_BUILDDIR/examples/vector_scal/vector_scal.sim"
	ok "$ORR_TEST_BUILDDIR/examples/vector_scal/vector_scal.sim"
	if grep -q 'one simulated node' err; then die "said without a terminal"; fi
fi
