# SPDX-License-Identifier: LGPL-2.1-or-later
# Build fragment of the examples: examples/NAME/*.c makes the program NAME for
# the real world and NAME.sim for the simulated one.
# Kernels for CUDA (*.cu) are compiled where the toolkit has a compiler, and for the real world only.
orr_examples =
orr_example_cu =
orr_example_sims =
orr_example_cppflags = $(orr_includes) -I$(srcdir)/examples $(MPI_CPPFLAGS) $(HWLOC_CFLAGS) $(BLAS_CPPFLAGS) $(CLBLAST_CPPFLAGS)
orr_example_ldadd = liborrery-mpi.la liborrery.la $(MPI_LIBS) $(BLAS_LIBS) $(CLBLAST_LIBS) $(OPENCL_LIBS) $(ORR_SYS_LIBS)
orr_example_simflags = -I$(srcdir)/examples $(BLAS_CPPFLAGS) $(CLBLAST_CPPFLAGS)
orr_example_simlibs = $(BLAS_LIBS) $(CLBLAST_LIBS) $(OPENCL_LIBS)
# Those of process sets that grow and shrink include only mpi.h, as with `orrery cc --elastic`.
orr_example_elastic_cppflags = $(orr_example_cppflags) -include orrery_dyn.h
orr_example_elastic_ldadd = $(orr_dyn_ldadd) $(orr_example_ldadd)
orr_example_elastic_simflags = --elastic $(orr_example_simflags)
include %D%/sources.mk
if ORR_MPI
noinst_PROGRAMS += $(orr_examples)
endif
if ORR_SIM
noinst_DATA += $(orr_example_sims)
endif
$(orr_example_cu): %.cu.o: %.cu $(orr_example_headers) $(orr_headers_dep)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(NVCC) -O2 $(orr_includes) -Xcompiler '-fPIC $(CFLAGS)' -c -o $@ $<
MOSTLYCLEANFILES += $(orr_example_sims) $(orr_example_cu)
EXTRA_DIST += $(orr_example_extra) $(orr_example_headers)
