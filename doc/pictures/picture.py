# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What the sources of all pictures have in common (doc/pictures.py has their forms):
# heads, properties, and places that are looked up in the code.
#
# Invariant: a place that the code does not have is a fault, a line that nobody
# understands ends the program.
import sys

NUMBERS = ('column', 'row', 'lane', 'shift', 'megabytes', 'start', 'mbps', 'latency', 'channels')


def places(v):
    return ', '.join(f'`{path}:{name}`' if name else f'`{path}`' for path, name in v)


class Picture:
    # Of each head: its words, of which the last one takes the rest of the line, and its properties.
    HEADS = {}

    def __init__(self, path, code):
        self.name, self.path, self.code = path.stem, str(path.relative_to(path.parent.parent.parent)), code
        self.title, self.folder, self.enums, last = '', '', [], None
        self.items = {head: [] for head in self.HEADS}
        self.order = []
        for number, line in enumerate(path.read_text().splitlines(), 1):
            words = line.split()
            if not words or line.startswith('#') or words[0] == 'picture':
                continue
            where = f'{self.path}:{number}'
            if line[0].isspace():
                if last is None:
                    sys.exit(f'{where}: a property of nothing')
                self.property(last, words[0], line.strip().partition(' ')[2], where)
            elif words[0] in ('title', 'folder'):
                setattr(self, words[0], line.partition(' ')[2])
            elif words[0] == 'enum' and len(words) == 3:
                self.enums.append((words[1], self.full(words[2]), where))
            elif words[0] in self.HEADS and len(words) > len(self.HEADS[words[0]][0]):
                last = self.item(words[0], line, where)
            else:
                sys.exit(f'{where}: expected title, folder, enum, '
                         + ', '.join(f'{h} {" ".join(v[0]).upper()}' for h, v in self.HEADS.items()))

    def item(self, head, line, where):
        names, properties = self.HEADS[head]
        words = line.split(None, len(names))[1:]
        made = {'head': head, 'where': where, **{k: [] if k in ('in', 'at', 'set', 'call') else 0 if k in NUMBERS else '' for k in properties}}
        made.update({k: int(w) if k in NUMBERS else w for k, w in zip(names, words)})
        made['own'] = properties
        self.items[head].append(made)
        self.order.append(made)
        return made

    def full(self, file):
        if '/' in file:
            return file
        found = [p for p in self.code.paths if p.startswith(self.folder + '/') and p.endswith('/' + file)]
        return found[0] if len(found) == 1 else f'{self.folder}/{file}'

    def property(self, last, key, rest, where):
        if key not in last['own']:
            sys.exit(f'{where}: "{key}" is no property here')
        if isinstance(last[key], list):
            for place in rest.split(', '):
                file, _, name = place.partition(':')
                self.code.look_up(where, self.full(file), name)
                last[key].append((self.full(file), name))
        elif key in NUMBERS:
            last[key] = int(rest)
        else:
            last[key] = f'{last[key]} {rest}'.strip()

    def short(self, place):
        path, name = place
        return f'{path.rpartition("/")[2] if self.folder and path.startswith(self.folder + "/") else path}:{name}'

    def place_lines(self, v, width):
        """(text, is it a name?) of each place, in two lines if it is long."""
        lines = []
        for place in v:
            s = self.short(place)
            if len(s) > width:
                file, name = s.split(':')
                lines += [(file + ':', True), (' ' + name, True)]
            else:
                lines.append((s, True))
        return lines
