#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares two lists of functions, argument by argument.

    positions.py DOCUMENTED OURS

Each is the output of `ctags -f - --fields=+S'. An argument that both have under
the same name stands in the same place, and both have as many arguments. In
Fortran, where callers may name arguments, the names are the same. Those that
one list lacks are not compared.

Invariant: prints a line for each difference; status 1 if there are any.
"""
import re
import sys


def split(text):
    """The arguments between commas that no bracket encloses."""
    out, depth, word = [], 0, ''
    for c in text:
        depth += (c in '([') - (c in ')]')
        if c == ',' and depth == 0:
            out.append(word)
            word = ''
        else:
            word += c
    return out + [word] if word.strip() and word.strip() != 'void' else out


def name(argument):
    """int (*f)(void *) is f, char *a[] is a, and a type alone has no name."""
    pointer = re.search(r'\(\s*\*+\s*(\w+)\s*\)\s*\(', argument)
    if pointer:
        return pointer.group(1)
    words = re.findall(r'\w+', re.sub(r'\[[^]]*\]', '', argument))
    alone = len([w for w in words if w not in ('const', 'struct', 'enum', 'unsigned')]) < 2
    if len(words) == 1 and '*' not in argument:
        alone = not words[0].islower()
    elif len(words) == 2 and words[0] == 'unsigned' and words[1] not in ('int', 'long', 'char'):
        alone = False
    return None if alone else words[-1].lower()


def listed(path):
    functions = {}
    for line in open(path):
        tag = line.split('\t', 1)[0]
        signature = re.search(r'\tsignature:\s*\((.*)\)', line)
        if signature and not line.startswith('!'):
            fortran = '.f90\t' in line
            arguments = split(signature.group(1))
            functions[tag.lower() if fortran else tag] = [
                a.strip().lower() if fortran else name(a) for a in arguments], fortran
    return functions


def differences(documented, ours, fortran):
    if len(documented) != len(ours):
        yield '%d arguments, not %d' % (len(ours), len(documented))
        return
    for i, d in enumerate(documented):
        if fortran and d != ours[i]:
            yield 'argument %d is %s, not %s' % (i + 1, ours[i], d)
        elif d and d != ours[i] and d in ours:
            yield 'argument %s is number %d, not %d' % (d, ours.index(d) + 1, i + 1)


def main():
    documented, ours = listed(sys.argv[1]), listed(sys.argv[2])
    both = sorted(documented.keys() & ours.keys())
    wrong = 0
    for f in both:
        for text in differences(documented[f][0], ours[f][0], documented[f][1]):
            print('%s: %s' % (f, text))
            wrong += 1
    print('%d functions compared' % len(both))
    return wrong > 0


if __name__ == '__main__':
    sys.exit(main())
