# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Pictures of who does what to whom, from top to bottom (doc/pictures.py has the form
# of their sources).
#
# Invariant: each step is between parties of the picture.
import sys

from picture import Picture
from svg import COLORS, Svg, wrapped

EDGE, COLUMN, LINE, CHARACTER = 16, 252, 14, 6  # width of a column, height of a line, width of a letter


class Sequence(Picture):
    HEADS = {'party': (('id', 'name'), ('text', 'kind')),
             'step': (('from', 'to', 'text'), ('at', 'kind')),
             'phase': (('text',), ())}

    def __init__(self, path, code):
        super().__init__(path, code)
        self.at = {p['id']: i for i, p in enumerate(self.items['party'])}
        for s in self.items['step']:
            for end in (s['from'], s['to']):
                if end not in self.at:
                    sys.exit(f'{s["where"]}: there is no party {end}')

    def middle(self, party):
        return EDGE + COLUMN * self.at[party] + 90

    def lines(self, s):
        columns = abs(self.at[s['from']] - self.at[s['to']]) or 1
        width = (COLUMN * columns - 24) // CHARACTER
        return [(t, False) for t in wrapped(s['text'], width)] + self.place_lines(s['at'], width)

    def draw(self):
        parties = self.items['party']
        head = 26 + 13 * max(len(wrapped(p['text'], 32)) for p in parties)
        y, rows = 46 + head + 16, []
        for item in self.order:
            if item['head'] == 'phase':
                rows.append((y, item, []))
                y += 34
            elif item['head'] == 'step':
                lines = self.lines(item)
                rows.append((y, item, lines))
                y += LINE * len(lines) + 18
        last = parties[-1]['id']
        beside = any(s['from'] == s['to'] == last for s in self.items['step'])
        width = EDGE * 2 + COLUMN * len(parties) + (104 if beside else 0)
        svg = Svg(width, y + 30, self.title)
        for p in parties:
            x = self.middle(p['id'])
            svg.line([(x, 46 + head), (x, y)], color='#99a', tip=False)
            svg.rect(x - 88, 46, 198, head, COLORS[p['kind']])
            svg.text(x + 11, 64, p['name'], weight='bold', anchor='middle')
            for i, line in enumerate(wrapped(p['text'], 32)):
                svg.text(x + 11, 79 + 13 * i, line, size=10, anchor='middle', fill='#556')
        for top, item, lines in rows:
            if item['head'] == 'phase':
                svg.line([(EDGE, top + 14), (width - EDGE, top + 14)], dash=True, color='#aab', tip=False)
                svg.text(width - EDGE, top + 10, item['text'], size=12, weight='bold', anchor='end', halo=True)
            else:
                self.draw_step(svg, top, item, lines)
        svg.text(EDGE, y + 20, f'time runs downwards; dashed arrows: answers and wake-ups; files without a folder are in {self.folder} and its folders'
                 if self.folder else 'time runs downwards; dashed arrows: answers and wake-ups', size=11)
        return svg.done()

    def draw_step(self, svg, top, s, lines):
        x1, x2 = self.middle(s['from']), self.middle(s['to'])
        y = top + LINE * len(lines) + 4
        if x1 == x2:
            svg.rect(x1 - 4, top - 4, 8, y - top, COLORS['wait' if s['kind'] == 'wait' else ''])
        else:
            svg.line([(x1, y), (x2, y)], dash=s['kind'] == 'reply')
        for i, (text, mono) in enumerate(lines):
            svg.later.append(lambda i=i, text=text, mono=mono: svg.text(
                min(x1, x2) + 9, top + 7 + LINE * i, text, size=10 if mono else 11, mono=mono, fill='#245' if mono else '#222', halo=True))
