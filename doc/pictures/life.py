# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Pictures of the life of something: its states, who owns it, and the functions that
# move it on (doc/pictures.py has the form of their sources).
#
# Invariant: a state that the picture lacks, or a function that moved, is a fault.
import sys

from sources import fault
from picture import Picture, places
from svg import COLORS, Svg, wrapped


class Life(Picture):
    BOX, GAP, SIDE, LINE = 200, 236, 150, 14  # widths of boxes, of what is between columns, of a lane; height of a line
    BESIDE, ASIDE, ACROSS = 34, 24, 28  # characters of a label: of an arrow downwards, beside boxes, between columns

    HEADS = {'state': (('id', 'column', 'row', 'name'), ('is', 'owner', 'text', 'kind', 'in')),
             'arrow': (('from', 'to', 'text'), ('at', 'lane', 'shift'))}

    def __init__(self, path, code):
        super().__init__(path, code)
        self.states, self.arrows = {s['id']: s for s in self.items['state']}, self.items['arrow']
        self.check()

    def check(self):
        for a in self.arrows:
            for end in (a['from'], a['to']):
                if end not in self.states:
                    sys.exit(f'{a["where"]}: there is no state {end}')
        told = {s['is']: s for s in self.states.values() if s['is']}
        known = set()
        for name, path, where in self.enums:
            members = self.code.members(path, name)
            if members is None:
                fault(where, f'{path} has no enum {name}')
            for member in members or []:
                known.add(member)
                if member not in told:
                    fault(where, f'{member} of enum {name} has no state in the picture')
        for member, s in told.items():
            if member not in known:
                fault(s['where'], f'{member} is in none of the enums that are named above')

    # ---- the picture ----

    def label(self, a, width):
        """(text, is it a name?) of each line beside an arrow."""
        return [(t, False) for t in wrapped(a['text'], width)] + self.place_lines(a['at'], width + 2)

    def box_lines(self, s):
        return wrapped(s['owner'] and f'owner: {s["owner"]}', 34)

    def kind(self, a):
        f, t = self.states[a['from']], self.states[a['to']]
        if f['column'] != t['column']:
            return 'across'
        return 'down' if t['row'] == f['row'] + 1 else 'side'

    def layout(self):
        states, kinds = self.states.values(), [(a, self.kind(a)) for a in self.arrows]
        ncolumns, nrows = (1 + max(s[k] for s in states) for k in ('column', 'row'))
        lanes = [0] * (ncolumns + 1)
        for a, kind in kinds:
            if kind == 'side':
                c = self.states[a['from']]['column']
                lanes[c] = max(lanes[c], a['lane'] + 1)
        x, self.left = 16, []
        for c in range(ncolumns):
            x += self.SIDE * (lanes[c] > 0) + 16 * lanes[c]
            self.left.append(x)
            x += self.BOX + self.GAP
        self.width = max(x - self.GAP + 60, 9 * len(self.title), 820)
        y, self.top, self.height_of = 46, [], []
        for r in range(nrows):
            h = 22 + self.LINE * max([len(self.box_lines(s)) for s in states if s['row'] == r] or [0]) + 8
            gap = max([len(self.label(a, self.BESIDE)) for a, kind in kinds if kind == 'down' and self.states[a['from']]['row'] == r] or [1])
            self.top.append(y)
            self.height_of.append(h)
            y += h + self.LINE * gap + 24
        self.height = y

    def draw(self):
        self.layout()
        svg = Svg(self.width, self.height + 18, self.title)
        for a in self.arrows:
            getattr(self, 'draw_' + self.kind(a))(svg, a)
        for s in self.states.values():
            x, y = self.left[s['column']], self.top[s['row']]
            svg.rect(x, y, self.BOX, self.height_of[s['row']], COLORS[s['kind']])
            svg.text(x + self.BOX / 2, y + 18, s['name'], weight='bold', anchor='middle')
            for i, line in enumerate(self.box_lines(s)):
                svg.text(x + self.BOX / 2, y + 34 + self.LINE * i, line, size=10, anchor='middle', fill='#556')
        y = self.height + 4
        for i, (kind, text) in enumerate((('', 'moves on by itself'), ('wait', 'waits for somebody else'), ('end', 'before and after'))):
            svg.rect(16 + 190 * i, y - 10, 14, 12, COLORS[kind])
            svg.text(36 + 190 * i, y, text, size=11)
        svg.text(600, y, f'files without a folder are in {self.folder} and its folders', size=11)
        return svg.done()

    def write_label(self, svg, lines, x, y, anchor=None):
        for i, (text, mono) in enumerate(lines):
            svg.later.append(lambda i=i, text=text, mono=mono: svg.text(
                x, y + self.LINE * i, text, size=10 if mono else 11, anchor=anchor, mono=mono, fill='#245' if mono else '#222', halo=True))

    def middle(self, s):
        return self.top[s['row']] + self.height_of[s['row']] / 2

    def draw_down(self, svg, a):
        f, t = self.states[a['from']], self.states[a['to']]
        x, y1, y2 = self.left[f['column']] + 14, self.top[f['row']] + self.height_of[f['row']], self.top[t['row']]
        svg.line([(x, y1), (x, y2)])
        lines = self.label(a, self.BESIDE)
        self.write_label(svg, lines, x + 8, (y1 + y2) / 2 - self.LINE * len(lines) / 2 + 10)

    def draw_side(self, svg, a):
        f, t = self.states[a['from']], self.states[a['to']]
        x = self.left[f['column']]
        at, shift = x - 16 * (a['lane'] + 1), 8 * (1 if f['row'] > t['row'] else -1)
        y1, y2 = self.middle(f) - shift, self.middle(t) + shift
        svg.line([(x, y1), (at, y1), (at, y2), (x, y2)])
        lines = self.label(a, self.ASIDE)
        self.write_label(svg, lines, at - 6, (y1 + y2) / 2 - self.LINE * len(lines) / 2 + 10 + a['shift'], anchor='end')

    def draw_across(self, svg, a):
        f, t = self.states[a['from']], self.states[a['to']]
        right = t['column'] > f['column']
        x1 = self.left[f['column']] + (self.BOX if right else 0)
        x2 = self.left[t['column']] + (0 if right else self.BOX)
        shift = 9 if f['row'] == t['row'] and any(b['from'] == a['to'] and b['to'] == a['from'] for b in self.arrows) else 0
        y1 = self.middle(f) + (shift if right else -shift)
        y2 = y1 if f['row'] == t['row'] else self.middle(t)
        lines = self.label(a, self.ACROSS)
        if right:
            bend = x2 - 14 - 10 * a['lane']
            self.write_label(svg, lines, x1 + 44, y1 + 14 if shift else y1 - 5 - self.LINE * (len(lines) - 1))
        else:
            bend = x1 - 14 - 10 * a['lane']
            self.write_label(svg, lines, x2 + 44, y2 - 5 - self.LINE * (len(lines) - 1))
        svg.line([(x1, y1), (bend, y1), (bend, y2), (x2, y2)])

    # ---- the tables ----

    def table(self):
        out = ['| state | in the code | owner | meaning, and where it is kept |', '|---|---|---|---|']
        for s in self.states.values():
            code = f'`{s["is"]}`' if s['is'] else ''
            out.append(f'| {s["name"]} | {code} | {s["owner"]} | {s["text"]}{"; " if s["in"] and s["text"] else ""}{places(s["in"])} |')
        out += ['', '| step | what happens | where |', '|---|---|---|']
        for a in self.arrows:
            f, t = (self.states[a[k]]['name'] for k in ('from', 'to'))
            out.append(f'| {f} → {t} | {a["text"]} | {places(a["at"])} |')
        return '\n'.join(out)
