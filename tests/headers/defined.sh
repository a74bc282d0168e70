#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Every function that a public header declares is defined by the libraries of
# both worlds, but for those that the list below justifies.
# orr-test: timeout 300
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"

# Defined by programs, not by us: a shared object that STARPU_SCHED_LIB names.
programs='starpu_get_sched_lib_policy starpu_get_sched_lib_policies'

$CC --version 2> /dev/null | grep -q -i 'gcc\|Free Software' || skip "needs gcc, whose -aux-info lists declarations"
command -v nm > /dev/null || skip "needs nm"

# A compiler cache answers without writing the list.
CCACHE_DISABLE=1
export CCACHE_DISABLE

# declared FILE: names of the functions that it makes our headers declare.
declared() {
	# shellcheck disable=SC2086
	ok $compiler -fsyntax-only -aux-info list -I"$ORR_TEST_SRCDIR/include" -I"$ORR_TEST_BUILDDIR/include" "$1"
	grep -E '/include/(schedulers/)?(starpu|orrery)[a-zA-Z_]*\.h:[0-9]+:N' list |
		sed -n 's/^[^*]*\*[^*]*\*\/ extern [^(]*[ *]\([a-z][a-zA-Z0-9_]*\) (.*/\1/p' | sort -u
}

# defined LIBRARY...
defined() {
	for l; do nm -D --defined-only "$ORR_TEST_BUILDDIR/.libs/lib$l.so" || die "lib$l.so cannot be read"; done | awk '{ print $3 }' | sort -u
}

# check WORLD: declared.txt against defined.txt.
check() {
	[ "$(wc -l < declared.txt)" -gt 200 ] || die "$1: only $(wc -l < declared.txt) declarations were found"
	comm -23 declared.txt defined.txt > missing.txt
	: > wrong.txt
	while read -r f; do
		case " $programs " in *" $f "*) continue ;; esac
		echo "$f" >> wrong.txt
	done < missing.txt
	if [ -s wrong.txt ]; then die "$1: declared, but not defined: $(tr '\n' ' ' < wrong.txt)"; fi
}

printf '#include <starpu.h>\n#include <orrery.h>\n#include <starpu_expert.h>\n#include <starpu_sched_component.h>\n#include <schedulers/starpu_scheduler_toolbox.h>\n#include <schedulers/starpu_heteroprio.h>\n' > core.c
printf '#include <starpu_mpi.h>\n#include <starpu_mpi_lb.h>\n#include <orrery_resize.h>\n#include <orrery.h>\n#include <starpu_expert.h>\n#include <starpu_sched_component.h>\n#include <schedulers/starpu_scheduler_toolbox.h>\n#include <schedulers/starpu_heteroprio.h>\n' > mpi.c
if [ "$ORR_TEST_MPI" = yes ]; then
	compiler="$ORRERY cc"
	declared mpi.c > declared.txt
	defined orrery orrery-mpi > defined.txt
else
	compiler="$CC -pthread"
	declared core.c > declared.txt
	defined orrery > defined.txt
fi
check real
if [ "$ORR_TEST_SIM" = yes ]; then
	compiler="$ORRERY cc --sim"
	declared mpi.c > declared.txt
	defined orrery-sim > defined.txt
	check simulated
fi
exit 0
