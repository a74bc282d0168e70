# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Pictures of predictions beside real runs, from the first table of a page that
# tests/fidelity/fidelity.py printed (doc/pictures.py has the form of their sources).
#
# Invariant: the numbers are those of the page.
import re

from picture import Picture
from sources import ROOT, fault
from svg import Svg

EDGE, LEFT, WIDTH, LINE = 16, 250, 620, 17
LOW, HIGH = -60, 100  # per cent; what is beyond is cut off
ROW = re.compile(r'^    (\S+) +(.*?)  +(\d+ \w+|\w+) +([\d.]+) +\(([\d.]+) \.\. ([\d.]+)\) +([\d.]+) +\(([\d.]+) \.\. ([\d.]+)\)')


class Errors(Picture):
    HEADS = {'page': (('path',), ('text',))}

    def rows(self):
        page, found = self.items['page'][0], []
        for line in (ROOT / page['path']).read_text().splitlines():
            m = ROW.match(line)
            if m:
                found.append((' '.join(m.groups()[:3]), [float(v) for v in m.groups()[3:]]))
            elif found:
                break
        if not found:
            fault(page['where'], f'{page["path"]} has no table of predictions')
        return found

    def x(self, ratio):
        percent = min(max(100 * ratio - 100, LOW), HIGH)
        return LEFT + WIDTH * (percent - LOW) / (HIGH - LOW)

    def draw(self):
        rows = self.rows()
        bottom = 62 + LINE * len(rows)
        svg = Svg(LEFT + WIDTH + 2 * EDGE, bottom + 52, self.title)
        for percent in range(LOW, HIGH + 1, 20):
            x = self.x(1 + percent / 100)
            svg.line([(x, 56), (x, bottom)], color='#88a' if percent == 0 else '#dde', tip=False)
            svg.text(x, bottom + 14, f'{percent:+d} %' if percent else 'real', size=10, anchor='middle')
        for i, (name, (real, least, most, simulated, low, high)) in enumerate(rows):
            y = 62 + LINE * i
            svg.text(LEFT - 10, y + 11, name, size=11, anchor='end')
            svg.box(self.x(least / real), y + 2, self.x(most / real) - self.x(least / real), LINE - 5, '#e6e6e6')
            svg.line([(self.x(low / real), y + 8), (self.x(high / real), y + 8)], color='#6f8fc0', tip=False)
            svg.box(self.x(simulated / real) - 3, y + 3, 6, LINE - 7, '#2d5fa8')
        svg.text(EDGE, bottom + 38, self.items['page'][0]['text'], size=11)
        return svg.done()
