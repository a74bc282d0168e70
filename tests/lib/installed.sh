# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Sourced by scripts that build programs with an installed Orrery, after script.sh: installs one in $inst, a folder
# of the test's own. Libraries and launcher are copied: libtool would link them again and disturb the tests that run
# beside this one. Invariant: nothing is written outside that folder.
inst=$PWD/inst
cd_build() { cd "$ORR_TEST_BUILDDIR" || exit 99; }
for dir in 'exec_prefix = ${prefix}' 'bindir = ${exec_prefix}/bin' 'libdir = ${exec_prefix}/lib' \
	'includedir = ${prefix}/include' 'datarootdir = ${prefix}/share' 'datadir = ${datarootdir}' \
	'libexecdir = ${exec_prefix}/libexec' 'pkgconfigdir = ${libdir}/pkgconfig'; do
	grep -q -x -F -e "$dir" "$ORR_TEST_BUILDDIR/Makefile" || skip "configured with other directories than a prefix"
done

# make_install: what is data, and the commands; it may be called again.
make_install() {
	(cd_build && ${MAKE-make} -s install-data install-binSCRIPTS prefix="$inst" DESTDIR=)
}

# install_orrery: as far as it was built. The output of make is in out.
install_orrery() {
	ok make_install
	mkdir -p "$inst/libexec/orrery"
	if [ "$ORR_TEST_FORTRAN" = yes ]; then
		cp "$ORR_TEST_BUILDDIR/fortran/libfstarpu.a" "$inst/lib/orrery/" || die "no modules of Fortran"
	fi
	cp -P "$ORR_TEST_BUILDDIR"/.libs/liborrery*.so* "$inst/lib/" || die "no libraries"
	[ "$ORR_TEST_SIM" != yes ] || cp "$ORR_TEST_BUILDDIR/.libs/orrery-sim-launcher" "$inst/libexec/orrery/" || die "no launcher"
}
unset MAKEFLAGS MAKELEVEL MFLAGS
