# SPDX-License-Identifier: LGPL-2.1-or-later
# Build fragment of the Fortran modules. One archive serves both worlds: it holds bindings and no
# state but variables, of which each program, and each simulated rank, has a copy. The sources are
# installed, too, because a compiled module is good for the compiler that made it only.
dist_orrinclude_DATA = %D%/fstarpu_mod.f90 %D%/fstarpu_mpi_mod.f90 %D%/orrery_resize_mod.f90
if ORR_FORTRAN
nodist_orrinclude_DATA = %D%/fstarpu_mod.mod %D%/fstarpu_mpi_mod.mod %D%/orrery_resize_mod.mod
orrfortrandir = $(pkglibdir)
orrfortran_DATA = %D%/libfstarpu.a
endif
orr_fc_v = $(orr_fc_v_$(V))
orr_fc_v_ = $(orr_fc_v_$(AM_DEFAULT_VERBOSITY))
orr_fc_v_0 = @echo "  FC      " $@;
%D%/fstarpu_mod.o: %D%/fstarpu_mod.f90
	$(orr_fc_v)$(MKDIR_P) %D% && $(FC) $(FCFLAGS) -O2 -fPIC -J %D% -c $(srcdir)/%D%/fstarpu_mod.f90 -o $@
%D%/fstarpu_mpi_mod.o: %D%/fstarpu_mpi_mod.f90 %D%/fstarpu_mod.o
	$(orr_fc_v)$(MKDIR_P) %D% && $(FC) $(FCFLAGS) -O2 -fPIC -J %D% -c $(srcdir)/%D%/fstarpu_mpi_mod.f90 -o $@
%D%/orrery_resize_mod.o: %D%/orrery_resize_mod.f90
	$(orr_fc_v)$(MKDIR_P) %D% && $(FC) $(FCFLAGS) -O2 -fPIC -J %D% -c $(srcdir)/%D%/orrery_resize_mod.f90 -o $@
# Programs of process sets that grow and shrink get a module mpi, one for each world: its constants
# are those of the MPI.
EXTRA_DIST += %D%/elastic/mpi.f90
if ORR_FORTRAN
if ORR_MPI
orrelasticdir = $(orrincludedir)/elastic
nodist_orrelastic_DATA = %D%/elastic/real/mpi.mod
endif
if ORR_SIM
orrelasticsimdir = $(orrincludedir)/sim/elastic
nodist_orrelasticsim_DATA = %D%/elastic/sim/mpi.mod
endif
endif
%D%/elastic/real/mpi.mod: %D%/elastic/mpi.f90
	$(orr_fc_v)$(MKDIR_P) %D%/elastic/real && $(FC) $(FCFLAGS) -cpp $(ORR_MPI_FC_SESSIONS) $(MPI_FCFLAGS) -J %D%/elastic/real -c $(srcdir)/%D%/elastic/mpi.f90 -o %D%/elastic/real/mpi.o
%D%/elastic/sim/mpi.mod: %D%/elastic/mpi.f90
	$(orr_fc_v)$(MKDIR_P) %D%/elastic/sim && $(FC) $(FCFLAGS) -cpp -I$(SMPI_INCLUDE) -J %D%/elastic/sim -c $(srcdir)/%D%/elastic/mpi.f90 -o %D%/elastic/sim/mpi.o
CLEANFILES += %D%/elastic/real/mpi.mod %D%/elastic/real/mpi.o %D%/elastic/sim/mpi.mod %D%/elastic/sim/mpi.o
%D%/fstarpu_mod.mod: %D%/fstarpu_mod.o
	@test -f $@
%D%/fstarpu_mpi_mod.mod: %D%/fstarpu_mpi_mod.o
	@test -f $@
%D%/orrery_resize_mod.mod: %D%/orrery_resize_mod.o
	@test -f $@
%D%/libfstarpu.a: %D%/fstarpu_mod.o %D%/fstarpu_mpi_mod.o %D%/orrery_resize_mod.o
	$(AM_V_AR)rm -f $@ && $(AR) cr $@ %D%/fstarpu_mod.o %D%/fstarpu_mpi_mod.o %D%/orrery_resize_mod.o
CLEANFILES += %D%/orrery_resize_mod.o %D%/orrery_resize_mod.mod %D%/fstarpu_mod.o %D%/fstarpu_mpi_mod.o %D%/fstarpu_mod.mod %D%/fstarpu_mpi_mod.mod %D%/libfstarpu.a
