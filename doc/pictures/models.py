# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Pictures of several models beside real runs, from the first table of a page that tests/fidelity/hosts.py printed
# (doc/pictures.py has the form of their sources).
#
# Invariant: the numbers are those of the page.
import re

from picture import Picture
from sources import ROOT, fault
from svg import Svg

EDGE, LEFT, WIDTH, LINE = 16, 356, 560, 15
LOW, HIGH = -50, 50  # per cent; what is beyond stands at the edge
HEAD = re.compile(r'^    graph +size .* floor %((?: +\w+)+)$')
ROW = re.compile(r'^    (\w+) +(.*?)  +(\d+ x \d+, \d+ Mbit/s(?:, [\d.]+ ms)?) +([\d.]+) +\(([\d.]+) \.\. ([\d.]+)\) +(?:[\d.]+|\?)((?: +[-+][\d.]+)+)$')
COLORS = ('#2d5fa8', '#d08a1d', '#3f8f4f', '#a23b6c')


class Models(Picture):
    HEADS = {'page': (('path',), ('text',))}

    def table(self):
        """(models, [(name, least and most of the real runs in per cent of their median, errors)])"""
        page, models, rows = self.items['page'][0], [], []
        for line in (ROOT / page['path']).read_text().splitlines():
            head, row = HEAD.match(line), ROW.match(line)
            if head and not models:
                models = head.group(1).split()
            elif row and models:
                real, least, most = (float(row.group(i)) for i in (4, 5, 6))
                rows.append((' '.join(row.groups()[:3]), 100 * least / real - 100, 100 * most / real - 100, [float(e) for e in row.group(7).split()]))
            elif rows and ' Mbit/s' in line:
                fault(page['where'], f'{page["path"]} has a line of hosts that is not understood: {line.strip()}')
            elif rows:
                break
        if not rows:
            fault(page['where'], f'{page["path"]} has no table of hosts')
        return models, rows

    def x(self, percent):
        return LEFT + WIDTH * (min(max(percent, LOW), HIGH) - LOW) / (HIGH - LOW)

    def draw(self):
        models, rows = self.table()
        bottom = 62 + LINE * len(rows)
        svg = Svg(LEFT + WIDTH + 2 * EDGE, bottom + 52, self.title)
        for i, model in enumerate(models):
            svg.box(EDGE + 90 * i, 41, 8, 8, COLORS[i % len(COLORS)])
            svg.text(EDGE + 13 + 90 * i, 49, model, size=11)
        for percent in range(LOW, HIGH + 1, 10):
            x = self.x(percent)
            svg.line([(x, 56), (x, bottom)], color='#88a' if percent == 0 else '#dde', tip=False)
            svg.text(x, bottom + 14, f'{percent:+d} %' if percent else 'real', size=10, anchor='middle')
        for i, (name, least, most, errors) in enumerate(rows):
            y = 62 + LINE * i
            svg.text(LEFT - 10, y + 10, name, size=10, anchor='end')
            svg.box(self.x(least), y + 2, self.x(most) - self.x(least), LINE - 5, '#dcdcdc')
            # The first model stands above the others.
            for k in range(len(errors) - 1, -1, -1):
                svg.box(self.x(errors[k]) - 2.5, y + 3 + (k == 0), 5, LINE - 7 - 2 * (k == 0), COLORS[k % len(COLORS)])
        svg.text(EDGE, bottom + 38, self.items['page'][0]['text'], size=11)
        return svg.done()
