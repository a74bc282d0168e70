#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# orr-test: timeout 240
# orr-test: debug none
#
# Each name and promise of the handbook's MPI chapter has tests in both worlds, or the
# table of doc/mpi_chapter.md says why not (mpi_chapter.py). Each check is also shown a
# mistake, which it must find.
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
src=$ORR_TEST_SRCDIR
check() { "${PYTHON:-python3}" -B "$src/tests/tools/mpi_chapter.py" "$src" "$@"; }
ok check

# finds REGEX SED-EXPRESSION [FILE]: with FILE (the table) changed so, the check says REGEX.
finds() {
	file=${3-doc/mpi_chapter.md}
	sed "$2" "$src/$file" > changed
	cmp -s changed "$src/$file" && die "$file has nothing that '$2' changes"
	check "$file=changed" > out && die "the check accepts $file after '$2'"
	has out "$1"
}
finds 'starpu_mpi_isend is named by the chapter and missing here' '/^| `starpu_mpi_isend` /d'
finds 'starpu_mpi_world_rank is declared in starpu_mpi.h and missing here' '/^| `starpu_mpi_world_rank` /d'
finds 'there is no test tests/mpi/nowhere.c' 's,tests/mpi/async.c,tests/mpi/nowhere.c,'
finds 'tests/mpi/fake.c does not use starpu_mpi_isend$' '/^| `starpu_mpi_isend` /s,tests/mpi/async.c,tests/mpi/fake.c,'
finds '`--with-mpiexec`: its tests run in: no world$' '/^| `--with-mpiexec` /s,Tool:,,'
finds '`starpu_mpi_wait`: its tests run in: real$' '/^| `starpu_mpi_wait` /s,tests/mpi/[a-z_]*.c,tests/real/binding.c,g'
finds 'nothing is said about section 14.9' '/^| 14\.9 /d'
finds 'STARPU_MPI_SHOUT is named by the chapter and missing here' '$s,.*,variable STARPU_MPI_SHOUT 1.4,' tests/tools/mpi_chapter.names
finds 'the tree has no variable STARPU_MPI_CACHE$' 's,`STARPU_MPI_CACHE`,`STARPU_MPI_KASH`,' doc/environment.md
finds '.--enable-nmad is not here, but doc/limits.md does not say so' 's,--enable-nmad,--enable-mad,' doc/limits.md
