# SPDX-License-Identifier: LGPL-2.1-or-later
# Build fragment of the simulated world: its sys and devices join the library,
# and so does the launcher; the program that `orrery sim` starts holds only what
# the loader must find before the C library and SMPI.
include %D%/sources.mk
liborrery_sim_la_SOURCES += $(orr_sim)
EXTRA_DIST += $(orr_sim_private) $(orr_sim_public)
orrery_sim_launcher_SOURCES = sim/launcher/interpose.c sim/launcher/interpose_own.c \
	sim/launcher/interpose_environment.c sim/launcher/interpose_signals.c \
	sim/launcher/interpose_exec.c sim/launcher/interpose_large.c \
	sim/launcher/interpose.h sim/launcher/calls.h sim/launcher/table.h
# By private names of SimGrid, or by those of its installed headers alone (doc/leaning.md).
orr_sim_interpose_private = sim/launcher/interpose_loop.c sim/launcher/interpose_who.c
orr_sim_interpose_public = sim/public/interpose_mpi.c
EXTRA_DIST += $(orr_sim_interpose_private) $(orr_sim_interpose_public)
if ORR_SIMGRID_PRIVATE
liborrery_sim_la_SOURCES += $(orr_sim_private)
orrery_sim_launcher_SOURCES += $(orr_sim_interpose_private)
else
liborrery_sim_la_SOURCES += $(orr_sim_public)
orrery_sim_launcher_SOURCES += $(orr_sim_interpose_public)
nodist_orrery_sim_launcher_SOURCES = sim/public/mpi_names.def
# A build of the real world alone has no header of SMPI to read.
if ORR_SIM
BUILT_SOURCES += sim/public/mpi_names.def
endif
endif
# The functions of MPI that SMPI's header declares, with numbers.
CLEANFILES += sim/public/mpi_names.def
sim/public/mpi_names.def: Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && echo '#include <mpi.h>' | $(CPP) -I$(SMPI_INCLUDE) $(SIMGRID_CPPFLAGS) - | sed 's/  *(/(/g' | \
		tr -c 'A-Za-z0-9_(' '\n' | sed -n 's/^PMPI_\([A-Za-z0-9_]*\)(.*/\1/p' | LC_ALL=C sort -u | \
		awk '{ print "NAME(" NR - 1 ", " $$0 ")" }' > $@.tmp && test -s $@.tmp && mv $@.tmp $@
orrery_sim_launcher_CPPFLAGS = $(orr_defines) $(orr_sim_includes) -I$(top_builddir) $(HWLOC_CFLAGS) \
	-DORR_SIM_LIBRARY='"liborrery-sim.so.$(ORR_LIBRARY_MAJOR)"'
# Names the library for where it is installed, but does not need it (sim/launcher/table.h).
orrery_sim_launcher_CFLAGS = $(orr_program_cflags)
orrery_sim_launcher_LDFLAGS = $(orr_program_ldflags) -Wl,--as-needed
orrery_sim_launcher_LDADD = liborrery-sim.la -ldl
EXTRA_DIST += $(orr_sim) $(orrery_sim_launcher_SOURCES)
# Needs what programs see, and holds nothing (sim/launcher/scope.c).
liborrery_sim_scope_la_SOURCES = sim/launcher/needs.c
liborrery_sim_scope_la_LDFLAGS = $(ORR_RELRO) -module -avoid-version -shared
liborrery_sim_scope_la_LIBADD = liborrery-sim.la $(SIMGRID_LIBS)
liborrery_sim_scope_la_CPPFLAGS = $(orr_defines) $(orr_sim_includes)
EXTRA_DIST += sim/launcher/needs.c
# The table of options is also read by `orrery sim` (tools/orrery_options.py).
orrsimdir = $(pkgdatadir)/sim/launcher
dist_orrsim_DATA = %D%/launcher/options.def %D%/launcher/networks.def %D%/launcher/wrapped.flags
# Part of each program for the simulated world.
orrstartdir = $(pkglibdir)
orrstart_DATA = orrery-sim-start.o
EXTRA_DIST += %D%/start/start.c
CLEANFILES += orrery-sim-start.o
orrery-sim-start.o: %D%/start/start.c
	$(AM_V_CC)$(CC) -O2 -fPIC $(ORR_START_CPPFLAGS) -c -o $@ $(srcdir)/%D%/start/start.c
# Headers that only programs for the simulated world see, before SMPI's.
orrsimincludedir = $(orrincludedir)/sim
dist_orrsiminclude_HEADERS = %D%/include/mpi.h
