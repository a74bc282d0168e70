# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A simulation that does not fit into memory ends early, with the reason and what to
# do: before it starts, if its ranks alone do not fit, and while it runs.
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_SIM" = yes ] || skip "needs the simulated world"
cholesky=$ORR_TEST_BUILDDIR/examples/cholesky/cholesky.sim

fails 1 '2000: the ranks take .* --memory allows 0.10 GB; simulate at most 99[0-9] nodes' \
	"$ORRERY" sim -n 2000 --memory 100 "$cholesky" -nt 2 -b 16
fails 1 'does not fit: it takes .* --memory allows no more; have fewer tasks in flight' \
	"$ORRERY" sim -n 64 --kernels skip --memory 80 "$cholesky" -nt 96 -b 512
ok "$ORRERY" sim -n 8 --kernels skip --memory 1000 "$cholesky" -nt 8 -b 16

# Address space: 8 MiB of stacks for each of 256 ranks.
if [ "$ORR_TEST_SANITIZER" = no ]; then
	fails 1 '256: the ranks need .* GB of address space, .* for stacks, but the limit is 2.0 GB; raise it' \
		sh -c 'ulimit -v 2000000; exec "$@"' sh "$ORRERY" sim -n 256 --kernels skip "$cholesky" -nt 2 -b 16
fi

# Maps of memory: two for each copy of a program, whatever segments its linker made.
allowed=$(cat /proc/sys/vm/max_map_count)
if [ "$allowed" -lt 100000 ] && [ "$ORR_TEST_SANITIZER" = no ]; then
	fails 1 '50000: the ranks need 100[0-9]* maps of memory \(2 each\), .* allows '"$allowed"' .*sysctl -w vm.max_map_count=100[0-9]*\), or simulate at most [0-9]* nodes' \
		"$ORRERY" sim -n 50000 --stack 16 "$cholesky" -nt 2 -b 16
fi
