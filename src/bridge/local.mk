# SPDX-License-Identifier: LGPL-2.1-or-later
# Build fragment of the way from liborrery-mpi to the inside of liborrery, in the real world: mpi*.c belong to the
# former, the others to the latter. The simulated world has one library and needs none of it.
include %D%/sources.mk
liborrery_la_SOURCES += $(orr_src_bridge)
liborrery_mpi_la_SOURCES += $(orr_src_bridge_mpi)
