# SPDX-License-Identifier: LGPL-2.1-or-later
# Build fragment of the real world's sys; mpi*.c of it are liborrery-mpi's. The
# internals of liborrery are hidden from liborrery-mpi: it reaches them through
# src/bridge, but what keeps no state it has itself.
include %D%/sources.mk
liborrery_la_SOURCES += $(orr_src_sys)
liborrery_mpi_la_SOURCES += $(orr_src_sys_mpi) src/base/about.c src/base/assert.c \
	src/base/lock.c src/base/log.c src/base/map.c src/base/numbers.c src/base/standstill.c src/sys/speak.c \
	$(orr_src_base_mpi)
if ORR_UCX
liborrery_mpi_la_SOURCES += %D%/mpi_ucx.c
EXTRA_DIST += %D%/mpi_ucx_none.c
else
liborrery_mpi_la_SOURCES += %D%/mpi_ucx_none.c
EXTRA_DIST += %D%/mpi_ucx.c
endif
