# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Finds public functions whose body does nothing: empty, or one that only returns a
# constant. Usage: bodies.py SOURCE-DIRECTORY [FILE.c]...; with files, only those are
# read. Functions that rightly do nothing are in bodies.txt, each with the reason, and
# their header says it. Each fault is one line on standard output; exit status 1 if
# there is any.
#
# Invariant: each name of that list has a reason and is declared in a header.
import glob
import os
import re
import sys

DEFINITION = re.compile(r"^(?!static\b)[a-zA-Z_][^;{}()=#]*?\b(f?starpu_\w+|orrery_\w+)\(((?:[^;{}])*?)\)\s*(?:\n\{\n(.*?)^\}|\{\s*\})", re.S | re.M)
CONSTANT = r"(?:-?\d+u?|NULL|0\.0?|STARPU_\w+)"


def does_nothing(body):
    body = re.sub(r"/\*.*?\*/|//[^\n]*", "", body, flags=re.S)
    body = re.sub(r"\(void\)\s*\w+;", "", body)
    return bool(re.fullmatch(r"\s*(?:return(?:\s*\(?%s\)?)?;)?\s*" % CONSTANT, body))


def empty_functions(files):
    for path in files:
        with open(path, encoding="utf-8") as file:
            for match in DEFINITION.finditer(file.read()):
                if does_nothing(match.group(3) or ""):
                    yield match.group(1), path


def public_names(root):
    text = ""
    for path in glob.glob(os.path.join(root, "include", "**", "*.h"), recursive=True):
        with open(path, encoding="utf-8") as file:
            text += file.read()
    return set(re.findall(r"\b((?:starpu|orrery)_\w+)\s*\(", text))


def allowed(root):
    with open(os.path.join(root, "tests", "headers", "bodies.txt"), encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                name, _, reason = line.partition(":")
                yield name.strip(), reason.strip()


def main(root, files):
    every = files or [path for folder in ("src", "sim") for path in glob.glob(os.path.join(root, folder, "**", "*.c"), recursive=True)]
    public, reasons, faults = public_names(root), dict(allowed(root)), []
    found = {name: path for name, path in empty_functions(every) if name in public}
    for name in sorted(set(found) - set(reasons)):
        faults.append("%s: %s() does nothing; let it refuse until it works" % (os.path.relpath(found[name], root), name))
    for name in sorted(set(reasons) - public):
        faults.append("tests/headers/bodies.txt: no header declares %s()" % name)
    for name in sorted(n for n in reasons if not reasons[n]):
        faults.append("tests/headers/bodies.txt: %s has no reason" % name)
    for line in faults:
        print(line)
    return 1 if faults else 0


sys.exit(main(sys.argv[1], sys.argv[2:]))
