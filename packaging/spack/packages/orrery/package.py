# SPDX-License-Identifier: LGPL-2.1-or-later
"""Orrery for Spack. Variants have the names of those of StarPU's recipe where they mean the same;
of StarPU's others, each is refused with the reason, so that no wish is dropped in silence.

Invariant: each option of `configure_args` is one of configure's (tests/tools/recipes.sh).
"""

from spack.package import *


class Orrery(AutotoolsPackage, CudaPackage):
    """A task runtime for clusters with the interface of StarPU and StarPU-MPI, whose programs run for
    real, over MPI, or simulated, over SimGrid."""

    homepage = "https://orrery.example"
    git = "https://orrery.example/orrery.git"

    license("LGPL-2.1-or-later")

    version("main", branch="main")

    variant("shared", default=True, description="Shared libraries; without it static ones, too")
    variant("debug", default=False, description="Check the runtime's own invariants at run time")
    variant("mpi", default=True, description="The real world with several ranks, over MPI")
    variant("fortran", default=True, description="Modules and compiler command for Fortran")
    variant("simgrid", default=True, description="The simulated world, over SimGrid")
    variant("opencl", default=False, description="Driver for devices of OpenCL")
    variant("ucx", default=False, description="Transport of messages over UCX")
    variant("blas", default=True, description="Examples call a BLAS, instead of plain kernels")
    variant("maxbuffers", default="8", description="Data of a codelet without dyn_modes, 8 to 256")
    variant("plots", default=True, description="Tools draw: matplotlib")

    # Variants of StarPU's recipe.
    variant("fxt", default=True, description="Traces, which are always there")
    variant("fast", default=True, description="Without StarPU's own debugging checks")
    conflicts("~fxt", msg="traces are always there; a run without one costs nothing for it")
    conflicts("~fast", msg="the checks of Orrery are those of +debug")
    for name, what, reason in (
        ("examples", "Examples, which are built and not installed", "build and run them in a checkout"),
        ("openmp", "Compiler runtime of OpenMP over tasks", "programs of OpenMP run beside Orrery, not on it"),
        ("papi", "Hardware counters by PAPI", "Orrery reads no hardware counters"),
        ("nmad", "Messages over NewMadeleine", "Orrery's messages go over MPI or UCX"),
        ("simgridmc", "Model checking by SimGrid", "Orrery's simulations are not model checked"),
    ):
        variant(name, default=False, description=what)
        conflicts("+" + name, msg=reason)

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("autoconf", type="build")
    depends_on("automake", type="build")
    depends_on("libtool", type="build")
    depends_on("m4", type="build")
    depends_on("pkgconfig", type=("build", "run"))
    depends_on("python@3.9:", type=("build", "run"))
    depends_on("py-numpy", type="run", when="+plots")
    depends_on("py-matplotlib", type="run", when="+plots")
    depends_on("hwloc@2:")
    depends_on("mpi@3:", when="+mpi")
    depends_on("simgrid@3.32,4.0,4.1+smpi", when="+simgrid")
    depends_on("opencl", when="+opencl")
    depends_on("ucx", when="+ucx")
    depends_on("blas", when="+blas")

    conflicts("platform=darwin", msg="Orrery needs Linux")
    conflicts("platform=windows", msg="Orrery needs Linux")
    conflicts("+fortran", when="~mpi~simgrid", msg="the modules are those of MPI programs")

    def autoreconf(self, spec, prefix):
        Executable("./autogen.sh")()

    def configure_args(self):
        spec = self.spec
        args = [
            "--enable-shared",
            "--with-starpu-names=auto",
            "--enable-maxbuffers=" + spec.variants["maxbuffers"].value,
        ]
        args += self.enable_or_disable("debug")
        args += self.enable_or_disable("opencl")
        args += self.with_or_without("ucx")
        args += self.with_or_without("blas")
        args.append("--without-clblast")
        args.append("--disable-static" if spec.satisfies("+shared") else "--enable-static")
        if spec.satisfies("+cuda"):
            args.append("--with-cuda=" + spec["cuda"].prefix)
        else:
            args.append("--disable-cuda")
        if spec.satisfies("+mpi"):
            args.append("--with-mpicc=" + spec["mpi"].mpicc)
        else:
            args.append("--without-mpicc")
        if spec.satisfies("+simgrid"):
            args.append("--with-simgrid=" + spec["simgrid"].prefix)
        else:
            args.append("--without-simgrid")
        if not spec.satisfies("+fortran"):
            args.append("--without-mpifort")
        elif spec.satisfies("+mpi"):
            args.append("--with-mpifort=" + spec["mpi"].mpifc)
        return args
