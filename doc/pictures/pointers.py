# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The tables of functions, from doc/pictures/pointers.txt: who fills in a pointer to a
# function, who calls it, and with which locks.
#
# Invariant: each field of a structure in a header of src or sim that points to a
# function has a row, and each row such fields. A pointer inside a source file is its own affair.
import re

from picture import Picture, places
from sources import fault

POINTER = r'\(\s*\*\s*(?:const\s+)?(?P<pointer>\w+)\s*(?:\[[^]]*\])?\s*\)\s*\('
TOKEN = re.compile(r'(?P<open>(?:\b(?:struct|union|enum)\s+(?P<tag>\w+)\s*|\b(?:struct|union|enum)\s*|)\{)|(?P<close>\})|(?P<typedef>\btypedef\b)|' + POINTER
                   + r'|^\s*(?:const\s+)?(?P<type>\w+)\s+\**(?P<field>\w+)(?:\[\w*\])?;', re.M)


def types(code):
    """The names of types of pointers to functions."""
    return {name for path in code.paths for name in re.findall(r'\btypedef\b[^;{}()]*\(\s*\*\s*(\w+)\s*\)\s*\(', code.text(path))}


def fields(code, path, known):
    """(structure, field) of each pointer to a function in the structures of a file."""
    text, tags = code.text(path), []
    for name in re.findall(r'^extern\b[^;()]*\(\s*\*\s*(\w+)\s*\)\s*\(', text, re.M):
        yield '', name
    for m in TOKEN.finditer(text):
        if m.group('open'):
            tags.append(m.group('tag') or '')
        elif m.group('close'):
            tags = tags[:-1]
        elif m.group('typedef'):
            continue
        elif any(tags):
            line = text[max(text.rfind(c, 0, m.start()) for c in ';{}') + 1:m.start()]
            if m.group('pointer') and line.count('(') == line.count(')') and 'typedef' not in line:
                yield [t for t in tags if t][-1], m.group('pointer')
            elif m.group('type') in known:
                yield [t for t in tags if t][-1], m.group('field')


class Pointers(Picture):
    HEADS = {'group': (('text',), ()),
             'pointers': (('place',), ('text', 'set', 'call', 'lock'))}

    def __init__(self, path, code):
        super().__init__(path, code)
        rows, known, used, names = {}, types(code), set(), {}
        for p in self.items['pointers']:
            file, _, name = p['place'].partition(':')
            code.look_up(p['where'], file, name)
            rows[file, name] = p
        for header in code.paths:
            if not header.endswith('.h') or header.startswith('include/'):
                continue
            for tag, field in fields(code, header, known):
                row = next((r for r in ((header, f'{tag}.{field}'.lstrip('.')), (header, tag)) if r in rows), None)
                used.add(row)
                names.setdefault(row, set()).add(field)
                if row is None:
                    name = f'{tag}.{field}'.lstrip('.')
                    fault(header, f'{name} points to a function, and {self.path} does not say who sets and calls it')
        for row, p in rows.items():
            if row not in used:
                fault(p['where'], f'{p["place"]} is no pointer to a function, nor has it one that no other line names')
            for key in ('text', 'set', 'lock'):
                if not p[key]:
                    fault(p['where'], f'{p["place"]} has no "{key}"')

        for row, p in rows.items():
            self.check_files(p, row[1].partition('.')[0], names.get(row, set()))

    def check_files(self, p, tag, names):
        """The files that are named set or call such a pointer."""
        for key in ('set', 'call'):
            for file, _ in p[key]:
                text = self.code.text(file)
                if text and not re.search(rf'\b({"|".join(sorted(names | {tag}))})\b', text):
                    fault(p['where'], f'{file} has none of {", ".join(sorted(names | {tag}))}')

    def table(self):
        out = []
        for item in self.order:
            if item['head'] == 'group':
                out += ['', f'**{item["text"]}**', '', '| pointer | what it is for | filled in by | called by | locks and threads |', '|---|---|---|---|---|']
            else:
                out.append(f'| {places([item["place"].split(":")])} | {item["text"]} | {places(item["set"])} | {places(item["call"])} | {item["lock"]} |')
        return '\n'.join(out[1:])
