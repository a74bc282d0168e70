# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The registry of process sets answers the processes of the run at once, whatever strangers do who trickle, flood, sit or
# guess, and survives peers that lie (strangers.py). It neither dies nor grows from random messages through real sockets
# (tests/real/stranger.c): ORR_MESSAGES of strangers, and a tenth as many of threads with the key, 20000 for each registry.
# orr-test: timeout 240
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_MPI" = yes ] || skip "needs Open MPI"
command -v "$PYTHON" > /dev/null || skip "needs Python"
unset ORRERY_DYN_HOSTS ORRERY_DYN_ADDRESS
export ORRERY_DYN_SIGNED=0 # or the system would keep strangers out (signed.sh)
ok "$PYTHON" -B "$ORR_TEST_SRCDIR/tests/elastic/strangers.py" "$ORR_TEST_BUILDDIR/orrery-elastic"
cat out
server=$ORR_TEST_BUILDDIR/orrery-elastic stranger=$ORR_TEST_BUILDDIR/tests/real/stranger messages=${ORR_MESSAGES:-5000}
export ORRERY_DYN_PATIENCE=1000000 # for processes that random requests ask for
# Freed memory that AddressSanitizer keeps is no growth.
export ASAN_OPTIONS="${ASAN_OPTIONS-}:quarantine_size_mb=4"
ok "$server" 2 4 - "$stranger" fuzz "$messages" 1
cat out
seed=0
while [ $((seed * 20000)) -lt $((messages / 10)) ]; do
	left=$((messages / 10 - seed * 20000))
	[ $left -lt 20000 ] || left=20000
	seed=$((seed + 1))
	ok "$server" 1 4 - "$stranger" keyed $left $seed
	cat out
done
unset ORRERY_DYN_PATIENCE

# It listens on this host for itself only, and tells nobody its key.
export ORRERY_DYN_SERVER=127.0.0.1:1:0123456789abcdef0123456789abcdef
"$ORR_TEST_BUILDDIR/tests/elastic/sets" > out 2>&1 && die "a process without a registry goes on"
has out 'does not answer at 127.0.0.1:1$'
if grep -q 0123456789abcdef out; then die "the key is printed"; fi

# Where it listens: here for this host, whatever options mpirun has; in a job of several hosts, where these reach it. A launcher
# that starts nothing says what the processes would be told.
unset ORRERY_DYN_SERVER SLURM_JOB_ID PBS_JOBID LSB_JOBID OAR_JOB_ID LOADL_STEP_ID
real=${ORRERY_MPIRUN:-$(command -v mpirun)}
mkdir bin
cat > bin/mpirun <<END
#!/bin/sh
case " \$* " in *--version*|*" -V "*) exec "$real" "\$@" ;; esac
[ -z "\${ORRERY_DYN_SERVER-}" ] || echo "\$ORRERY_DYN_SERVER" > "$PWD/told"
END
chmod +x bin/mpirun
# told ADDRESS VARIABLE=VALUE... -- OPTION...
told() {
	wanted=$1
	shift
	variables=
	while [ "$1" != -- ]; do
		variables="$variables $1"
		shift
	done
	shift
	rm -f told
	# shellcheck disable=SC2086
	env ORRERY_MPIRUN="$PWD/bin/mpirun" $variables "$ORRERY" run -n 2 --elastic --oversubscribe "$@" "$ORR_TEST_BUILDDIR/tests/elastic/sets" > out 2>&1
	[ -s told ] || { cat out; die "the launcher was told nothing:$variables $*"; }
	case $(cat told) in "$wanted":[0-9]*:*) ;; *) die "the registry listens at $(cut -d: -f1,2 told), not at $wanted:$variables $*" ;; esac
}
[ "${ORR_TEST_MPI_LIBRARY-openmpi4}" != mpich ] || exit 0
here=$(uname -n)
told 127.0.0.1 A=1 --
told 127.0.0.1 A=1 -- --mpirun '-x A'
told 127.0.0.1 A=1 -- --mpirun "--host $here:2"
told 127.0.0.1 SLURM_JOB_ID=7 "SLURM_JOB_NODELIST=$here" --
told 127.0.0.5 ORRERY_DYN_ADDRESS=127.0.0.5 --
# Another host: the address from which this one reaches it, as the system says.
from=$("$PYTHON" -c 'import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(("192.0.2.77", 9))
print(s.getsockname()[0])' 2> /dev/null) || exit 0
told "$from" SLURM_JOB_ID=7 "SLURM_JOB_NODELIST=$here,192.0.2.77" --
told "$from" A=1 -- --mpirun "--host $here:2,192.0.2.77:2"
told "$here" SLURM_JOB_ID=7 -- # nobody says which
exit 0
