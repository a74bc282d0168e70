#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The lists of the Debian packages name every file that `make install` installs, none twice and none that is not there,
# and no place of StarPU's packages. The packages themselves are built by build-aux/packages, which takes minutes.
# Libraries and programs are not linked again for it: their names are enough.
# orr-test: timeout 240
# orr-test: sanitizer none
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_MPI" = yes ] && [ "$ORR_TEST_SIM" = yes ] && [ "$ORR_TEST_FORTRAN" = yes ] || skip "packages have both worlds and Fortran"
triplet=x86_64-linux-gnu
root=$PWD/root
lib=/usr/lib/$triplet
unset MAKEFLAGS MAKELEVEL MFLAGS
cat > names.mk << 'END'
include Makefile
names-of-packages:
	@for l in $(lib_LTLIBRARIES); do echo lib $$l; done
	@for l in $(pkglib_LTLIBRARIES); do echo module $$l; done
	@for p in $(bin_PROGRAMS); do echo bin $$p; done
	@for p in $(pkglibexec_PROGRAMS); do echo libexec $$p; done
END
mk() {
	(cd "$ORR_TEST_BUILDDIR" && ${MAKE-make} -s "$@" DESTDIR="$root" prefix=/usr exec_prefix=/usr bindir=/usr/bin libdir=$lib \
		libexecdir=/usr/libexec includedir=/usr/include datarootdir=/usr/share datadir=/usr/share mandir=/usr/share/man \
		pkgconfigdir=$lib/pkgconfig orr_names=apart)
}
ok mk install-data install-binSCRIPTS
ok mk -f "$PWD/names.mk" names-of-packages
cp out names
(cd "$root" && find . ! -type d ! -path '*/__pycache__/*') | sed 's,^\./,,' > installed
sed -n -e "s,^bin ,usr/bin/,p" -e "s,^libexec ,usr/libexec/orrery/,p" names >> installed
for s in .la .so .so.0 .so.0.0.0; do sed -n "s,^lib \(.*\)\.la$,${lib#/}/\1$s,p" names; done >> installed
for s in .la .so; do sed -n "s,^module \(.*\)\.la$,${lib#/}/orrery/\1$s,p" names; done >> installed
[ "$(wc -l < installed)" -gt 300 ] || die "only $(wc -l < installed) files are installed"

check() { python3 -B "$ORR_TEST_SRCDIR/build-aux/package-files" --multiarch $triplet "$@"; }
check < installed > out 2>&1 || die "debian/: $(cat out)"
cat out

# The check finds what it is there for.
found() {
	if check --lists lists < "${2-installed}" > out 2>&1; then die "not found: $1"; fi
	grep -q -e "$1" out || die "not '$1', but: $(cat out)"
	rm -rf lists
	cp -R "$ORR_TEST_SRCDIR/debian" lists
}
cp -R "$ORR_TEST_SRCDIR/debian" lists
chmod -R u+w lists
cp installed more
echo usr/bin/orrery-new >> more
found '^usr/bin/orrery-new is in no list' more
grep -v 'usr/libexec/orrery/orrery-sim-launcher' installed > fewer
found '^orrery-sim.install: usr/libexec/orrery/orrery-sim-launcher is not installed' fewer
echo usr/bin/orrery >> lists/orrery-sim.install
found '^usr/bin/orrery is in 2 lists: orrery, orrery-sim'
sed -i '/starpu_env/s,[^ ]*$,,' lists/orrery.install
found '^usr/bin/starpu_env, of orrery, is a place of StarPU'
sed -i '/starpu_fxt_tool/d' lists/orrery.links
found 'no package has the command starpu_fxt_tool elsewhere'
exit 0
