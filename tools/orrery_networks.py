# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The networks that --like knows by name, read from the table that the launcher is
# compiled with (sim/launcher/networks.def, which also says what its fields mean).
# Invariant: the factors are those that the launcher makes of the same points
# (named.cpp).
import ast
import os
import re

TABLE = os.path.join("sim", "launcher", "networks.def")  # in the source tree and where data are installed
HEADER = 16  # bytes that each message has in addition


class Network:
    """One NETWORK of the table; pieces: above how many bytes, the latency, and the seconds for each byte."""

    def __init__(self, name, bytes_per_s, points, source):
        self.name, self.bytes_per_s, self.source = name, bytes_per_s, source
        fastest, before, before_s, self.pieces = 1 / bytes_per_s, 0, 0, []
        for point in points.split():
            size, us = (float(number) for number in point.split(":"))
            size, seconds = size + HEADER, us * 1e-6
            line = (seconds - before_s) / (size - before) if before else 0
            byte_s = min(max(line, fastest), seconds / size)
            self.pieces.append((before, seconds - byte_s * size, byte_s))
            before, before_s = size, seconds
        self.pieces.append((before, before_s - fastest * before, fastest))
        self.latency = self.pieces[0][1]

    def factors(self, size):
        """How many times the latency, and which part of the bandwidth, messages of so many bytes have."""
        _, latency, byte_s = [piece for piece in self.pieces if size > piece[0]][-1]
        return latency / self.latency, 1 / (byte_s * self.bytes_per_s)


def read(path):
    """The networks of the table by name, in its order."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/|^#.*?$", "", file.read(), flags=re.DOTALL | re.MULTILINE)
    rows = [[ast.literal_eval(field) for field in statement.value.args] for statement in ast.parse(text, path).body]
    return {row[0]: Network(*row) for row in rows}
