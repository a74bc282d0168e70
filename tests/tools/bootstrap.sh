#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# `autoreconf -fi` alone prepares a copy of the sources without anything that is
# generated, as packagers do, and finds the same files as the tree around us; a
# file that is dropped into a folder is compiled. Runs without a repository, too.
# orr-test: timeout 900
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"

for tool in autoreconf automake libtoolize; do
	command -v $tool > /dev/null || skip "needs $tool"
done

# What a fresh checkout holds. A tarball has no repository around it: there,
# everything is copied and what is generated is removed.
mkdir fresh
if [ -e "$ORR_TEST_SRCDIR/.git" ] && git -C "$ORR_TEST_SRCDIR" rev-parse > /dev/null 2>&1; then
	(cd "$ORR_TEST_SRCDIR" && git ls-files --cached --others --exclude-standard |
		while IFS= read -r f; do [ ! -e "$f" ] || printf '%s\n' "$f"; done) > list
	ok tar -C "$ORR_TEST_SRCDIR" -cf fresh.tar -T list
	ok tar -C fresh -xf fresh.tar
else
	(cd "$ORR_TEST_SRCDIR" && find . \( -name '_*' -o -name '.[ldg]*' -o -path ./tests/tmp -o -path ./autom4te.cache \) -prune -o -type f -print) > list
	ok tar -C "$ORR_TEST_SRCDIR" -cf fresh.tar -T list
	ok tar -C fresh -xf fresh.tar
	chmod -R u+w fresh
	find fresh -name sources.mk -exec rm -f '{}' +
	rm -rf fresh/configure fresh/aclocal.m4 fresh/config.h.in fresh/Makefile.in fresh/m4/l* fresh/build-aux/ltmain.sh
fi
[ ! -e fresh/configure ] && [ ! -e fresh/src/core/sources.mk ] || die "the copy holds generated files"

ok sh -c 'cd fresh && autoreconf -fi'
ok test -x fresh/configure
(cd fresh && find . -name sources.mk) > lists
[ "$(wc -l < lists)" -ge 10 ] || die "only these lists were made: $(cat lists)"
while read -r f; do
	cmp "fresh/$f" "$ORR_TEST_SRCDIR/$f" || die "$f of the tree is not up to date; run build-aux/sources.sh"
done < lists

printf 'int orr_dropped(void);\nint orr_dropped(void)\n{\n\treturn 0;\n}\n' > fresh/src/core/dropped.c
printf 'int main(void)\n{\n\treturn 0;\n}\n' > fresh/tests/core/dropped.c
ok sh -c 'cd fresh && ./autogen.sh'
has fresh/Makefile.in 'src/core/liborrery_la-dropped\.lo'
has fresh/Makefile.in 'src/core/liborrery_sim_la-dropped\.lo'
has fresh/Makefile.in '^tests/core/dropped[.]log: tests/core/dropped$'
exit 0
