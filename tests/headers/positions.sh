#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Functions have the arguments that their documents give them, position by position: types as the
# compilers compare them, names as ctags lists them; definitions agree with declarations, and
# functions in C with what Fortran binds to them. Structures have their fields, in their order.
# documented_c.txt and documented_fortran.txt say what the documents say.
# orr-test: timeout 300
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"

[ "$ORR_TEST_MPI" = yes ] || skip "needs MPI, whose functions are listed, too"
command -v python3 > /dev/null || skip "needs python3"
ctags --version 2> /dev/null | grep -q Universal || skip "needs universal-ctags"
here=$ORR_TEST_SRCDIR/tests/headers
include=$ORR_TEST_SRCDIR/include

# tags FILE...: what each function's arguments are.
tags() {
	ctags -f - --sort=no --languages=C,Fortran --langmap=C:.c.h --langmap=Fortran:.f90 \
		--kinds-C=pf --kinds-Fortran=+PSf --fields=+S "$@"
}
# compare AT_LEAST DOCUMENTED OURS
compare() {
	ok python3 "$here/positions.py" "$2" "$3"
	n=$(sed -n 's/ functions compared$//p' out)
	[ "$n" -ge "$1" ] || die "$2 and $3: only $n functions were compared"
}

# ---- C ----

cp "$here/documented_c.txt" documented.h
tags documented.h > documented.tags
tags "$include"/*.h "$include"/schedulers/*.h > declared.tags
# The getters of interfaces are made by a macro.
find "$ORR_TEST_SRCDIR/src" -name '*.c' | LC_ALL=C sort > sources
tags -D 'GETTER(TYPE,FUNCTION,FIELD)=TYPE FUNCTION(starpu_data_handle_t handle) {}' -L sources > defined.tags
compare 1100 documented.tags declared.tags
compare 1100 declared.tags defined.tags

# The names of macros are functions in the documents. What needs a toolkit of CUDA has no types here.
{
	for h in "$include"/starpu*.h "$include"/schedulers/*.h; do printf '#include <%s>\n' "${h#"$include"/}"; done
	printf '#include <stddef.h>\n'
	sed -n 's/.*\b\(starpu_[a-z0-9_A-Z]*\)(.*/#undef \1/p' documented.h
	cat << 'END'
#define FIELD(s, f, ...) \
	struct d_##s##_##f { __VA_ARGS__; }; \
	_Static_assert(__builtin_types_compatible_p(__typeof__(((struct s *) 0)->f), \
						    __typeof__(((struct d_##s##_##f *) 0)->f)), #s "." #f)
END
	grep -v -E '\b((cublas(Lt)?|cusolver(Dn|Rf|Sp)?|cusparse)(Handle|Status)|cudaStream|cudaError|nvmlDevice)_t\b' documented.h
	# Tasks are laid out by use.
	sed -n 's/^FIELD(\(\w*\), \(\w*\),.*/\1 \2/p' documented.h | awk '$1 == s && s != "starpu_task" {
		printf "_Static_assert(offsetof(struct %s, %s) < offsetof(struct %s, %s), \"order\");\n", s, f, s, $2
	} { s = $1; f = $2 }'
} > all.c
# shellcheck disable=SC2086
ok $ORRERY cc -fsyntax-only -I"$include" -I"$ORR_TEST_BUILDDIR/include" all.c
# The check can fail: an argument more, another type, a field of another type, two of one type in the other order.
while IFS= read -r wrong; do
	{ cat all.c; echo "$wrong"; } > wrong.c
	# shellcheck disable=SC2086
	fails 1 'conflicting types|static assertion' $ORRERY cc -fsyntax-only -I"$include" -I"$ORR_TEST_BUILDDIR/include" wrong.c
done << 'END'
int starpu_mpi_wait_for_all(MPI_Comm comm, int more);
int starpu_task_submit(struct starpu_codelet *task);
FIELD(starpu_conf, nopencl, unsigned nopencl);
END
sed -n 's/(int cpuid, unsigned flags,/(unsigned flags, int cpuid,/p' documented.h > swapped.h
tags swapped.h > swapped.tags
python3 "$here/positions.py" swapped.tags declared.tags > out && die "two arguments in the other order are not seen"
has out '^starpu_bind_thread_on: argument flags is number 2, not 1'

# ---- Fortran ----

[ "$ORR_TEST_FORTRAN" = yes ] || exit 0
f=$ORR_TEST_SRCDIR/fortran
sed 's/\bd_//g' "$here/documented_fortran.txt" > documented.f90
tags documented.f90 > documented.tags
tags "$f"/*.f90 "$f"/elastic/*.f90 > declared.tags
compare 380 documented.tags declared.tags

# The documents do not tell intents, but for those that an operator must have.
for m in fstarpu_mod fstarpu_mpi_mod elastic/mpi; do
	sed '/function or_cptrs/,/end function/!s/, intent([a-z]*)//; /interface operator/,/end interface/d' "$f/$m.f90" > "$(basename $m).f90"
done
# program NAME FROM TO MODULE...: pointers with the documented interfaces point to our procedures.
program() {
	name=$1 from=$2 to=$3
	shift 3
	echo "program $name"
	for m; do echo "  use $m"; done
	echo "  implicit none"
	sed -n "/^module $from\$/,/^end module $from\$/s/^ *\(function\|subroutine\) d_\([A-Za-z0-9_]*\).*/\2/p" \
		"$here/documented_fortran.txt" > names
	[ "$(wc -l < names)" -ge "$to" ] || return 1
	sed 's/.*/  procedure(d_&), pointer :: p_&/' names
	sed 's/.*/  p_& => &/' names
	echo "end program $name"
}
cat "$here/documented_fortran.txt" > main.f90
program check documented 380 documented fstarpu_mod fstarpu_mpi_mod >> main.f90 || die "few procedures are documented"
cat "$here/documented_fortran.txt" > sets.f90
program check documented_elastic 12 documented_elastic mpi >> sets.f90 || die "few routines are documented"
fc="$ORRERY fc -J . -ffree-line-length-none"
# An MPI with process sets of its own has names of ours in its module (Open MPI 5), where elastic runs are refused.
sets="mpi sets"
[ "${ORR_TEST_ELASTIC-yes}" = yes ] || sets=
for s in fstarpu_mod fstarpu_mpi_mod main $sets; do ok $fc -c "$s.f90" -o "$s.o"; done
sed 's/p_fstarpu_mpi_send => fstarpu_mpi_send/p_fstarpu_mpi_send => fstarpu_mpi_recv/' main.f90 > wrong.f90
fails 1 'number of arguments|mismatch' $fc -c wrong.f90 -o wrong.o

# The functions in C that the modules bind.
for m in fstarpu_mod fstarpu_mpi_mod; do
	ok $fc -fc-prototypes -fsyntax-only "$m.f90"
	cat out
done > bound.h
tags bound.h > bound.tags
compare 300 bound.tags defined.tags
exit 0
