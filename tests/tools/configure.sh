#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# configure has the options for MPI that the handbook names and those for devices, says what each does, and
# refuses programs that are not there, MPI's tests without MPI, and checkpoints switched off.
# An option that it does not have gives a warning. A build of the real world alone reads no header of SimGrid.
# orr-test: timeout 900
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ -x "$ORR_TEST_SRCDIR/configure" ] || skip "there is no configure"
unset MAKEFLAGS MAKELEVEL MFLAGS

ok "$ORR_TEST_SRCDIR/configure" --help
for option in --with-mpicc --with-mpiexec --with-mpifort --enable-mpi-check --enable-mpi-ft --enable-mpi-ft-stats \
	--enable-mpi-pedantic-isend --enable-mpi-master-slave --with-mpi-master-slave-multiple-thread \
	--with-cuda --disable-cuda --disable-opencl --without-clblast --with-starpu-names; do
	has out "^ *$option"
done

# configure OPTION...: makes config.status alone. Results are kept for the next call; what takes long and none of the
# options is about, SimGrid and the manual, is not looked for.
configure() { "$ORR_TEST_SRCDIR/configure" -q --cache-file=cache --no-create --without-simgrid SPHINX_BUILD=/bin/false "$@"; }
# refuses REGEX OPTION...: it ends with an error.
refuses() { regex=$1; shift; fails 1 "$regex" configure "$@"; }
refuses 'with-mpicc=/nowhere/mpicc: there is no such program' --with-mpicc=/nowhere/mpicc --enable-nmad
has err 'unrecognized options: --enable-nmad'
refuses 'with-mpiexec=/nowhere/mpiexec: there is no such program' --with-mpiexec=/nowhere/mpiexec
refuses 'enable-mpi-check needs a working mpicc and mpirun' --enable-mpi-check --without-mpicc
refuses 'enable-mpi-check needs a working mpicc and mpirun' --enable-mpi-check --with-mpicc=/bin/false
refuses 'with-cuda=/nowhere: there is no include/cuda_runtime_api.h' --with-cuda=/nowhere
refuses 'checkpoints are part of the MPI layer' --disable-mpi-ft
refuses 'master and slaves are part of the MPI layer' --disable-mpi-master-slave
refuses 'checkpoints are part of the MPI layer' --disable-mpi-ft-stats
refuses 'with-starpu-names=elsewhere: say auto or apart' --with-starpu-names=elsewhere

# Systems of 32 bits are refused by name. Their C library is not needed for that.
if [ "$(uname -m)" = x86_64 ]; then
	fails 1 'gcc -m32 .* compiles for i686 with pointers of 4 bytes; Orrery needs a system of 64 bits' \
		"$ORR_TEST_SRCDIR/configure" -q --no-create --build=x86_64-linux-gnu --host=i686-linux-gnu \
		CC='gcc -m32 -nostdlib -Wl,-emain'
fi

# Programs of the MPI whose mpicc is given are looked for beside it, and then in PATH.
if command -v mpicc > /dev/null && command -v mpirun > /dev/null; then
	mkdir -p other/bin
	for program in mpicc mpiexec mpifort; do
		printf '#!/bin/sh\nexec %s "$@"\n' "$(command -v mpicc)" > other/bin/$program
		chmod +x other/bin/$program
	done
	echo 'MPIEXEC = @MPIEXEC@' > variables.in
	# variable NAME: what a Makefile would say.
	variable() { ./config.status -q --file=-:variables.in | sed -n "s/^$1 = //p"; }
	ok configure --with-mpicc="$PWD/other/bin/mpicc"
	[ "$(variable MPIEXEC)" = "$PWD/other/bin/mpiexec" ] || die "mpiexec beside mpicc is not taken, but '$(variable MPIEXEC)'"
	rm other/bin/mpiexec
	ok configure --with-mpicc="$PWD/other/bin/mpicc"
	[ "$(variable MPIEXEC)" = "$(command -v mpirun)" ] || die "mpirun in PATH is not taken, but '$(variable MPIEXEC)'"
	ok ./config.status -q pkgconfig/orrery.pc
	! grep -q '^Libs.private: .*[a-z]' pkgconfig/orrery.pc || die "a shared library alone names private ones"
	ok configure --enable-static --without-mpicc
	ok ./config.status -q pkgconfig/orrery.pc
	has pkgconfig/orrery.pc '^Libs.private: .*-lm'
	# Files that are made before all else come from headers that are there.
	ok ./config.status -q Makefile
	has Makefile '^#am__append_[0-9]* = .*/public/mpi_names.def'
	if grep '^am__append_[0-9]* = .*mpi_names' Makefile; then die "without SimGrid, a header of SMPI is read"; fi
fi
exit 0
