# SPDX-License-Identifier: LGPL-2.1-or-later
# Build fragment of start and stop of the runtime; the same sources serve both worlds.
include %D%/sources.mk
liborrery_la_SOURCES += $(orr_src_start)
liborrery_sim_la_SOURCES += $(orr_src_start)
