# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a command to which the kernel refuses one system call, as a sandbox would:
`deny.py NUMBER ERRNO COMMAND ARGUMENT...`, with the number of x86-64. Ends with 77 where there are no
filters of system calls.

Invariant: what the command starts has the same filter; nobody else has.
"""
import ctypes
import os
import struct
import sys

SET_NO_NEW_PRIVS, SET_SECCOMP, MODE_FILTER = 38, 22, 2
LOAD, JUMP_EQUAL, RETURN = 0x20, 0x15, 0x06
ERRNO, ALLOW = 0x00050000, 0x7FFF0000


def main(number, error, *command):
    steps = ((LOAD, 0, 0, 0), (JUMP_EQUAL, 0, 1, int(number)), (RETURN, 0, 0, ERRNO | int(error)), (RETURN, 0, 0, ALLOW))
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(SET_SECCOMP, MODE_FILTER, program, 0, 0):
        print("deny: no filter of system calls: " + os.strerror(ctypes.get_errno()), file=sys.stderr)
        sys.exit(77)
    os.execvp(command[0], command)


main(*sys.argv[1:])
