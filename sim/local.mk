# SPDX-License-Identifier: LGPL-2.1-or-later
# Build fragment of the simulated world: its sys and devices join the library,
# launcher/ is the program that `orrery sim` starts.
include %D%/sources.mk
liborrery_sim_la_SOURCES += $(orr_sim)
orrery_sim_launcher_SOURCES = $(orr_sim_launcher)
orrery_sim_launcher_CPPFLAGS = $(orr_defines) $(orr_sim_includes) $(HWLOC_CFLAGS)
orrery_sim_launcher_LDADD = liborrery-sim.la $(SIMGRID_LIBS) $(ORR_SYS_LIBS)
EXTRA_DIST += $(orr_sim) $(orr_sim_launcher)
# The table of options is also read by `orrery sim` (tools/orrery_options.py).
orrsimdir = $(pkgdatadir)/sim/launcher
dist_orrsim_DATA = %D%/launcher/options.def
