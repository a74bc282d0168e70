# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The options of subcommands that have a table in their module: from it come the
# list in the help text and the reading of a command line. (`orrery sim` shares its
# table with the launcher: orrery_options.py.)
# Invariant: an option exists once, in its table.
from orrery_cli import UserError


class Word:
    """An option: its names (the last one is the key of its value), what stands for its value ("" for a flag), and its
    help, lines separated by newlines."""

    def __init__(self, names, value, text, default=None):
        self.names = names.split(", ")
        self.key = self.names[-1]
        self.value, self.text, self.default = value, text, default


def usage(table, indent):
    """The options as a list for the help text."""
    lines = []
    for word in table:
        head = "  " + ", ".join(word.names) + (" " + word.value if word.value else "")
        text = word.text.split("\n")
        if len(head) < indent - 1:
            head += " " * (indent - len(head)) + text.pop(0)
        lines += [head] + [" " * indent + line for line in text]
    return "\n".join(lines)


def parse(table, arguments, command, others=False):
    """Pairs (values by key, True for flags; the other words, which are refused unless others is true)."""
    known = {name: word for word in table for name in word.names}
    values = {word.key: word.default for word in table if word.default is not None}
    rest, words = [], list(arguments)
    while words:
        given = words.pop(0)
        name, equals, value = given.partition("=")
        word = known.get(name)
        if others and not word and not given.startswith("-"):
            rest.append(given)
        elif not word or (equals and not word.value):
            raise UserError("unknown option %s; see `%s --help`" % (name, command))
        elif not word.value:
            values[word.key] = True
        elif not equals and not words:
            raise UserError("%s needs a value after it" % name)
        else:
            values[word.key] = value if equals else words.pop(0)
    return values, rest
