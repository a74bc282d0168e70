# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What the sources define, for doc/pictures.py, and the faults that it finds.
#
# Invariant: nothing here writes anything.
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PICTURES = ROOT / 'doc' / 'pictures'
ENDINGS = ('.c', '.cpp', '.h')

faults = []


def fault(where, text):
    faults.append(f'{where}: {text}')


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
        self.texts, self.words, self.found = {}, set(), {}

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
        for brace in re.compile('[{}]').finditer(code, m.end()):
            depth += 1 if brace.group() == '{' else -1
            if not depth:
                return code[m.end():brace.start()]
        return None

    def has(self, path, name):
        """Does the file define that function, macro, structure, or field STRUCTURE.FIELD?"""
        if (path, name) not in self.found:
            self.found[path, name] = self.defines(path, name)
        return self.found[path, name]

    def defines(self, path, name):
        if '.' in name:
            tag, field = name.split('.', 1)
            inside = self.body(path, rf'\bstruct {tag}\b')
            return inside is not None and re.search(rf'\b{field}\b', inside) is not None
        return re.search(rf'^(?![#\s])[^;{{}}=]*?\b{name}\s*\([^;{{}}]*\)\s*\{{|^#\s*define {name}\b|^(struct|enum) {name}\s*\{{'
                         rf'|^extern\b[^;()]*\(\s*\*\s*{name}\s*\)\s*\('
                         rf'|^(?!extern)\w[\w\s*]*\b{name}(\[[^]]*\])? = |^\w[\w\s*]*\b{name}(\[[^]]*\])?;',
                         self.text(path), flags=re.M) is not None

    def look_up(self, where, path, name):
        if path not in self.paths and (name or not (ROOT / path).is_file()):
            fault(where, f'there is no {path}')
        elif name and not self.has(path, name):
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
