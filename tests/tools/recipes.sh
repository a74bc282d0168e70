#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The recipes for Spack, Guix and containers in packaging/ say what configure, quickstart and the tree know; and a
# recipe that does not is found.
# orr-test: debug none
# orr-test: sanitizer none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ -x "$ORR_TEST_SRCDIR/configure" ] || skip "there is no configure"
ok "$ORR_TEST_SRCDIR/configure" --help
mv out help
recipes() { "$PYTHON" -B "$ORR_TEST_SRCDIR/tests/tools/recipes.py" "$@"; }
ok recipes "$ORR_TEST_SRCDIR" help
has out 'spack: [0-9]+ combinations'
has out 'guix: 5 options, 4 tests'

# A copy in which something is wrong.
mkdir tree
cp -r "$ORR_TEST_SRCDIR/packaging" "$ORR_TEST_SRCDIR/quickstart" "$ORR_TEST_SRCDIR/configure.ac" tree
mkdir -p tree/tests/unit tree/tests/core
: | tee tree/autogen.sh tree/tests/unit/choice.c tree/tests/unit/perf_fit.c tree/tests/core/deps.c > tree/tests/core/insert.c
ok recipes tree help
# wrong FILE SED REGEX: what the change makes of that file is refused.
wrong() {
	cp "tree/$1" kept
	sed "$2" kept > "tree/$1"
	if cmp -s kept "tree/$1"; then die "nothing was changed in $1"; fi
	fails 1 "$3" recipes tree help
	cp kept "tree/$1"
}
wrong packaging/spack/packages/orrery/package.py 's/--disable-cuda/--disable-kuda/' 'spack gives configure --disable-kuda'
wrong packaging/spack/packages/orrery/package.py 's/enable_or_disable("opencl")/enable_or_disable("opencll")/' 'variant opencll'
wrong packaging/spack/packages/orrery/package.py 's/depends_on("simgrid.*/pass/' 'place of simgrid'
wrong packaging/guix/orrery.scm 's/--without-clblast/--without-clbast/' 'guix gives configure --without-clbast'
wrong packaging/guix/orrery.scm 's/(version "[^"]*")/(version "9")/' 'guix: version 9'
wrong packaging/guix/orrery.scm 's/^    (license .*/    (license license:lgpl2.1+))/' 'parenthes'
wrong packaging/Containerfile 's/libhwloc-dev/libhvloc-dev/' 'builds with libhvloc-dev'
exit 0
