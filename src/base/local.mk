# SPDX-License-Identifier: LGPL-2.1-or-later
# Build fragment of the ground floor: process, configuration, containers, messages, the seam; the same sources serve both worlds.
# mpi*.c call MPI: they are liborrery-mpi's (src/sys/local.mk).
include %D%/sources.mk
liborrery_la_SOURCES += $(orr_src_base)
liborrery_sim_la_SOURCES += $(orr_src_base) $(orr_src_base_mpi)
# Real machines are described by hwloc.
liborrery_sim_la_SOURCES += %D%/places_none.c
if !ORR_HWLOC
liborrery_la_SOURCES += %D%/places_none.c
endif
