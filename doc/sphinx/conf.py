# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Sphinx's configuration: the plain files of doc/ become linked pages with a
# search and a general index (`make html`).
#
# The files stay readable without Sphinx, so nothing in them is written for it.
# This file adds what Sphinx wants: the table of contents (from the links of
# doc/README.md, in their order) and the entries of the index (from headings,
# bold terms, and names in typewriter).
# Invariant: a file of doc/ that doc/README.md does not link is a warning, and
# warnings are errors.
import re

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

project = "Orrery"
author = "the authors of Orrery"
copyright = author + ", LGPL-2.1-or-later"
extensions = ["myst_parser"]
root_doc = "README"
exclude_patterns = ["man", "html", "sphinx"]
myst_heading_anchors = 4
suppress_warnings = []
highlight_language = "text"
smartquotes = False  # two hyphens begin an option
templates_path = ["."]
html_theme = "sphinx_rtd_theme"
html_title = "Orrery manual"
html_copy_source = False
html_show_sphinx = False
html_use_index = True
html_split_index = False
html_additional_pages = {"index": "redirect.html"}
try:
    import sphinx_rtd_theme  # noqa: F401
except ImportError:
    html_theme = "alabaster"

# Names in typewriter that people look up: variables, options, functions, commands, files and costs of a machine.
NAMES = [
    (re.compile(r"(?:STARPU|ORRERY|ORR|OMPI)_[A-Z][A-Z0-9_]*(?:<i>_[A-Z]+)?"), "%s"),
    (re.compile(r"(--[a-z][-a-z]*)(?:[= ].*)?"), "%s"),
    (re.compile(r"((?:starpu|orrery)_[a-z0-9_]+)(?:\(.*\))?"), "%s"),
    (re.compile(r"(orrery [a-z]+)(?: .*)?"), "%s"),
    (re.compile(r"(\.(?:config|bandwidth|latency|affinity|costs|memory|power))"), "%s (file of a machine)"),
    (re.compile(r"([a-z]+_us)"), "%s (cost)"),
]
# What the names in the first column of a chapter's tables are.
TABLES = {"schedulers": "%s (scheduling policy)", "statistics": "%s (report of a simulation)"}
# Bold words and headings that begin like this are no terms.
NO_TERMS = {"a", "how", "i", "in", "more", "next", "one", "other", "ours", "single", "some", "what", "where"}
PROPER = {"Fortran", "Linux", "Slurm"}


def index_name(text):
    """What the index calls a name in typewriter; None: it is not in the index."""
    for pattern, form in NAMES:
        match = pattern.fullmatch(text)
        if match:
            return form % (match.group(1) if match.groups() else text)
    return None


def index_term(text):
    """What the index calls a bold term or a heading; None: it is not in the index."""
    words = re.sub(r"^[Tt]he ", "", text.rstrip(".:,?")).split()
    if not 0 < len(words) <= 4 or text.endswith("?") or words[0].lower() in NO_TERMS or not words[0][0].isalpha():
        return None
    if words[0] not in PROPER and words[0][1:] == words[0][1:].lower():
        words[0] = words[0].lower()
    return " ".join(words)


def entry(name, target, main=False):
    return addnodes.index(entries=[("single", name.replace(";", ","), target, "main" if main else "", None)])


class IndexNames(SphinxTransform):
    """Enters names in typewriter and bold terms, once per section, and headings."""
    default_priority = 500

    def apply(self, **_kwargs):
        self.count = 0
        seen = set()
        for section in self.document.findall(nodes.section):
            title = section[0]
            term = index_term(title.astext())
            if term and section["ids"]:
                section.insert(1, entry(term, section["ids"][0], True))  # Sphinx takes the first child for the title
                seen.add((section["ids"][0], term))
        for node in list(self.document.findall(lambda n: isinstance(n, (nodes.literal, nodes.strong)))):
            section = self.around(node, nodes.section)
            name = self.name_of(node)
            if section is None or not name or isinstance(node.parent, nodes.title) or (section["ids"][0], name) in seen:
                continue
            seen.add((section["ids"][0], name))
            self.mark(node, name)

    @staticmethod
    def around(node, kind):
        while node is not None and not isinstance(node, kind):
            node = node.parent
        return node

    def in_first_column(self, node):
        cell = self.around(node, nodes.entry)
        return cell is not None and cell.parent.index(cell) == 0

    def name_of(self, node):
        text = node.astext()
        if isinstance(node, nodes.strong):
            return None if self.around(node, nodes.entry) else index_term(text)
        form = TABLES.get(self.document.settings.env.docname)
        return index_name(text) or (form % text if form and self.in_first_column(node) else None)

    def mark(self, node, name):
        self.count += 1
        target = "index-%d" % self.count
        # The first column of a table explains the name: that is its main entry.
        node.parent.insert(node.parent.index(node), [entry(name, target, self.in_first_column(node)), nodes.target("", "", ids=[target])])


def contents(text):
    """Sphinx's table of contents, from the links of the index file."""
    chapters = dict.fromkeys(re.findall(r"\]\(([-\w]+)\.md\)", text))
    return "\n\n```{toctree}\n:hidden:\n:maxdepth: 2\n\n" + "\n".join(chapters) + "\n```\n"


def prepare(_app, name, source):
    text = source[0]
    # Files outside of the manual are named, not linked: the pages may be far from the sources.
    text = re.sub(r"\[([^]]*)\]\(\.\./[^)]*\)", r"\1", text)
    if name == root_doc:
        text += contents(text)
    source[0] = text


def setup(app):
    app.connect("source-read", prepare)
    app.add_transform(IndexNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
