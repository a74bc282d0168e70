# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The options of `orrery sim`, read from the table that the launcher is compiled
# with (sim/launcher/options.def, which also says what its fields mean), and the
# checks of their values.
# Invariant: a value is refused here with the words that the launcher would use.
import math
import os
import re
import sys

from orrery_cli import UserError

TABLE = os.path.join("sim", "launcher", "options.def")  # in the source tree and where data are installed
INDENT, WIDTH = 23, 80


class Option:
    """One OPTION of the table; names: its name, then its aliases."""

    def __init__(self, group, ident, name, handler, kind, least, most, value, what, text):
        self.group, self.ident, self.name, self.names = group, ident, name, [name]
        self.handler, self.kind, self.least, self.most = handler, kind, least, most
        self.value, self.what, self.help = value, what, text

    def takes_next_word(self):
        return self.kind not in ("FLAG", "FACTOR")

    def synopsis(self):
        """Its names with their value, as in "-n N, -np N"."""
        if self.kind == "FACTOR":
            return "%s[=%s]" % (self.name, self.value)
        return ", ".join("%s %s" % (name, self.value) if self.value else name for name in self.names)

    def expected(self):
        """What a value must be, for messages."""
        if self.kind == "WHOLE":
            return "%s between %d and %d" % (self.what, self.least, self.most)
        if self.kind not in ("NUMBER", "FACTOR"):
            return self.what
        if math.isinf(self.most):
            return "%s, %g or more" % (self.what, self.least)
        return "%s between %g and %g" % (self.what, self.least, self.most)

    def accepts(self, text):
        if self.kind == "WHOLE":
            return bool(re.fullmatch("[0-9]{1,18}", text)) and self.least <= int(text) <= self.most
        if self.kind in ("NUMBER", "FACTOR"):
            return is_number(text) and self.least <= float(text) <= self.most
        if self.kind == "CHOICE":
            return text in self.value.split("|")
        return True

    def check(self, text):
        if not self.accepts(text):
            raise UserError("%s %s: expected %s" % (self.name, text, self.expected()))
        if self.kind == "OUTPUT":
            check_output(self.name, text)


def is_number(text):
    return bool(re.fullmatch(r"[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?", text)) and math.isfinite(float(text))


def check_output(name, path):
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise UserError("%s %s: the directory %s does not exist; create it first" % (name, path, folder))
    if os.path.isdir(path):
        raise UserError("%s %s is a directory; give the name of a file in it" % (name, path))
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise UserError("%s %s: no permission to write there; choose another place" % (name, path))
    if not os.path.lexists(path):
        try:  # only that tells: in some folders, such as /proc, nobody can make a file
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
            os.unlink(path)
        except OSError as error:
            raise UserError("%s %s: no file can be made there (%s); choose another place" % (name, path, error.strerror))


def make_folder(name, path):
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise UserError("%s %s: this folder cannot be made (%s); choose another place" % (name, path, error.strerror))


def trace_limit(value):
    """The value of --trace-limit, if it is one."""
    if not re.fullmatch(r"[0-9]+[KMGTkmgt]?", value):
        raise UserError("--trace-limit %s is not a size; give bytes, or a number with K, M, G or T behind it" % value)
    return value


# Options that choose the part of a run that is recorded: (variable, what is right, in words).
SECONDS = r"(?:[0-9]+[.]?[0-9]*|[.][0-9]+)"
KINDS = ("tasks", "kernels", "callbacks", "messages", "lists", "copies", "progression", "waits", "changes", "memory", "marks", "links", "data")
PARTS = {"--trace-ranks": ("ORRERY_TRACE_RANKS", r"[0-9]+(?:-[0-9]+)?(?:,[0-9]+(?:-[0-9]+)?)*", "give ranks and ranges of them, as 0-3,17"),
         "--trace-window": ("ORRERY_TRACE_WINDOW", r"(?!\.\.$)(?:%s)?\.\.(?:%s)?" % (SECONDS, SECONDS),
                            "give FROM..TO in seconds since the start, as 1.5..2, 10.. or ..3"),
         "--trace-kinds": ("ORRERY_TRACE_KINDS", r"(?:%s)(?:,(?:%s))*" % ("|".join(KINDS), "|".join(KINDS)),
                           "give names with commas between them: " + ", ".join(KINDS))}


def is_backward(name, value):
    """Whether a range of ranks, or a window of time, ends before it begins."""
    if name == "--trace-window":
        first, last = value.split("..")
        return bool(first and last) and float(first) >= float(last)
    return any(int(first) > int(last) for first, last in (pair.split("-") for pair in value.split(",") if "-" in pair))


def take_trace_part(name, value):
    """Sets the variable of an option of PARTS, if its value is one."""
    variable, right, words = PARTS[name]
    if not re.fullmatch(right, value):
        raise UserError("%s %s: %s" % (name, value, words))
    if is_backward(name, value):
        raise UserError("%s %s: the end of a range is not after its begin" % (name, value))
    os.environ[variable] = value


def check_trace_options(ranks=None):
    """What is said about a trace needs one. ranks: how many ranks the run has, where that is known and does not change."""
    there = os.environ.get("ORRERY_TRACE") or os.environ.get("STARPU_FXT_TRACE") not in (None, "", "0")
    for name, variable in [("--trace-limit", "ORRERY_TRACE_LIMIT")] + [(name, part[0]) for name, part in PARTS.items()]:
        if os.environ.get(variable) and not there:
            raise UserError("%s is about a trace, and there is none; add --trace FILE" % name)
    chosen = re.findall(r"[0-9]+", re.sub(r"-[0-9]+", "", os.environ.get("ORRERY_TRACE_RANKS", "")))
    if ranks and chosen and min(map(int, chosen)) >= ranks:
        raise UserError("--trace-ranks %s: the run has the ranks 0 to %d; name some of these" % (os.environ["ORRERY_TRACE_RANKS"], ranks - 1))


def misplaced(names, arguments):
    """The first of a program's arguments that is one of our options by name, but for the number of its dashes; None without one."""
    ours = {name.lstrip("-") for name in names}
    return next((word for word in arguments if word.startswith("-") and word.partition("=")[0].lstrip("-") in ours), None)


def hint_of(command, names, arguments):
    """Behind a run that failed: says that an option may have gone to the program instead of us."""
    word = misplaced(names, arguments)
    if word:
        sys.stderr.write("orrery %s: %s stands behind PROGRAM, so the program got it; options of `orrery %s' come before PROGRAM\n" % (command, word, command))


def field(node):
    """A field of a table's entry: a number or string, or a name as a string."""
    import ast  # `orrery run`, which reads no table, starts sooner without
    if isinstance(node, ast.Name):
        return math.inf if node.id == "INFINITY" else node.id
    return ast.literal_eval(node)


def read(path):
    """The options of the table, in its order. Lines that begin with # are comments for us."""
    import ast
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.DOTALL)
    options, group = [], None
    for statement in ast.parse(text, path).body:
        entry, fields = statement.value.func.id, [field(node) for node in statement.value.args]
        if entry == "GROUP":
            group = fields[0]
        elif entry == "ALIAS":
            next(option for option in options if option.ident == fields[1]).names.append(fields[0])
        else:
            options.append(Option(group, *fields))
    return options


def groups(options):
    """Pairs of a title and its options, in the order of the table."""
    titles = dict.fromkeys(option.group for option in options)
    return [(title, [option for option in options if option.group == title]) for title in titles]


def broken(head):
    """The same in lines that are not too long: choices may be many."""
    lines, first = [""], head.find(" ", 2) + 1
    for part in re.findall(r"[^|]*(?:\||$)", head):
        if len(lines[-1] + part) > WIDTH:
            lines.append(" " * first)
        lines[-1] += part
    return "\n".join(lines)


def usage(options):
    """The options as a list for --help."""
    import textwrap
    lines = []
    for title, members in groups(options):
        lines += ["", title + ":"]
        for option in members:
            text = textwrap.wrap(option.help, WIDTH - INDENT, break_long_words=False, break_on_hyphens=False)
            head = broken("  " + option.synopsis())
            if len(head) < INDENT - 1:
                head += " " * (INDENT - len(head)) + text.pop(0)
            lines += [head] + [" " * INDENT + line for line in text]
    return "\n".join(lines[1:]) + "\n"
