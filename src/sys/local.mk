# SPDX-License-Identifier: LGPL-2.1-or-later
# Build fragment of the real world's sys; mpi*.c of it needs MPI.
include %D%/sources.mk
liborrery_la_SOURCES += $(orr_src_sys)
liborrery_mpi_la_SOURCES += $(orr_src_sys_mpi)
