# SPDX-License-Identifier: LGPL-2.1-or-later
#
# No Python file of ours has the name of a module of Python's standard library: Python looks into the folder of a script
# first, so that the file would hide the module from all scripts beside it. (tests/tools/statistics.py once hid statistics.)
# orr-test: timeout 30
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
command -v "$PYTHON" > /dev/null || skip "needs Python"
cat > names.py << 'END'
import os
import sys

# Python 3.9 and before have no list of their own.
STANDARD = getattr(sys, "stdlib_module_names", ()) or set(sys.builtin_module_names) | {
    os.path.splitext(name)[0] for name in os.listdir(os.path.dirname(os.__file__)) if name != "site-packages"}


def hiding(top):
    """The files and packages below `top` that hide a module; what a build made there is not ours."""
    for folder, folders, files in os.walk(top):
        folders[:] = [n for n in folders if n == "build-aux" or not n.startswith((".", "build", "__pycache__"))]
        for name in files:
            if name.endswith(".py") and name[:-3] in STANDARD:
                yield os.path.join(folder, name)
        for name in folders:
            if name in STANDARD and os.path.exists(os.path.join(folder, name, "__init__.py")):
                yield os.path.join(folder, name)


found = list(hiding(sys.argv[1]))
for path in found:
    sys.stderr.write("%s hides the module %s of Python's standard library; give it another name\n" % (path, os.path.basename(path).split(".")[0]))
sys.exit(bool(found))
END
ok "$PYTHON" names.py "$ORR_TEST_SRCDIR"

# The test can fail.
mkdir -p tree/tools tree/json tree/build/tools
: > tree/tools/statistics.py
: > tree/json/__init__.py
: > tree/build/tools/random.py
fails 1 "hides the module" "$PYTHON" names.py tree
[ "$(grep -c " hides the module " err)" = 2 ] || die "found: $(cat err)"
has err 'tools/statistics.py hides the module statistics'
has err 'tree/json hides the module json'
exit 0
