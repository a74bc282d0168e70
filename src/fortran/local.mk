# SPDX-License-Identifier: LGPL-2.1-or-later
# Build fragment of the C half of the Fortran interface; the modules are in fortran. The same sources serve both worlds.
include %D%/sources.mk
liborrery_la_SOURCES += $(orr_src_fortran)
liborrery_sim_la_SOURCES += $(orr_src_fortran)
