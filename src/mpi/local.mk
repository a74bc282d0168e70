# SPDX-License-Identifier: LGPL-2.1-or-later
# Build fragment of the MPI layer; the same sources serve both worlds.
include %D%/sources.mk
liborrery_mpi_la_SOURCES += $(orr_src_mpi)
liborrery_sim_la_SOURCES += $(orr_src_mpi)
