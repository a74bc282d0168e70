# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The tables and pictures of the house as a whole: its floors, locks, parts, and the
# tables of functions between floors.
#
# Invariant: what stands here comes from the sources, build-aux/floors.table and
# doc/pictures only.
import importlib.machinery
import importlib.util
import re

from sources import PICTURES, ROOT, fault
from svg import Svg, wrapped

LOCKS = 'src/base/lockrank.h'


def floors_module():
    loader = importlib.machinery.SourceFileLoader('floors', str(ROOT / 'build-aux' / 'floors'))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader('floors', loader))
    loader.exec_module(module)
    return module


class Floors:
    """Each floor stands on the highest of those that it may include."""
    WIDTH, HEIGHT, GAP, EDGE = 230, 74, 46, 20

    def __init__(self):
        self.table = floors_module().Table(ROOT / 'build-aux' / 'floors.table')
        self.what = {}
        for number, line in enumerate((PICTURES / 'floors.txt').read_text().splitlines(), 1):
            if line and not line.startswith('#'):
                floor, _, text = line.partition(': ')
                if floor not in self.table.floors:
                    fault(f'doc/pictures/floors.txt:{number}', f'{floor} has no line in floors.table')
                self.what[floor] = text
        self.level, self.below = {}, {}
        for floor, below in self.table.floors.items():
            if floor not in self.what:
                fault('doc/pictures/floors.txt', f'nothing is said about {floor}')
            self.level[floor] = 1 + max((self.level[b] for b in below), default=-1)

    def reach(self, floor):
        if floor not in self.below:
            below = self.table.floors[floor]
            self.below[floor] = set(below).union(*(self.reach(b) for b in below))
        return self.below[floor]

    def direct(self, floor):
        """The floors below that no other floor below includes: the arrows of the picture."""
        below = self.table.floors[floor]
        return [b for b in below if not any(b in self.reach(o) for o in below)]

    def draw(self):
        rows = [[f for f in self.table.floors if self.level[f] == n] for n in range(1 + max(self.level.values()))]
        width = max(map(len, rows)) * (self.WIDTH + 40) - 40 + 2 * self.EDGE
        height = 70 + len(rows) * (self.HEIGHT + self.GAP)
        svg = Svg(width, height, 'The floors: a folder includes headers of floors below it only')
        at = {}
        for n, row in enumerate(rows):
            left = (width - len(row) * (self.WIDTH + 40) + 40) / 2
            for i, f in enumerate(row):
                at[f] = left + i * (self.WIDTH + 40), height - 32 - (n + 1) * (self.HEIGHT + self.GAP) + self.GAP
        for f in self.table.floors:
            for b in self.direct(f):
                svg.line([(at[f][0] + self.WIDTH / 2, at[f][1] + self.HEIGHT), (at[b][0] + self.WIDTH / 2, at[b][1])])
        for f, b in sorted(self.table.debts):
            svg.line([(at[f][0] + 20, at[f][1]), (at[b][0] + 20, at[b][1] + self.HEIGHT)], dash=True, color='#b22')
        for f, (x, y) in at.items():
            world = f.startswith('sim') or f in ('src/sys', 'src/bridge')
            svg.rect(x, y, self.WIDTH, self.HEIGHT, '#e9f3e4' if world else '#e3edf9', dash=world)
            svg.text(x + self.WIDTH / 2, y + 18, f, weight='bold', anchor='middle', mono=True)
            for i, line in enumerate(wrapped(self.what.get(f, ''), 40)[:3]):
                svg.text(x + self.WIDTH / 2, y + 35 + 13 * i, line, size=11, anchor='middle', fill='#445')
        svg.text(self.EDGE, height - 12, 'dashed boxes: one of the two worlds, chosen by the build'
                 + ('; red arrows: includes against the order, tolerated until they go' if self.table.debts else ''), size=11)
        return svg.done()

    def rows(self):
        out = ['| folder | what is there | may include |', '|---|---|---|']
        for f in reversed(self.table.floors):
            may = ', '.join(f'`{b}`' for b in self.table.names(f)) or 'nothing else'
            debts = ', '.join(f'`{b}`' for g, b in sorted(self.table.debts) if g == f)
            out.append(f'| `{f}` | {self.what.get(f, "")} | {may}{f"; for now also {debts}" if debts else ""} |')
        return '\n'.join(out)


# ---- the locks ----


def locks(code):
    """The table of locks, from the list of ranks."""
    text = (ROOT / LOCKS).read_text()
    rows = re.findall(r'\bX\(\s*([A-Z_]+),\s*([^,"]*),((?:\s*(?:"(?:\\.|[^"\\])*"|,|\\\n))+)\)', text)
    out = ['| rank | lock | protects | taken while these are held | never while it is held |', '|---|---|---|---|---|']
    for rank, _flags, strings in rows:
        v = ['']
        for part, comma in re.findall(r'"((?:\\.|[^"\\])*)"|(,)', strings):  # neighbours are one string
            if comma:
                v.append('')
            else:
                v[-1] += part.replace('\\"', '"')
        if len(v) != 4:
            fault(LOCKS, f'{rank} does not have four texts')
            continue
        out.append(f'| {rank} | `{v[0]}` | {v[1]} | {v[2]} | {v[3]} |')
    if not rows:
        fault(LOCKS, 'no ranks were found')
    return '\n'.join(out)


# ---- the parts of the MPI layer ----

PARTS = 'src/mpi/run/parts.c'


def parts(code):
    """The table of parts, with what doc/pictures/parts.txt says about each."""
    said = {}
    for number, line in enumerate((PICTURES / 'parts.txt').read_text().splitlines(), 1):
        if line and not line.startswith('#'):
            name, _, said[name] = line.partition(': ')
    rows = re.findall(r'\{\s*\.name = "([^"]*)"((?:,\s*\.\w+ = \w+)*)\s*\}', code.body(PARTS, r'\borr_mpi_parts\[\] =') or '')
    if not rows:
        fault(PARTS, 'no parts were found')
    out = ['| part | what it keeps | it has something to do at |', '|---|---|---|']
    for name, does in rows:
        if name not in said:
            fault('doc/pictures/parts.txt', f'nothing is said about the part "{name}" of {PARTS}')
        does = ', '.join(re.findall(r'[.](\w+) =', does))
        out.append(f'| {name} | {said.pop(name, "")} | {does} |')
    for name in said:
        fault('doc/pictures/parts.txt', f'{PARTS} has no part "{name}"')
    return '\n'.join(out)
