#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Draws the pictures of doc/architecture.md and writes the tables of that page that
# are made from sources.
#     doc/pictures.py            writes what is out of date
#     doc/pictures.py --check    writes nothing; fails if something is out of date
# Sources: build-aux/floors.table and doc/pictures/floors.txt (the floors),
# src/base/lockrank.h (the table of locks), and doc/pictures/NAME.txt for each
# other picture, in this form (properties are indented):
#     title TEXT
#     folder FOLDER              of file names without a folder: it, or a folder in it
#     enum NAME FILE             the enum with that tag, or with that member; each
#                                of its members must be the `is` of some state
#     state ID COLUMN ROW NAME
#         is MEMBER              of one of these enums
#         owner TEXT
#         text TEXT
#         in PLACE, PLACE        where it is kept
#         kind wait | end        its colour
#     arrow ID ID TEXT
#         at PLACE, PLACE        what makes the step
#         lane N                 distance from the boxes of arrows that pass some
#         shift N                how much further down its text stands, in pixels
# A PLACE is FILE:FUNCTION or FILE:STRUCTURE.FIELD.
#
# Invariant: the output depends on these sources only. Each place and each member
# of an enum is looked up in the code, in the page too; one that is not there is a
# fault, and then nothing is written.
import html
import importlib.machinery
import importlib.util
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
PICTURES = ROOT / 'doc' / 'pictures'
PAGE = 'doc/architecture.md'
READERS = (PAGE, 'CONTRIBUTING.md')  # pages whose places are looked up
ENDINGS = ('.c', '.cpp', '.h')
LOCKS = 'src/base/lockrank.h'

faults = []


def fault(where, text):
    faults.append(f'{where}: {text}')


# ---- the code ----


def plain(text):
    """The code without comments, and with strings as they are."""
    def keep(match):
        s = match.group(0)
        return s if s[0] in '"\'' else '\n' * s.count('\n') or ' '
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', keep, text, flags=re.S)


class Code:
    """What the sources define, found without a compiler: formatted code begins
    definitions in column 0 (build-aux/format)."""

    def __init__(self):
        self.paths = [str(p.relative_to(ROOT)) for folder in ('src', 'sim', 'include') for p in sorted((ROOT / folder).rglob('*'))
                      if p.suffix in ENDINGS and not p.name.startswith('.')]
        self.texts, self.words = {}, set()

    def text(self, path):
        if path not in self.texts:
            self.texts[path] = plain((ROOT / path).read_text()) if path in self.paths else ''
        return self.texts[path]

    def body(self, path, head):
        """What stands in the braces after the first match of head, or None."""
        code = self.text(path)
        m = re.search(head + r'\s*\{', code)
        if not m:
            return None
        depth = 1
        for i in range(m.end(), len(code)):
            depth += {'{': 1, '}': -1}.get(code[i], 0)
            if not depth:
                return code[m.end():i]
        return None

    def has(self, path, name):
        """Does the file define that function, macro, structure, or field STRUCTURE.FIELD?"""
        if '.' in name:
            tag, field = name.split('.', 1)
            inside = self.body(path, rf'\bstruct {tag}\b')
            return inside is not None and re.search(rf'\b{field}\b', inside) is not None
        return re.search(rf'^(?![#\s])[^;{{}}=]*?\b{name}\s*\([^;{{}}]*\)\s*\{{|^#\s*define {name}\b|^(struct|enum) {name}\s*\{{'
                         rf'|^(?!extern)\w[\w\s*]*\b{name}(\[[^]]*\])? = |^\w[\w\s*]*\b{name}(\[[^]]*\])?;',
                         self.text(path), flags=re.M) is not None

    def look_up(self, where, path, name):
        if path not in self.paths:
            fault(where, f'there is no {path}')
        elif not self.has(path, name):
            others = [p for p in self.paths if self.has(p, name)]
            fault(where, f'{path} does not define {name}' + (f'; {", ".join(others)} does' if others else ''))

    def members(self, path, name):
        """The members of the enum with that tag, or with that member."""
        for m in re.finditer(r'\benum\s*(\w*)\s*\{([^}]*)\}', self.text(path)):
            v = re.findall(r'(\w+)\s*(?:=[^,]*)?(?:,|$)', m.group(2).strip())
            if name == m.group(1) or name in v:
                return v
        return None

    def knows(self, word):
        for path in self.paths if not self.words else []:
            self.words |= set(re.findall(r'\b(?:orr|ORR)_\w+', (ROOT / path).read_text()))
        return word in self.words


# ---- drawing ----


class Svg:
    def __init__(self, width, height, title):
        self.later = []  # texts that stand above all lines
        self.lines = ['<!-- SPDX-License-Identifier: LGPL-2.1-or-later; made by doc/pictures.py, do not edit. -->',
                      f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
                      f'viewBox="0 0 {width} {height}" font-family="Helvetica, Arial, sans-serif" font-size="12">',
                      f'<title>{html.escape(title)}</title>',
                      '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
                      'orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" fill="#445"/></marker></defs>',
                      f'<rect width="{width}" height="{height}" fill="#fff"/>']
        self.text(16, 26, title, size=17, weight='bold')

    def text(self, x, y, s, size=12, weight=None, anchor=None, mono=False, fill='#223', halo=False):
        more = ''.join(f' {k}="{v}"' for k, v in (
            ('font-size', size if size != 12 else None), ('font-weight', weight), ('text-anchor', anchor),
            ('font-family', 'monospace' if mono else None), ('paint-order', 'stroke' if halo else None),
            ('stroke', '#fff' if halo else None), ('stroke-width', 3 if halo else None)) if v)
        self.lines.append(f'<text x="{x:g}" y="{y:g}" fill="{fill}"{more}>{html.escape(s)}</text>')

    def rect(self, x, y, w, h, fill, stroke='#445', dash=False):
        self.lines.append(f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="6" fill="{fill}" stroke="{stroke}"'
                          + (' stroke-dasharray="5 4"' if dash else '') + '/>')

    def line(self, points, dash=False, color='#445', tip=True):
        path = 'M' + 'L'.join(f'{x:g} {y:g}' for x, y in points)
        self.lines.append(f'<path d="{path}" fill="none" stroke="{color}"'
                          + (' stroke-dasharray="5 4"' if dash else '') + (' marker-end="url(#tip)"' if tip else '') + '/>')

    def done(self):
        for write in self.later:
            write()
        return '\n'.join(self.lines + ['</svg>', ''])


# ---- the life of something ----


class Life:
    COLORS = {'': '#e3edf9', 'wait': '#fdf0cf', 'end': '#e6e6e6'}
    BOX, GAP, SIDE, LINE = 200, 236, 150, 14  # widths of boxes, of what is between columns, of a lane; height of a line
    BESIDE, ASIDE, ACROSS = 34, 24, 28  # characters of a label: of an arrow downwards, beside boxes, between columns

    def __init__(self, path, code):
        self.name, self.path, self.code = path.stem, str(path.relative_to(ROOT)), code
        self.title, self.folder, self.enums = '', '', []
        self.states, self.arrows, last = {}, [], None
        for number, line in enumerate(path.read_text().splitlines(), 1):
            words = line.split()
            if not words or line.startswith('#'):
                continue
            where, rest = f'{self.path}:{number}', line.strip().partition(' ')[2]
            if line[0].isspace():
                if last is None:
                    sys.exit(f'{where}: a property of nothing')
                self.property(last, words[0], rest, where)
            elif words[0] in ('title', 'folder'):
                setattr(self, words[0], rest)
            elif words[0] == 'enum' and len(words) == 3:
                self.enums.append((words[1], self.full(words[2]), where))
            elif words[0] == 'state' and len(words) > 4:
                last = {'where': where, 'column': int(words[2]), 'row': int(words[3]), 'name': ' '.join(words[4:]),
                        'is': '', 'owner': '', 'text': '', 'kind': '', 'in': []}
                self.states[words[1]] = last
            elif words[0] == 'arrow' and len(words) > 3:
                last = {'where': where, 'from': words[1], 'to': words[2], 'text': ' '.join(words[3:]), 'at': [], 'lane': 0, 'shift': 0}
                self.arrows.append(last)
            else:
                sys.exit(f'{where}: expected title, folder, enum, state ID COLUMN ROW NAME, or arrow ID ID TEXT')
        self.check()

    def full(self, file):
        if '/' in file:
            return file
        found = [p for p in self.code.paths if p.startswith(self.folder + '/') and p.endswith('/' + file)]
        return found[0] if len(found) == 1 else f'{self.folder}/{file}'

    def property(self, last, key, rest, where):
        if key not in last or key in ('where', 'name', 'from', 'to'):
            sys.exit(f'{where}: "{key}" is no property here')
        if key in ('in', 'at'):
            for place in rest.split(', '):
                file, _, name = place.partition(':')
                self.code.look_up(where, self.full(file), name)
                last[key].append((self.full(file), name))
        elif key in ('lane', 'shift'):
            last[key] = int(rest)
        else:
            last[key] = f'{last[key]} {rest}'.strip()

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

    def short(self, place):
        path, name = place
        return f'{path.rpartition("/")[2] if path.startswith(self.folder + "/") else path}:{name}'

    @staticmethod
    def wrapped(text, width):
        return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)

    def label(self, a, width):
        """(text, is it a name?) of each line beside an arrow."""
        lines = [(t, False) for t in self.wrapped(a['text'], width)]
        for place in a['at']:
            s = self.short(place)
            if len(s) > width + 2:
                file, name = s.split(':')
                lines += [(file + ':', True), (' ' + name, True)]
            else:
                lines.append((s, True))
        return lines

    def box_lines(self, s):
        return self.wrapped(s['owner'] and f'owner: {s["owner"]}', 34)

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
            svg.rect(x, y, self.BOX, self.height_of[s['row']], self.COLORS[s['kind']])
            svg.text(x + self.BOX / 2, y + 18, s['name'], weight='bold', anchor='middle')
            for i, line in enumerate(self.box_lines(s)):
                svg.text(x + self.BOX / 2, y + 34 + self.LINE * i, line, size=10, anchor='middle', fill='#556')
        y = self.height + 4
        for i, (kind, text) in enumerate((('', 'moves on by itself'), ('wait', 'waits for somebody else'), ('end', 'before and after'))):
            svg.rect(16 + 190 * i, y - 10, 14, 12, self.COLORS[kind])
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


def places(v):
    return ', '.join(f'`{path}:{name}`' for path, name in v)


# ---- the floors ----


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
        self.level = {}
        for floor, below in self.table.floors.items():
            if floor not in self.what:
                fault('doc/pictures/floors.txt', f'nothing is said about {floor}')
            self.level[floor] = 1 + max((self.level[b] for b in below), default=-1)

    def reach(self, floor):
        found = set()
        for b in self.table.floors[floor]:
            found |= {b} | self.reach(b)
        return found

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
            for i, line in enumerate(Life.wrapped(self.what.get(f, ''), 40)[:3]):
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


# ---- the page ----


def fill(page, parts):
    """Puts each table between its marks."""
    for name, text in parts.items():
        mark = f'<!-- {name}: made by doc/pictures.py, do not edit -->'
        head, found, rest = page.partition(mark + '\n')
        _, end, tail = rest.partition('<!-- end -->')
        if not (found and end):
            fault(PAGE, f'has no place for "{name}": expected {mark} ... <!-- end -->')
            continue
        page = f'{head}{mark}\n\n{text}\n\n<!-- end -->{tail}'
    for name in re.findall(r'<!-- (\w+): made by', page):
        if name not in parts:
            fault(PAGE, f'nothing makes "{name}"')
    return page


def check_page(code, path, text):
    """The places and names of the code that a page mentions exist."""
    for number, line in enumerate(text.splitlines(), 1):
        where = f'{path}:{number}'
        for file, name in re.findall(r'`((?:src|sim|include)/[\w./-]+):([\w.]+)`', line):
            code.look_up(where, file, name)
        for name in re.findall(r'`(?:struct |enum )?((?:orr_|ORR_)\w+)(?:\(\))?`', line):
            if not code.knows(name):
                fault(where, f'the code does not know {name}')


def main(words):
    if words not in ([], ['--check']):
        sys.exit('usage: doc/pictures.py [--check]')
    code, floors = Code(), Floors()
    lives = [Life(p, code) for p in sorted(PICTURES.glob('*.txt')) if p.stem not in ('floors',)]
    page = (ROOT / PAGE).read_text()
    parts = {'floors': floors.rows(), 'locks': locks(code), **{life.name: life.table() for life in lives}}
    made = {PAGE: fill(page, parts), 'doc/pictures/floors.svg': floors.draw()}
    made.update({f'doc/pictures/{life.name}.svg': life.draw() for life in lives})
    for path in READERS:
        check_page(code, path, made.get(path) or (ROOT / path).read_text())
    for path in sorted(PICTURES.glob('*.svg')):
        if str(path.relative_to(ROOT)) not in made:
            fault(path.relative_to(ROOT), 'nothing makes this picture')
        if f'({path.relative_to(ROOT / "doc")})' not in page:
            fault(PAGE, f'does not show {path.name}')
    for line in faults:
        print(line, file=sys.stderr)
    old = [p for p, text in made.items() if not (ROOT / p).exists() or (ROOT / p).read_text() != text]
    if words == ['--check']:
        for p in old:
            print(f'{p} is out of date: run doc/pictures.py', file=sys.stderr)
        return bool(old or faults)
    if faults:
        return 1
    for p in old:
        (ROOT / p).write_text(made[p])
        print(f'wrote {p}')
    return 0


if __name__ == '__main__':
    sys.dont_write_bytecode = True
    sys.exit(main(sys.argv[1:]))
