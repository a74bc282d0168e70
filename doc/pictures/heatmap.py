# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Pictures of tables of numbers, as colours with the numbers in them (doc/pictures.py
# has the form of their sources). The numbers are measured elsewhere; the source says where.
#
# Invariant: each row has a number for each column.
from picture import Picture
from sources import fault
from svg import Svg

EDGE, WIDTH, HEIGHT = 16, 74, 26  # of a cell, at least so wide
LETTER = 7.5  # of the names of rows and columns


class Heatmap(Picture):
    HEADS = {'axis': (('text',), ()),
             'columns': (('numbers',), ()),
             'row': (('name', 'numbers'), ()),
             'colors': (('low', 'high'), ('text',))}  # the numbers for full blue and full red; 1 is white

    def color(self, value):
        low, high = (float(self.items['colors'][0][k]) for k in ('low', 'high'))
        part = min(abs(value - 1) / (abs(low - 1) if value < 1 else abs(high - 1)), 1)
        full = (0x6f, 0xa3, 0xe0) if value < 1 else (0xe5, 0x8a, 0x6f)
        return '#' + ''.join(f'{round(0xff + (c - 0xff) * part):02x}' for c in full)

    def draw(self):
        columns, rows = self.items['columns'][0]['numbers'].split(), self.items['row']
        across, down = (a['text'] for a in self.items['axis'])
        bottom, left = 96 + HEIGHT * len(rows), max(92, LETTER * max(len(row['name']) for row in rows) + EDGE + 10)
        width = max(WIDTH, LETTER * max(map(len, columns)) + 8)
        svg = Svg(max(left + width * len(columns) + EDGE, 9.6 * len(self.title) + 2 * EDGE), bottom + 34, self.title)
        svg.text(left + width * len(columns) / 2, 58, across, anchor='middle', fill='#445')
        svg.text(left - 10, 84, down, anchor='end', fill='#445')
        for i, name in enumerate(columns):
            svg.text(left + width * (i + 0.5), 84, name, weight='bold', anchor='middle')
        for r, row in enumerate(rows):
            numbers, y = row['numbers'].split(), 92 + HEIGHT * r
            if len(numbers) != len(columns):
                fault(row['where'], f'{len(numbers)} numbers for {len(columns)} columns')
            svg.text(left - 10, y + 17, row['name'], weight='bold', anchor='end')
            for i, text in enumerate(numbers):
                svg.box(left + width * i + 1, y + 1, width - 2, HEIGHT - 2, self.color(float(text)))
                svg.text(left + width * (i + 0.5), y + 17, text, size=11, anchor='middle')
        svg.text(EDGE, bottom + 20, self.items['colors'][0]['text'], size=11)
        return svg.done()
