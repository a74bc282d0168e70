# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Checks doc/mpi_chapter.md, the table of the MPI chapter's names and promises and of
# their tests, against the tree. Usage:
#     mpi_chapter.py SOURCE-DIRECTORY [FILE=REPLACEMENT]...
# reads REPLACEMENT in place of FILE, so that mpi_chapter.sh can show that each check
# finds something. Each fault is one line on standard output; exit status 1 if there is any.
#
# mpi_chapter.names lists what the chapter's editions name: kind, name, editions. A row
# of the document has a name or a promise, its tests, and a remark. A row whose tests do
# not run in both worlds has a remark that begins with "Real only:", "Simulated only:" or
# "Tool:" (which runs in none); one without tests "Not here:", and then doc/limits.md or doc/environment.md says so, too.
#
# Invariant: nothing is taken on trust: names are looked up where they are declared, and
# tests are read for the names that they are said to use.
import os
import re
import sys

TABLE = "doc/mpi_chapter.md"
NAMES = "tests/tools/mpi_chapter.names"
ENVIRONMENT = "doc/environment.md"
LIMITS = "doc/limits.md"
HEADERS = ("starpu_mpi.h", "starpu_mpi_ft.h", "starpu_mpi_lb.h")
BOTH = {"real", "simulated"}
FOLDERS = {"mpi": BOTH, "bad": BOTH, "core": BOTH, "data": BOTH, "sim": {"simulated"}, "real": {"real"}, "unit": {"real"}}
MARKS = {"Real only:": {"real"}, "Simulated only:": {"simulated"}, "Tool:": set(), "Not here:": set()}

faults = []


def fault(path, line, text):
    faults.append("%s:%d: %s" % (path, line, text))


class Tree:
    def __init__(self, root, instead):
        self.root, self.instead = root, instead

    def path(self, name):
        return self.instead.get(name, os.path.join(self.root, name))

    def text(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def exists(self, name):
        return os.path.isfile(self.path(name))

    def with_includes(self, name):
        """A test's text and that of the tests' headers that it includes."""
        text = self.text(name)
        for header in re.findall(r'#include "([^"]+)"', text):
            for folder in (os.path.dirname(name), "tests", "examples"):
                other = os.path.normpath(os.path.join(folder, header))
                if self.exists(other):
                    text += self.text(other)
        return text


def worlds(tree, test):
    """The worlds in which `make check` runs a test."""
    text = tree.text(test)
    if test.endswith(".sh"):
        text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
        real = re.search(r'\$ORRERY"? run|\breal\b', text)
        sim = re.search(r'\$ORRERY"? sim|orrery sim|\bsim\b', text)
        return {world for world, found in (("real", real), ("simulated", sim)) if found}
    if test.startswith("examples/"):
        name = test.split("/")[1]
        runs = "".join(tree.text("tests/tools/" + script) for script in ("examples.sh", "examples_mpi.sh", "fortran.sh"))
        return BOTH if re.search(r"\b%s\b" % name, runs) else set()
    only = re.search(r"orr-test: world (real|sim)", text)
    if only:
        return {"real" if only.group(1) == "real" else "simulated"}
    return FOLDERS.get(test.split("/")[1], set())


class Row:
    """One line of a table: the names or the promise, the tests, the remark."""

    def __init__(self, number, section, cells):
        self.number, self.section = number, section
        self.subject, tests, self.remark = cells
        self.names = re.findall(r"`([^`]+)`", self.subject)
        self.tests = re.findall(r"`([^`]+)`", tests)


def rows(tree):
    section = ""
    for number, line in enumerate(tree.text(TABLE).splitlines(), 1):
        if line.startswith("## "):
            section = line[3:]
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 3 and not cells[0].startswith("---") and cells[1] != "tests":
            yield Row(number, section, cells)


def chapter_names(tree):
    """(kind, name) of the chapter; sections are kind 'section'."""
    for line in tree.text(NAMES).splitlines():
        words = line.split()
        if words and not line.startswith("#"):
            yield words[0], words[1]


def exists(tree, kind, name):
    """Whether the tree has the name where names of that kind are."""
    if kind == "variable":
        return "`%s`" % name in tree.text(ENVIRONMENT)
    if kind == "option":
        option = re.sub(r"^--(enable|with|disable|without)-", "", name)
        return any(re.search(r"AC_ARG_(ENABLE|WITH)\(\[%s\]" % option, tree.text("m4/" + file))
                   for file in os.listdir(os.path.join(tree.root, "m4")) if file.startswith("orr_"))
    if kind == "file":
        return True
    headers = [file for file in os.listdir(os.path.join(tree.root, "include")) if file.endswith(".h")]
    return any(re.search(r"\b%s\b" % name, tree.text("include/" + file)) for file in headers)


def check_tests(tree, row):
    """The tests are there, use the names, and run in both worlds or say why not."""
    ran = set()
    for test in row.tests:
        if not tree.exists(test):
            fault(TABLE, row.number, "there is no test %s" % test)
            continue
        ran |= worlds(tree, test)
        text = tree.with_includes(test)
        for name in row.names if row.section != "Promises" else ():
            if not re.search(r"(?<![\w-])%s(?![\w-])" % re.escape(name), text):
                fault(TABLE, row.number, "%s does not use %s" % (test, name))
    said = [world for mark, world in MARKS.items() if row.remark.startswith(mark)]
    if ran != (said[0] if said else BOTH):
        fault(TABLE, row.number, "%s: its tests run in: %s" % (row.subject, ", ".join(sorted(ran)) or "no world"))


def check_names(tree, table):
    """Names that the chapter has, and those of the public headers of MPI, are in a table."""
    listed = {name: row for row in table if row.section != "Promises" for name in row.names}
    documented = tree.text(LIMITS) + tree.text(ENVIRONMENT)
    for kind, name in chapter_names(tree):
        if kind == "section":
            if not any(row.subject.startswith(name + " ") for row in table):
                fault(TABLE, 1, "nothing is said about section %s" % name)
            continue
        if name not in listed:
            fault(TABLE, 1, "%s is named by the chapter and missing here" % name)
        elif listed[name].remark.startswith("Not here:"):
            if name not in documented:
                fault(TABLE, listed[name].number, "%s is not here, but %s does not say so" % (name, LIMITS))
        elif not exists(tree, kind, name):
            fault(TABLE, listed[name].number, "the tree has no %s %s" % (kind, name))
    for header in HEADERS:
        text = re.sub(r"/\*.*?\*/", "", tree.text("include/" + header), flags=re.S)
        for name in sorted(set(re.findall(r"\b((?:starpu|orrery)_mpi_\w+|STARPU_MPI_(?!(?:FT_|LB_)?H\b)\w+)\b(?!\.h)", text))):
            if name not in listed:
                fault(TABLE, 1, "%s is declared in %s and missing here" % (name, header))


def main(root, replacements):
    tree = Tree(root, dict(word.split("=", 1) for word in replacements))
    table = list(rows(tree))
    for row in table:
        check_tests(tree, row)
    check_names(tree, table)
    for line in faults:
        print(line)
    return 1 if faults else 0


sys.exit(main(sys.argv[1], sys.argv[2:]))
