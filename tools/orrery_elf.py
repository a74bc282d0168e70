# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Finds the world that a program was built for, from the libraries that its ELF
# file needs, and where those libraries are. Invariant: never raises for the content of a file; a file that it
# cannot read is "unknown", and the system decides whether to run it.
import glob
import os
import re
import struct

ET_DYN = 3
SHT_DYNAMIC, DT_NEEDED = 6, 1


class Elf:
    """The needed libraries of a 32 or 64 bit ELF file, of any byte order."""

    def __init__(self, data):
        self.data = data
        self.wide = data[4] == 2
        self.order = "<" if data[5] == 1 else ">"
        self.kind = self.unpack("H", 16)
        self.machine = self.unpack("H", 18)

    def unpack(self, form, offset):
        return struct.unpack_from(self.order + form, self.data, offset)[0]

    def word(self, offset):
        return self.unpack("Q" if self.wide else "I", offset)

    def sections(self):
        start = self.word(0x28 if self.wide else 0x20)
        size, count = struct.unpack_from(self.order + "HH", self.data, 0x3A if self.wide else 0x2E)
        for i in range(count):
            at = start + i * size
            if self.wide:
                yield (self.unpack("I", at + 4), self.word(at + 24), self.word(at + 32), self.unpack("I", at + 40), at)
            else:
                yield (self.unpack("I", at + 4), self.word(at + 16), self.word(at + 20), self.unpack("I", at + 24), at)

    def needed(self):
        sections = list(self.sections())
        step = 8 if self.wide else 4
        names = []
        for kind, offset, size, link, _ in sections:
            if kind != SHT_DYNAMIC:
                continue
            strings = sections[link][1]
            for at in range(offset, offset + size, 2 * step):
                if self.word(at) == DT_NEEDED:
                    begin = strings + self.word(at + step)
                    names.append(self.data[begin:self.data.index(b"\0", begin)].decode("latin-1"))
        return names


def needed_libraries(path):
    """Names of the libraries that PATH needs, or None if it is no ELF file."""
    with open(path, "rb") as stream:
        data = stream.read()
    if data[:4] != b"\x7fELF":
        return None
    try:
        return Elf(data).needed()
    except (struct.error, IndexError, ValueError):
        return []


def world_of(path):
    """'real', 'simulated', 'script' (no ELF file) or 'unknown'."""
    names = needed_libraries(path)
    if names is None:
        return "script"
    if any(name.startswith(("liborrery-sim.", "libsimgrid.")) for name in names):
        return "simulated"
    if any(name.startswith(("liborrery.", "liborrery-mpi.", "libmpi")) for name in names):
        return "real"
    return "unknown"


SYSTEM_FOLDERS = ("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64")
SYSTEM_LIBRARY = re.compile(r"(%s)/" % "|".join(SYSTEM_FOLDERS))
OUR_LIBRARIES = ("liborrery", "libsimgrid", "libstarpu")


def is_ours(name):
    return os.path.basename(name).startswith(OUR_LIBRARIES)


def in_system(name):
    """True if the loader finds the library NAME in a folder of the system, unless one of the user's stands before."""
    return any(os.path.exists(os.path.join(folder, name))
               for base in SYSTEM_FOLDERS for folder in [base] + glob.glob(base + "/*-linux-*"))


def find_loader():
    """The program of this machine that loads libraries, or None."""
    found = glob.glob("/lib64/ld-linux-*.so.*") + glob.glob("/lib/ld-linux-*.so.*")
    return found[0] if found else None


def private_libraries(path, environment):
    """Paths of the libraries that PATH is linked with and that are neither the system's nor Orrery's: not below one of
    SYSTEM_FOLDERS; and that of Fortran's own, where one of them or the program needs it. Empty if the loader cannot
    tell."""
    names = [name for name in needed_libraries(path) or [] if not is_ours(name)]
    loader = find_loader()
    if all(in_system(name) and not is_fortran(name) for name in names) or not loader:
        return []
    import subprocess  # most programs start sooner without
    run = subprocess.run([loader, "--list", path], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    paths = re.findall(r"=> (/\S+) \(0x", run.stdout.decode("utf-8", "replace"))
    private = [found for found in paths if not is_ours(found) and not SYSTEM_LIBRARY.match(os.path.realpath(found))]
    if any(is_fortran(name) for found in private + [path] for name in needed_libraries(found) or []):
        private += [found for found in paths if is_fortran(found) and found not in private]
    return private


def is_fortran(name):
    """True for the runtime library of Fortran: its units belong to each rank."""
    return os.path.basename(name).startswith("libgfortran.so")
