#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes doc/interface.md: which names of the interface there are.

    interface.py SOURCE LIST > SOURCE/doc/interface.md

LIST is what `gcc -aux-info` says about all public headers. The names that the
interface has are in tests/headers/interface.txt; functions that refuse are
those that call orr_refuse (src/base/refuse.h).

Invariant: the result depends on the headers and sources only.
"""
import os
import re
import sys


def declared(path):
    """Public functions, by header."""
    by_header = {}
    line = re.compile(r'/include/((?:schedulers/)?(?:starpu|orrery)\w*\.h):\d+:N\w? \*/ extern .*?\b(\w+) \(')
    for text in open(path):
        m = line.search(text)
        if m and re.match('f?starpu_|orrery_', m.group(2)):
            by_header.setdefault(m.group(1), set()).add(m.group(2))
    return by_header


def refused(source):
    names = set()
    for folder, _, files in os.walk(os.path.join(source, 'src')):
        for f in sorted(f for f in files if f.endswith('.c')):
            text = open(os.path.join(folder, f)).read()
            # Formatted definitions begin in column 0 and end with the next brace there.
            for name, body in re.findall(r'^[a-z][^;{}=]*?\b(starpu_\w+)\([^;{}]*\)\n{\n(.*?)^}', text, re.M | re.S):
                if re.search(r'\borr_refuse\(', body):
                    names.add(name)
    return names


def mentioned(source):
    """All identifiers in the public headers."""
    names = set()
    for folder, _, files in os.walk(os.path.join(source, 'include')):
        for f in files:
            if f.endswith(('.h', '.h.in')):
                text = re.sub(r'/\*.*?\*/', ' ', open(os.path.join(folder, f)).read(), flags=re.S)
                names |= set(re.findall(r'\b(?:starpu|STARPU)_\w+', text))
    return names


def wrap(names):
    """A paragraph of names in at most 120 columns."""
    out, line = [], ''
    for name in sorted(names):
        word = '`%s`,' % name
        if line and len(line) + 1 + len(word) > 120:
            out.append(line)
            line = ''
        line += (' ' if line else '') + word
    return '\n'.join(out + [line])[:-1] + '.'


def main():
    source, listing = sys.argv[1:3]
    by_header, no = declared(listing), refused(source)
    wanted = set(open(os.path.join(source, 'tests/headers/interface.txt')).read().split())
    missing = wanted - mentioned(source)
    functions = set().union(*by_header.values())
    print('''<!-- SPDX-License-Identifier: LGPL-2.1-or-later -->
<!-- Made by tests/headers/interface.sh, which says how; do not edit. -->
# The interface, name by name

This chapter is made from the public headers and the sources, and a test checks that it is up to date. The comments in
the headers say what each function does; [Limits](limits.md) says what has no effect.

| header | functions | of these, refuse |
|---|---|---|''')
    for header in sorted(by_header):
        names = by_header[header]
        print('| `%s` | %d | %s |' % (header, len(names), len(names & no) or ''))
    print('| all | %d | %d |' % (len(functions), len(functions & no)))
    print('''
## Functions that refuse

Each of these prints a message that says what to do instead, and returns an error if it returns a value:
''')
    print(wrap(functions & no))
    print('''
## Names that are not declared

A program that uses one of these names of the edition 1.4 does not compile. Macros among them that stand for options of
StarPU's own build (such as `STARPU_USE_FXT`) are not defined because the option is not there:
''')
    print(wrap(missing))


if __name__ == '__main__':
    main()
