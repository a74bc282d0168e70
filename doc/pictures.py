#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Draws the pictures of doc/pictures and writes the tables of the architecture pages that
# are made from sources.
#     doc/pictures.py            writes what is out of date
#     doc/pictures.py --check    writes nothing; fails if something is out of date
# Sources: build-aux/floors.table and doc/pictures/floors.txt (the floors),
# src/base/lockrank.h (the table of locks), src/mpi/run/parts.c and doc/pictures/parts.txt
# (the parts of the MPI layer), doc/pictures/pointers.txt (pointers to functions), and
# doc/pictures/NAME.txt for each picture, in one of these forms (properties are indented):
#     title TEXT
#     folder FOLDER              of file names without a folder: it, or a folder in it
# The life of something (doc/pictures/life.py), a picture and a table:
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
# Who does what to whom (doc/pictures/sequence.py):
#     picture sequence
#     party ID NAME              from left to right
#         text TEXT
#         kind wait | end        its colour
#     phase TEXT                 a line across
#     step ID ID TEXT            twice the same: what it does by itself
#         at PLACE, PLACE
#         kind reply             a dashed arrow
# What messages get of one link (doc/pictures/chart.py):
#     picture chart
#     link MBPS LATENCY          of the link, in MB/s and µs
#     message NAME MB START      its size, and when it is sent in µs
#     panel CHANNELS TEXT        0: equal parts, else a queue for each channel
#         at PLACE, PLACE
# A table of numbers as colours (doc/pictures/heatmap.py):
#     picture heatmap
#     axis TEXT                  of the columns, then of the rows
#     columns NAME NAME
#     row NAME NUMBER NUMBER
#     colors LOW HIGH            the numbers for full blue and full red; 1 is white
#         text TEXT
# Predictions beside real runs (doc/pictures/errors.py):
#     picture errors
#     page FILE                  the page that has the table
#         text TEXT              what stands below
# Several models beside real runs (doc/pictures/models.py):
#     picture models
#     page FILE                  the page that has the table
#         text TEXT              what stands below
# Pointers to functions (doc/pictures/pointers.py), tables only:
#     group TEXT
#     pointers FILE:STRUCTURE    or FILE:STRUCTURE.FIELD
#         text TEXT
#         set PLACE, PLACE       who fills it in
#         call PLACE, PLACE      who calls it
#         lock TEXT              with which locks, in which thread
# A PLACE is FILE:FUNCTION or FILE:STRUCTURE.FIELD, or FILE: for several in one file.
#
# Invariant: the output depends on these sources only. Each place and each member
# of an enum is looked up in the code, in the pages too; one that is not there is a
# fault, and then nothing is written.
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / 'pictures'))

from sources import PICTURES, ROOT, Code, fault, faults  # noqa: E402
from chart import Chart  # noqa: E402
from errors import Errors  # noqa: E402
from heatmap import Heatmap  # noqa: E402
from house import Floors, locks, parts  # noqa: E402
from life import Life  # noqa: E402
from models import Models  # noqa: E402
from pointers import Pointers  # noqa: E402
from sequence import Sequence  # noqa: E402

# Which page has which table.
TABLES = {'doc/architecture.md': ('floors',),
          'doc/architecture-lives.md': ('task', 'message', 'datum', 'charge'),
          'doc/architecture-locks.md': ('locks',),
          'doc/architecture-places.md': ('parts', 'pointers'),
          'doc/architecture-glossary.md': ()}
READERS = (*TABLES, 'CONTRIBUTING.md')  # pages whose places are looked up
NO_PICTURES = ('floors', 'parts', 'pointers')  # sources in doc/pictures of something else
KINDS = {'life': Life, 'sequence': Sequence, 'chart': Chart, 'heatmap': Heatmap, 'errors': Errors, 'models': Models}


def fill(path, page, tables):
    """Puts each table between its marks."""
    for name, text in tables.items():
        mark = f'<!-- {name}: made by doc/pictures.py, do not edit -->'
        head, found, rest = page.partition(mark + '\n')
        _, end, tail = rest.partition('<!-- end -->')
        if not (found and end):
            fault(path, f'has no place for "{name}": expected {mark} ... <!-- end -->')
            continue
        page = f'{head}{mark}\n\n{text}\n\n<!-- end -->{tail}'
    for name in re.findall(r'<!-- (\w+): made by', page):
        if name not in tables:
            fault(path, f'nothing makes "{name}"')
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


def picture(path, code):
    found = re.search(r'^picture (\w+)$', path.read_text(), re.M)
    kind = found.group(1) if found else 'life'
    if kind not in KINDS:
        sys.exit(f'{path.relative_to(ROOT)}: there is no picture of the kind {kind}: expected one of {", ".join(KINDS)}')
    return KINDS[kind](path, code)


def main(words):
    if words not in ([], ['--check']):
        sys.exit('usage: doc/pictures.py [--check]')
    code, floors = Code(), Floors()
    pictures = [picture(p, code) for p in sorted(PICTURES.glob('*.txt')) if p.stem not in NO_PICTURES]
    tables = {'floors': floors.rows(), 'locks': locks(code), 'parts': parts(code), 'pointers': Pointers(PICTURES / 'pointers.txt', code).table(),
              **{p.name: p.table() for p in pictures if isinstance(p, Life)}}
    for name in set(tables) - {n for names in TABLES.values() for n in names}:
        fault('doc/pictures.py', f'TABLES has no page for {name}')
    made = {path: fill(path, (ROOT / path).read_text(), {n: tables[n] for n in names if n in tables}) for path, names in TABLES.items()}
    made['doc/pictures/floors.svg'] = floors.draw()
    made.update({f'doc/pictures/{p.name}.svg': p.draw() for p in pictures})
    for path in READERS:
        check_page(code, path, made.get(path) or (ROOT / path).read_text())
    shown = set(re.findall(r'\(pictures/(\w+\.svg)\)', ''.join(p.read_text() for p in sorted((ROOT / 'doc').glob('*.md')))))
    for path in made:
        if path.endswith('.svg') and path.rpartition('/')[2] not in shown:
            fault(path, 'no page of doc shows this picture')
    for path in sorted(PICTURES.glob('*.svg')):
        if str(path.relative_to(ROOT)) not in made:
            fault(path.relative_to(ROOT), 'nothing makes this picture')
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
    sys.exit(main(sys.argv[1:]))
