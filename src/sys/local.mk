# SPDX-License-Identifier: LGPL-2.1-or-later
# Build fragment of the real world's sys; mpi*.c of it are liborrery-mpi's. The
# internals of liborrery are hidden from liborrery-mpi: it reaches them through
# src/bridge, but what keeps no state it has itself.
include %D%/sources.mk
liborrery_la_SOURCES += $(orr_src_sys)
liborrery_mpi_la_SOURCES += $(orr_src_sys_mpi) src/base/about.c src/base/assert.c \
	src/base/checksum.c src/base/lock.c src/base/log.c src/base/map.c src/base/notice.c src/base/numbers.c src/base/private.c src/base/refuse.c src/base/standstill.c src/sys/launched.c src/sys/speak.c \
	$(orr_src_base_mpi)
# Ranks that run together have been built from the same sources (mpi_build.c). No list depends on what configure found.
orr_sources_of_build = $(orr_src_base) $(orr_src_base_mpi) $(orr_src_bridge) $(orr_src_bridge_mpi) $(orr_src_core) \
	$(orr_src_data) $(orr_src_drivers) $(orr_src_mpi) $(orr_src_perf) $(orr_src_sched) $(orr_src_start) $(orr_src_sys) \
	$(orr_src_sys_mpi) %D%/mpi_ucx.c %D%/mpi_ucx_none.c $(orr_src_trace)
orr_sources.h: $(orr_sources_of_build)
	$(AM_V_GEN)for f in $(orr_sources_of_build); do cat "$(srcdir)/$$f" || exit; done | \
		cksum | sed 's/\([0-9]*\).*/#define ORR_SOURCES "\1"/' > $@.tmp && mv $@.tmp $@
# By a variable, since Automake takes a rule of its own object for another one.
orr_build_object = %D%/liborrery_mpi_la-mpi_build.lo
$(orr_build_object): orr_sources.h
CLEANFILES += orr_sources.h
if ORR_UCX
liborrery_mpi_la_SOURCES += %D%/mpi_ucx.c
EXTRA_DIST += %D%/mpi_ucx_none.c
else
liborrery_mpi_la_SOURCES += %D%/mpi_ucx_none.c
EXTRA_DIST += %D%/mpi_ucx.c
endif
