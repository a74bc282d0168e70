# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Builds without OpenCL, CUDA or hwloc, from the objects of this one: files that know about one of them compile without
# it, with warnings as errors, and the library links with the file that stands in for the driver.
# orr-test: debug none
# orr-test: sanitizer none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
src=$ORR_TEST_SRCDIR build=$ORR_TEST_BUILDDIR
ls "$build"/src/drivers/.libs/liborrery_la-cpu.o > /dev/null 2>&1 || skip "there are no objects of a shared library"
makefile() { sed -n "s/^$1 = //p" "$build/Makefile"; }
warnings=$(makefile ORR_WARNINGS)
libraries="$(makefile ORR_SYS_LIBS) $(makefile LIBS)"
simulated="-I$src/sim -I$src/sim/sys -I$(makefile SMPI_INCLUDE) $(makefile SIMGRID_CPPFLAGS)"

# The objects of the library as it is configured: a folder may hold others, of an earlier configuration.
(
	cd "$build" || exit 1
	unset MAKEFLAGS MFLAGS MAKELEVEL
	printf 'include Makefile\nshow-objects: ; @echo $(liborrery_la_OBJECTS)\n' | ${MAKE-make} -s -f - show-objects
) | tr ' ' '\n' | sed -n "s,^\(.*\)/\([^/]*\)\.lo\$,$build/\1/.libs/\2.o,p" > all
[ "$(wc -l < all)" -gt 50 ] || die "make does not say which objects the library has: $(cat all)"

# compile FILE OBJECT INCLUDES
compile() {
	# shellcheck disable=SC2086
	$CC -std=gnu11 -D_GNU_SOURCE= -DORR_DATADIR='"."' -pthread -fPIC $warnings -Werror -Iinclude -I"$build/include" -I"$build" \
		-I"$src/include" -I"$src/src" $3 -c -o "$2" "$src/$1" 2> err || die "without $macro: $(cat err)"
}

# without MACRO NONE LIBRARIES: src/NONE_none.c stands in for the other files of that name.
without() {
	macro=$1 none=src/$2
	rm -rf include new
	mkdir include new
	sed "s,^#define $macro .*,/* none */," "$build/include/starpu_config.h" > include/starpu_config.h
	for f in "${none}_none.c" $(cd "$src" && grep -r -l --include='*.c' "$macro" src sim; cd "$src" && grep -l "$macro" tests/*/*.c); do
		case $f in
		"${none}_none.c") compile "$f" new/none.o "-I$src/src/sys" ;;
		"${none}"_*) ;;
		src/*)
			# This build may be without another of them, too.
			! grep -q -x -F -e "$build/${f%/*}/.libs/liborrery_la-$(basename "$f" .c).o" all ||
				compile "$f" "new/$(echo "${f%.c}" | tr / :).o" "-I$src/src/sys"
			;;
		sim/*) [ "$ORR_TEST_SIM" != yes ] || compile "$f" simulated.o "$simulated" ;;
		tests/*)
			if [ "$ORR_TEST_MPI" = yes ] || ! grep -q 'starpu_mpi\.h' "$src/$f"; then
				compile "$f" test.o "-I$src/tests -I$src/src/sys $(makefile MPI_CPPFLAGS)"
			fi
			;;
		esac
	done
	while read -r o; do
		file=${o#"$build"/}
		file=${file%%/.libs/*}/${file##*/liborrery_la-}
		case $file in "${none}"_*) continue ;; esac
		[ -f "new/$(echo "$file" | tr / :)" ] || echo "$o"
	done < all > objects
	# shellcheck disable=SC2086
	$CC -shared -pthread -Wl,-z,defs -o library.so @objects new/*.o $3 $libraries 2> err || die "without $macro: $(cat err)"
}

without STARPU_USE_OPENCL drivers/opencl "$(makefile HWLOC_LIBS)"
without STARPU_USE_CUDA drivers/cuda "$(makefile HWLOC_LIBS) $(makefile OPENCL_LIBS)"
without STARPU_HAVE_HWLOC base/places "$(makefile OPENCL_LIBS)"
exit 0
