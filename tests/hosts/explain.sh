#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `orrery explain` of runs on several hosts: it names the host whose link is slow, and not the network or a rank; where hosts are far
# away, the limit on requests that holds messages; and nothing on hosts without a fault. With ORR_CAUSES=all, the gains are
# compared with runs in which the change was made.
# orr-test: timeout 300
# orr-test: debug none
# orr-test: sanitizer none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
. "$ORR_TEST_SRCDIR/tests/lib/hosts.sh"
[ "$ORR_TEST_MPI" = yes ] || skip "no mpirun"
"${PYTHON:-python3}" -c 'import numpy' 2> err || skip "no numpy, without which gains are bounds"
hosts_world "$@"
hosts_up 4
. "$ORR_TEST_SRCDIR/tests/lib/causes.sh"

TRIES=3 FEW=
export STARPU_NCPU=1
# run RATE WORD...: with that rate of h3's link.
run() {
	hosts_shape h3 "$1" || die "h3 has no link of $1"
	shift
	ok on h1 env "$@"
}
cat > launch << END
exec timeout 100 "$ORRERY" run --quiet --trace trace -n 4 --mpirun "--host h1,h2,h3,h4 --bind-to none" "$ORR_TEST_BUILDDIR/tests/mpi/explain_causes" "\$@"
END
r="sh launch"
for k in 1 2 3 4; do hosts_shape h$k 400mbit || skip "this kernel shapes no link"; done
# shellcheck disable=SC2086
{
	is slow-link rank_2 slow-host 40mbit $r rounds bytes=1048576 make=20000 take=20000 rounds=10 -- 400mbit $r rounds bytes=1048576 make=20000 take=20000 rounds=10
	healthy hosts 400mbit $r rounds bytes=65536 make=50000 take=50000 rounds=10
	hosts_late 5000 h1 h2 h3 h4 || die "no late hosts"
	is held rank_0 limit 400mbit STARPU_MPI_NDETACHED_SEND=1 $r spread bytes=131072 blocks=64 rounds=1 -- 400mbit $r spread bytes=131072 blocks=64 rounds=1
}
cat table
