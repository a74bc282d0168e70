# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads the recipes of packaging/ and holds them to configure: `recipes.py SOURCE HELP`, where HELP is
the output of `configure --help`. Prints what it has looked at; ends with an error that names the recipe
and the option.

Spack itself is not needed: a module with the names of its language records what the recipe says, and
answers for a spec with chosen variants.

Invariant: each combination of variants is tried, and each option that the recipe gives then is one that
configure knows; what is wrong is never only printed.
"""
import itertools
import os
import re
import runpy
import sys
import types


def fail(text):
    sys.exit("recipes: " + text)


def options_of(help_text):
    """Names after --enable- and --with-, as configure says them."""
    names = set()
    for kind, name in re.findall(r"--(?:(enable|with)|disable|without)-([a-z][a-z0-9-]*)", help_text):
        names.add(name)
    return names


def check_option(recipe, option, known):
    m = re.match(r"--(?:enable|disable|with|without)-([a-z][a-z0-9-]*)(?:=.*)?$", option)
    if not m:
        fail("%s gives configure '%s', which is no option of its kind" % (recipe, option))
    if m.group(1) not in known:
        fail("%s gives configure %s, which it does not know" % (recipe, option))


class Value:
    def __init__(self, value):
        self.value = value


class Dependency:
    def __init__(self, name):
        self.prefix = "/opt/" + name
        self.mpicc = self.prefix + "/bin/mpicc"
        self.mpifc = self.prefix + "/bin/mpifort"


class Spec:
    """A spec whose variants are chosen."""

    def __init__(self, recipe, chosen):
        self.variants = {name: Value(value) for name, value in chosen.items()}
        self.recipe = recipe

    def satisfies(self, text):
        return all(self.has(sign == "+", name) for sign, name in re.findall(r"([+~])([a-z]+)", text))

    def has(self, wanted, name):
        if name not in self.variants:
            fail("spack: the recipe asks for the variant %s, which it has not" % name)
        return bool(self.variants[name].value) == wanted

    def __getitem__(self, name):
        if not any(re.split("[@+~]", d[0])[0] == name and self.satisfies(d[1]) for d in self.recipe["depends"]) and not (
            name == "cuda" and self.satisfies("+cuda")
        ):
            fail("spack: the recipe takes the place of %s, on which it does not depend then" % name)
        return Dependency(name)


def spack(source, known):
    recipe = {"variants": {"cuda": False}, "depends": [], "conflicts": []}
    module = types.ModuleType("spack.package")

    class Base:
        def enable_or_disable(self, name):
            return [("--enable-" if self.spec.satisfies("+" + name) else "--disable-") + name]

        def with_or_without(self, name):
            return [("--with-" if self.spec.satisfies("+" + name) else "--without-") + name]

    def variant(name, default, description):
        recipe["variants"][name] = default

    def depends_on(what, when="", type=None):
        recipe["depends"].append((what, when))

    def conflicts(what, when="", msg=""):
        if not msg:
            fail("spack: the conflict %s gives no reason" % what)
        recipe["conflicts"].append((what, when))

    module.AutotoolsPackage = Base
    module.CudaPackage = type("CudaPackage", (), {})
    module.variant, module.depends_on, module.conflicts = variant, depends_on, conflicts
    module.license = module.version = lambda *a, **k: None
    module.Executable = lambda path: lambda: None if os.path.exists(os.path.join(source, path)) else fail("spack: no " + path)
    module.__all__ = [n for n in vars(module) if not n.startswith("_")]
    sys.modules["spack"] = types.ModuleType("spack")
    sys.modules["spack.package"] = module
    path = os.path.join(source, "packaging", "spack", "packages", "orrery", "package.py")
    package = runpy.run_path(path)["Orrery"]()
    refused = [c for c in recipe["conflicts"] if re.match(r"[+~]", c[0])]
    never = {what[1:]: what[0] == "~" for what, when in refused if not when}
    for name in never:
        if name not in recipe["variants"]:
            fail("spack: the recipe refuses the variant %s, which it has not" % name)
        if recipe["variants"][name] != never[name]:
            fail("spack: the recipe refuses the default of " + name)
    recipe["variants"].update(never)
    flags = sorted(n for n, d in recipe["variants"].items() if isinstance(d, bool) and n not in never)
    tried = options = 0
    for values in itertools.product((False, True), repeat=len(flags)):
        chosen = dict(recipe["variants"], **dict(zip(flags, values)))
        package.spec = Spec(recipe, chosen)
        if any(package.spec.satisfies(what) and package.spec.satisfies(when) for what, when in refused):
            continue
        for option in package.configure_args():
            check_option("spack", option, known)
            options += 1
        for what, when in recipe["depends"]:
            package.spec.satisfies(when)
        tried += 1
    package.autoreconf(None, None)
    if tried < 32:
        fail("spack: only %d combinations of variants are not refused" % tried)
    print("spack: %d combinations of variants, %d options" % (tried, options))


def parens(text):
    """The depth of a Scheme text at its end, without strings and comments."""
    text = re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)
    text = re.sub(r";[^\n]*", "", text)
    depth = 0
    for c in text:
        depth += (c in "([") - (c in ")]")
        if depth < 0:
            fail("guix: a parenthesis is closed that was not opened")
    return depth


def guix(source, known):
    text = open(os.path.join(source, "packaging", "guix", "orrery.scm"), encoding="utf-8").read()
    if parens(text):
        fail("guix: %d parentheses are not closed" % parens(text))
    options = re.findall(r'"(--[^"]*)"', text)
    if not options:
        fail("guix: no options for configure")
    for option in options:
        check_option("guix", option, known)
    version = re.search(r'\(version "([^"]*)"\)', text).group(1)
    ours = re.search(r"AC_INIT\(\[[^]]*\], *\[([^]]*)\]", open(os.path.join(source, "configure.ac"), encoding="utf-8").read())
    if version != ours.group(1):
        fail("guix: version %s, and configure.ac says %s" % (version, ours.group(1)))
    tests = re.findall(r'"(tests/[^"]*)"', text)
    for test in tests:
        if not os.path.exists(os.path.join(source, test.replace(".sim", "") + ".c")):
            fail("guix: there is no test " + test)
    print("guix: %d options, %d tests" % (len(options), len(tests)))


def container(source):
    """The first stage installs packages that quickstart installs, too."""
    text = open(os.path.join(source, "packaging", "Containerfile"), encoding="utf-8").read().replace("\\\n", " ")
    quickstart = open(os.path.join(source, "quickstart"), encoding="utf-8").read()
    lists = re.findall(r"^(?:check_|drawing_)?packages=\((.*?)\)", quickstart, re.S | re.M)
    ours = set(" ".join(lists).split())
    stages = re.findall(r"--no-install-recommends\s+([^&\n]*)", text)
    if len(stages) != 2 or len(ours) < 10:
        fail("the Containerfile has %d lists of packages, quickstart %d packages" % (len(stages), len(ours)))
    for package in stages[0].split():
        if package not in ours:
            fail("the Containerfile builds with %s, which quickstart does not install" % package)
    print("Containerfile: %d and %d packages" % (len(stages[0].split()), len(stages[1].split())))


def main(source, help_file):
    known = options_of(open(help_file, encoding="utf-8").read())
    if len(known) < 10:
        fail("configure --help names %d options" % len(known))
    spack(source, known)
    guix(source, known)
    container(source)


main(*sys.argv[1:])
