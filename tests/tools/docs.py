# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Checks the documents against the tree: links, anchors and paths, environment
# variables, names of functions. Usage:
#     docs.py SOURCE-DIRECTORY [FILE=REPLACEMENT]...
# reads REPLACEMENT in place of FILE, so that docs.sh can show that each check finds
# something. Each fault is one line on standard output; exit status 1 if there is any.
# Invariant: the sources decide; nothing here repeats a list of variables.
import functools
import glob
import os
import re
import sys

VARIABLE = r"(?:STARPU|ORRERY|ORR)_[A-Z0-9_]+"
# Strings of the sources that look like variables and are none.
NO_VARIABLES = {"STARPU_VALUE", "STARPU_MPI_FAKE"}
# Read by computed name; the document writes <i> for the number.
COMPUTED = "STARPU_LIMIT_%s_%d_MEM"
ENVIRONMENT = "doc/environment.md"
NO_EFFECT = "Variables without effect"
LIMITS = "doc/limits.md"
INTERFACE = "doc/interface.md"
FOLDERS = "(?:doc|examples|fuzz|include|m4|platforms|sim|src|tests|tools)"

faults = []


def fault(path, line, text):
    faults.append("%s:%d: %s" % (path, line, text))


class Tree:
    def __init__(self, root, instead):
        self.root, self.instead, self.texts = root, instead, {}

    def text(self, path):
        if path not in self.texts:
            with open(self.instead.get(path, os.path.join(self.root, path)), encoding="utf-8") as file:
                self.texts[path] = file.read()
        return self.texts[path]

    def exists(self, path):
        return os.path.exists(os.path.join(self.root, path))

    def find(self, pattern):
        return sorted(os.path.relpath(p, self.root) for p in glob.glob(os.path.join(self.root, pattern), recursive=True)
                      if os.path.isfile(p) and "__pycache__" not in p)


def prose(text):
    """(number, line) of what is no block of code; inline code stays."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("    "):
            yield number, line


def slug(heading):
    """The anchor of a heading, as GitHub and MyST make it."""
    return re.sub(r"[^\w\- ]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower()).replace(" ", "-")


@functools.lru_cache(maxsize=None)
def anchors(text):
    found, names = {}, set()
    for _number, line in prose(text):
        match = re.match(r"#+\s+(.*)", line)
        if match:
            base = slug(match.group(1))
            found[base] = found.get(base, -1) + 1
            names.add(base if not found[base] else "%s-%d" % (base, found[base]))
    return names


def check_links(tree, path):
    for number, line in prose(tree.text(path)):
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", line)):
            if re.match(r"[a-z]+:", target):
                continue
            file, _, anchor = target.partition("#")
            file = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
            if not tree.exists(file):
                fault(path, number, "the link to %s leads nowhere" % target)
            elif anchor and anchor not in set(anchors(tree.text(file))):
                fault(path, number, "%s has no heading for #%s" % (file, anchor))


def check_paths(tree, path):
    for number, line in prose(tree.text(path)):
        for name in re.findall(r"`(%s/[-\w./]+)`" % FOLDERS, line):
            made = name.startswith("doc/html") or re.search(r"(?!README)\b[A-Z]{2,}", name)
            plain = re.sub(r"\.sim$", ".c", name)
            if not made and not tree.exists(plain.rstrip("/")):
                fault(path, number, "there is no %s in the tree" % name)


def section(text, heading):
    """(before, inside) the section of level 2 with that heading."""
    before, _, after = text.partition("\n## %s\n" % heading)
    return before, after.partition("\n## ")[0]


def first_cells(text):
    for line in text.splitlines():
        if line.startswith("|"):
            yield line.split("|")[1]


def check_variables(tree):
    read = set()
    for path in tree.find("src/**/*.[ch]") + tree.find("sim/**/*.[ch]*") + tree.find("tools/**/*.*"):
        if path != "src/base/variables.c":  # names only
            read.update(re.findall(r"[\"'](%s)[\"']" % VARIABLE, tree.text(path)))
    read -= NO_VARIABLES
    effect, none = section(tree.text(ENVIRONMENT), NO_EFFECT)
    listed = set(re.findall(r"`(%s)`" % VARIABLE, " ".join(first_cells(effect))))
    unread = set(re.findall(r"`(%s)`" % VARIABLE, " ".join(first_cells(none))))
    computed = re.findall(r"`(\w+_<i>_\w+)`", " ".join(first_cells(effect)))
    sources = "".join(tree.text(p) for p in tree.find("src/**/*.c"))
    for name in sorted(read - listed):
        fault(ENVIRONMENT, 1, "%s is read by the sources and missing here" % name)
    for name in sorted(listed - read):
        fault(ENVIRONMENT, 1, "%s is listed and read nowhere" % name)
    known = set(re.findall(r"\"(%s)\"" % VARIABLE, tree.text("src/base/variables.c") + tree.text("src/base/config.c")))
    for name in sorted(name for name in (listed | unread) - known if not name.startswith("ORR_")):
        fault(ENVIRONMENT, 1, "%s is listed, and programs would say that it is not known (src/base/variables.c)" % name)
    for name in sorted(unread & read):
        fault(ENVIRONMENT, 1, "%s is listed without effect, but it is read" % name)
    if computed and '"%s"' % COMPUTED not in sources:
        fault(ENVIRONMENT, 1, "%s: no source makes such a name (%s)" % (computed[0], COMPUTED))
    if not (listed and unread and computed):
        fault(ENVIRONMENT, 1, "its tables were not found; this script reads their first columns")
    return listed | unread


def check_settings(tree, path, known):
    for number, line in enumerate(tree.text(path).splitlines(), 1):
        for name in re.findall(r"\b(%s)=" % VARIABLE, line):
            if name not in known:
                fault(path, number, "%s is set here, but %s does not have it" % (name, ENVIRONMENT))


def check_functions(tree, paths):
    headers = "".join(tree.text(p) for p in tree.find("include/*.h") + tree.find("include/schedulers/*.h"))
    declared = set(re.findall(r"\b((?:starpu|orrery)_\w+)", headers))
    for path in paths:
        if path in (LIMITS, INTERFACE):
            continue
        for number, line in prose(tree.text(path)):
            for name in re.findall(r"`((?:starpu|orrery)_\w+)\(", line):
                if name not in declared:
                    fault(path, number, "no header declares %s()" % name)


def commands(text):
    """(number, words) of the commands of `orrery` in blocks of code and between backquotes."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
            continue
        code = [line.partition(" #")[0]] if fenced or line.startswith("    ") else re.findall(r"`([^`]+)`", line)
        for part in code:
            match = re.search(r"(?:^|[\s$/(])orrery ([a-z].*)", part.strip())
            if match and not re.match(r"\w+[:,]|[\w./]+\.sim\b", match.group(1)):
                yield number, re.sub(r"[)\"']+$", "", match.group(1)).split()


def check_commands(tree, path):
    """Each subcommand exists and knows the options that stand before the program."""
    known = dict(re.findall(r'^    "([a-z]+)": "(.*)"', tree.text("tools/orrery_cli.py"), re.M))
    table = tree.text("sim/launcher/options.def")
    for number, (name, *words) in commands(tree.text(path)):
        if name not in known and name != "help":
            fault(path, number, "there is no subcommand orrery %s" % name)
            continue
        if name in ("help", "fc"):
            name = "cc"
        text = tree.text("tools/orrery_%s.py" % name) + (table if name == "sim" else tree.text("tools/orrery_launchers.py") if name == "run" else "")
        for word in words:
            if re.search(r"\.sim$|^\./|^app$|^PROGRAM|\.f90$", word) or word in ("--", "|", "&&", ";"):
                break
            option = re.match(r"--[a-z][-a-z0-9]*", word)
            if option and '"%s"' % option.group(0) not in text and option.group(0) + " " not in text and option.group(0) + "=" not in text \
                    and option.group(0) + "[" not in text and option.group(0) + "]" not in text:
                fault(path, number, "orrery %s has no option %s" % (name, option.group(0)))


def check_headers(tree):
    """from-starpu.md says which headers starpu.h does not include, and which do not exist."""
    path = "doc/from-starpu.md"
    text = tree.text(path).replace("\n", " ")
    match = re.search(r"includes all other headers except (.*?)\. These headers do not exist: (.*?);", text)
    if not match:
        fault(path, 1, "the sentences about headers were not found; this script reads them")
        return
    others, missing = (set(re.findall(r"`([\w/]+\.h)`", part)) for part in match.groups())
    there = {os.path.relpath(p, "include") for p in tree.find("include/*.h") + tree.find("include/schedulers/*.h")}
    included, todo = set(), ["starpu.h"]
    while todo:
        name = todo.pop()
        if name not in included:
            included.add(name)
            todo += [n for n in re.findall(r'#include [<"]([\w/]+\.h)[>"]', tree.text("include/" + name)) if n in there]
    for name in sorted(there - included - others):
        fault(path, 1, "%s is not included by starpu.h, and not named" % name)
    for name in sorted(others & included):
        fault(path, 1, "%s is included by starpu.h" % name)
    for name in sorted((others - there) | (missing & there)):
        fault(path, 1, "%s: %s" % (name, "it exists" if name in there else "there is no such header"))


def check_program(tree):
    """The first program stands in two places, and docs.sh compiles one of them."""
    blocks = [re.findall(r"^```c\n(.*?)^```", tree.text(path), re.S | re.M) for path in ("README.md", "doc/getting-started.md")]
    if len(blocks[0]) != 1 or blocks[0] != blocks[1]:
        fault("README.md", 1, "its C program is not the one of doc/getting-started.md")


def check_rooms(tree):
    """Each room of the core and of the message layer has a page, and what the page names stands in the room."""
    rooms = sorted({os.path.dirname(p) for p in tree.find("src/core/*/*.c") + tree.find("src/mpi/*/*.c")})
    for room in rooms:
        path = room + "/README.md"
        if not tree.exists(path):
            fault(path, 1, "the room has no page that says what its invariants are")
            continue
        check_paths(tree, path)
        words = set(re.findall(r"\w+", "".join(tree.text(p) for p in tree.find(room + "/*.[ch]"))))
        for number, line in prose(tree.text(path)):
            for name in re.findall(r"`(\w+)`", line):
                if name not in words:
                    fault(path, number, "there is no %s in the room" % name)
            for name in re.findall(r"`(\w+\.[ch])`", line):
                if not tree.exists(room + "/" + name):
                    fault(path, number, "there is no file %s in the room" % name)


def check_life(tree):
    """The table that debug builds check the life of a task by has the arrows of the picture."""
    path, table = "doc/pictures/task.txt", "src/core/task/task_life.c"
    picture, state, states = tree.text(path), None, {}
    for line in picture.splitlines():
        match = re.match(r"state (\w+)|\tis (ORR_TASK_\w+)", line)
        if match and match.group(1):
            state = match.group(1)
        elif match:
            states[state] = match.group(2)
    # Two states of the picture are one to the core: `parked` is a way of being blocked, two more of being ready.
    states.update(parked="ORR_TASK_BLOCKED", fetching="ORR_TASK_READY", starved="ORR_TASK_READY")
    drawn = {(states[a], states[b]) for a, b in re.findall(r"^arrow (\w+) (\w+)", picture, re.M)}
    drawn = {(a, b) for a, b in drawn if a != b}
    text = re.search(r"next_states\[\] = \{(.*?)\n\};", tree.text(table), re.S).group(1)
    rows = re.findall(r"\[(ORR_TASK_\w+)\] =((?:[\s|]*BIT\(ORR_TASK_\w+\))+)", text)
    known = {(a, b) for a, row in rows for b in re.findall(r"ORR_TASK_\w+", row)}
    # A task that begins anew is new for a moment; the comments of the table say when the others are taken.
    anew = {a for a, b in known if b == "ORR_TASK_NEW"}
    rare = {("ORR_TASK_READY", "ORR_TASK_AGAIN"), ("ORR_TASK_RUNNING", "ORR_TASK_AGAIN"),
            ("ORR_TASK_AGAIN", "ORR_TASK_AGAIN"), ("ORR_TASK_AGAIN", "ORR_TASK_DONE")}
    for a, b in sorted(drawn - known):
        if not (a in anew and b == "ORR_TASK_BLOCKED"):
            fault(path, 1, "%s to %s is drawn, and %s does not allow it" % (a, b, table))
    for a, b in sorted(known - drawn - rare):
        if b != "ORR_TASK_NEW":
            fault(table, 1, "%s to %s is allowed, and %s does not draw it" % (a, b, path))
    if len(drawn) < 8:
        fault(path, 1, "its arrows were not found; this script reads them")


def main(root, replacements):
    tree = Tree(root, dict(word.split("=", 1) for word in replacements))
    chapters = tree.find("doc/*.md")
    known = check_variables(tree)
    for path in chapters + ["README.md", "CONTRIBUTING.md", "examples/README.md", "tests/README.md"]:
        check_links(tree, path)
    for path in chapters + ["README.md", "CONTRIBUTING.md"]:
        check_paths(tree, path)
        check_settings(tree, path, known)
    for path in chapters + ["README.md", "examples/README.md"]:
        check_commands(tree, path)
    check_functions(tree, chapters + ["README.md"])
    check_program(tree)
    check_headers(tree)
    check_rooms(tree)
    check_life(tree)
    for line in faults:
        print(line)
    return 1 if faults else 0


sys.exit(main(sys.argv[1], sys.argv[2:]))
