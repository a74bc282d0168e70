# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Runs a command whose stderr keeps one write apart from another, and prints each as one line:
#     pieces.py STATUS COMMAND...
# Its output is a line for each write, with the characters escaped.
# Invariant: exit status 1, and a line that shows it, when a write ends within a line, or the command
# does not end with that status ("fails": any but 0).
import socket
import subprocess
import sys

MOST = 1 << 20
ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
child = subprocess.Popen(sys.argv[2:], stderr=theirs, stdout=subprocess.DEVNULL)
theirs.close()
halves = 0
while True:
    piece = ours.recv(MOST)
    if not piece:
        break
    print(ascii(piece.decode(errors="replace")))
    if not piece.endswith(b"\n"):
        print("half a line: %r" % piece[-80:])
        halves += 1
status = child.wait()
expected = status != 0 if sys.argv[1] == "fails" else status == int(sys.argv[1])
if not expected:
    print("status %d" % status)
sys.exit(halves > 0 or not expected)
