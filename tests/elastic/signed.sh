# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Connections to the registry of process sets are signed: the system keeps out who does not have the key, and whoever has it
# gets in, from mpirun's processes to those that start during the run. With ORRERY_DYN_SIGNED=0 they are not.
# orr-test: timeout 240
# orr-test: waits
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_MPI" = yes ] || skip "needs Open MPI"
command -v "$PYTHON" > /dev/null || skip "needs Python"
unset ORRERY_DYN_HOSTS ORRERY_DYN_ADDRESS ORRERY_DYN_SIGNED
cat > guest.py <<'END'
"""guest.py GETS_IN: somebody connects without a signature, and one with a wrong key; they get in, or do not."""
import os
import socket
import struct
import sys

address, port, key = os.environ["ORRERY_DYN_SERVER"].split(":")[:3]
signed = os.environ["ORRERY_DYN_SERVER"].endswith(":signed")
TCP_MD5SIG = 14


def connects(words=None):
    guest = socket.socket()
    guest.settimeout(2)
    if words:
        there = struct.pack("=HH4s120x", socket.AF_INET, 0, socket.inet_aton(address))
        guest.setsockopt(socket.IPPROTO_TCP, TCP_MD5SIG, there + struct.pack("=BBHi80s", 0, 0, len(words), 0, words))
    try:
        guest.connect((address, int(port)))
        return True
    except socket.timeout:
        return False


got = connects(), connects(b"orrery " + b"0" * 32)
if got != ((False, False) if signed else (True, False)) or signed == (sys.argv[1] == "yes"):
    sys.exit("FAIL: %s: without a signature, with a wrong one: %s" % ("signed" if signed else "not signed", got))
if signed and not connects(b"orrery " + key.encode()):
    sys.exit("FAIL: the right key does not get in")
END
"$PYTHON" -c '
import socket, struct
socket.socket().setsockopt(socket.IPPROTO_TCP, 14, struct.pack("=HH4s120xBBHi80s", 2, 0, b"\x7f\0\0\1", 0, 0, 1, 0, b"x"))' || skip "the system does not sign"
server=$ORR_TEST_BUILDDIR/orrery-elastic

"$server" 1 2 - "$PYTHON" guest.py no 2> err
has err 'no process of the elastic run called MPI_Session_init' # its own command was content
ORRERY_DYN_SIGNED=0 "$server" 1 2 - "$PYTHON" guest.py yes 2> err
has err 'no process of the elastic run called MPI_Session_init'

# A run that grows, with and without.
echo 'at 0.1 grow 1' > script
for signed in 1 0; do
	export ORRERY_DYN_SIGNED=$signed FOLLOW_PAUSE_US=1000
	ok "$ORRERY" run -n 2 --elastic --max 3 --oversubscribe --manager script:script "$ORR_TEST_BUILDDIR/tests/elastic/follow" 30 2 3
done

# A registry that is gone cannot refuse a signed connection: the process says so after half a minute, without the key.
unset ORRERY_DYN_SIGNED
ORRERY_DYN_SERVER=127.0.0.1:1:0123456789abcdef0123456789abcdef:signed "$ORR_TEST_BUILDDIR/tests/elastic/sets" > out 2>&1 && die "a process without a registry goes on"
has out 'does not answer at 127.0.0.1:1; connections to it are signed'
if grep -q 0123456789abcdef out; then die "the key is printed"; fi
exit 0
