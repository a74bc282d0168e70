# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The last words of configure: what was found and what is left out, and how to
# get it.

AC_DEFUN([ORR_SUMMARY], [
orr_say() { printf '  %-22s %s\n' "$[]1" "$[]2"; }
echo
echo "Orrery $PACKAGE_VERSION is configured:"
orr_say "compilers" "$CC, $CXX ($CFLAGS)"
orr_say "installation" "$prefix"
AS_IF([test $orr_mpi = yes],
	[orr_say "real world" "yes, MPI by $MPICC"],
	[orr_say "real world" "one process only, NO MPI layer: $orr_mpi_error"])
AS_IF([test $orr_simgrid = yes],
	[AS_IF([test $orr_simgrid_interface = private],
		[orr_say "simulated world" "yes, SimGrid in $orr_simgrid_prefix"],
		[orr_say "simulated world" "yes, SimGrid in $orr_simgrid_prefix, by its installed headers alone: slower, not all options"])],
	[orr_say "simulated world" "NO: $orr_simgrid_error"])
AS_IF([test $orr_hwloc = yes],
	[orr_say "hwloc" "yes"],
	[orr_say "hwloc" "NO: flat machine, no binding (Debian: libhwloc-dev)"])
AS_IF([test $orr_mpi = yes],
	[AS_IF([test $orr_ucx = yes],
		[orr_say "transport UCX" "yes, if ORRERY_TRANSPORT names it"],
		[orr_say "transport UCX" "NO (Debian: libucx-dev)"])])
AS_IF([test $orr_opencl = yes],
	[orr_say "OpenCL devices" "yes, CLBlast for examples: $orr_clblast"],
	[orr_say "OpenCL devices" "NO driver (Debian: ocl-icd-opencl-dev; pocl-opencl-icd computes on CPUs)"])
AS_IF([test $orr_cuda_toolkit != no],
	[orr_say "CUDA devices" "yes, toolkit in $orr_cuda_toolkit; kernels of examples: ${NVCC:-no nvcc, cuBLAS or cuSOLVER}"],
	[test $orr_cuda = yes],
	[orr_say "CUDA devices" "NO toolkit (--with-cuda=DIR): no workers but by ORRERY_CUDART, as tests do"],
	[orr_say "CUDA devices" "NO driver (--disable-cuda)"])
AS_IF([test $orr_blas = yes],
	[orr_say "BLAS of examples" "yes, LAPACKE: $orr_lapacke"],
	[orr_say "BLAS of examples" "NO: plain kernels (Debian: libopenblas-dev, liblapacke-dev)"])
AS_IF([test $orr_fortran = yes],
	[orr_say "Fortran" "yes, $FC"],
	[orr_say "Fortran" "NO modules fstarpu_mod and fstarpu_mpi_mod: $orr_fortran_error"])
AS_IF([test "$orr_matplotlib" = yes],
	[orr_say "orrery matrix" "yes, $PYTHON"],
	[orr_say "orrery matrix" "NO matplotlib: it will say so when used (Debian: python3-matplotlib)"])
AS_IF([test $orr_sphinx = yes],
	[orr_say "HTML manual" "yes, make html, $SPHINX_BUILD"],
	[orr_say "HTML manual" "NO: read doc/README.md (Debian: python3-sphinx, python3-myst-parser)"])
AS_IF([test $enable_mpi_check = yes],
	[orr_say "tests with ranks" "yes, started by $MPIEXEC"],
	[orr_say "tests with ranks" "simulated only"])
AS_IF([test "$enable_debug" = yes],
	[orr_say "debug build" "yes: invariants and the order of locks are checked"],
	[orr_say "debug build" "no (--enable-debug)"])
AS_IF([test "$enable_sanitizer" != no], [orr_say "sanitizer" "$enable_sanitizer"])
echo
])
